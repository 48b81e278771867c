"""Kemper's attitude controller: a PID for each angle.

    tau = I (k_p e + i + k_d e'),    i' = k_i e,    k_p = w^2, k_d = 2 z w, k_i = c k_p

e: the attitude error about each body axis and e' its rate (``attitude_error.py``); w and z
are frequency and damping of the loop without the integral, so that gains do not depend on the
vehicle. c = 0 gives a PD. The integral is stable for c < 2 z w. The angular acceleration is
limited, and the integral is held at the limits.

Source of the law: Kemper, "Quad-rotor flight path energy optimization" (dissertation, Northern
Arizona University), as Micklisch, Hilliard, ElAarag (2021), Simulation 97(3), describe it. Its
gains are not published; these are derived for the OS4: w 8 rad/s, in yaw 4 rad/s, z .9, c .3 1/s.
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.attitude_error import AttitudeError
from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustAttitude, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module


class KemperState(Module):
    """State of the PID of each body axis."""

    x: PidState
    y: PidState
    z: PidState


class Kemper(AbstractController[KemperState, ThrustAttitude, ThrustTorque]):
    """Thrust and attitude to thrust and torque; the thrust passes through.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        tilt_frequency_radps: w of roll and pitch.
        yaw_frequency_radps: w of yaw.
        damping: z.
        tilt_integral_per_s: c of roll and pitch; 0 makes a PD.
        yaw_integral_per_s: c of yaw; 0 makes a PD.
        max_tilt_acceleration_radps2: limit, at which the integral is held.
        max_yaw_acceleration_radps2: limit, at which the integral is held.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_frequency_radps: Annotated[Real, POSITIVE] = 8.0
    yaw_frequency_radps: Annotated[Real, POSITIVE] = 4.0
    damping: Annotated[Real, NOT_NEGATIVE] = 0.9
    tilt_integral_per_s: Annotated[Real, NOT_NEGATIVE] = 0.3
    yaw_integral_per_s: Annotated[Real, NOT_NEGATIVE] = 0.3
    max_tilt_acceleration_radps2: Annotated[Real, POSITIVE] = 100.0
    max_yaw_acceleration_radps2: Annotated[Real, POSITIVE] = 30.0

    @override
    def init(self, key: PRNGKeyArray) -> KemperState:
        del key
        return KemperState(self._tilt.init(), self._tilt.init(), self._yaw.init())

    @override
    def step(
        self,
        state: KemperState,
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[KemperState, ThrustTorque]:
        del key
        command, estimate = inputs
        error = AttitudeError.between(command, estimate)
        turn, rate = error.turn_body_rad, error.rate_body_radps
        x_state, x = self._tilt.step(state.x, turn.x, dt_s, error_rate=rate.x)
        y_state, y = self._tilt.step(state.y, turn.y, dt_s, error_rate=rate.y)
        z_state, z = self._yaw.step(state.z, turn.z, dt_s, error_rate=rate.z)
        torque = self.inertia_kgm2.times(Vec3(x, y, z))
        return KemperState(x_state, y_state, z_state), ThrustTorque(command.thrust_n, torque)

    @property
    def _tilt(self) -> Pid:
        return self._pid(
            self.tilt_frequency_radps, self.tilt_integral_per_s, self.max_tilt_acceleration_radps2
        )

    @property
    def _yaw(self) -> Pid:
        return self._pid(
            self.yaw_frequency_radps, self.yaw_integral_per_s, self.max_yaw_acceleration_radps2
        )

    def _pid(self, frequency_radps: Real, integral_per_s: Real, limit_radps2: Real) -> Pid:
        stiffness = frequency_radps * frequency_radps
        return Pid(
            proportional=stiffness,
            integral_per_s=integral_per_s * stiffness,
            derivative_s=2.0 * self.damping * frequency_radps,
            lower=-limit_radps2,
            upper=limit_radps2,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Kemper"]:
        return {"plain": cls(Inertia(0.02, 0.03, 0.04))}
