"""Feeding a recorded file to the rung of the ladder that its columns name."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.columns import column_names, from_columns, required_columns
from kittiwake.core.commands import AttitudeThrottle, Command, PositionYaw
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.recording import Recording
from kittiwake.geometry.scalar import Real
from kittiwake.guidance.elapsed import elapsed_s
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

# of a file that is none, a message shows so much
MAX_COLUMNS, MAX_CHARACTERS = 16, 60


class Playback(AbstractGuidance):
    """Gives the values of the latest row, held until the next one; the last row holds for ever.

    The columns after ``time_s`` are the fields of one signal, which need not be the native one: a
    file of positions and yaws is flown through the ladder. Signs follow the FLU body; inputs
    recorded in FRD (as autopilots log them) are declared so and turned.
    """

    file: Recording
    body_axes: Literal["flu", "frd"] = eqx.field(static=True, default="flu")

    def __check_init__(self) -> None:
        """Refuses columns that are no signal's, and FRD where the signal has no body axes."""
        (kind,) = self.command_types()
        if self.body_axes == "frd" and kind is not AttitudeThrottle:
            message = (
                f"body_axes: frd is for AttitudeThrottle inputs, {self.file.source} holds "
                f"{kind.__name__}; leave it out"
            )
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "Playback":
        if self.command_types() == (context.dynamics.command_type,):
            _refuse_outside(self.file, context.dynamics.command_bounds)
        return self

    @override
    def command_types(self) -> tuple[type[Command]]:
        for kind in get_args(Command):
            if set(required_columns(kind)) <= set(self.file.columns) <= set(column_names(kind)):
                return (kind,)
        message = f"{self.file.source}:1: {_unlike_any_signal(self.file.columns)}"
        raise ValueError(message)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Any]:
        del key
        now = elapsed_s(inputs.time_s, dt_s)
        row = jnp.searchsorted(self.file.time_s, now, side="right") - 1
        values = self.file.values[jnp.maximum(row, 0)]
        (kind,) = self.command_types()
        signal = from_columns(kind, dict(zip(self.file.columns, values, strict=True)))
        return state, self._turned(signal)

    @override
    def end_s(self) -> float:
        return self.file.end_s

    def _turned(self, signal: Any) -> Any:
        if self.body_axes == "flu":
            return signal
        return AttitudeThrottle(
            pitch_rad=-signal.pitch_rad,
            roll_rad=signal.roll_rad,
            throttle=signal.throttle,
            yaw_rate_radps=-signal.yaw_rate_radps,
            battery_v=signal.battery_v,
        )


def _unlike_any_signal(columns: Sequence[str]) -> str:
    """What is wrong with columns that are no signal's, measured at the one they are nearest to."""
    columns = [_readable(column) for column in columns[:MAX_COLUMNS]]
    nearest = max(get_args(Command), key=lambda kind: _likeness(column_names(kind), columns))
    wanted = column_names(nearest)
    if not any(_likeness(wanted, columns)[:2]):
        example = ", ".join(required_columns(PositionYaw))
        return (
            f"no signal has columns {', '.join(columns)}. Write the fields of one after time_s, "
            f"such as {example}"
        )
    unknown, absent = _apart(columns, wanted)
    if not unknown:
        lacking = [c for c in absent if c in required_columns(nearest)]
        return f"the columns of {nearest.__name__} lack {', '.join(lacking)}"
    known = did_you_mean(unknown[0], absent) if absent else "Take it out."
    return f"{nearest.__name__} has no column '{unknown[0]}'. {known}"


def _likeness(wanted: Sequence[str], columns: Sequence[str]) -> tuple[int, int, int]:
    """How many columns two lists share, how many others are alike, how few are lacking."""
    unknown, lacking = _apart(columns, wanted)
    alike = sum(bool(get_close_matches(name, lacking, n=1)) for name in unknown)
    return len(columns) - len(unknown), alike, -len(lacking)


def _apart(columns: Sequence[str], wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns that are not wanted, and the wanted that are no column."""
    return [c for c in columns if c not in wanted], [w for w in wanted if w not in columns]


def _readable(column: str) -> str:
    """A column's name, which may hold anything, as a message can show it."""
    shown = (c if c.isprintable() else repr(c)[1:-1] for c in column[:MAX_CHARACTERS])
    return "".join(shown)[:MAX_CHARACTERS]


def _refuse_outside(table: Recording, bounds: Mapping[str, tuple[Real, Real]]) -> None:
    for column, values in zip(table.columns, table.values.T, strict=True):
        low, high = map(float, bounds.get(column, (-float("inf"), float("inf"))))
        outside = (values < low) | (values > high)
        if outside.any():
            row = int(outside.argmax())
            message = (
                f"{table.source}: {column} = {values[row]:g} at time_s = {table.time_s[row]:g} is "
                f"not allowed; the vehicle takes {low:g} to {high:g}"
            )
            raise ScenarioError(message)
