"""A height that rises or sinks evenly to its end, as uav_gazebo takes off and lands.

A height h takes T = 4 s max(1, |h| / 1 m) if no time is given. At nine tenths of the time the set
point jumps to the end.

Source: uav_gazebo (public), its manager of takeoff and landing.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from kittiwake.geometry.scalar import Real, namespace

SECONDS_PER_METER, LEAST_HEIGHT_M = 4.0, 1.0
JUMPS_AT = 0.9


class Ramp(eqx.Module):
    """From one height to another in a time."""

    from_m: Real
    to_m: Real
    duration_s: Real

    @classmethod
    def of(cls, from_m: Real, to_m: Real, duration_s: Real | None) -> "Ramp":
        """In a time, or in the usual one."""
        height_m = abs(to_m - from_m)
        usual_s = SECONDS_PER_METER * namespace(height_m).maximum(LEAST_HEIGHT_M, height_m)
        return cls(from_m, to_m, usual_s if duration_s is None else duration_s)

    def height_m(self, time_s: Real) -> Real:
        """That of the set point at a time."""
        return self._while_on_way(time_s, self.from_m + self._rate_mps * time_s, self.to_m)

    def rate_mps(self, time_s: Real) -> Real:
        """How fast it rises."""
        return self._while_on_way(time_s, self._rate_mps, 0.0)

    @property
    def _rate_mps(self) -> Real:
        return (self.to_m - self.from_m) / self.duration_s

    def _while_on_way(self, time_s: Real, then: Real, later: Real) -> Real:
        on_way = time_s / self.duration_s <= JUMPS_AT
        if namespace(time_s, self.duration_s, then, later) is np:
            return then if on_way else later
        return jnp.where(on_way, then, later)
