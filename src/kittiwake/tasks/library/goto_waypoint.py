"""QRSim's GotoWP: reach a waypoint by the end of the episode, at little effort.

The reward is that of TaskGotoWP (QRSim, 2013): ``r = -effort dt`` in each step, with the ``effort``
of the sticks, plus ``-|p - p_w|^2`` in the last one, with the waypoint p_w.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import RelativeMotion, relative_motion
from kittiwake.tasks.library.pelican import (
    FACING_NORTH,
    LOST_REWARD,
    NOISELESS_OR_GUSTY,
    STICK_REQUIREMENTS,
    STICKS,
    effort,
)
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene


class GotoWaypoint(AbstractTask[tuple[()]]):
    """Flight of a Pelican to ``waypoint_world_m``.

    Attributes:
        waypoint_world_m: position of the waypoint.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    waypoint_world_m: Vec3 = Vec3(-50.0, -50.0, 10.0)

    scenario: ClassVar[str] = "goto-waypoint"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Conditions] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = STICK_REQUIREMENTS
    lost_reward: ClassVar[float] = LOST_REWARD

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def observe(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> RelativeMotion:
        del goal, scene
        return relative_motion(self.waypoint_world_m, FACING_NORTH["yaw_rad"], agent.estimate)

    @override
    def reward(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> Real:
        del goal
        error = agent.truth.position_world_m - self.waypoint_world_m
        return -effort(agent.command) / self.rate_hz - jnp.where(scene.last, square(error), 0.0)

    @override
    def metrics(self, goal: tuple[()], scene: TaskScene) -> dict[str, Real]:
        del goal

        def distance_m(agent: Agent) -> Real:
            return (agent.truth.position_world_m - self.waypoint_world_m).norm()

        return {"distance_m": jnp.asarray(scene.each(distance_m)).max()}
