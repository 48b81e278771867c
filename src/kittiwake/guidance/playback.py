"""Feeding a recorded file to the rung of the ladder that its columns name."""

from typing import Any, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.component import AbstractGuidance, GuidanceInputs
from kittiwake.core.signals import AttitudeThrottle, Signal
from kittiwake.core.table import Table
from kittiwake.geometry.scalar import Real

# a row counts from its time on; this much of a step forgives the rounding of decimal times
TIME_TOLERANCE_STEPS = 0.01


class Playback(AbstractGuidance):
    """Gives the values of the latest row, held until the next one; the last row holds for ever.

    The columns after ``time_s`` are the fields of one signal, which need not be the native one: a
    file of positions and yaws is flown through the ladder. Signs follow the FLU body; inputs
    recorded in FRD (as autopilots log them) are declared so and turned.
    """

    file: Table
    body_axes: Literal["flu", "frd"] = eqx.field(static=True, default="flu")

    def __check_init__(self) -> None:
        """Refuses columns that are no signal's, and FRD where the signal has no body axes."""
        kind = self.signal_type()
        if self.body_axes == "frd" and kind is not AttitudeThrottle:
            message = (
                f"body_axes: frd is for AttitudeThrottle inputs, this file holds {kind.__name__}"
            )
            raise ValueError(message)

    def signal_type(self) -> type[Signal]:
        """The signal whose fields are the file's columns."""
        for kind in get_args(Signal):
            if set(column_names(kind)) == set(self.file.columns):
                return kind
        known = "; ".join(
            f"{kind.__name__}: {', '.join(column_names(kind))}" for kind in get_args(Signal)
        )
        message = (
            f"the columns of {self.file.source} ({', '.join(self.file.columns)}) are those of no "
            f"signal. After time_s write one of: {known}"
        )
        raise ValueError(message)

    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Any]:
        """The signal of the row that holds now."""
        del key
        now = inputs.time_s + TIME_TOLERANCE_STEPS * dt_s
        row = jnp.searchsorted(self.file.time_s, now, side="right") - 1
        values = self.file.values[jnp.maximum(row, 0)]
        signal = from_columns(self.signal_type(), dict(zip(self.file.columns, values, strict=True)))
        return state, self._turned(signal)

    def end_s(self) -> float:
        """When the recording ends."""
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
