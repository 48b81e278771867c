"""A quantity of a vehicle and the range in which the simulation of it means something."""

from math import inf

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.geometry.scalar import Flag, Real


class Limit(eqx.Module):
    """A vehicle whose quantity leaves its range is lost.

    Attributes:
        name: the quantity, with its unit.
        key: what sets the range in a scenario; empty where nothing does.
        value: the quantity now.
        low: the least that it may be.
        high: the most that it may be.
        own: whether the quantity is of the vehicle's own motion, which stands still once it is
            lost, so that it can be told afterwards.
    """

    name: str = eqx.field(static=True)
    key: str = eqx.field(static=True)
    value: Real
    low: Real = -inf
    high: Real = inf
    own: bool = eqx.field(static=True, default=True)

    @property
    def holds(self) -> Flag:
        """Whether the quantity is in its range; a value that is not a number is in none."""
        return (self.low <= self.value) & (self.value <= self.high)

    def violation(self) -> str:
        """What a violated limit of plain numbers says."""
        given = f" = {self.value:.6g}" if self.own else ""
        return f"{self.name}{given} is not {Bounds(float(self.low), float(self.high))} ({self.key})"


def finite(name: str, value: Real) -> Limit:
    """The limit of a quantity that need only be a finite number."""
    largest = float(jnp.finfo(jnp.result_type(value)).max)
    return Limit(name, "", value, -largest, largest)
