"""Acceleration and yaw to thrust and attitude of a multirotor.

The thrust of a multirotor acts along its z axis only, so the required force F z_b = m (a + g e_z)
determines the thrust and the direction z_b; yaw is free and completes the attitude (differential
flatness: Mellinger and Kumar 2011, "Minimum snap trajectory generation and control for
quadrotors", equations 5 to 9). In the axes of the commanded heading z_b = (sin(pitch) cos(roll),
-sin(roll), cos(pitch) cos(roll)), which gives roll and pitch, and yaw is exact.

The jerk j rotates z_b: dz_b/dt = (j - (j z_b) z_b) / |a + g e_z|. The rate about z_b follows from
the yaw rate, which is (q sin(roll) + r cos(roll)) / cos(pitch).

Where the tilt is limited, the vertical force is kept and the horizontal force is reduced. For a
downward or nearly zero force z_b is undefined: its direction is computed as if ``LEAST_LIFT`` of
the weight were to be carried, while the thrust itself decreases to its minimum. Drag is neglected.
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
# directions whose cosine differs less from 1 count as equal
PARALLEL = 1e-6
UPRIGHT_RAD = Bounds(0.0, 1.5, open_below=True)


class Acceleration(AbstractController[tuple[()], AccelerationYaw, ThrustAttitude]):
    """Acceleration and yaw to thrust and attitude.

    Attributes:
        mass_kg: mass of the vehicle.
        max_thrust_n: largest thrust of the vehicle.
        min_thrust_n: smallest thrust.
        max_tilt_rad: tilt beyond which the vertical force is kept and the horizontal force reduced.
        gravity_mps2: gravity that the controller compensates.
    """

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
        command, estimate = inputs
        acceleration = command.acceleration_world_mps2
        lift = acceleration.z + self.gravity_mps2
        z_body = self._upright(acceleration, lift)
        thrust = jnp.clip(self.mass_kg * lift / z_body.z, self.min_thrust_n, self.max_thrust_n)
        angles = _angles(z_body, command.yaw_rad)
        attitude = Quaternion.from_euler(angles)
        sideways = command.jerk_world_mps3 - z_body * command.jerk_world_mps3.dot(z_body)
        # a limited direction does not follow the jerk
        push = Vec3(acceleration.x, acceleration.y, lift)
        free = (lift > 0.0) & (push.dot(z_body) >= push.norm() * (1.0 - PARALLEL))
        swing = sideways * jnp.where(free, 1.0 / jnp.where(free, push.norm(), 1.0), 0.0)
        rates = _rates(attitude.inverse().rotate(swing), angles, command.yaw_rate_radps)
        q = _nearest_sign(attitude, estimate.q_world_from_body)
        return state, ThrustAttitude(thrust, q, rates)

    def _upright(self, acceleration: Vec3, lift: Real) -> Vec3:
        """Return the direction of thrust, with limited tilt; ``lift`` is the vertical component."""
        carried = jnp.maximum(lift, LEAST_LIFT * self.gravity_mps2)
        most = carried * jnp.tan(self.max_tilt_rad)
        across = Vec3(acceleration.x, acceleration.y, 0.0).clip_norm(most)
        push = Vec3(across.x, across.y, carried)
        return push / push.norm()

    @classmethod
    @override
    def examples(cls) -> dict[str, "Acceleration"]:
        return {"of 1.5 kg": cls(mass_kg=1.5, max_thrust_n=28.8)}


def _angles(z_body: Vec3, yaw_rad: Real) -> EulerZYX:
    sine, cosine = sin_cos(yaw_rad)
    forward = cosine * z_body.x + sine * z_body.y
    left = cosine * z_body.y - sine * z_body.x
    return EulerZYX(-jnp.arcsin(left), jnp.arctan2(forward, z_body.z), yaw_rad)


def _rates(swing_body: Vec3, angles: EulerZYX, yaw_rate_radps: Real) -> Vec3:
    """Return the body rates for a rate of the z axis, in the commanded body axes, and of yaw."""
    p, q = -swing_body.y, swing_body.x
    (sin_roll, cos_roll), (_, cos_pitch) = sin_cos(angles.roll_rad), sin_cos(angles.pitch_rad)
    return Vec3(p, q, (yaw_rate_radps * cos_pitch - q * sin_roll) / cos_roll)


def _nearest_sign(q: Quaternion, present: Quaternion) -> Quaternion:
    """Return the quaternion or its negative, whichever is closer to the present one."""
    cosine = q.w * present.w + q.vector.dot(present.vector)
    sign = jnp.where(cosine < 0.0, -1.0, 1.0)
    return Quaternion(q.w * sign, q.x * sign, q.y * sign, q.z * sign)
