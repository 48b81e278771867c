"""Playback of a recorded file at the command type that its columns name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import inf
from typing import Annotated, Literal, get_args

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.columns import column_names, from_columns, required_columns
from kittiwake.core.commands import AttitudeThrottle, Command, PositionYaw, zero_command
from kittiwake.core.elapsed import elapsed_s
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.recording import Recording
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import field

# how much of an invalid file a message shows
MAX_COLUMNS, MAX_CHARACTERS = 16, 60

# columns that stand for a quaternion
ANGLES = ("roll_rad", "pitch_rad", "yaw_rad")
Q_WORLD_FROM_BODY = tuple(f"q_world_from_body_{part}" for part in "wxyz")


def _with_quaternions(file: Recording) -> Recording:
    """Return a recording of thrust and angles with quaternions, any other one unchanged."""
    if not {"thrust_n", *ANGLES} <= set(file.columns):
        return file
    others = [column for column in file.columns if column not in ANGLES]
    values = np.asarray(file.values)
    half = 0.5 * values[:, [file.columns.index(angle) for angle in ANGLES]].T
    (c1, c2, c3), (s1, s2, s3) = np.cos(half), np.sin(half)
    parts = [
        c1 * c2 * c3 + s1 * s2 * s3,
        s1 * c2 * c3 - c1 * s2 * s3,
        c1 * s2 * c3 + s1 * c2 * s3,
        c1 * c2 * s3 - s1 * s2 * c3,
    ]
    kept = values[:, [file.columns.index(column) for column in others]]
    columns = (*others, *Q_WORLD_FROM_BODY)
    return replace(file, columns=columns, values=np.column_stack([kept, *parts]))


class Playback(AbstractGuidance[tuple[()]]):
    """Gives the values of the latest row, held until the next one; the last row holds forever.

    The columns after ``time_s`` are the fields of one command type, which need not be the actuator
    command: a file of positions and yaws is flown through the cascade. ``roll_rad``, ``pitch_rad``
    and ``yaw_rad`` beside ``thrust_n`` stand for the quaternion of ``ThrustAttitude``. Signs follow
    the FLU body; inputs recorded in FRD (as in logs of autopilots) are declared so and converted.

    The flight begins at ``begin_s`` of the file, and values take effect ``delay_s`` after their
    time. With the ``sampling`` mean, a step gets the mean of the held values over its duration
    instead of the value at its begin, so that the flight is a smooth function of the delay.

    Attributes:
        file: CSV file.
        body_axes: body axes of the file, ``flu`` or ``frd``.
        begin_s: time in the file at which it begins.
        delay_s: time after which a value takes effect.
        sampling: how values between two rows are taken.
        saturate: True to fly values of an actuator command beyond what the vehicle allows at its
            limits; False refuses a file with such values.
    """

    file: Recording
    body_axes: Literal["flu", "frd"] = field(static=True, default="flu")
    begin_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    delay_s: Real = 0.0
    sampling: Literal["latest", "mean"] = field(static=True, default="latest")
    saturate: bool = field(static=True, default=False)

    def __post_init__(self) -> None:
        """Raise an error for unknown columns, and for FRD if the type has no body axes."""
        object.__setattr__(self, "file", _with_quaternions(self.file))
        (command_type,) = self.command_types()
        if self.body_axes == "frd" and command_type is not AttitudeThrottle:
            message = (
                f"`body_axes`: frd requires AttitudeThrottle inputs; {self.file.source} holds "
                f"{command_type.__name__}; omit it"
            )
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "Playback":
        if self.command_types() == (context.dynamics.command_type,):
            self._check_count(context.dynamics)
            if not self.saturate:
                _check_bounds(self.file, context.dynamics.command_bounds)
        elif self.saturate:
            (given,), needed = self.command_types(), context.dynamics.command_type
            message = (
                f"`saturate`: applies to the vehicle's actuator command, {needed.__name__}; "
                f"{self.file.source} holds {given.__name__}; omit it"
            )
            raise ScenarioError(message)
        return self

    @override
    def command_types(self) -> tuple[type[Command]]:
        columns, count = set(self.file.columns), len(self.file.columns)
        for command_type in get_args(Command):
            if (
                set(required_columns(command_type, count))
                <= columns
                <= set(column_names(command_type, count))
            ):
                return (command_type,)
        message = f"{self.file.source}:1: {_column_problem(self.file.columns)}"
        raise ValueError(message)

    @override
    def zero_commands(self) -> tuple[Command, ...]:
        (command_type,) = self.command_types()
        return (zero_command(command_type, len(self.file.columns)),)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Command]:
        del key
        now_s = inputs.time_s + self.begin_s - self.delay_s
        if self.sampling == "mean":
            values = (self._integral(now_s + dt_s) - self._integral(now_s)) / dt_s
        else:
            values = self.file.values[self._row(elapsed_s(now_s, dt_s))]
        (command_type,) = self.command_types()
        command = from_columns(command_type, dict(zip(self.file.columns, values, strict=True)))
        return state, self._to_flu(command)

    @override
    def end_s(self) -> Real:
        return self.file.end_s - self.begin_s

    def _row(self, time_s: Real) -> Array:
        """Return the latest row at a time; before the first row, the first one."""
        row = jnp.searchsorted(self.file.time_s, time_s, side="right") - 1
        return jnp.maximum(row, 0)

    def _integral(self, time_s: Real) -> Float[Array, " columns"]:
        """Return the integrals of the held values from the first row to a time."""
        times_s, values = jnp.asarray(self.file.time_s), jnp.asarray(self.file.values)
        parts = values[:-1] * jnp.diff(times_s)[:, None]
        before = jnp.concatenate([jnp.zeros_like(values[:1]), jnp.cumsum(parts, axis=0)])
        row = self._row(time_s)
        return before[row] + values[row] * (time_s - times_s[row])

    def _check_count(self, dynamics: AbstractDynamics) -> None:
        """Raise ScenarioError for numbers of more or fewer actuators than the vehicle has."""
        given, needed = len(self.file.columns), dynamics.actuator_count
        if needed and given != needed:
            message = (
                f"{self.file.source}: got {given} columns of {dynamics.command_type.__name__}; "
                f"must be {needed}, one for each actuator of the vehicle"
            )
            raise ScenarioError(message)

    def _to_flu(self, command: Command) -> Command:
        if self.body_axes == "flu":
            return command
        assert isinstance(command, AttitudeThrottle), "prepare() refuses other commands"
        return AttitudeThrottle(
            pitch_rad=-command.pitch_rad,
            roll_rad=command.roll_rad,
            throttle=command.throttle,
            yaw_rate_radps=-command.yaw_rate_radps,
            battery_v=command.battery_v,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Playback"]:
        columns = tuple(column_names(AttitudeThrottle))
        values = np.array([[0.1, -0.1, 0.6, 0.2, 11.0], [0.2, 0.1, 0.5, -0.3, 11.5]])
        sticks = Recording(columns, "recording.csv", 0.04, np.array([0.0, 0.02]), values)
        return {
            "flu": cls(sticks),
            "frd": cls(sticks, body_axes="frd"),
            "mean": cls(sticks, begin_s=0.01, delay_s=0.005, sampling="mean"),
        }


def _column_problem(columns: Sequence[str]) -> str:
    """Return the difference of the columns to the most similar command type."""
    columns = [_printable(column) for column in columns[:MAX_COLUMNS]]
    count = len(columns)
    nearest = max(
        get_args(Command),
        key=lambda command_type: _similarity(column_names(command_type, count), columns),
    )
    expected = column_names(nearest, count)
    if not any(_similarity(expected, columns)[:2]):
        example = ", ".join(required_columns(PositionYaw))
        return (
            f"no command type has columns {', '.join(columns)}. Write the fields of one after "
            f"time_s, such as {example}"
        )
    unknown, missing_names = _unknown_and_missing(columns, expected)
    if not unknown:
        missing = [c for c in missing_names if c in required_columns(nearest, count)]
        return f"missing columns of {nearest.__name__}: {', '.join(missing)}"
    known = did_you_mean(unknown[0], missing_names) if missing_names else "Remove it."
    return f"{nearest.__name__} has no column '{unknown[0]}'. {known}"


def _similarity(expected: Sequence[str], columns: Sequence[str]) -> tuple[int, int, int]:
    """Return the numbers of common and of similar columns, and minus that of missing ones."""
    unknown, missing = _unknown_and_missing(columns, expected)
    alike = sum(bool(get_close_matches(name, missing, n=1)) for name in unknown)
    return len(columns) - len(unknown), alike, -len(missing)


def _unknown_and_missing(
    columns: Sequence[str], expected: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the unknown columns, and the missing ones."""
    return [c for c in columns if c not in expected], [w for w in expected if w not in columns]


def _printable(column: str) -> str:
    """Return a column's name, which may hold any characters, in printable form."""
    shown = (c if c.isprintable() else repr(c)[1:-1] for c in column[:MAX_CHARACTERS])
    return "".join(shown)[:MAX_CHARACTERS]


def _check_bounds(table: Recording, bounds: Mapping[str, tuple[Real, Real]]) -> None:
    for column, values in zip(table.columns, table.values.T, strict=True):
        low, high = map(float, bounds.get(column, (-inf, inf)))
        outside = (values < low) | (values > high)
        if outside.any():
            row = int(outside.argmax())
            message = (
                f"{table.source}: `{column}`: got {values[row]:g} at time_s = "
                f"{table.time_s[row]:g}; must be from {low:g} to {high:g}, or write saturate: true"
            )
            raise ScenarioError(message)
