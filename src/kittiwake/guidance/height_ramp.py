"""Ramp of height for takeoff and landing, as in uav_gazebo.

A height h takes T = 4 s max(1, |h| / 1 m) if no time is given. At nine tenths of the time the
setpoint jumps to the end.

Source: uav_gazebo (public), its manager of takeoff and landing.
"""

import jax.numpy as jnp
import numpy as np

from kittiwake.geometry.scalar import Real, namespace
from kittiwake.pytree import Module

SECONDS_PER_METER, MIN_HEIGHT_M = 4.0, 1.0
# share of the duration at which the setpoint jumps to the end
JUMPS_AT = 0.9


class Ramp(Module):
    """Linear change from one height to another."""

    from_m: Real
    to_m: Real
    duration_s: Real

    @classmethod
    def of(cls, from_m: Real, to_m: Real, duration_s: Real | None) -> "Ramp":
        """Return a ramp with the given duration, or the default one."""
        height_m = abs(to_m - from_m)
        default_s = SECONDS_PER_METER * namespace(height_m).maximum(MIN_HEIGHT_M, height_m)
        return cls(from_m, to_m, default_s if duration_s is None else duration_s)

    def height_m(self, time_s: Real) -> Real:
        """Return the height of the setpoint at a time."""
        return self._on_ramp_or_after(time_s, self.from_m + self._rate_mps * time_s, self.to_m)

    def rate_mps(self, time_s: Real) -> Real:
        """Return the vertical speed of the setpoint at a time."""
        return self._on_ramp_or_after(time_s, self._rate_mps, 0.0)

    @property
    def _rate_mps(self) -> Real:
        return (self.to_m - self.from_m) / self.duration_s

    def _on_ramp_or_after(self, time_s: Real, on_it: Real, after: Real) -> Real:
        on_ramp = time_s / self.duration_s <= JUMPS_AT
        if namespace(time_s, self.duration_s, on_it, after) is np:
            return on_it if on_ramp else after
        return jnp.where(on_ramp, on_it, after)
