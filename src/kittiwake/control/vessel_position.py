"""A place to the heading and speed of a vessel: pure pursuit.

Outside ``hold_radius_m`` the vessel heads for the place at its cruise speed, which its rudder needs
to turn. Inside, it steers straight on and runs forward or astern to the point of its own axis that
is nearest to the place; there it lies still, at most the radius beside it. A radius above that of
the vessel's turning circle keeps it from going round a place that it cannot reach. Without a radius
it passes through places at full speed, as in the source: Velasco et al. (2020), Drones 4(3), 37.

Height and yaw of the set point are not followed.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.commands import HeadingSpeed, PositionYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.interfaces.controller import AbstractController

# nearer than this a place has no direction; its square is a normal number in single precision too
THERE_M = 1e-12


class VesselPosition(AbstractController):
    """Position to heading and speed."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = HeadingSpeed

    cruise_speed_mps: Annotated[Real, NOT_NEGATIVE] = 1.0
    hold_radius_m: Annotated[Real, NOT_NEGATIVE] = 1.5
    approach_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 0.7

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], HeadingSpeed]:
        del dt_s, key
        wanted, estimate = inputs
        error = wanted.position_world_m - estimate.position_world_m
        yaw = estimate.euler_world_from_body.yaw_rad
        sine, cosine = sin_cos(yaw)
        square = error.x * error.x + error.y * error.y
        apart = square > THERE_M**2
        bearing = jnp.arctan2(jnp.where(apart, error.y, sine), jnp.where(apart, error.x, cosine))
        near = square < self.hold_radius_m * self.hold_radius_m
        cruise = self.cruise_speed_mps
        forward = cosine * error.x + sine * error.y
        return state, HeadingSpeed(
            heading_rad=jnp.where(near, yaw, bearing),
            speed_mps=jnp.where(
                near, jnp.clip(self.approach_gain_per_s * forward, -cruise, cruise), cruise
            ),
        )
