"""Velocity and yaw rate to thrust and torque, as in uav_gazebo.

    v' = v'* + K_v (v* - v)
    f = m (v' + g e_z),      f_z at least ``least_lift_n``
    thrust = |f|,   phi* = atan2(-f_y, f_z),   theta* = asin(f_x / |f|)
    psi'' = K_y (psi'* - psi')

phi and theta follow by the law of ``euler_attitude``, with its X-Y-Z angles; psi only by its rate.
Source: uav_gazebo (francofusco), "Position & yaw" and "Velocity & yaw rate", with its
plugin's gains and least lift. Neglected: drag, and the rate of the commanded tilt.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.euler_attitude import (
    EulerAttitude,
    XyzAngles,
    estimated_angles,
    torque_body_nm,
)
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustTorque, VelocityYawRate
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics


class UavGazeboVelocity(AbstractController[tuple[()], VelocityYawRate, ThrustTorque]):
    """Velocity and yaw rate to thrust and torque.

    Attributes:
        mass_kg: mass of the vehicle.
        attitude: attitude controller, of which the tilt is used.
        velocity_gain_per_s: K_v.
        yaw_rate_gain_per_s: K_y.
        least_lift_n: least vertical force.
        gravity_mps2: gravity that the controller compensates.
    """

    consumes: ClassVar[type] = VelocityYawRate
    produces: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    attitude: EulerAttitude
    velocity_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 1.0
    yaw_rate_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 2.0
    least_lift_n: Annotated[Real, POSITIVE] = 0.01
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81

    @classmethod
    @override
    def with_vehicle_defaults(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> Parameters:
        attitude = EulerAttitude.with_vehicle_defaults(dynamics, gravity_mps2)
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | {"attitude": attitude}

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[VelocityYawRate, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        error = command.velocity_world_mps - estimate.velocity_world_mps
        acceleration = command.acceleration_world_mps2 + error * self.velocity_gain_per_s
        thrust_n, phi, theta = self._thrust_and_tilt(acceleration)
        present = estimated_angles(estimate)
        setpoint = XyzAngles(Vec3(phi, theta, 0.0), Vec3(0.0, 0.0, command.yaw_rate_radps))
        tilt = self.attitude.tilt_accelerations(setpoint, present)
        yaw = self.yaw_rate_gain_per_s * (command.yaw_rate_radps - present.rates_radps.z)
        torque = torque_body_nm(self.attitude.inertia_kgm2, estimate, present, Vec3(*tilt, yaw))
        return state, ThrustTorque(thrust_n, torque)

    def _thrust_and_tilt(self, acceleration_world_mps2: Vec3) -> tuple[Real, Real, Real]:
        """Return thrust, phi and theta for an acceleration."""
        push = acceleration_world_mps2 * self.mass_kg
        lift = jnp.maximum(push.z + self.mass_kg * self.gravity_mps2, self.least_lift_n)
        force = Vec3(push.x, push.y, lift)
        theta = jnp.arctan2(force.x, Vec3(0.0, force.y, force.z).norm())
        return force.norm(), jnp.arctan2(-force.y, force.z), theta

    @classmethod
    @override
    def examples(cls) -> dict[str, "UavGazeboVelocity"]:
        return {"of 1.5 kg": cls(1.5, EulerAttitude(Inertia(0.02, 0.03, 0.04)))}
