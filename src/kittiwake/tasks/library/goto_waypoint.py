"""QRSim's GotoWP: be at a waypoint when the time is up, at little effort until then.

The reward is that of TaskGotoWP (QRSim, 2013): ``r = -effort dt`` in each step, with the ``effort``
of the sticks, and ``-|p - p_w|^2`` more in the last one, with the waypoint p_w.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import RelativeMotion, motion_about
from kittiwake.tasks.library.pelican import (
    LOOK,
    LOST,
    NATIVE_STICKS,
    NOISELESS_OR_GUSTY,
    STICKS,
    effort,
)
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene


class GotoWaypoint(AbstractTask):
    """The waypoint is ``waypoint_world_m``."""

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    waypoint_world_m: Vec3 = Vec3(-50.0, -50.0, 10.0)

    scenario: ClassVar[str] = "goto-waypoint"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = NATIVE_STICKS
    lost_reward: ClassVar[float] = LOST

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def observe(self, goal: Any, agent: Agent, scene: TaskScene) -> RelativeMotion:
        del goal, scene
        return motion_about(self.waypoint_world_m, LOOK["yaw_rad"], agent.estimate)

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        del goal
        away = agent.truth.position_world_m - self.waypoint_world_m
        return -effort(agent.command) / self.rate_hz - jnp.where(scene.last, square(away), 0.0)

    @override
    def figures(self, goal: Any, scene: TaskScene) -> dict[str, Real]:
        del goal

        def away_m(agent: Agent) -> Real:
            return (agent.truth.position_world_m - self.waypoint_world_m).norm()

        return {"distance_m": jnp.asarray(scene.each(away_m)).max()}
