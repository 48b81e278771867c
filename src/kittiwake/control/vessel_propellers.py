"""Heading and speed of a vessel to the speeds of its two propellers.

The wrapped heading error e gives a yaw rate; rate and speed errors give a moment and a force, with
feed-forward of the damping; these are allocated to the propellers on both sides::

    r_0 = k_h e,                         at most r_max
    N = J k_r (r_0 - r) + J i_r integral + (d_r + d_rr |r_0|) r_0
    X = m k_u (u_0 - u) + m i_u integral + d_u u_0
    T_left = (X - N / y) / 2,   T_right = (X + N / y) / 2,     n = sqrt(T / k), of T's sign

m and J are mass and inertia with added mass, d the damping, y the distance of the propellers from
the centerline, k their coefficient ahead or astern. At saturation, the moment has priority over the
force. The inverse of the propellers' law, a limit of the heading rate and a second-order yaw loop
are those of Fossen's program for the Otter (T. I. Fossen,
PythonVehicleSimulator, ``otter.py``), which filters its reference instead of limiting the rate and
takes the factor for ahead in both directions.

The speed is the estimated speed over ground.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import HeadingSpeed, PropellerSpeeds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

# below this shaft speed the speed is proportional to the thrust: the root is not differentiable
SLOW_RADPS = 1.0


class VesselPropellersState(Module):
    """States of both loops."""

    surge: PidState
    yaw: PidState


class VesselPropellers(AbstractController[VesselPropellersState, HeadingSpeed, PropellerSpeeds]):
    """Heading and speed to the shaft speeds of two propellers.

    Attributes:
        surge_mass_kg: mass in surge, with added mass.
        yaw_inertia_kgm2: moment of inertia in yaw, with added mass.
        propeller_arm_m: distance of each shaft from the centerline.
        ahead_ns2: thrust over the squared speed, ahead.
        astern_ns2: thrust over the squared speed, astern.
        max_ahead_radps: highest shaft speed ahead.
        max_astern_radps: highest shaft speed astern.
        surge_damping_kgps: damping in surge, which is fed forward.
        yaw_damping_nms: linear damping in yaw, which is fed forward.
        yaw_damping_nms2: quadratic damping in yaw, which is fed forward.
        speed_gain_per_s: surge acceleration per speed error.
        speed_integral_per_s2: its integral.
        heading_gain_per_s: yaw rate per heading error.
        max_yaw_rate_radps: limit of the yaw rate setpoint.
        yaw_rate_gain_per_s: yaw acceleration per yaw rate error.
        yaw_rate_integral_per_s2: its integral.
    """

    consumes: ClassVar[type] = HeadingSpeed
    produces: ClassVar[type] = PropellerSpeeds

    surge_mass_kg: Annotated[Real, POSITIVE]
    yaw_inertia_kgm2: Annotated[Real, POSITIVE]
    propeller_arm_m: Annotated[Real, POSITIVE]
    ahead_ns2: Annotated[Real, POSITIVE]
    astern_ns2: Annotated[Real, POSITIVE]
    max_ahead_radps: Annotated[Real, POSITIVE]
    max_astern_radps: Annotated[Real, POSITIVE]
    surge_damping_kgps: Annotated[Real, NOT_NEGATIVE] = 0.0
    yaw_damping_nms: Annotated[Real, NOT_NEGATIVE] = 0.0
    yaw_damping_nms2: Annotated[Real, NOT_NEGATIVE] = 0.0
    speed_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 1.0
    speed_integral_per_s2: Annotated[Real, NOT_NEGATIVE] = 0.3
    heading_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 0.8
    max_yaw_rate_radps: Annotated[Real, POSITIVE] = 0.25
    yaw_rate_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 3.0
    yaw_rate_integral_per_s2: Annotated[Real, NOT_NEGATIVE] = 1.0

    @override
    def init(self, key: PRNGKeyArray) -> VesselPropellersState:
        del key
        return VesselPropellersState(self._throttle.init(), self._helm.init())

    @override
    def step(
        self,
        state: VesselPropellersState,
        inputs: tuple[HeadingSpeed, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[VesselPropellersState, PropellerSpeeds]:
        del key
        command, estimate = inputs
        surge, force_n = self._throttle.step(
            state.surge,
            command.speed_mps - estimate.velocity_body_mps.x,
            dt_s,
            feed_forward=self.surge_damping_kgps * command.speed_mps,
        )
        rate = self._yaw_rate(command.heading_rad - estimate.euler_world_from_body.yaw_rad)
        yaw, moment_nm = self._helm.step(
            state.yaw,
            rate - estimate.angular_velocity_body_radps.z,
            dt_s,
            feed_forward=(self.yaw_damping_nms + self.yaw_damping_nms2 * jnp.abs(rate)) * rate,
        )
        return VesselPropellersState(surge, yaw), self._allocate(force_n, moment_nm)

    @property
    def _thrust_range_n(self) -> tuple[Real, Real]:
        """Largest thrusts of one propeller, astern (negative) and ahead."""
        astern, ahead = self.max_astern_radps, self.max_ahead_radps
        return -self.astern_ns2 * astern * astern, self.ahead_ns2 * ahead * ahead

    @property
    def _throttle(self) -> Pid:
        astern_n, ahead_n = self._thrust_range_n
        return Pid(
            proportional=self.surge_mass_kg * self.speed_gain_per_s,
            integral_per_s=self.surge_mass_kg * self.speed_integral_per_s2,
            lower=2.0 * astern_n,
            upper=2.0 * ahead_n,
        )

    @property
    def _helm(self) -> Pid:
        astern_n, ahead_n = self._thrust_range_n
        max_moment_nm = self.propeller_arm_m * (ahead_n - astern_n)
        return Pid(
            proportional=self.yaw_inertia_kgm2 * self.yaw_rate_gain_per_s,
            integral_per_s=self.yaw_inertia_kgm2 * self.yaw_rate_integral_per_s2,
            lower=-max_moment_nm,
            upper=max_moment_nm,
        )

    def _yaw_rate(self, error_rad: Real) -> Real:
        fastest = self.max_yaw_rate_radps
        return jnp.clip(self.heading_gain_per_s * wrap_angle(error_rad), -fastest, fastest)

    def _allocate(self, force_n: Real, moment_nm: Real) -> PropellerSpeeds:
        """Return the shaft speeds for a force and a moment; the moment has priority."""
        astern_n, ahead_n = self._thrust_range_n
        half_range_n = 0.5 * (ahead_n - astern_n)
        difference_n = jnp.clip(0.5 * moment_nm / self.propeller_arm_m, -half_range_n, half_range_n)
        size_n = jnp.abs(difference_n)
        mean_n = jnp.clip(0.5 * force_n, astern_n + size_n, ahead_n - size_n)
        return PropellerSpeeds(
            self._speed(mean_n - difference_n), self._speed(mean_n + difference_n)
        )

    def _speed(self, thrust_n: Real) -> Real:
        factor = jnp.where(thrust_n > 0.0, self.ahead_ns2, self.astern_ns2)
        square = jnp.abs(thrust_n) / factor
        slow = square < SLOW_RADPS * SLOW_RADPS
        fast_radps = jnp.sign(thrust_n) * jnp.sqrt(jnp.where(slow, 1.0, square))
        return jnp.where(slow, thrust_n / (factor * SLOW_RADPS), fast_radps)

    @classmethod
    @override
    def examples(cls) -> dict[str, "VesselPropellers"]:
        otter = cls(60.5, 43.0, 0.395, 0.0111, 0.0064, 104.0, 102.0, 77.6, 45.3, 453.0)
        return {"otter": otter}
