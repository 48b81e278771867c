"""From an acceleration to the thrust and attitude of a multirotor that gives it.

A multirotor pushes along its z axis only, so the force that it needs, F z_b = m (a + g e_z), says
both its thrust and where z_b points; yaw is free and completes the attitude (differential flatness:
Mellinger and Kumar 2011, "Minimum snap trajectory generation and control for quadrotors",
equations 5 to 9). In the axes of the wanted heading z_b = (sin(pitch) cos(roll), -sin(roll),
cos(pitch) cos(roll)), which gives roll and pitch, and yaw is kept exactly.

The jerk j turns z_b: dz_b/dt = (j - (j z_b) z_b) / |a + g e_z|, and the body with it; about z_b it
turns as the rate of yaw demands, which is (q sin(roll) + r cos(roll)) / cos(pitch).

Where the tilt is limited the vertical force is kept and the horizontal one is cut. A force that
points down, or nearly none, leaves z_b undefined: its direction is taken as if ``LEAST_LIFT`` of
the weight were still to be carried, while the thrust itself goes down to its least. Drag is
neglected.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.commands import AccelerationYaw, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController

LEAST_LIFT = 0.1
# two directions whose cosine is so near to 1 count as one
PARALLEL = 1e-6
UPRIGHT_RAD = Bounds(0.0, 1.5, open_below=True)


class Acceleration(AbstractController):
    """Acceleration and yaw to thrust and attitude."""

    consumes: ClassVar[type] = AccelerationYaw
    produces: ClassVar[type] = ThrustAttitude

    mass_kg: Annotated[Real, POSITIVE]
    max_thrust_n: Annotated[Real, POSITIVE]
    min_thrust_n: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_tilt_rad: Annotated[Real, UPRIGHT_RAD] = 0.6
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[AccelerationYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustAttitude]:
        del dt_s, key
        wanted, estimate = inputs
        acceleration = wanted.acceleration_world_mps2
        lift = acceleration.z + self.gravity_mps2
        z_body = self._upright(acceleration, lift)
        thrust = jnp.clip(self.mass_kg * lift / z_body.z, self.min_thrust_n, self.max_thrust_n)
        angles = _angles(z_body, wanted.yaw_rad)
        attitude = Quaternion.from_euler(angles)
        sideways = wanted.jerk_world_mps3 - z_body * wanted.jerk_world_mps3.dot(z_body)
        # where the direction is cut it does not follow the jerk
        push = Vec3(acceleration.x, acceleration.y, lift)
        free = (lift > 0.0) & (push.dot(z_body) >= push.norm() * (1.0 - PARALLEL))
        swing = sideways * jnp.where(free, 1.0 / jnp.where(free, push.norm(), 1.0), 0.0)
        rates = _rates(attitude.inverse().rotate(swing), angles, wanted.yaw_rate_radps)
        q = _nearer(attitude, estimate.q_world_from_body)
        return state, ThrustAttitude(thrust, q, rates)

    def _upright(self, acceleration: Vec3, lift: Real) -> Vec3:
        """The direction of thrust, tilted at most so far; ``lift`` is the vertical part wanted."""
        carried = jnp.maximum(lift, LEAST_LIFT * self.gravity_mps2)
        most = carried * jnp.tan(self.max_tilt_rad)
        across = Vec3(acceleration.x, acceleration.y, 0.0).shortened(most)
        push = Vec3(across.x, across.y, carried)
        return push / push.norm()


def _angles(z_body: Vec3, yaw_rad: Real) -> EulerZYX:
    sine, cosine = sin_cos(yaw_rad)
    forward = cosine * z_body.x + sine * z_body.y
    left = cosine * z_body.y - sine * z_body.x
    return EulerZYX(-jnp.arcsin(left), jnp.arctan2(forward, z_body.z), yaw_rad)


def _rates(swing_body: Vec3, angles: EulerZYX, yaw_rate_radps: Real) -> Vec3:
    """Body rates that swing the z axis so (given in the wanted body axes) and turn the yaw."""
    p, q = -swing_body.y, swing_body.x
    (sin_roll, cos_roll), (_, cos_pitch) = sin_cos(angles.roll_rad), sin_cos(angles.pitch_rad)
    return Vec3(p, q, (yaw_rate_radps * cos_pitch - q * sin_roll) / cos_roll)


def _nearer(q: Quaternion, present: Quaternion) -> Quaternion:
    """Of the two quaternions of one rotation that on the present one's side: no turn too many."""
    cosine = q.w * present.w + q.vector.dot(present.vector)
    sign = jnp.where(cosine < 0.0, -1.0, 1.0)
    return Quaternion(q.w * sign, q.x * sign, q.y * sign, q.z * sign)
