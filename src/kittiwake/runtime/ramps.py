"""Taking off and landing along a ramp of height when somebody asks for it in flight.

The set point is that of ``core.ramp``, over the place where it began. Whoever asked learns when the
ramp and a pause behind it are over, and how far the vehicle is from the end then.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kittiwake.core.commands import MotorsOff
from kittiwake.guidance.height_ramp import Ramp
from kittiwake.runtime.maneuvers import Ability, Place, VehicleEstimate, held_at


@dataclass
class RampTo:
    """Along a ramp to a height, and there to stay, or to switch the motors off.

    Attributes:
        rise_m: by how much, where ``height_m`` is not given.
        height_m: to which height of the world.
        duration_s: of the ramp; the usual one if not given.
        idle_s: a pause before it is over.
        residual_m: how far from the end the vehicle is when it is over; None before.
        off_within_m: the motors are switched off if it is no farther than this; None for never.
    """

    rise_m: float = 0.0
    height_m: float | None = None
    duration_s: float | None = None
    idle_s: float = 0.0
    off_within_m: float | None = None
    residual_m: float | None = None
    _ramp: Ramp | None = field(default=None, init=False)
    _begun: tuple[float, Place, float] | None = field(default=None, init=False)

    @property
    def over(self) -> bool:
        """Whether the ramp and the pause are behind it."""
        return self.residual_m is not None

    @property
    def off(self) -> bool:
        """Whether the motors are off now."""
        near_m = self.off_within_m
        return self.residual_m is not None and near_m is not None and self.residual_m <= near_m

    @property
    def goal(self) -> tuple[Place, float] | None:
        """The place at the end and the yaw that it keeps; None before it has begun."""
        if self._begun is None or self._ramp is None:
            return None
        _, from_m, yaw_rad = self._begun
        return np.array([*from_m[:2], self._ramp.to_m]), yaw_rad

    @property
    def said(self) -> str:
        """That it lands, or how high it takes off."""
        if self.off_within_m is not None:
            return "lands along a ramp"
        return f"takes off along a ramp by {self.rise_m:g} m"

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """The set point on the ramp."""
        if self._begun is None or self._ramp is None:
            self._begun = now.time_s, now.position_m, now.yaw_rad
            from_m = float(now.position_m[2])
            to_m = from_m + self.rise_m if self.height_m is None else self.height_m
            self._ramp = Ramp.of(from_m, to_m, self.duration_s)
        began_s, place_m, yaw_rad = self._begun
        time_s = now.time_s - began_s
        point_m = np.array([*place_m[:2], float(self._ramp.height_m(time_s))])
        if self.residual_m is None and time_s > float(self._ramp.duration_s) + self.idle_s:
            self.residual_m = float(np.linalg.norm(point_m - now.position_m))
        if self.off:
            return MotorsOff()
        rising_mps = np.array([0.0, 0.0, float(self._ramp.rate_mps(time_s))])
        return held_at(point_m, rising_mps, yaw_rad, now, able)
