"""Dikmen's attitude controller: sliding mode with a boundary layer.

    s = e' + c e
    tau = I (c e' + k sat(s / eps) + eta s) + omega x (I omega)

e: the attitude error about each body axis and e' its rate (``attitude_error.py``). Without external
torques s' = -k sat(s / eps) - eta s: s reaches the layer |s| < eps in finite time and decays there
at k / eps + eta, and the attitude error decays at c. An external torque I d keeps s at
eps d / (k + eta eps) as long as |d| < k + eta eps. The layer replaces sgn(s), which would chatter.

Source: Dikmen, Arisoy, Temeltas (2009), "Attitude control of a quadrotor", RAST, whose law is
written for Euler angles near hover: phi'' = a_1 theta' psi' + a_2 theta' Omega_r + b_1 U_2. Here
the inertia and the gyroscopic torque of the body (a_1) are those of the vehicle. That of the rotors
(a_2) is omitted, since their inertia is not among the vehicle parameters; it acts as a disturbance.
The gains are derived for the OS4 (c 8 1/s, k 15 rad/s^2, eps .2 rad/s); eta and those of yaw (4
1/s, 8 rad/s^2, since rotors give little torque about their axes) are chosen.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.attitude_error import AttitudeError
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustAttitude, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class Dikmen(AbstractController[tuple[()], ThrustAttitude, ThrustTorque]):
    """Thrust and attitude to thrust and torque; the thrust passes through.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        tilt_slope_per_s: c of roll and pitch.
        yaw_slope_per_s: c of yaw.
        tilt_switching_gain_radps2: k of roll and pitch.
        yaw_switching_gain_radps2: k of yaw.
        boundary_layer_radps: epsilon.
        reaching_per_s: eta.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_slope_per_s: Annotated[Real, POSITIVE] = 8.0
    yaw_slope_per_s: Annotated[Real, POSITIVE] = 4.0
    tilt_switching_gain_radps2: Annotated[Real, NOT_NEGATIVE] = 15.0
    yaw_switching_gain_radps2: Annotated[Real, NOT_NEGATIVE] = 8.0
    boundary_layer_radps: Annotated[Real, POSITIVE] = 0.2
    reaching_per_s: Annotated[Real, NOT_NEGATIVE] = 1.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        error = AttitudeError.between(command, estimate)
        turn, rate = error.turn_body_rad, error.rate_body_radps
        tilt = (self.tilt_slope_per_s, self.tilt_switching_gain_radps2)
        yaw = (self.yaw_slope_per_s, self.yaw_switching_gain_radps2)
        acceleration = Vec3(
            self._acceleration(tilt, turn.x, rate.x),
            self._acceleration(tilt, turn.y, rate.y),
            self._acceleration(yaw, turn.z, rate.z),
        )
        omega = estimate.angular_velocity_body_radps
        gyroscopic = self.inertia_kgm2.gyroscopic(omega)
        torque = self.inertia_kgm2.times(acceleration) + gyroscopic
        return state, ThrustTorque(command.thrust_n, torque)

    def _acceleration(self, gains: tuple[Real, Real], turn_rad: Real, rate_radps: Real) -> Real:
        slope_per_s, switching_radps2 = gains
        distance = rate_radps + slope_per_s * turn_rad
        saturated = jnp.clip(distance / self.boundary_layer_radps, -1.0, 1.0)
        reaching = switching_radps2 * saturated + self.reaching_per_s * distance
        return slope_per_s * rate_radps + reaching

    @classmethod
    @override
    def examples(cls) -> dict[str, "Dikmen"]:
        return {"plain": cls(Inertia(0.02, 0.03, 0.04))}
