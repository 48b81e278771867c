"""QRSim's Complacs: waypoints one after another, for a reward of one's own.

A Pelican begins at the first of 34 waypoints and flies to each in turn; the next one counts as soon
as it believes to be within 0.4 m of the one before. As in the original a step is worth nothing, and
only a loss counts. ``reward_per_waypoint`` is ours: what each waypoint that is reached is worth; 0
unless it is set.

Source: QRSim (R. De Nardi, 2013), TaskComplacs, and its main program ``mainComplacs``, which holds
the waypoints, the distance and the 30,000 steps of 0.02 s that it flies.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import RelativeMotion, motion_about
from kittiwake.tasks.library.pelican import LOOK, LOST, NATIVE_STICKS, NOISELESS_OR_GUSTY, STICKS
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

HEIGHT_M = 9.0
# of the original: north and east of each waypoint
NORTH_EAST_M = (
    *((6, -8), (0, -8), (0, 0), (14, 0), (14, -8), (8, -8), (8, 0), (16, 0), (16, -8), (19, -4)),
    *((22, -8), (22, 0), (24, 0), (24, -8), (30, -8), (30, -4), (24, -4), (24, 0), (32, 0)),
    *((32, -8), (32, 0), (40, 0), (43, -8), (46, 0), (49, 0), (49, -8), (55, -8), (49, -8)),
    *((49, 0), (63, 0), (63, -4), (57, -4), (57, -8), (63, -8)),
)
WAYPOINTS_WORLD_M = tuple(Vec3(float(east), float(north), HEIGHT_M) for north, east in NORTH_EAST_M)


class Path(NamedTuple):
    """How far along the path each agent is.

    Attributes:
        reached: how many waypoints.
        new: how many of them in the last step.
    """

    reached: Int[Array, " agents"]
    new: Int[Array, " agents"]


class Complacs(AbstractTask):
    """One Pelican along ``waypoints_world_m``."""

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    waypoints_world_m: tuple[Vec3, ...] = WAYPOINTS_WORLD_M
    within_m: Annotated[Real, POSITIVE] = 0.4
    reward_per_waypoint: Annotated[Real, NOT_NEGATIVE] = 0.0

    scenario: ClassVar[str] = "complacs"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = NATIVE_STICKS
    lost_reward: ClassVar[float] = LOST

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Path:
        del scene, key
        none = jnp.zeros(len(vehicles), jnp.int32)
        return Path(none, none)

    @override
    def proceed(self, goal: Path, scene: TaskScene, key: PRNGKeyArray) -> Path:
        del key

        def arrives(agent: Agent) -> Bool[Array, ""]:
            away = square(self._waypoint(goal, agent) - agent.estimate.position_world_m)
            left = goal.reached[agent.number] < len(self.waypoints_world_m)
            return left & (away < self.within_m**2)

        new = scene.each(arrives).astype(jnp.int32)
        return Path(goal.reached + new, new)

    @override
    def observe(self, goal: Path, agent: Agent, scene: TaskScene) -> RelativeMotion:
        del scene
        return motion_about(self._waypoint(goal, agent), LOOK["yaw_rad"], agent.estimate)

    @override
    def reward(self, goal: Path, agent: Agent, scene: TaskScene) -> Real:
        del scene
        return self.reward_per_waypoint * jnp.asarray(goal.new[agent.number], float)

    @override
    def figures(self, goal: Path, scene: TaskScene) -> dict[str, Real]:
        count = len(jnp.asarray(scene.agents.number)) * len(self.waypoints_world_m)
        return {"waypoints_reached": goal.reached.astype(float).sum(), "waypoints": count}

    def _waypoint(self, goal: Path, agent: Agent) -> Vec3:
        """The next one of an agent, or the last."""
        places: Float[Array, "waypoints 3"] = jnp.asarray(
            [place.array for place in self.waypoints_world_m], jnp.result_type(float)
        )
        return Vec3.of(places[jnp.minimum(goal.reached[agent.number], len(places) - 1)])
