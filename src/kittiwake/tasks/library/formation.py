"""Task of several drones: form up around a moving center and hold the formation.

The center moves at a speed along a heading that turns; the formation is a ring of ``radius_m``
about it; agent i of n has its place at the angle ``a + 2 pi i / n``. Speed, heading, turn rate and
the angle a are drawn for each episode. With e_i the distance of an agent from its place, w_i its
speed relative to the center, d_i the distance of the nearest other agent, ``s(x; m)`` for
``tolerance`` of 1 at 0 that falls to 0.1 at m, and n(d) = (1 - d / 0.5 m)^2 below 0.5 m and 0
beyond (``nearness``), each agent has a reward of its own in each step::

    r_i = dt (s(e_i; 1 m) (0.8 + 0.2 s(w_i; 1 m/s)) - n(d_i))

so that a return is at most the flight time in seconds. A collision ends the episode of all.
"""

from collections.abc import Sequence
from math import pi
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import POSITION_BOUNDS, VELOCITY_BOUNDS
from kittiwake.tasks.library.other_agents import offsets_to, other_agents, rows
from kittiwake.tasks.library.velocities import velocity_action, velocity_mapping
from kittiwake.tasks.library.winds import wind_and_gusts
from kittiwake.tasks.rewards import nearness, tolerance
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

POSITION_MARGIN_M, SPEED_MARGIN_MPS, NEAR_M = 1.0, 1.0, 0.5
POSITION_SHARE, VELOCITY_SHARE = 0.8, 0.2
# built-in policy: gain and limit of the approach, distance and speed of avoidance
GAIN_PER_S, MAX_APPROACH_MPS, AVOID_M, AVOID_MPS = 1.5, 0.8, 1.1, 2.5


class FormationObservation(Module):
    """Estimated motion of an agent and the others relative to the formation.

    Attributes:
        offset_world_m: offset to its place.
        velocity_world_mps: velocity over the ground.
        center_world_mps: velocity of the center.
        others_world_m: offsets to the other agents, the next one first.
        others_world_mps: their velocities relative to the agent.
    """

    offset_world_m: Annotated[Vec3, POSITION_BOUNDS]
    velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    center_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    others_world_m: Annotated[Float[Array, "others 3"], POSITION_BOUNDS]
    others_world_mps: Annotated[Float[Array, "others 3"], VELOCITY_BOUNDS]


class Center(NamedTuple):
    """Center of the formation: position, motion and orientation of the ring."""

    x_m: Real
    y_m: Real
    z_m: Real
    speed_mps: Real
    heading_rad: Real
    turning_radps: Real
    turned_rad: Real

    @property
    def position_world_m(self) -> Vec3:
        """Position of the center."""
        return Vec3(self.x_m, self.y_m, self.z_m)

    @property
    def velocity_world_mps(self) -> Vec3:
        """Velocity of the center."""
        along, aside = jnp.cos(self.heading_rad), jnp.sin(self.heading_rad)
        return Vec3(self.speed_mps * along, self.speed_mps * aside, jnp.zeros_like(along))

    def later(self, dt_s: Real) -> "Center":
        """Return the center after a step along the chord of its arc."""
        turn = self.turning_radps * dt_s
        chord = self._replace(heading_rad=self.heading_rad + 0.5 * turn)
        moved = chord.velocity_world_mps * dt_s
        return self._replace(
            x_m=self.x_m + moved.x, y_m=self.y_m + moved.y, heading_rad=self.heading_rad + turn
        )


