"""Drones that take up a formation around a moving center and hold it, apart from each other.

The center moves at a speed along a heading that turns, the formation is a ring of ``radius_m``
about it; agent i of n has its place at the angle ``a + 2 pi i / n`` on it. What is not given is
drawn for each episode. With e_i the distance of an agent from its place, w_i its speed against the
center, d_i the distance of the nearest other one, ``s(x; m)`` for ``tolerance`` of 1 at 0 that
falls to 0.1 at m, and n(d) = (1 - d / 0.5 m)^2 below 0.5 m and 0 beyond (``nearness``), the reward
of an agent in a step is its own::

    r_i = dt (s(e_i; 1 m) (0.8 + 0.2 s(w_i; 1 m/s)) - n(d_i))

at most the seconds flown. Drones that collide are lost, and with them the episode of all.
"""

from collections.abc import Mapping, Sequence
from math import pi
from typing import Annotated, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import FAR, FAST
from kittiwake.tasks.library.other_agents import mates, rows, ways_to
from kittiwake.tasks.library.velocities import asking, velocities
from kittiwake.tasks.library.winds import windy
from kittiwake.tasks.rewards import nearness, tolerance
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

OFF_M, OFF_MPS, APART_M = 1.0, 1.0, 0.5
IN_PLACE, IN_STEP = 0.8, 0.2
# of the baseline: how it goes to its place, at most how fast; from where on it gives way, how fast
GAIN_PER_S, HASTE_MPS, WAY_M, WAY_MPS = 1.5, 0.8, 1.1, 2.5


class FormationObservation(eqx.Module):
    """What it believes of itself and is told of the center and the others.

    Attributes:
        offset_world_m: the way to its place.
        velocity_world_mps: over the ground.
        center_world_mps: the center's velocity.
        others_world_m: the ways to the others, those after it first.
        others_world_mps: their velocities, seen from it.
    """

    offset_world_m: Annotated[Vec3, FAR]
    velocity_world_mps: Annotated[Vec3, FAST]
    center_world_mps: Annotated[Vec3, FAST]
    others_world_m: Annotated[Float[Array, "others 3"], FAR]
    others_world_mps: Annotated[Float[Array, "others 3"], FAST]


class Center(NamedTuple):
    """Where it is and how it moves, and how the formation is turned."""

    x_m: Real
    y_m: Real
    z_m: Real
    speed_mps: Real
    heading_rad: Real
    turning_radps: Real
    turned_rad: Real

    @property
    def position_world_m(self) -> Vec3:
        """Of the center."""
        return Vec3(self.x_m, self.y_m, self.z_m)

    @property
    def velocity_world_mps(self) -> Vec3:
        """Of the center."""
        along, aside = jnp.cos(self.heading_rad), jnp.sin(self.heading_rad)
        return Vec3(self.speed_mps * along, self.speed_mps * aside, jnp.zeros_like(along))

    def later(self, dt_s: Real) -> "Center":
        """After a step, flown along its chord."""
        turn = self.turning_radps * dt_s
        chord = self._replace(heading_rad=self.heading_rad + 0.5 * turn)
        moved = chord.velocity_world_mps * dt_s
        return self._replace(
            x_m=self.x_m + moved.x, y_m=self.y_m + moved.y, heading_rad=self.heading_rad + turn
        )


class FormationTask(AbstractTask):
    """A ring about a center that begins in the middle of the agents."""

    rate_hz: Annotated[Real, POSITIVE] = 10.0
    radius_m: Annotated[Real, POSITIVE] = 1.0
    max_speed_mps: Annotated[Real, NOT_NEGATIVE] = 0.5
    max_turning_radps: Annotated[Real, NOT_NEGATIVE] = 0.3

    scenario: ClassVar[str] = "formation"
    agents: ClassVar[str] = "crazyflie"
    lost_reward: ClassVar[float] = -5.0
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noisy": {"vehicles.crazyflie.estimator": "noisy-truth"},
        "windy": windy(1.5, 45.0),
    }

    _action_mapping: ClassVar[ActionMapping] = velocities(Vec3(1.5, 1.5, 1.0))

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return self._action_mapping

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Center:
        del vehicles
        middle = jax.tree.map(jnp.mean, scene.agents.truth.position_world_m)
        speed, turning, heading, turned = jax.random.uniform(key, (4,), jnp.result_type(float))
        return Center(
            *(middle.x, middle.y, middle.z),
            self.max_speed_mps * speed,
            2.0 * pi * heading,
            self.max_turning_radps * (2.0 * turning - 1.0),
            2.0 * pi * turned,
        )

    @override
    def proceed(self, goal: Center, scene: TaskScene, key: PRNGKeyArray) -> Center:
        del scene, key
        return goal.later(1.0 / self.rate_hz)

    @override
    def observe(self, goal: Center, agent: Agent, scene: TaskScene) -> FormationObservation:
        own, others = agent.estimate, mates(scene, agent).estimate
        count = len(jnp.asarray(scene.agents.number))
        return FormationObservation(
            offset_world_m=self._place(goal, agent, count) - own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            center_world_mps=goal.velocity_world_mps,
            others_world_m=ways_to(others, own),
            others_world_mps=rows(others.velocity_world_mps) - rows(own.velocity_world_mps)[None],
        )

    @override
    def reward(self, goal: Center, agent: Agent, scene: TaskScene) -> Real:
        truth, count = agent.truth, rows(scene.agents.truth.position_world_m).shape[0]
        away = (self._place(goal, agent, count) - truth.position_world_m).norm()
        drift = (goal.velocity_world_mps - truth.velocity_world_mps).norm()
        held = IN_PLACE + IN_STEP * tolerance(drift, margin=OFF_MPS)
        near = nearness(agent.surroundings.nearest_vehicle_m, APART_M)
        return (tolerance(away, margin=OFF_M) * held - near) / jnp.asarray(self.rate_hz)

    @override
    def figures(self, goal: Center, scene: TaskScene) -> dict[str, Real]:
        count = rows(scene.agents.truth.position_world_m).shape[0]

        def away_m(agent: Agent) -> Real:
            return (self._place(goal, agent, count) - agent.truth.position_world_m).norm()

        return {"furthest_agent_m": jnp.asarray(scene.each(away_m)).max()}

    @override
    def baseline(self, goal: Center, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        seen = self.observe(goal, agent, scene)
        velocity = (seen.offset_world_m * GAIN_PER_S).shortened(HASTE_MPS) + seen.center_world_mps
        for way in seen.others_world_m:
            distance = jnp.maximum(jnp.linalg.norm(way), 1e-3)
            pushed = WAY_MPS * jnp.clip(1.0 - distance / WAY_M, 0.0, 1.0) / distance
            velocity = velocity - Vec3(way[0] - way[1], way[1] + way[0], way[2]) * pushed
        return asking(self._action_mapping, velocity)

    def _place(self, goal: Center, agent: Agent, count: int) -> Vec3:
        turn = 2.0 * pi / count
        angle = goal.turned_rad + turn * jnp.asarray(agent.number, jnp.result_type(float))
        ring = Vec3(jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle)) * self.radius_m
        return goal.position_world_m + ring
