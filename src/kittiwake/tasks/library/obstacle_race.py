"""Task of a drone: race through a sequence of gates, between pillars.

A gate is a ring of radius ``gate_radius_m``; its axis points from the previous gate (for the first
one from the drone's start) to itself. A drone passes it if the segment of a control step leads
through the ring along its axis. With d the distance from the next gate, the reward of a step is::

    r = (d_before - d) / 2 m - 0.5 dt / 1 s
        + 5    for passing it

with d of the same gate before and after. The positions of the gates are ``gates_world_m`` with
random offsets of up to ``spread_m`` along each axis, drawn for each episode. The episode ends after
the last gate. A drone that touches a pillar is lost.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.commands import AccelerationYaw
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.motion import POSITION_BOUNDS, UNIT_BOUNDS, VELOCITY_BOUNDS
from kittiwake.tasks.library.other_agents import rows
from kittiwake.tasks.library.winds import wind_and_gusts
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import nearness
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

RANGE = Bounds(0.0, 100.0)
APPROACH_SCALE_M, TIME_PER_S, PASSED = 2.0, 0.5, 5.0
ACCELERATIONS = ActionMapping(
    AccelerationYaw,
    {
        "acceleration_x_world_mps2": Span(0.0, 6.0),
        "acceleration_y_world_mps2": Span(0.0, 6.0),
        "acceleration_z_world_mps2": Span(0.0, 4.0),
    },
)
# built-in policy: speed, velocity gain, and distance and speed of avoidance
SPEED_MPS, STIFFNESS_PER_S, AVOID_M, AVOID_MPS = 2.0, 3.0, 1.5, 1.5


class ObstacleRaceObservation(Module):
    """Next two gates, estimated motion of the drone, and ranges around it.

    Attributes:
        next_world_m: offset to the next gate.
        then_world_m: offset from that gate to the one after it; zero after the last one.
        front_world: axis of the next gate.
        velocity_world_mps: velocity over the ground.
        up_body: vertical direction in body axes.
        ranges_m: ranges all around, counterclockwise from backward.
    """

    next_world_m: Annotated[Vec3, POSITION_BOUNDS]
    then_world_m: Annotated[Vec3, POSITION_BOUNDS]
    front_world: Annotated[Vec3, UNIT_BOUNDS]
    velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    up_body: Annotated[Vec3, UNIT_BOUNDS]
    ranges_m: Annotated[Float[Array, " beams"], RANGE]


class RaceProgress(NamedTuple):
    """Gates of an episode, and the progress of each agent.

    Attributes:
        gates_world_m: centers of the gates.
        fronts_world: axes of the gates.
        position_world_m: position of each agent.
        passed: number of gates that each agent has passed.
        nearer_m: decrease of its distance from its gate in the last step.
        passes: True if it passed the gate in that step.
    """

    gates_world_m: Float[Array, "gates 3"]
    fronts_world: Float[Array, "gates 3"]
    position_world_m: Float[Array, "agents 3"]
    passed: Int[Array, " agents"]
    nearer_m: Float[Array, " agents"]
    passes: Bool[Array, " agents"]

    def target(self, index: Integer | slice) -> Int[Array, "..."]:
        """Return the index of an agent's next gate; after all gates that of the last one."""
        return jnp.minimum(self.passed[index], self.gates_world_m.shape[0] - 1)


