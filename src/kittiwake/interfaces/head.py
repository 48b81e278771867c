"""Pan-tilt heads of range sensors: angles, measurements and interface.

With theta about the body's y axis, then phi about what was the z axis before, the sensor looks
along

    d = (cos(phi) cos(theta), sin(phi), -cos(phi) sin(theta))

so that theta lowers the look from ahead, as a pitch lowers the nose, and phi swings it to the left.
"""

from typing import ClassVar, Generic

import jax.numpy as jnp

from kittiwake.core.component import State
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import AbstractVar, Module

# a direction with less of its unit length in the plane of forward and up has no theta there
LEAST_IN_PLANE = 1e-6


class HeadAngles(Module):
    """Angles of a head relative to the body: theta and phi."""

    pitch_rad: Real
    yaw_rad: Real

    @property
    def direction_body(self) -> Vec3:
        """Line of sight as a unit vector."""
        (low, ahead), (left, level) = sin_cos(self.pitch_rad), sin_cos(self.yaw_rad)
        return Vec3(level * ahead, left, -level * low)

    def towards(self, direction_body: Vec3) -> "HeadAngles":
        """Return the angles of a unit vector; straight to the side, the pitch is kept."""
        x, y, z = direction_body.x, direction_body.y, direction_body.z
        level = Vec3(x, 0.0, z).norm()
        aside = level < LEAST_IN_PLANE
        pitch = jnp.arctan2(jnp.where(aside, 0.0, -z), jnp.where(aside, 1.0, x))
        yaw = jnp.arctan2(y, jnp.where(aside, LEAST_IN_PLANE, level))
        return HeadAngles(jnp.where(aside, self.pitch_rad, pitch), yaw)


class HeadMeasurement(AbstractMeasurement):
    """A distance as in a ``RangeMeasurement``, and the head's angles when it was measured."""

    range_m: Real
    valid: Flag
    pitch_rad: Real
    yaw_rad: Real

    @property
    def direction_body(self) -> Vec3:
        """Direction of the measured distance, as a unit vector."""
        return HeadAngles(self.pitch_rad, self.yaw_rad).direction_body


class AbstractHead(AbstractSensor[State, HeadMeasurement], Generic[State]):
    """A range sensor that turns to face a surface."""

    measures: ClassVar[type] = HeadMeasurement

    position_body_m: AbstractVar[Vec3]
    min_range_m: AbstractVar[Real]
    max_range_m: AbstractVar[Real]
