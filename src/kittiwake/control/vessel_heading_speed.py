"""Heading and speed of a vessel to rudder and thrust.

The thrust is proportional to the speed error. The rudder follows the wrapped heading error and its
filtered rate, D N s / (s + N). Both are limited to the actuators' range. Source of law and gains:
Velasco et al. (2020), Drones 4(3), 37, section 5.2, with its program. Two changes: the filter is
discretized exactly, so that it is stable at any step, and it begins at the first error instead of
zero, so that the rudder does not jump at the start.

The estimated speed is over ground, which in a current differs from the speed through the water.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import HeadingSpeed, RudderThrust
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.interfaces.controller import AbstractController


class VesselHeadingSpeed(AbstractController[PidState, HeadingSpeed, RudderThrust]):
    """Heading and speed to rudder and thrust.

    Attributes:
        speed_gain_kgps: thrust per speed error.
        heading_gain: rudder angle per heading error.
        heading_rate_gain_s: rudder angle per rate of the heading error.
        filter_rate_per_s: filter of that rate.
        max_rudder_rad: limit of the rudder angle.
        max_thrust_n: limit of the thrust.
    """

    consumes: ClassVar[type] = HeadingSpeed
    produces: ClassVar[type] = RudderThrust

    speed_gain_kgps: Annotated[Real, NOT_NEGATIVE] = 82.65
    heading_gain: Annotated[Real, NOT_NEGATIVE] = 0.5
    heading_rate_gain_s: Annotated[Real, NOT_NEGATIVE] = 0.6
    filter_rate_per_s: Annotated[Real, POSITIVE] = 21.42
    max_rudder_rad: Annotated[Real, POSITIVE] = math.radians(35.0)
    max_thrust_n: Annotated[Real, POSITIVE] = 3.0

    @override
    def init(self, key: PRNGKeyArray) -> PidState:
        del key
        return self._helm.init()

    @override
    def step(
        self,
        state: PidState,
        inputs: tuple[HeadingSpeed, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[PidState, RudderThrust]:
        del key
        command, estimate = inputs
        error = wrap_angle(command.heading_rad - estimate.euler_world_from_body.yaw_rad)
        # the PD wraps its error rate: at half a turn the error jumps by a full turn without motion
        later, rudder = self._helm.step(state, error, dt_s)
        thrust = self.speed_gain_kgps * (command.speed_mps - estimate.velocity_body_mps.x)
        return later, RudderThrust(
            rudder_rad=rudder,
            thrust_n=jnp.clip(thrust, -self.max_thrust_n, self.max_thrust_n),
        )

    @property
    def _helm(self) -> Pid:
        return Pid(
            proportional=self.heading_gain,
            derivative_s=self.heading_rate_gain_s,
            filter_radps=self.filter_rate_per_s,
            lower=-self.max_rudder_rad,
            upper=self.max_rudder_rad,
            turn=math.tau,
        )
