"""Heading and speed of a vessel to its rudder and thrust.

Thrust answers the speed error, the rudder answers the heading error the short way round and its
filtered rate, D N s / (s + N), both within the actuators' range. Source of law and gains: Velasco
et al. (2020), Drones 4(3), 37, section 5.2, with its program. Two changes: the filter is
discretised exactly, so that it is stable at any step, and it begins at the first error instead of
at zero, so that the rudder is not kicked at the start.

The estimate tells the speed over ground, which in a current is not the one through the water.
"""

import math
from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.component import AbstractController
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.signals import HeadingSpeed, RudderThrust
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle


class HeadingFilterState(eqx.Module):
    """The heading error behind the filter, and whether there has been one."""

    filtered_rad: Real
    started: Flag


class VesselHeadingSpeed(AbstractController):
    """Heading and speed to rudder and thrust."""

    consumes: ClassVar[type] = HeadingSpeed
    produces: ClassVar[type] = RudderThrust

    speed_gain_kgps: Annotated[Real, NOT_NEGATIVE] = 82.65
    heading_gain: Annotated[Real, NOT_NEGATIVE] = 0.5
    heading_rate_gain_s: Annotated[Real, NOT_NEGATIVE] = 0.6
    filter_rate_per_s: Annotated[Real, POSITIVE] = 21.42
    max_rudder_rad: Annotated[Real, POSITIVE] = math.radians(35.0)
    max_thrust_n: Annotated[Real, POSITIVE] = 3.0

    def init(self, key: PRNGKeyArray) -> HeadingFilterState:
        """No error seen yet."""
        del key
        return HeadingFilterState(jnp.asarray(0.0), jnp.asarray(False))

    def step(
        self,
        state: HeadingFilterState,
        inputs: tuple[HeadingSpeed, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[HeadingFilterState, RudderThrust]:
        """Rudder and thrust that reduce both errors."""
        del key
        wanted, estimate = inputs
        error = wrap_angle(wanted.heading_rad - estimate.euler_world_from_body.yaw_rad)
        filtered = jnp.where(state.started, state.filtered_rad, error)
        # an error that passes half a turn jumps by a whole one, which is no motion
        behind = wrap_angle(error - filtered)
        rudder = (
            self.heading_gain * error + self.heading_rate_gain_s * self.filter_rate_per_s * behind
        )
        thrust = self.speed_gain_kgps * (wanted.speed_mps - estimate.velocity_body_mps.x)
        share = 1.0 - jnp.exp(-self.filter_rate_per_s * dt_s)
        return HeadingFilterState(
            wrap_angle(filtered + share * behind), jnp.asarray(True)
        ), RudderThrust(
            rudder_rad=jnp.clip(rudder, -self.max_rudder_rad, self.max_rudder_rad),
            thrust_n=jnp.clip(thrust, -self.max_thrust_n, self.max_thrust_n),
        )
