"""Position to heading and speed of a vessel, by pure pursuit.

Outside of ``hold_radius_m`` the vessel heads for the setpoint at its cruise speed, which the rudder
requires. Inside, it keeps its heading and moves forward or astern to the point of its axis that is
nearest to the setpoint, and stops there. A radius above that of the vessel's turning circle keeps
it from circling around the setpoint. Without a radius it passes the setpoint at full speed, as in
the source: Velasco et al. (2020), Drones 4(3), 37.

Height and yaw of the setpoint are ignored.
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

# below this distance the bearing is undefined; its square is a normal number in float32, too
THERE_M = 1e-12


class VesselPosition(AbstractController[tuple[()], PositionYaw, HeadingSpeed]):
    """Position to heading and speed.

    Attributes:
        cruise_speed_mps: speed towards the setpoint.
        hold_radius_m: distance within which the heading is kept; 0 passes setpoints at full speed.
        approach_gain_per_s: speed per meter within that radius.
    """

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
        command, estimate = inputs
        error = command.position_world_m - estimate.position_world_m
        yaw = estimate.euler_world_from_body.yaw_rad
        sine, cosine = sin_cos(yaw)
        square = error.x * error.x + error.y * error.y
        has_bearing = square > THERE_M**2
        bearing = jnp.arctan2(
            jnp.where(has_bearing, error.y, sine), jnp.where(has_bearing, error.x, cosine)
        )
        near = square < self.hold_radius_m * self.hold_radius_m
        cruise = self.cruise_speed_mps
        forward = cosine * error.x + sine * error.y
        return state, HeadingSpeed(
            heading_rad=jnp.where(near, yaw, bearing),
            speed_mps=jnp.where(
                near, jnp.clip(self.approach_gain_per_s * forward, -cruise, cruise), cruise
            ),
        )
