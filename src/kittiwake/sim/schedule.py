"""Scheduling of components at their own rates: each runs when due and holds its output between."""

from math import ceil, log10
from typing import Generic

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.component import (
    AbstractComponent,
    AbstractSteppedComponent,
    Input,
    Output,
    Scheduled,
    State,
)
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module

RATE_TOLERANCE = 1e-9
MAX_STEPS_BETWEEN = 2**31
MAX_SEARCH = 1000
# decimal digits of the largest number of steps
DIGITS = 10


class Clock(Module):
    """Clock of the simulation: the present physics step, and the one at which it began."""

    tick: Integer
    dt_s: Real
    began: Integer = 0

    @property
    def time_s(self) -> Real:
        """Time since the start."""
        return jnp.asarray(self.tick - self.began, jnp.result_type(float)) * self.dt_s


class ScheduledState(Module, Generic[State, Output]):
    """State of a scheduled component.

    Attributes:
        state: the component's own state.
        output: its last output; None for a component that runs at every step.
        stale: true if the component was skipped and runs at the next opportunity; None for a
            component that is never skipped, or that runs at every step.
    """

    state: State
    output: Output | None = None
    stale: Flag | None = None

    def with_zero_output(self, shapes: Output) -> "ScheduledState[State, Output]":
        """Return the state with an output of zeros of these shapes and dtypes."""
        output = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        return ScheduledState(self.state, output, self.stale)


def run(
    scheduled: Scheduled[AbstractSteppedComponent[State, Input, Output]],
    held: ScheduledState[State, Output],
    inputs: Input,
    clock: Clock,
    key: PRNGKeyArray,
) -> tuple[ScheduledState[State, Output], Output]:
    """Return a component's state and output at this step: new if it is due, else held."""
    component, every = scheduled.component, scheduled.every

    def step_component() -> tuple[State, Output]:
        draw = jax.random.fold_in(key, clock.tick)
        state, output = component.step(held.state, inputs, clock.dt_s * every, draw)
        return match_dtypes(state, held.state), as_arrays(output)

    if every == 1:
        state, output = step_component()
        return ScheduledState(state), output
    if held.output is None:
        state, output = step_component()
    else:
        due = is_due(scheduled, held, clock)
        state, output = jax.lax.cond(due, step_component, lambda: (held.state, held.output))
    stale = None if held.stale is None else jnp.asarray(False)
    return ScheduledState(state, output, stale), output


def is_due(scheduled: Scheduled[AbstractComponent], held: ScheduledState, clock: Clock) -> Flag:
    """Return True if ``run`` runs the component at this step."""
    on_time = jnp.asarray(clock.tick) % scheduled.every == 0
    return on_time if held.stale is None else on_time | held.stale


def steps_between(physics_hz: float, rate_hz: Real | None, key: str = "rate_hz") -> int:
    """Return the number of physics steps between two runs of a component.

    Args:
        physics_hz: the physics rate.
        rate_hz: the rate of the component; None to run at every step.
        key: the name of the rate in error messages.

    Raises:
        ScenarioError: if the rate does not divide the physics rate.
    """
    if rate_hz is None:
        return 1
    rate_hz = float(rate_hz)
    ratio = physics_hz / rate_hz
    if ratio >= MAX_STEPS_BETWEEN:
        lowest = 10.0 ** ceil(log10(physics_hz / MAX_STEPS_BETWEEN))
        message = (
            f"{key} {rate_hz:g} is too low for the physics rate {physics_hz:g} Hz; write "
            f"{lowest:g} or more"
        )
        raise ScenarioError(message)
    if not _divides(physics_hz, rate_hz):
        message = (
            f"{key} {rate_hz:g} does not divide the physics rate {physics_hz:g} Hz "
            f"({physics_hz:g} / {rate_hz:g} = {ratio:.6g}); "
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
    """Return the next higher and lower rates that divide and have few digits.

    If the nearest step counts give no such rate, multiples of 10, 100, ... are tried.
    """
    at = int(max(ratio, 1.0))
    higher, lower = [
        next(filter(None, (_written_rate(physics_hz, at, way * 10**k) for k in range(DIGITS))), "")
        for way in (-1, 1)
    ]
    return [*dict.fromkeys(filter(None, (higher, lower)))] or [f"{physics_hz:g}"]


def _written_rate(physics_hz: float, at: int, stride: int) -> str:
    """Return the first rate with few digits that divides, from ``at`` steps on, or ''."""
    first = at - at % abs(stride) if stride < 0 else at - at % stride + stride
    end = first + MAX_SEARCH * stride
    for steps in range(first, max(end, 0), stride):
        rate = f"{physics_hz / steps:g}"
        if float(rate) and _divides(physics_hz, float(rate)):
            return rate
    return ""
