"""Takeoff and landing along a height ramp, commanded in flight.

The setpoint is that of ``guidance.height_ramp``, above the position where the maneuver began.
``RampTo`` reports when the ramp and the pause after it are over, and the residual distance then.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kittiwake.core.commands import MotorsOff
from kittiwake.guidance.height_ramp import Ramp
from kittiwake.runtime.maneuvers import Capabilities, Position, VehicleEstimate, track_position


@dataclass
class RampTo:
    """Flight along a ramp to a height, then hold or switch the motors off.

    Attributes:
        rise_m: change of height, used if ``height_m`` is None.
        height_m: final height in the world.
        duration_s: duration of the ramp; its default if None.
        idle_s: pause after the ramp.
        off_within_m: the motors are switched off if the residual is at most this; None for never.
        residual_m: distance to the final setpoint at the end of the pause; None before.
    """

    rise_m: float = 0.0
    height_m: float | None = None
    duration_s: float | None = None
    idle_s: float = 0.0
    off_within_m: float | None = None
    residual_m: float | None = None
    _ramp: Ramp | None = field(default=None, init=False)
    _start: tuple[float, Position, float] | None = field(default=None, init=False)

    @property
    def over(self) -> bool:
        """True once the ramp and the pause are over."""
        return self.residual_m is not None

    @property
    def off(self) -> bool:
        """True if the motors are switched off."""
        near_m = self.off_within_m
        return self.residual_m is not None and near_m is not None and self.residual_m <= near_m

    @property
    def goal(self) -> tuple[Position, float] | None:
        """The final position and the yaw; None before the first command."""
        if self._start is None or self._ramp is None:
            return None
        _, from_m, yaw_rad = self._start
        return np.array([*from_m[:2], self._ramp.to_m]), yaw_rad

    @property
    def description(self) -> str:
        """The maneuver, and for a takeoff its rise."""
        if self.off_within_m is not None:
            return "lands along a ramp"
        return f"takes off along a ramp by {self.rise_m:g} m"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return a command to track the setpoint on the ramp, or ``MotorsOff`` at the end."""
        if self._start is None or self._ramp is None:
            self._start = now.time_s, now.position_m, now.yaw_rad
            from_m = float(now.position_m[2])
            to_m = from_m + self.rise_m if self.height_m is None else self.height_m
            self._ramp = Ramp.of(from_m, to_m, self.duration_s)
        start_s, position_m, yaw_rad = self._start
        time_s = now.time_s - start_s
        point_m = np.array([*position_m[:2], float(self._ramp.height_m(time_s))])
        if self.residual_m is None and time_s > float(self._ramp.duration_s) + self.idle_s:
            self.residual_m = float(np.linalg.norm(point_m - now.position_m))
        if self.off:
            return MotorsOff()
        rising_mps = np.array([0.0, 0.0, float(self._ramp.rate_mps(time_s))])
        return track_position(point_m, rising_mps, yaw_rad, now, capabilities)
