"""Task of a drone: fly over hills at a desired distance, by a lidar below.

With d the distance of its center from the surface, d_w the desired one, drawn for each episode from
``distance_m``, v the horizontal velocity along x, and ``s(x; m)`` for ``tolerance`` of 1 at 0 that
falls to 0.1 at m, the reward of a step is::

    r = dt s(d - d_w; 0.4 m) s(v - speed_mps; 0.6 m/s)

so that the return is at most the flight time in seconds. A drone that touches the surface is lost.
"""

from collections.abc import Sequence
from math import pi
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import VELOCITY_BOUNDS
from kittiwake.tasks.library.velocities import velocity_action, velocity_mapping
from kittiwake.tasks.library.winds import wind_and_gusts
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import tolerance
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene
from kittiwake.world.ray import nearest_obstacle

RANGE = Bounds(0.0, 100.0)
DISTANCE_MARGIN_M, SPEED_MARGIN_MPS = 0.4, 0.6
# opening angle of the fan of rays below the drone
FAN_RAD = pi / 2


class FollowSurfaceObservation(Module):
    """Ranges below the drone, its estimated velocity, and the desired distance.

    Attributes:
        ranges_m: ranges from backward over downward to forward.
        velocity_world_mps: velocity over the ground.
        wanted_m: desired distance.
    """

    ranges_m: Annotated[Float[Array, " beams"], RANGE]
    velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    wanted_m: Annotated[Real, RANGE]


class FollowSurfaceTask(AbstractTask[Float[Array, ""]]):
    """Flight along x over any obstacles, by the sensor ``lidar``, a fan of rays below.

    Attributes:
        distance_m: range from which the distance to the surface is drawn.
        speed_mps: speed along x.
    """

    rate_hz: Annotated[Real, POSITIVE] = 10.0
    distance_m: tuple[Real, Real] = (0.7, 1.5)
    speed_mps: Real = 1.0

    scenario: ClassVar[str] = "follow-surface"
    agents: ClassVar[str] = "drone"
    requirements: ClassVar[Requirements] = Requirements(
        sensors=[RequiredSensor("lidar", RangesMeasurement, "lidar-2d")]
    )
    lost_reward: ClassVar[float] = -5.0
    conditions: ClassVar[Conditions] = {
        "noiseless": {"vehicles.drone.sensors.lidar.deviation_m": 0},
        "noisy": {
            "vehicles.drone.sensors.lidar.deviation_m": 0.05,
            "vehicles.drone.estimator": "noisy-truth",
        },
        "windy": wind_and_gusts(3.0, 180.0),
    }

    _action_mapping: ClassVar[ActionMapping] = velocity_mapping(Vec3(2.0, 0.0, 1.5))

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return self._action_mapping

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        del scene, vehicles
        low, high = self.distance_m
        drawn = jax.random.uniform(key, (), jnp.result_type(float))
        return low + (high - low) * drawn

    @override
    def observe(
        self, goal: Float[Array, ""], agent: Agent, scene: TaskScene
    ) -> FollowSurfaceObservation:
        del scene
        ranges = agent.measurements["lidar"].ranges_m
        return FollowSurfaceObservation(ranges, agent.estimate.velocity_world_mps, goal)

    @override
    def reward(self, goal: Float[Array, ""], agent: Agent, scene: TaskScene) -> Real:
        truth = agent.truth
        distance_m = nearest_obstacle(scene.world.obstacles, truth.position_world_m).distance_m
        at_distance = tolerance(distance_m - goal, margin=DISTANCE_MARGIN_M)
        at_speed = tolerance(truth.velocity_world_mps.x - self.speed_mps, margin=SPEED_MARGIN_MPS)
        return at_distance * at_speed / jnp.asarray(self.rate_hz)

    @override
    def metrics(self, goal: Float[Array, ""], scene: TaskScene) -> dict[str, Real]:
        def error_m(agent: Agent) -> Real:
            place = agent.truth.position_world_m
            return abs(nearest_obstacle(scene.world.obstacles, place).distance_m - goal)

        return {"distance_error_m": jnp.asarray(scene.each(error_m)).max()}

    @override
    def expert_action(
        self, goal: Float[Array, ""], agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        ranges = self.observe(goal, agent, scene).ranges_m
        angles = jnp.linspace(-0.5, 0.5, ranges.size, dtype=ranges.dtype) * FAN_RAD
        along, up = ranges * jnp.sin(angles), -ranges * jnp.cos(angles)
        slope = (up[-1] - up[0]) / jnp.maximum(along[-1] - along[0], 0.1)
        across = 1.5 * (goal - ranges.min())
        return velocity_action(
            self._action_mapping, Vec3(self.speed_mps, 0.0, self.speed_mps * slope + across)
        )
