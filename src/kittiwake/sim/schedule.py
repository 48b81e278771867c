"""Components at their own rates: each runs when due and holds its output between."""

from math import ceil, log10
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Count, Flag, Real

RATE_TOLERANCE = 1e-9
MAX_STEPS_BETWEEN = 2**31
MAX_SEARCH = 1000
# of the largest number of steps
DIGITS = 10


class Clock(eqx.Module):
    """The present physics step, of a flight that began at the tick ``began``."""

    tick: Count
    dt_s: Real
    began: Count = 0

    @property
    def time_s(self) -> Real:
        """Time since the start."""
        return jnp.asarray(self.tick - self.began, jnp.result_type(float)) * self.dt_s


class Held(eqx.Module):
    """A component's state.

    For one that does not run at every step, also its last output; and for one that can be passed
    over, whether it was and has to begin anew.
    """

    state: Any
    output: Any = None
    stale: Any = None

    def holding(self, form: Any) -> "Held":
        """With an output of zeros of this form."""
        output = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), form)
        return Held(self.state, output, self.stale)


def run(
    scheduled: Scheduled[Any], held: Held, inputs: Any, clock: Clock, key: PRNGKeyArray
) -> tuple[Held, Any]:
    """The component's state and output at this step, new if it is due and held otherwise."""
    component, every = scheduled.component, scheduled.every

    def fire() -> tuple[Any, Any]:
        draw = jax.random.fold_in(key, clock.tick)
        state, output = component.step(held.state, inputs, clock.dt_s * every, draw)
        return match_dtypes(state, held.state), as_arrays(output)

    if every == 1:
        state, output = fire()
        return Held(state), output
    if held.output is None:
        state, output = fire()
    else:
        due = is_due(scheduled, held, clock)
        state, output = jax.lax.cond(due, fire, lambda: (held.state, held.output))
    passed_over = None if held.stale is None else jnp.asarray(False)
    return Held(state, output, passed_over), output


def is_due(scheduled: Scheduled[Any], held: Held, clock: Clock) -> Flag:
    """Whether ``run`` runs the component at this step."""
    on_time = jnp.asarray(clock.tick) % scheduled.every == 0
    return on_time if held.stale is None else on_time | held.stale


def steps_between(physics_hz: float, wanted: Real | None, called: str = "rate_hz") -> int:
    """How many physics steps lie between two runs at a wanted rate; without one, a run at each.

    Args:
        physics_hz: the physics rate.
        wanted: the rate of the runs.
        called: how a message calls the wanted rate.

    Raises:
        ScenarioError: if the rate does not divide the physics rate.
    """
    if wanted is None:
        return 1
    wanted = float(wanted)
    ratio = physics_hz / wanted
    if ratio >= MAX_STEPS_BETWEEN:
        lowest = 10.0 ** ceil(log10(physics_hz / MAX_STEPS_BETWEEN))
        message = (
            f"{called} {wanted:g} is too low beside the physics rate {physics_hz:g} Hz; write "
            f"{lowest:g} or more"
        )
        raise ScenarioError(message)
    if not _divides(physics_hz, wanted):
        message = (
            f"{called} {wanted:g} does not divide the physics rate {physics_hz:g} Hz "
            f"({physics_hz:g} / {wanted:g} = {ratio:.6g}); "
            f"write {' or '.join(_rates_near(physics_hz, ratio))}"
        )
        raise ScenarioError(message)
    return round(ratio)


def _divides(physics_hz: float, rate_hz: float) -> bool:
    ratio = physics_hz / rate_hz
    if not 0.5 < ratio < MAX_STEPS_BETWEEN:
        return False
    return abs(ratio - round(ratio)) <= RATE_TOLERANCE * ratio


def _rates_near(physics_hz: float, ratio: float) -> list[str]:
    """The next higher and the next lower rate that divide and can be written in a few digits.

    Where the nearest numbers of steps give none, the next rounder ones are tried.
    """
    at = int(max(ratio, 1.0))
    higher, lower = [
        next(filter(None, (_written_rate(physics_hz, at, way * 10**k) for k in range(DIGITS))), "")
        for way in (-1, 1)
    ]
    return [*dict.fromkeys(filter(None, (higher, lower)))] or [f"{physics_hz:g}"]


def _written_rate(physics_hz: float, at: int, stride: int) -> str:
    """The first rate of a few digits that divides, from so many steps on, or nothing."""
    first = at - at % abs(stride) if stride < 0 else at - at % stride + stride
    end = first + MAX_SEARCH * stride
    for steps in range(first, max(end, 0), stride):
        rate = f"{physics_hz / steps:g}"
        if float(rate) and _divides(physics_hz, float(rate)):
            return rate
    return ""
