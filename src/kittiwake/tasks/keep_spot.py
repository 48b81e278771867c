"""QRSim's KeepSpot: stay where you are, at little effort.

The reward is that of TaskKeepSpotWithReward (QRSim, 2013): ``r = -sum_i (R_i (u_i - u0_i))^2 dt -
|p - p0|^2`` with the sticks u = (pitch, roll, throttle, yaw rate) in SI units, u0 = (0, 0, 0.59, 0)
and R = (2/pi, 2/pi, 1/2, 1).
"""

from collections.abc import Mapping, Sequence
from math import pi
from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.signals import AttitudeThrottle
from kittiwake.core.vehicle import Vehicle
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.motion import Motion, motion_about
from kittiwake.tasks.rewards import square
from kittiwake.tasks.rung import Rung, Span
from kittiwake.tasks.task import AbstractTask, Agent, Scene

HOVER_THROTTLE = 0.59
STICKS = Rung(
    AttitudeThrottle,
    {
        "pitch_rad": Span(0.0, 0.9),
        "roll_rad": Span(0.0, 0.9),
        "throttle": Span(HOVER_THROTTLE, HOVER_THROTTLE),
        "yaw_rate_radps": Span(0.0, 4.5),
    },
    {"battery_v": 12.0},
)


def effort(sticks: AttitudeThrottle) -> Real:
    """What moving the sticks costs, in 1/s."""
    tilt = (sticks.pitch_rad**2 + sticks.roll_rad**2) * (2.0 / pi) ** 2
    return tilt + (0.5 * (sticks.throttle - HOVER_THROTTLE)) ** 2 + sticks.yaw_rate_radps**2


class KeepSpot(AbstractTask):
    """Every agent at the place where the scenario lets it start, looking where it looked."""

    rate_hz: Annotated[Real, POSITIVE] = 50.0

    scenario: ClassVar[str] = "keep-spot"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noiseless": {
            "vehicles.pelican.sensors": {},
            "vehicles.pelican.estimator": "truth",
            "vehicles.pelican.parameters.linear_noise_mps2": 0,
            "vehicles.pelican.parameters.angular_noise_radps2": 0,
        },
    }

    def rung(self, vehicle: Vehicle) -> Rung:
        """The sticks."""
        del vehicle
        return STICKS

    def begin(self, scene: Scene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Any:
        """The spots and headings."""
        del scene, key
        starts = [vehicle.start for vehicle in vehicles]
        spots = [start.position_world_m.array for start in starts]
        dtype = jnp.result_type(float)
        return jnp.asarray(spots, dtype), jnp.asarray([start.yaw_rad for start in starts], dtype)

    def observe(self, goal: Any, agent: Agent, scene: Scene) -> Motion:
        """What it believes of its motion about the spot."""
        del scene
        spots, yaws = goal
        return motion_about(Vec3.of(spots[agent.number]), yaws[agent.number], agent.estimate)

    def reward(self, goal: Any, agent: Agent, scene: Scene) -> Real:
        """The reward above."""
        del scene
        away = agent.truth.position_world_m - Vec3.of(goal[0][agent.number])
        return -effort(agent.command) / self.rate_hz - square(away)
