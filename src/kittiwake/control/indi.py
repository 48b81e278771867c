"""Incremental nonlinear dynamic inversion: from body rates to torque, by measured acceleration.

    tau = tau_f + J (nu - alpha_f),        nu = K (omega_ref - omega) + alpha_ref

tau_f: the torque given before, alpha_f: the angular acceleration that was measured meanwhile, both
behind the same low-pass H(s) = (p / (s + p))^2, so that they belong to the same moment. Whatever
else turns the body (gyroscopic and unknown torques, a wrong inertia) is in alpha_f and is taken
back by the increment. Source: Smeur, Chu, de Croon (2016), "Adaptive incremental nonlinear dynamic
inversion for attitude control of micro air vehicles", Journal of Guidance, Control, and Dynamics
39(3), section II with equations 8 to 20; its filter has a damping of .55, this one of 1.

alpha is the difference of two rates over the step between them, over which the torque was held:
both are means over the same time. H is linear and the same for both, so that it is applied once, to
tau - J alpha, as two first-order filters that are sampled exactly. Motors that follow with a lag
are told by ``actuator_lag_s``; tau is then what has passed a lag of that time constant.

The torque is cut to an angular acceleration, so that one that no rotor can give is not taken for a
disturbance that grows. The derivative of noise is noise: a lower p trades it for slower rejection.
"""

from typing import Annotated, ClassVar

import equinox as eqx
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

# of the lag, where there is none
LEAST_LAG_S = 1e-9


class IndiState(eqx.Module):
    """The last rates, the torque as the actuators give it, the two filters, if there was a step."""

    angular_velocity_body_radps: Vec3
    torque_body_nm: Vec3
    first_body_nm: Vec3
    second_body_nm: Vec3
    started: Flag


class Indi(AbstractController):
    """Body rates by increments of the torque; the thrust passes through."""

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
        wanted, estimate = inputs
        omega = estimate.angular_velocity_body_radps
        measured = (omega - state.angular_velocity_body_radps) * (1.0 / dt_s)
        unseen = state.torque_body_nm - self.inertia_kgm2.times(measured)
        share = (1.0 - jnp.exp(-self.filter_radps * dt_s)) * jnp.where(state.started, 1.0, 0.0)
        first = state.first_body_nm + (unseen - state.first_body_nm) * share
        second = state.second_body_nm + (first - state.second_body_nm) * share
        torque = self._within(self.inertia_kgm2.times(self._answer(wanted, omega)) + second)
        given = self._given(state.torque_body_nm, torque, dt_s)
        later = IndiState(omega, given, first, second, jnp.asarray(True))
        return later, ThrustTorque(wanted.thrust_n, torque)

    def _answer(self, wanted: ThrustRates, omega: Vec3) -> Vec3:
        behind = wanted.angular_velocity_body_radps - omega
        tilt, yaw = self.tilt_rate_gain_per_s, self.yaw_rate_gain_per_s
        feedback = Vec3(tilt * behind.x, tilt * behind.y, yaw * behind.z)
        return wanted.angular_acceleration_body_radps2 + feedback

    def _within(self, torque: Vec3) -> Vec3:
        limit = self.max_angular_acceleration_radps2
        inertia = self.inertia_kgm2
        return Vec3(
            jnp.clip(torque.x, -limit * inertia.xx, limit * inertia.xx),
            jnp.clip(torque.y, -limit * inertia.yy, limit * inertia.yy),
            jnp.clip(torque.z, -limit * inertia.zz, limit * inertia.zz),
        )

    def _given(self, before: Vec3, torque: Vec3, dt_s: Real) -> Vec3:
        """The mean torque over the next step, to first order the one at its end."""
        lag = jnp.maximum(self.actuator_lag_s, LEAST_LAG_S)
        return before + (torque - before) * (1.0 - jnp.exp(-dt_s / lag))
