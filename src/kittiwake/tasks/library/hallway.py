"""Task of a drone: fly along a hallway between pillars, by a lidar.

The hallway leads along x. With c the clearance between the drone and the nearest obstacle, and
n(c) = (1 - c / 0.4 m)^2 below 0.4 m and 0 beyond (``nearness``), the reward of a step is::

    r = (x - x_before) / 1 m - 2 n(c) dt / 1 s
        + 10    at the end

The episode ends beyond ``end_m``; a drone that touches anything is lost.
"""

from collections.abc import Sequence
from math import pi
from typing import Annotated, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import VELOCITY_BOUNDS
from kittiwake.tasks.library.other_agents import rows
from kittiwake.tasks.library.velocities import velocity_action, velocity_mapping
from kittiwake.tasks.library.winds import wind_and_gusts
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import nearness
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

RANGE = Bounds(0.0, 100.0)
NEAR_M, NEAR_PER_S, ARRIVED = 0.4, 2.0, 10.0
# built-in policy: range that it considers, speed, and distance below which it avoids obstacles
LOOK_AHEAD_M, SPEED_MPS, AVOID_M = 3.0, 1.2, 1.0


class HallwayObservation(Module):
    """Ranges around the drone, and its estimated velocity.

    Attributes:
        ranges_m: ranges from the right over ahead to the left.
        velocity_world_mps: velocity over the ground.
    """

    ranges_m: Annotated[Float[Array, " beams"], RANGE]
    velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]


class Progress(NamedTuple):
    """Position of each agent along the hallway, and its gain in the last step."""

    x_m: Float[Array, " agents"]
    gained_m: Float[Array, " agents"]


class HallwayTask(AbstractTask[Progress]):
    """Flight to ``end_m``, by the sensor ``lidar``.

    Attributes:
        end_m: x coordinate at which the flight has arrived.
    """

    rate_hz: Annotated[Real, POSITIVE] = 10.0
    end_m: Real = 24.0

    scenario: ClassVar[str] = "hallway"
    agents: ClassVar[str] = "drone"
    requirements: ClassVar[Requirements] = Requirements(
        sensors=[RequiredSensor("lidar", RangesMeasurement, "lidar-2d")]
    )
    lost_reward: ClassVar[float] = -10.0
    conditions: ClassVar[Conditions] = {
        "noiseless": {"vehicles.drone.sensors.lidar.deviation_m": 0},
        "noisy": {
            "vehicles.drone.sensors.lidar.deviation_m": 0.05,
            "vehicles.drone.estimator": "noisy-truth",
        },
        "windy": wind_and_gusts(3.0, 90.0),
    }

    _action_mapping: ClassVar[ActionMapping] = velocity_mapping(Vec3(1.5, 1.5, 0.0))

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return self._action_mapping

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Progress:
        del vehicles, key
        x = rows(scene.agents.truth.position_world_m)[:, 0]
        return Progress(x, jnp.zeros_like(x))

    @override
    def update_goal(self, goal: Progress, scene: TaskScene, key: PRNGKeyArray) -> Progress:
        del key
        x = rows(scene.agents.truth.position_world_m)[:, 0]
        return Progress(x, x - goal.x_m)

    @override
    def observe(self, goal: Progress, agent: Agent, scene: TaskScene) -> HallwayObservation:
        del goal, scene
        return HallwayObservation(
            agent.measurements["lidar"].ranges_m, agent.estimate.velocity_world_mps
        )

    @override
    def reward(self, goal: Progress, agent: Agent, scene: TaskScene) -> Real:
        del scene
        clearance_m = agent.surroundings.nearest_obstacle_m
        assert clearance_m is not None, "the hallway has obstacles"
        near = NEAR_PER_S * nearness(clearance_m, NEAR_M) / self.rate_hz
        arrived = jnp.where(goal.x_m[agent.index] >= self.end_m, ARRIVED, 0.0)
        return goal.gained_m[agent.index] - near + arrived

    @override
    def ended(self, goal: Progress, scene: TaskScene) -> Flag:
        del scene
        return (goal.x_m >= self.end_m).all()

    @override
    def metrics(self, goal: Progress, scene: TaskScene) -> dict[str, Real]:
        del scene
        return {"way_made_m": goal.x_m.min()}

    @override
    def expert_action(
        self, goal: Progress, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        ranges = self.observe(goal, agent, scene).ranges_m
        angles = jnp.linspace(-0.5, 0.5, ranges.size, dtype=ranges.dtype) * pi
        x, y = jnp.cos(angles), jnp.sin(angles)
        padded = jnp.pad(ranges, 2, mode="edge")
        free = jnp.stack([padded[i : i + ranges.size] for i in range(5)]).min(axis=0)
        best = jnp.argmax(jnp.minimum(free, LOOK_AHEAD_M) + 2.0 * x)
        speed = jnp.clip(0.7 * free[best], 0.3, SPEED_MPS)
        push = 0.8 * nearness(ranges, AVOID_M)
        ahead = speed * x[best] - (push * x).sum()
        aside = speed * y[best] - (push * y).sum()
        return velocity_action(self._action_mapping, Vec3(ahead, aside, 0.0))
