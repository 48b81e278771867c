"""A drone that races through gates, one after another, between pillars.

A gate is a ring of ``gate_radius_m``; it looks from the gate before (the first one from where the
drone begins) to itself. A drone passes it where its way of a control step leads through the ring
from behind to the front. With d the distance from the next gate, the reward of a step is::

    r = (d_before - d) / 2 m - 0.5 dt / 1 s
        + 5    for passing it

with d of the same gate before and after. The places of gates are ``gates_world_m`` with up to
``spread_m`` more or less along each axis, drawn for each episode, which ends behind the last one. A
drone that touches a pillar is lost.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.commands import AccelerationYaw
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.motion import COMPONENT, FAR, FAST
from kittiwake.tasks.library.other_agents import rows
from kittiwake.tasks.library.winds import windy
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import nearness
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

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
# of the baseline: how fast it flies, how stiffly it keeps to that, from where on it is pushed
SPEED_MPS, STIFFNESS_PER_S, PUSHED_M, PUSH_MPS = 2.0, 3.0, 1.5, 1.5


class ObstacleRaceObservation(eqx.Module):
    """Where the next two gates are, how it believes to move, and what it sees around it.

    Attributes:
        next_world_m: the way to the next gate.
        then_world_m: the way from that to the one behind it, zero behind the last one.
        front_world: where the next gate looks.
        velocity_world_mps: over the ground.
        up_body: the vertical in the drone's axes.
        ranges_m: all around, to the left from behind.
    """

    next_world_m: Annotated[Vec3, FAR]
    then_world_m: Annotated[Vec3, FAR]
    front_world: Annotated[Vec3, COMPONENT]
    velocity_world_mps: Annotated[Vec3, FAST]
    up_body: Annotated[Vec3, COMPONENT]
    ranges_m: Annotated[Float[Array, " beams"], RANGE]


class Race(NamedTuple):
    """The gates, and of each agent how far it is.

    Attributes:
        gates_world_m: their middles.
        fronts_world: where they look.
        place_world_m: of the agent.
        passed: how many gates it has passed.
        nearer_m: by how much nearer it has come to its gate in the last step.
        passes: whether it has passed it in that step.
    """

    gates_world_m: Float[Array, "gates 3"]
    fronts_world: Float[Array, "gates 3"]
    place_world_m: Float[Array, "agents 3"]
    passed: Int[Array, " agents"]
    nearer_m: Float[Array, " agents"]
    passes: Bool[Array, " agents"]

    def target(self, number: Any) -> Int[Array, "..."]:
        """Of an agent, which gate is the next one; behind the last one that."""
        return jnp.minimum(self.passed[number], self.gates_world_m.shape[0] - 1)


class ObstacleRace(AbstractTask):
    """Through ``gates_world_m``, with what the sensor ``lidar`` tells of pillars."""

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
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noisy": {
            "vehicles.drone.sensors.lidar.deviation_m": 0.05,
            "vehicles.drone.estimator": "noisy-truth",
        },
        "windy": windy(3.0, 45.0),
    }

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return ACCELERATIONS

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Race:
        dtype = jnp.result_type(float)
        nominal = jnp.asarray([gate.array for gate in self.gates_world_m], dtype)
        drawn = jax.random.uniform(key, nominal.shape, dtype, -1.0, 1.0)
        gates = nominal + drawn * jnp.asarray(self.spread_m.array, dtype)[None]
        first = jnp.asarray(vehicles[0].start.position_world_m.array, dtype)
        legs = gates - jnp.concatenate([first[None], gates[:-1]])
        fronts = legs / jnp.linalg.norm(legs, axis=1, keepdims=True)
        place = rows(scene.agents.truth.position_world_m)
        none = jnp.zeros(place.shape[0], jnp.int32)
        return Race(gates, fronts, place, none, none.astype(dtype), none > 0)

    @override
    def proceed(self, goal: Race, scene: TaskScene, key: PRNGKeyArray) -> Race:
        del key
        place = rows(scene.agents.truth.position_world_m)
        left = goal.passed < goal.gates_world_m.shape[0]
        at = goal.target(slice(None))
        gate, front = goal.gates_world_m[at], goal.fronts_world[at]
        before, after = goal.place_world_m - gate, place - gate
        nearer = jnp.linalg.norm(before, axis=1) - jnp.linalg.norm(after, axis=1)
        behind, ahead = (before * front).sum(axis=1), (after * front).sum(axis=1)
        crosses = (behind < 0.0) & (ahead >= 0.0)
        # where its way meets the plane of the ring
        share = behind / jnp.where(crosses, behind - ahead, -1.0)
        met = before + share[:, None] * (after - before)
        passes = left & crosses & (jnp.linalg.norm(met, axis=1) < self.gate_radius_m)
        return goal._replace(
            place_world_m=place,
            passed=goal.passed + passes.astype(jnp.int32),
            nearer_m=jnp.where(left, nearer, 0.0),
            passes=passes,
        )

    @override
    def observe(self, goal: Race, agent: Agent, scene: TaskScene) -> ObstacleRaceObservation:
        del scene
        own, at = agent.estimate, goal.target(agent.number)
        gate = goal.gates_world_m[at]
        behind = goal.gates_world_m[jnp.minimum(at + 1, goal.gates_world_m.shape[0] - 1)]
        return ObstacleRaceObservation(
            next_world_m=Vec3.of(gate) - own.position_world_m,
            then_world_m=Vec3.of(behind - gate),
            front_world=Vec3.of(goal.fronts_world[at]),
            velocity_world_mps=own.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 1.0)),
            ranges_m=agent.measurements["lidar"].ranges_m,
        )

    @override
    def reward(self, goal: Race, agent: Agent, scene: TaskScene) -> Real:
        del scene
        passed = jnp.where(goal.passes[agent.number], PASSED, 0.0)
        approach = goal.nearer_m[agent.number] / APPROACH_SCALE_M
        return approach - TIME_PER_S / self.rate_hz + passed

    @override
    def ended(self, goal: Race, scene: TaskScene) -> Flag:
        del scene
        return (goal.passed >= goal.gates_world_m.shape[0]).all()

    @override
    def figures(self, goal: Race, scene: TaskScene) -> dict[str, Real]:
        del scene
        return {"gates_passed": goal.passed.max(), "gates": goal.gates_world_m.shape[0]}

    @override
    def baseline(self, goal: Race, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        seen = self.observe(goal, agent, scene)
        # a gate that it has missed is gone round to
        ahead = seen.next_world_m.dot(seen.front_world)
        aim = seen.next_world_m + seen.front_world * jnp.where(ahead > 0.0, 0.4, -1.5)
        wanted = aim * (SPEED_MPS / jnp.maximum(aim.norm(), 0.3))
        count = seen.ranges_m.size
        angles = (jnp.arange(count, dtype=seen.ranges_m.dtype) / count - 0.5) * 2.0 * jnp.pi
        push = PUSH_MPS * nearness(seen.ranges_m, PUSHED_M)
        off = Vec3(-(push * jnp.cos(angles)).sum(), -(push * jnp.sin(angles)).sum(), 0.0)
        # of two ways round it takes that to the left
        off = Vec3(off.x - off.y, off.y + off.x, off.z)
        change = (wanted + off - seen.velocity_world_mps) * STIFFNESS_PER_S
        return ACCELERATIONS.action(
            {f"acceleration_{axis}_world_mps2": getattr(change, axis) for axis in "xyz"}
        )
