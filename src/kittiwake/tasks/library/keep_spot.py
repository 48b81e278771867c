"""QRSim's KeepSpot: keep the initial position at little effort.

The reward of an agent is that of TaskKeepSpotWithReward (QRSim, 2013): ``r = -effort dt`` in each
step, with the ``effort`` of its sticks, plus ``-|p - p0|^2`` in the last one, with its initial
position p0. Ours is ``-k |p - p0|^2 dt`` in each step, for easier learning; k is 0 by default.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import RelativeMotion, relative_motion
from kittiwake.tasks.library.pelican import (
    LOST_REWARD,
    NOISELESS_OR_GUSTY,
    STICK_REQUIREMENTS,
    STICKS,
    effort,
)
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

# positions in the world and yaws of the agents
Spots: TypeAlias = tuple[Float[Array, "agents 3"], Float[Array, " agents"]]


class AbstractKeepSpot(AbstractTask[Spots]):
    """Base class: each agent keeps its start of the scenario, position and yaw.

    Attributes:
        running_per_s: k, the cost of a square meter of distance per second.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    running_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0

    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Conditions] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = STICK_REQUIREMENTS

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Spots:
        del scene, key
        starts = [vehicle.start for vehicle in vehicles]
        spots = [start.position_world_m.array for start in starts]
        dtype = jnp.result_type(float)
        return jnp.asarray(spots, dtype), jnp.asarray([start.yaw_rad for start in starts], dtype)

    @override
    def observe(self, goal: Spots, agent: Agent, scene: TaskScene) -> RelativeMotion:
        del scene
        spots, yaws = goal
        return relative_motion(Vec3.of(spots[agent.index]), yaws[agent.index], agent.estimate)

    def position_reward(self, goal: Spots, agent: Agent, scene: TaskScene) -> Real:
        """Return the reward for effort and distance from the start."""
        squared_distance = square(agent.truth.position_world_m - Vec3.of(goal[0][agent.index]))
        running = effort(agent.command) + self.running_per_s * squared_distance
        return -running / self.rate_hz - jnp.where(scene.last, squared_distance, 0.0)

    @override
    def metrics(self, goal: Spots, scene: TaskScene) -> dict[str, Real]:
        spots, _ = goal

        def distance_m(agent: Agent) -> Real:
            return (agent.truth.position_world_m - Vec3.of(spots[agent.index])).norm()

        return {"distance_m": jnp.asarray(scene.each(distance_m)).max()}


class KeepSpot(AbstractKeepSpot):
    """QRSim's TaskKeepSpotWithReward: one Pelican."""

    scenario: ClassVar[str] = "keep-spot"
    lost_reward: ClassVar[float] = LOST_REWARD

    @override
    def reward(self, goal: Spots, agent: Agent, scene: TaskScene) -> Real:
        return self.position_reward(goal, agent, scene)


class KeepSpotWithoutReward(AbstractKeepSpot):
    """QRSim's TaskKeepSpot, for a reward of your own; only a loss counts."""

    scenario: ClassVar[str] = "keep-spot-without-reward"
    lost_reward: ClassVar[float] = LOST_REWARD

    @override
    def reward(self, goal: Spots, agent: Agent, scene: TaskScene) -> Real:
        del goal, agent, scene
        return 0.0


class KeepSpot10(AbstractKeepSpot):
    """QRSim's TaskKeepSpot10: ten Pelicans, whose total reward is the sum over all.

    Each gets an equal share of QRSim's penalty for a loss, which is that of all together.
    """

    scenario: ClassVar[str] = "keep-spot-10"
    lost_reward: ClassVar[float] = LOST_REWARD
    lost_together: ClassVar[bool] = True

    @override
    def reward(self, goal: Spots, agent: Agent, scene: TaskScene) -> Real:
        return self.position_reward(goal, agent, scene)
