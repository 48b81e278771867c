"""Thrust and attitude to thrust and torque, by a second-order attitude response.

    tau = I (2 zeta omega_n (omega_0 - omega) + omega_n^2 theta_e) + omega x (I omega)

theta_e: the rotation vector from the present to the commanded attitude, in body axes, by the
shorter way (``2 sgn(w) vec(q_e)`` to first order). omega_n and zeta are given for tilt and for yaw,
so gains do not depend on the vehicle. omega_0: the commanded body rates, rotated into the
present axes. Source: Brescianini, Hehn, D'Andrea (2013), "Nonlinear
quadrocopter attitude control", equation 29, with the gyroscopic term fed forward.
"""

from typing import Annotated, ClassVar

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


class Attitude(AbstractController[tuple[()], ThrustAttitude, ThrustTorque]):
    """Second-order attitude response; the thrust passes through.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        tilt_frequency_radps: w of roll and pitch.
        yaw_frequency_radps: w of yaw.
        damping: z.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_frequency_radps: Annotated[Real, POSITIVE] = 8.0
    yaw_frequency_radps: Annotated[Real, POSITIVE] = 4.0
    damping: Annotated[Real, NOT_NEGATIVE] = 1.0

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
        omega = estimate.angular_velocity_body_radps
        error = AttitudeError.between(command, estimate)
        turn, rate = error.turn_body_rad, error.rate_body_radps
        acceleration = Vec3(
            self._acceleration(self.tilt_frequency_radps, turn.x, rate.x),
            self._acceleration(self.tilt_frequency_radps, turn.y, rate.y),
            self._acceleration(self.yaw_frequency_radps, turn.z, rate.z),
        )
        gyroscopic = self.inertia_kgm2.gyroscopic(omega)
        torque = self.inertia_kgm2.times(acceleration) + gyroscopic
        return state, ThrustTorque(command.thrust_n, torque)

    def _acceleration(self, frequency_radps: Real, angle_rad: Real, rate_radps: Real) -> Real:
        return frequency_radps * (frequency_radps * angle_rad + 2.0 * self.damping * rate_radps)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Attitude"]:
        return {"plain": cls(Inertia(0.02, 0.03, 0.04))}
