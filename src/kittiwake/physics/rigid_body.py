"""Newton-Euler equations of a rigid body.

    m dv/dt = F + m g                                       in the world
    I domega/dt + omega x (I omega + h) = tau               in the body

h is the angular momentum of rotors relative to the body. In a dense fluid the body also moves the
fluid (Kirchhoff; Fossen 2011, "Handbook of Marine Craft Hydrodynamics and Motion Control",
equations 6.42-6.44): with the momenta (p, l) = (M_rb + M_A) (v, omega) in the body,

    dp/dt + omega x p = F + m g,    dl/dt + omega x l + v x p = tau.

Attitude: dq/dt = q (0, omega) / 2 (Sola 2017, equation 201), normalized after each step.
"""

from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

Row = tuple[Real, Real, Real, Real, Real, Real]
Matrix6 = tuple[Row, Row, Row, Row, Row, Row]


class Pose(Module):
    """Position of the center of mass, and attitude."""

    position_world_m: Vec3
    q_world_from_body: Quaternion


class Twist(Module):
    """Velocity in the world, angular velocity in the body."""

    velocity_world_mps: Vec3
    angular_velocity_body_radps: Vec3


class RigidBody(Module):
    """Mass, inertia, and added mass of a fluid (in body axes, order v then omega)."""

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    added_mass: Matrix6 | None = None

    def twist_rate(
        self,
        q_world_from_body: Quaternion,
        twist: Twist,
        wrench: Wrench,
        gravity_mps2: Real,
        rotor_momentum_body_nms: Vec3 | None = None,
    ) -> Twist:
        """Return the rate of the twist under a wrench; gravity is added here."""
        if self.added_mass is not None:
            return self._rate_in_fluid(q_world_from_body, twist, wrench, gravity_mps2)
        omega = twist.angular_velocity_body_radps
        momentum = self.inertia_kgm2.times(omega)
        if rotor_momentum_body_nms is not None:
            momentum = momentum + rotor_momentum_body_nms
        specific_force = q_world_from_body.rotate(wrench.force_body_n) / self.mass_kg
        return Twist(
            specific_force - Vec3(0.0, 0.0, gravity_mps2),
            self.inertia_kgm2.solve(wrench.torque_body_nm - omega.cross(momentum)),
        )

    def kinetic_energy_j(self, twist: Twist) -> Real:
        """Return the kinetic energy of the body, without that of the fluid."""
        velocity, omega = twist.velocity_world_mps, twist.angular_velocity_body_radps
        return 0.5 * (
            self.mass_kg * velocity.dot(velocity) + omega.dot(self.inertia_kgm2.times(omega))
        )

    def _rate_in_fluid(
        self, q: Quaternion, twist: Twist, wrench: Wrench, gravity_mps2: Real
    ) -> Twist:
        inverse = q.inverse()
        v, omega = inverse.rotate(twist.velocity_world_mps), twist.angular_velocity_body_radps
        weight = inverse.rotate(Vec3(0.0, 0.0, -gravity_mps2 * self.mass_kg))
        mass = self._mass_matrix()
        momenta = mass @ jnp.concatenate([v.array, omega.array])
        p, l = Vec3.of(momenta[:3]), Vec3.of(momenta[3:])  # noqa: E741  Kirchhoff's letters
        force = wrench.force_body_n + weight - omega.cross(p)
        torque = wrench.torque_body_nm - omega.cross(l) - v.cross(p)
        rates = jnp.linalg.solve(mass, jnp.concatenate([force.array, torque.array]))
        acceleration_world = q.rotate(Vec3.of(rates[:3]) + omega.cross(v))
        return Twist(acceleration_world, Vec3.of(rates[3:]))

    def _mass_matrix(self) -> jnp.ndarray:
        inertia = self.inertia_kgm2
        rows = [
            [self.mass_kg, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, self.mass_kg, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, self.mass_kg, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, inertia.xx, inertia.xy, inertia.xz],
            [0.0, 0.0, 0.0, inertia.xy, inertia.yy, inertia.yz],
            [0.0, 0.0, 0.0, inertia.xz, inertia.yz, inertia.zz],
        ]
        assert self.added_mass is not None
        return jnp.asarray(rows) + jnp.asarray(self.added_mass)


def pose_rate(pose: Pose, twist: Twist) -> Pose:
    """Return the rate of change of a pose."""
    rate = attitude_rate(pose.q_world_from_body, twist.angular_velocity_body_radps)
    return Pose(twist.velocity_world_mps, rate)


def attitude_rate(q: Quaternion, angular_velocity_body_radps: Vec3) -> Quaternion:
    """Return the rate of change of a quaternion."""
    half = angular_velocity_body_radps * 0.5
    vector = half * q.w + q.vector.cross(half)
    return Quaternion(-q.vector.dot(half), vector.x, vector.y, vector.z)
