"""Geometric tracking control on SE(3): from a place to thrust and torque, without angles.

World z is up. With e_x, e_v the errors of place and velocity and g e_z gravity::

    A = -k_x e_x - k_v e_v + g e_z + a_0
    f = m A . R e_z
    R_d: b_3 = A / |A|, b_1 towards the heading (``moving_frame``)
    e_R = (R_d^T R - R^T R_d)^vee / 2,        e_O = Omega - R^T R_d Omega_d
    M = J (-k_R e_R - k_O e_O) + Omega x J Omega - J (Omega x R^T R_d Omega_d - R^T R_d Omega_d')

Omega_d and its derivative follow from those of A: of the errors by the motion of the body under its
own thrust, of the place by velocity, acceleration and jerk that are fed forward, whose snap is
taken as zero. Source: Lee, Leok, McClamroch (2010), "Geometric tracking control of a quadrotor UAV
on SE(3)", 49th IEEE Conference on Decision and Control, equations 8 to 16. Its gains are per mass
and per moment of inertia here (k_R and k_Omega one for each axis), so that they carry over to other
vehicles.

Beyond the source the error of the place asks for no more than a speed, and both errors for no more
than an acceleration; while that is cut, A is taken to stand still. Drag is neglected. The attitude
settles from any start but one turned by exactly half a turn, where e_R vanishes.
``max_feedback_mps2`` below g keeps A from pointing down in a descent: as A passes near zero its
direction turns too fast for any torque.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.moving_frame import AttitudeFrame, Moving, attitude_error, frame_of, heading
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class Lee(AbstractController):
    """Geometric tracking of a place and a yaw."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    position_gain_per_s2: Annotated[Real, POSITIVE] = 2.25
    velocity_gain_per_s: Annotated[Real, POSITIVE] = 3.0
    attitude_gain_per_s2: Annotated[Vec3, POSITIVE] = Vec3(64.0, 64.0, 16.0)
    rate_gain_per_s: Annotated[Vec3, NOT_NEGATIVE] = Vec3(16.0, 16.0, 8.0)
    max_speed_mps: Annotated[Real, POSITIVE] = 5.0
    max_feedback_mps2: Annotated[Real, POSITIVE] = 6.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        wanted, estimate = inputs
        force = self._force(wanted, estimate)
        towards = heading(wanted.yaw_rad, wanted.yaw_rate_radps)
        frame = frame_of(force, towards, estimate.q_world_from_body, nearest=False)
        up = estimate.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
        thrust = self.mass_kg * self._lift(force.now.dot(up))
        return state, ThrustTorque(thrust, self._torque(frame, estimate))

    def _lift(self, asked_mps2: Real) -> Real:
        """What thrust there is, per mass."""
        return jnp.clip(asked_mps2, 0.0, self.max_thrust_n / self.mass_kg)

    def _force(self, wanted: PositionYaw, estimate: Kinematics) -> Moving:
        """A: what thrust is to give per mass, with its derivatives."""
        behind = wanted.position_world_m - estimate.position_world_m
        slower = wanted.velocity_world_mps - estimate.velocity_world_mps
        pull = behind * (self.position_gain_per_s2 / self.velocity_gain_per_s)
        speed = pull.shortened(self.max_speed_mps)
        free = (speed + slower) * self.velocity_gain_per_s
        feedback = free.shortened(self.max_feedback_mps2)
        gravity = Vec3(0.0, 0.0, self.gravity_mps2)
        now = feedback + wanted.acceleration_world_mps2 + gravity
        cut = (pull.norm() > self.max_speed_mps) | (free.norm() > self.max_feedback_mps2)
        follows = jnp.where(cut, 0.0, 1.0)
        up = estimate.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
        spin = estimate.q_world_from_body.rotate(estimate.angular_velocity_body_radps)
        strength, turning = self._lift(now.dot(up)), spin.cross(up)
        weaker = wanted.acceleration_world_mps2 + gravity - up * strength
        rate = wanted.jerk_world_mps3 + self._feedback(slower, weaker) * follows
        free_lift = jnp.where(strength == now.dot(up), 1.0, 0.0)
        strengthening = (rate.dot(up) + now.dot(turning)) * free_lift
        jerk = up * strengthening + turning * strength
        second = self._feedback(weaker, wanted.jerk_world_mps3 - jerk) * follows
        return Moving(now, rate, second)

    def _feedback(self, behind: Vec3, slower: Vec3) -> Vec3:
        return behind * self.position_gain_per_s2 + slower * self.velocity_gain_per_s

    def _torque(self, frame: AttitudeFrame, estimate: Kinematics) -> Vec3:
        q, omega = estimate.q_world_from_body, estimate.angular_velocity_body_radps
        into_body = q.inverse()
        wanted = into_body.rotate(frame.outside(frame.angular_velocity_radps))
        onward = into_body.rotate(frame.outside(frame.angular_acceleration_radps2))
        error = attitude_error(q, frame)
        gain, damping, ahead = self.attitude_gain_per_s2, self.rate_gain_per_s, omega - wanted
        feedback = Vec3(
            gain.x * error.x + damping.x * ahead.x,
            gain.y * error.y + damping.y * ahead.y,
            gain.z * error.z + damping.z * ahead.z,
        )
        acceleration = onward - omega.cross(wanted) - feedback
        gyroscopic = self.inertia_kgm2.gyroscopic(omega)
        return self.inertia_kgm2.times(acceleration) + gyroscopic