class FormationTask(AbstractTask[Center]):
    """Formation on a ring about a center that begins at the mean position of the agents.

    Attributes:
        radius_m: radius of the ring.
        max_speed_mps: highest speed of the center.
        max_turning_radps: highest turn rate of its heading.
    """

    rate_hz: Annotated[Real, POSITIVE] = 10.0
    radius_m: Annotated[Real, POSITIVE] = 1.0
    max_speed_mps: Annotated[Real, NOT_NEGATIVE] = 0.5
    max_turning_radps: Annotated[Real, NOT_NEGATIVE] = 0.3

    scenario: ClassVar[str] = "formation"
    agents: ClassVar[str] = "crazyflie"
    lost_reward: ClassVar[float] = -5.0
    conditions: ClassVar[Conditions] = {
        "noisy": {"vehicles.crazyflie.estimator": "noisy-truth"},
        "windy": wind_and_gusts(1.5, 45.0),
    }

    _action_mapping: ClassVar[ActionMapping] = velocity_mapping(Vec3(1.5, 1.5, 1.0))

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return self._action_mapping

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Center:
        del vehicles
        middle = jax.tree.map(jnp.mean, scene.agents.truth.position_world_m)
        speed, turning, heading, turned = jax.random.uniform(key, (4,), jnp.result_type(float))
        return Center(
            x_m=middle.x,
            y_m=middle.y,
            z_m=middle.z,
            speed_mps=self.max_speed_mps * speed,
            heading_rad=2.0 * pi * heading,
            turning_radps=self.max_turning_radps * (2.0 * turning - 1.0),
            turned_rad=2.0 * pi * turned,
        )

    @override
    def update_goal(self, goal: Center, scene: TaskScene, key: PRNGKeyArray) -> Center:
        del scene, key
        return goal.later(1.0 / self.rate_hz)

    @override
    def observe(self, goal: Center, agent: Agent, scene: TaskScene) -> FormationObservation:
        own, others = agent.estimate, other_agents(scene, agent).estimate
        count = len(jnp.asarray(scene.agents.index))
        return FormationObservation(
            offset_world_m=self._place(goal, agent, count) - own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            center_world_mps=goal.velocity_world_mps,
            others_world_m=offsets_to(others, own),
            others_world_mps=rows(others.velocity_world_mps) - rows(own.velocity_world_mps)[None],
        )

    @override
    def reward(self, goal: Center, agent: Agent, scene: TaskScene) -> Real:
        truth, count = agent.truth, rows(scene.agents.truth.position_world_m).shape[0]
        distance = (self._place(goal, agent, count) - truth.position_world_m).norm()
        drift = (goal.velocity_world_mps - truth.velocity_world_mps).norm()
        held = POSITION_SHARE + VELOCITY_SHARE * tolerance(drift, margin=SPEED_MARGIN_MPS)
        near = nearness(agent.surroundings.nearest_vehicle_m, NEAR_M)
        return (tolerance(distance, margin=POSITION_MARGIN_M) * held - near) / jnp.asarray(
            self.rate_hz
        )

    @override
    def metrics(self, goal: Center, scene: TaskScene) -> dict[str, Real]:
        count = rows(scene.agents.truth.position_world_m).shape[0]

        def distance_m(agent: Agent) -> Real:
            return (self._place(goal, agent, count) - agent.truth.position_world_m).norm()

        return {"furthest_agent_m": jnp.asarray(scene.each(distance_m)).max()}

    @override
    def expert_action(
        self, goal: Center, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        observation = self.observe(goal, agent, scene)
        approach = (observation.offset_world_m * GAIN_PER_S).clip_norm(MAX_APPROACH_MPS)
        velocity = approach + observation.center_world_mps
        for offset in observation.others_world_m:
            distance = jnp.maximum(jnp.linalg.norm(offset), 1e-3)
            push = AVOID_MPS * jnp.clip(1.0 - distance / AVOID_M, 0.0, 1.0) / distance
            velocity = (
                velocity - Vec3(offset[0] - offset[1], offset[1] + offset[0], offset[2]) * push
            )
        return velocity_action(self._action_mapping, velocity)

    def _place(self, goal: Center, agent: Agent, count: int) -> Vec3:
        turn = 2.0 * pi / count
        angle = goal.turned_rad + turn * jnp.asarray(agent.index, jnp.result_type(float))
        ring = Vec3(jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle)) * self.radius_m
        return goal.position_world_m + ring
