"""Limit of a quantity of a vehicle, outside of which the simulation is not valid."""

from math import inf

import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.pytree import Module, field


class Limit(Module):
    """A quantity and its valid range; a vehicle that leaves the range is lost.

    Attributes:
        name: the name of the quantity, with its unit.
        key: the scenario key that sets the range; empty if there is none.
        value: the present value.
        low: the lower limit.
        high: the upper limit.
        own: true if the quantity belongs to the vehicle's own motion, which is frozen when the
            vehicle is lost, so that its value can still be reported.
    """

    name: str = field(static=True)
    key: str = field(static=True)
    value: Real
    low: Real = -inf
    high: Real = inf
    own: bool = field(static=True, default=True)

    @property
    def is_satisfied(self) -> Flag:
        """True if the value is in its range; false for NaN."""
        return (self.low <= self.value) & (self.value <= self.high)

    def violation(self) -> str:
        """Return the message of a violated limit of plain numbers."""
        given = f" = {self.value:.6g}" if self.own else ""
        return f"{self.name}{given} is not {Bounds(float(self.low), float(self.high))} ({self.key})"


def finite(name: str, value: Real) -> Limit:
    """Return the limit of a quantity that must only be finite."""
    largest = float(jnp.finfo(jnp.result_type(value)).max)
    return Limit(name, "", value, -largest, largest)