class ObstacleRace(AbstractTask[RaceProgress]):
    """RaceProgress through ``gates_world_m``, past pillars that the sensor ``lidar`` measures.

    Attributes:
        gates_world_m: centers of the gates, in order.
        gate_radius_m: radius within which a gate is passed.
        spread_m: largest random displacement of a gate along x, y and z.
    """

    gates_world_m: tuple[Vec3, ...]
    rate_hz: Annotated[Real, POSITIVE] = 10.0
    gate_radius_m: Annotated[Real, POSITIVE] = 0.7
    spread_m: Vec3 = Vec3(0.5, 0.5, 0.3)

    scenario: ClassVar[str] = "obstacle-race"
    agents: ClassVar[str] = "drone"
    requirements: ClassVar[Requirements] = Requirements(
        sensors=[RequiredSensor("lidar", RangesMeasurement, "lidar-2d")]
    )
    lost_reward: ClassVar[float] = -10.0
    conditions: ClassVar[Conditions] = {
        "noisy": {
            "vehicles.drone.sensors.lidar.deviation_m": 0.05,
            "vehicles.drone.estimator": "noisy-truth",
        },
        "windy": wind_and_gusts(3.0, 45.0),
    }

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return ACCELERATIONS

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> RaceProgress:
        dtype = jnp.result_type(float)
        nominal = jnp.asarray([gate.array for gate in self.gates_world_m], dtype)
        drawn = jax.random.uniform(key, nominal.shape, dtype, -1.0, 1.0)
        gates = nominal + drawn * jnp.asarray(self.spread_m.array, dtype)[None]
        first = jnp.asarray(vehicles[0].start.position_world_m.array, dtype)
        legs = gates - jnp.concatenate([first[None], gates[:-1]])
        fronts = legs / jnp.linalg.norm(legs, axis=1, keepdims=True)
        position = rows(scene.agents.truth.position_world_m)
        zero = jnp.zeros(position.shape[0], jnp.int32)
        return RaceProgress(gates, fronts, position, zero, zero.astype(dtype), zero > 0)

    @override
    def update_goal(self, goal: RaceProgress, scene: TaskScene, key: PRNGKeyArray) -> RaceProgress:
        del key
        position = rows(scene.agents.truth.position_world_m)
        left = goal.passed < goal.gates_world_m.shape[0]
        at = goal.target(slice(None))
        gate, front = goal.gates_world_m[at], goal.fronts_world[at]
        before, after = goal.position_world_m - gate, position - gate
        nearer = jnp.linalg.norm(before, axis=1) - jnp.linalg.norm(after, axis=1)
        behind, ahead = (before * front).sum(axis=1), (after * front).sum(axis=1)
        crosses = (behind < 0.0) & (ahead >= 0.0)
        # intersection of the segment with the plane of the ring
        share = behind / jnp.where(crosses, behind - ahead, -1.0)
        crossing = before + share[:, None] * (after - before)
        passes = left & crosses & (jnp.linalg.norm(crossing, axis=1) < self.gate_radius_m)
        return goal._replace(
            position_world_m=position,
            passed=goal.passed + passes.astype(jnp.int32),
            nearer_m=jnp.where(left, nearer, 0.0),
            passes=passes,
        )

    @override
    def observe(
        self, goal: RaceProgress, agent: Agent, scene: TaskScene
    ) -> ObstacleRaceObservation:
        del scene
        own, at = agent.estimate, goal.target(agent.index)
        gate = goal.gates_world_m[at]
        following = goal.gates_world_m[jnp.minimum(at + 1, goal.gates_world_m.shape[0] - 1)]
        return ObstacleRaceObservation(
            next_world_m=Vec3.of(gate) - own.position_world_m,
            then_world_m=Vec3.of(following - gate),
            front_world=Vec3.of(goal.fronts_world[at]),
            velocity_world_mps=own.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 1.0)),
            ranges_m=agent.measurements["lidar"].ranges_m,
        )

    @override
    def reward(self, goal: RaceProgress, agent: Agent, scene: TaskScene) -> Real:
        del scene
        passed = jnp.where(goal.passes[agent.index], PASSED, 0.0)
        approach = goal.nearer_m[agent.index] / APPROACH_SCALE_M
        return approach - TIME_PER_S / self.rate_hz + passed

    @override
    def ended(self, goal: RaceProgress, scene: TaskScene) -> Flag:
        del scene
        return (goal.passed >= goal.gates_world_m.shape[0]).all()

    @override
    def metrics(self, goal: RaceProgress, scene: TaskScene) -> dict[str, Real]:
        del scene
        return {"gates_passed": goal.passed.max(), "gates": goal.gates_world_m.shape[0]}

    @override
    def expert_action(
        self, goal: RaceProgress, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        observation = self.observe(goal, agent, scene)
        # a missed gate is approached from behind again
        ahead = observation.next_world_m.dot(observation.front_world)
        aim = observation.next_world_m + observation.front_world * jnp.where(ahead > 0.0, 0.4, -1.5)
        velocity = aim * (SPEED_MPS / jnp.maximum(aim.norm(), 0.3))
        count = observation.ranges_m.size
        angles = (jnp.arange(count, dtype=observation.ranges_m.dtype) / count - 0.5) * 2.0 * jnp.pi
        push = AVOID_MPS * nearness(observation.ranges_m, AVOID_M)
        off = Vec3(-(push * jnp.cos(angles)).sum(), -(push * jnp.sin(angles)).sum(), 0.0)
        # passes obstacles on the left
        off = Vec3(off.x - off.y, off.y + off.x, off.z)
        change = (velocity + off - observation.velocity_world_mps) * STIFFNESS_PER_S
        return ACCELERATIONS.action(
            {f"acceleration_{axis}_world_mps2": getattr(change, axis) for axis in "xyz"}
        )
