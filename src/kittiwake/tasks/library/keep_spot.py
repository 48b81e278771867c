"""QRSim's KeepSpot: stay where you are, at little effort.

The reward of an agent is that of TaskKeepSpotWithReward (QRSim, 2013): ``r = -effort dt`` in each
step, with the ``effort`` of its sticks, and ``-|p - p0|^2`` more in the last one, with its spot p0.
Ours is ``-k |p - p0|^2 dt`` in each step, which makes it easier to learn; k is 0 unless it is set.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import RelativeMotion, motion_about
from kittiwake.tasks.library.pelican import LOST, NATIVE_STICKS, NOISELESS_OR_GUSTY, STICKS, effort
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene


class AbstractKeepSpot(AbstractTask):
    """Every agent at the place where the scenario lets it start, looking where it looked.

    Attributes:
        running_per_s: k, what a square meter away costs in a second.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    running_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0

    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = NATIVE_STICKS

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Any:
        del scene, key
        starts = [vehicle.start for vehicle in vehicles]
        spots = [start.position_world_m.array for start in starts]
        dtype = jnp.result_type(float)
        return jnp.asarray(spots, dtype), jnp.asarray([start.yaw_rad for start in starts], dtype)

    @override
    def observe(self, goal: Any, agent: Agent, scene: TaskScene) -> RelativeMotion:
        del scene
        spots, yaws = goal
        return motion_about(Vec3.of(spots[agent.number]), yaws[agent.number], agent.estimate)

    def staying(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        """The reward above."""
        away = square(agent.truth.position_world_m - Vec3.of(goal[0][agent.number]))
        running = effort(agent.command) + self.running_per_s * away
        return -running / self.rate_hz - jnp.where(scene.last, away, 0.0)

    @override
    def figures(self, goal: Any, scene: TaskScene) -> dict[str, Real]:
        spots, _ = goal

        def away_m(agent: Agent) -> Real:
            return (agent.truth.position_world_m - Vec3.of(spots[agent.number])).norm()

        return {"distance_m": jnp.asarray(scene.each(away_m)).max()}


class KeepSpot(AbstractKeepSpot):
    """One Pelican."""

    scenario: ClassVar[str] = "keep-spot"
    lost_reward: ClassVar[float] = LOST

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        return self.staying(goal, agent, scene)


class KeepSpotWithoutReward(AbstractKeepSpot):
    """QRSim's TaskKeepSpot, to be given a reward of one's own; only a loss counts."""

    scenario: ClassVar[str] = "keep-spot-without-reward"
    lost_reward: ClassVar[float] = LOST

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        del goal, agent, scene
        return 0.0


class KeepSpot10(AbstractKeepSpot):
    """QRSim's TaskKeepSpot10: the reward of all is the sum of those of the ten.

    A loss costs each its part of QRSim's penalty, which so is that of all.
    """

    scenario: ClassVar[str] = "keep-spot-10"
    lost_reward: ClassVar[float] = LOST
    lost_together: ClassVar[bool] = True

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        return self.staying(goal, agent, scene)
