"""Incremental nonlinear dynamic inversion (INDI) of the body rates.

    tau = tau_f + J (nu - alpha_f),        nu = K (omega_ref - omega) + alpha_ref

tau_f: the previous torque, alpha_f: the measured angular acceleration, both filtered by the same
low-pass H(s) = (p / (s + p))^2, so that they have the same delay. All other effects on the rotation
(gyroscopic and unknown torques, a wrong inertia) are contained in alpha_f and are compensated by
the increment. Source: Smeur, Chu, de Croon (2016), "Adaptive incremental nonlinear dynamic
inversion for attitude control of micro air vehicles", Journal of Guidance, Control, and Dynamics
39(3), section II with equations 8 to 20; its filter has a damping of .55, this one of 1.

alpha is the difference of two rates divided by the step between them, during which the torque was
constant: both are means over the same time. H is linear and the same for both, so that it is
applied once, to tau - J alpha, as two first-order filters, discretized exactly. ``actuator_lag_s``
is the time constant of the motors; tau is then the torque after such a lag.

The torque is limited to an angular acceleration, so that an infeasible torque is not mistaken for a
growing disturbance. Differentiation amplifies noise: a lower p trades it for slower rejection.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustRates, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

# time constant in place of zero
LEAST_LAG_S = 1e-9


class IndiState(Module):
    """Last rates, torque behind the actuators' lag, both filters, and whether a step was made."""

    angular_velocity_body_radps: Vec3
    torque_body_nm: Vec3
    first_body_nm: Vec3
    second_body_nm: Vec3
    started: Flag


class Indi(AbstractController[IndiState, ThrustRates, ThrustTorque]):
    """Thrust and body rates to thrust and torque, by increments of the torque.

    Attributes:
        inertia_kgm2: assumed inertia of the vehicle.
        tilt_rate_gain_per_s: K of roll and pitch.
        yaw_rate_gain_per_s: K of yaw.
        filter_radps: p, of the filters of acceleration and torque.
        actuator_lag_s: time constant of the motors; without it a vehicle with slow motors
            oscillates.
        max_angular_acceleration_radps2: limit of the torque over the inertia.
    """

    consumes: ClassVar[type] = ThrustRates
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_rate_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 12.0
    yaw_rate_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 6.0
    filter_radps: Annotated[Real, POSITIVE] = 50.0
    actuator_lag_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_angular_acceleration_radps2: Annotated[Real, POSITIVE] = 100.0

    @override
    def init(self, key: PRNGKeyArray) -> IndiState:
        del key
        zero = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return IndiState(zero, zero, zero, zero, jnp.asarray(False))

    @override
    def step(
        self,
        state: IndiState,
        inputs: tuple[ThrustRates, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[IndiState, ThrustTorque]:
        del key
        command, estimate = inputs
        omega = estimate.angular_velocity_body_radps
        measured = (omega - state.angular_velocity_body_radps) * (1.0 / dt_s)
        residual = state.torque_body_nm - self.inertia_kgm2.times(measured)
        share = (1.0 - jnp.exp(-self.filter_radps * dt_s)) * jnp.where(state.started, 1.0, 0.0)
        first = state.first_body_nm + (residual - state.first_body_nm) * share
        second = state.second_body_nm + (first - state.second_body_nm) * share
        demanded = self.inertia_kgm2.times(self._acceleration(command, omega)) + second
        torque = self._limited(demanded)
        lagged = self._lagged(state.torque_body_nm, torque, dt_s)
        later = IndiState(omega, lagged, first, second, jnp.asarray(True))
        return later, ThrustTorque(command.thrust_n, torque)

    def _acceleration(self, command: ThrustRates, omega: Vec3) -> Vec3:
        error = command.angular_velocity_body_radps - omega
        tilt, yaw = self.tilt_rate_gain_per_s, self.yaw_rate_gain_per_s
        feedback = Vec3(tilt * error.x, tilt * error.y, yaw * error.z)
        return command.angular_acceleration_body_radps2 + feedback

    def _limited(self, torque: Vec3) -> Vec3:
        limit = self.max_angular_acceleration_radps2
        inertia = self.inertia_kgm2
        return Vec3(
            jnp.clip(torque.x, -limit * inertia.xx, limit * inertia.xx),
            jnp.clip(torque.y, -limit * inertia.yy, limit * inertia.yy),
            jnp.clip(torque.z, -limit * inertia.zz, limit * inertia.zz),
        )

    def _lagged(self, before: Vec3, torque: Vec3, dt_s: Real) -> Vec3:
        """Return the torque behind the actuators' lag after a step."""
        lag = jnp.maximum(self.actuator_lag_s, LEAST_LAG_S)
        return before + (torque - before) * (1.0 - jnp.exp(-dt_s / lag))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Indi"]:
        return {
            "at once": cls(Inertia(0.02, 0.03, 0.04)),
            "behind motors": cls(Inertia(0.02, 0.03, 0.04, 0.001), actuator_lag_s=0.05),
        }
