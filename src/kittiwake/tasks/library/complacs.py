"""QRSim's Complacs: a sequence of waypoints, for a reward of your own.

A Pelican begins at the first of 34 waypoints and flies to each in turn; it advances to the next one
as soon as its estimated position is within 0.4 m. As in the original the reward of a step is zero,
and only a loss counts. ``reward_per_waypoint`` is ours: the reward for each waypoint, 0 by default.

Source: QRSim (R. De Nardi, 2013), TaskComplacs, and its main program ``mainComplacs``, which holds
the waypoints, the distance and the 30,000 steps of 0.02 s that it flies.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
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
)
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

HEIGHT_M = 9.0
# north and east coordinates of each waypoint in the original
NORTH_EAST_M = (
    (6, -8),
    (0, -8),
    (0, 0),
    (14, 0),
    (14, -8),
    (8, -8),
    (8, 0),
    (16, 0),
    (16, -8),
    (19, -4),
    (22, -8),
    (22, 0),
    (24, 0),
    (24, -8),
    (30, -8),
    (30, -4),
    (24, -4),
    (24, 0),
    (32, 0),
    (32, -8),
    (32, 0),
    (40, 0),
    (43, -8),
    (46, 0),
    (49, 0),
    (49, -8),
    (55, -8),
    (49, -8),
    (49, 0),
    (63, 0),
    (63, -4),
    (57, -4),
    (57, -8),
    (63, -8),
)
WAYPOINTS_WORLD_M = tuple(Vec3(float(east), float(north), HEIGHT_M) for north, east in NORTH_EAST_M)


class WaypointProgress(NamedTuple):
    """Progress of each agent along the waypoints.

    Attributes:
        reached: number of waypoints reached.
        new: number of them reached in the last step.
    """

    reached: Int[Array, " agents"]
    new: Int[Array, " agents"]


class Complacs(AbstractTask[WaypointProgress]):
    """Flight of one Pelican along ``waypoints_world_m``.

    Attributes:
        waypoints_world_m: waypoints in order; by default those of QRSim's program ``mainComplacs``,
            at its initial height.
        within_m: distance at which a waypoint is reached.
        reward_per_waypoint: reward for each waypoint; 0 in QRSim.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    waypoints_world_m: tuple[Vec3, ...] = WAYPOINTS_WORLD_M
    within_m: Annotated[Real, POSITIVE] = 0.4
    reward_per_waypoint: Annotated[Real, NOT_NEGATIVE] = 0.0

    scenario: ClassVar[str] = "complacs"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Conditions] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = STICK_REQUIREMENTS
    lost_reward: ClassVar[float] = LOST_REWARD

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> WaypointProgress:
        del scene, key
        zero = jnp.zeros(len(vehicles), jnp.int32)
        return WaypointProgress(zero, zero)

    @override
    def update_goal(
        self, goal: WaypointProgress, scene: TaskScene, key: PRNGKeyArray
    ) -> WaypointProgress:
        del key

        def arrives(agent: Agent) -> Bool[Array, ""]:
            distance_2 = square(self._waypoint(goal, agent) - agent.estimate.position_world_m)
            left = goal.reached[agent.index] < len(self.waypoints_world_m)
            return left & (distance_2 < self.within_m**2)

        new = scene.each(arrives).astype(jnp.int32)
        return WaypointProgress(goal.reached + new, new)

    @override
    def observe(self, goal: WaypointProgress, agent: Agent, scene: TaskScene) -> RelativeMotion:
        del scene
        return relative_motion(self._waypoint(goal, agent), FACING_NORTH["yaw_rad"], agent.estimate)

    @override
    def reward(self, goal: WaypointProgress, agent: Agent, scene: TaskScene) -> Real:
        del scene
        return self.reward_per_waypoint * jnp.asarray(goal.new[agent.index], float)

    @override
    def metrics(self, goal: WaypointProgress, scene: TaskScene) -> dict[str, Real]:
        count = len(jnp.asarray(scene.agents.index)) * len(self.waypoints_world_m)
        return {"waypoints_reached": goal.reached.astype(float).sum(), "waypoints": count}

    def _waypoint(self, goal: WaypointProgress, agent: Agent) -> Vec3:
        """Return the next waypoint of an agent; the last one after all are reached."""
        places: Float[Array, "waypoints 3"] = jnp.asarray(
            [place.array for place in self.waypoints_world_m], jnp.result_type(float)
        )
        return Vec3.of(places[jnp.minimum(goal.reached[agent.index], len(places) - 1)])
