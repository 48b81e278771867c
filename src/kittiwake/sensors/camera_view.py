"""Camera pose, fixed to the vehicle or held by a gimbal.

A stabilized camera keeps its attitude relative to the horizon: it follows the vehicle's yaw, not
its roll and pitch. The gimbal turns about the camera itself, without lag or limits.
"""

import math
from typing import Literal

import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.renderer import BODIES, Bodies, viewpoint_row
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import Module
from kittiwake.sensors.mount import Mount

Gimbal = Literal["fixed", "stabilised"]

PIXELS = Bounds(1.0, 1024.0)
# below a half space, which no image plane covers
FIELD_RAD = Bounds(0.0, math.radians(170.0), open_below=True)
DOWNWARDS = Mount(pitch_rad=math.pi / 2)


class CameraView(Module):
    """Camera pose at one instant: x along its optical axis, y to the left, z up."""

    position_world_m: Vec3
    q_world_from_camera: Quaternion
    q_body_from_camera: Quaternion

    @classmethod
    def of(cls, vehicle: Kinematics, mount: Mount, gimbal: Gimbal) -> "CameraView":
        """Return the pose of a camera on a vehicle."""
        q_world_from_body = vehicle.q_world_from_body
        position = vehicle.position_world_m + q_world_from_body.rotate(mount.position_body_m)
        q_body_from_camera = mount.q_body_from_sensor
        if gimbal == "fixed":
            return cls(position, q_world_from_body * q_body_from_camera, q_body_from_camera)
        yaw = vehicle.euler_world_from_body.yaw_rad
        level = Quaternion.from_euler(EulerZYX(jnp.zeros_like(yaw), jnp.zeros_like(yaw), yaw))
        q_world_from_camera = level * q_body_from_camera
        return cls(position, q_world_from_camera, q_world_from_body.inverse() * q_world_from_camera)

    def viewpoint_row(self, field_rad: Real, inputs: SensorInputs) -> jnp.ndarray:
        """Return this view as a row of numbers for the renderer."""
        own = inputs.surroundings.body
        assert own is not None, "rendered bodies have numbers"
        return viewpoint_row(self.position_world_m, self.q_world_from_camera, field_rad, own)


def bodies(inputs: SensorInputs) -> Bodies:
    """Return the renderer and the poses of all bodies."""
    found = inputs.processes[BODIES]
    assert isinstance(found, Bodies)
    return found
