"""QRSim's HoldingPattern: three vehicles go on flying about a landing place, and keep apart.

With an agent's speed s_i over the ground, its distance d_i from the landing place and its distances
d_ij from the others, all in m and s, a step is worth to all together

    r = -sum_i (exp(s_i - 3) + exp(2 - s_i) + exp(d_i - 60)) - sum_{i<j} 0.0025 / d_ij

The terms of an agent are its own, those of a pair are shared by halves. Source: QRSim (R. De Nardi,
2013), branch flexiblecontrol, TaskHoldingPattern; there the speed is read from where the attitude
is, here from where the velocity is. As there, agents begin at 10 m anywhere within 70 m to each
side, without wind and without noise. exp(d - 60) soon is all that counts far out, up to 1e59 in a
corner of the area: it grows no further beyond ``GREATEST``, as single precision ends at 3e38.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import FAR, FAST, WorldMotion
from kittiwake.tasks.library.other_agents import mates, rows, ways_to
from kittiwake.tasks.library.pelican import LOST, NOISELESS, level_velocities
from kittiwake.tasks.library.velocities import asking
from kittiwake.tasks.starts import scattered
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene
from kittiwake.world.world import World

# exp of it is the greatest cost of being far out
GREATEST = 80.0
# QRSim's shortest distance, for what has run into each other
CLOSEST_M = 1e-5
# of the baseline: its ring and speed, how fast it goes back to the ring, and how much faster it is
# where the next one is far
RING_M, SPEED_MPS, GAIN_PER_S, CLOSING = 40.0, 2.5, 0.2, 0.3
# so near the middle the direction outwards is not known
LEAST_M = 1.0


class HoldingObservation(WorldMotion):
    """What an agent knows, in axes of the world.

    Attributes:
        ways_to_mates_world_m: to the others, the next one first.
        velocities_of_mates_world_mps: over the ground.
    """

    ways_to_mates_world_m: Annotated[Float[Array, "mates 3"], FAR]
    velocities_of_mates_world_mps: Annotated[Float[Array, "mates 3"], FAST]


class HoldingPattern(AbstractTask):
    """The landing place is (0, 0) on the ground; agents choose horizontal velocities.

    Attributes:
        height_m: at which they fly.
        within_m: how far to each side they begin.
        far_m: from where on the distance from the landing place costs more than 1.
        slow_mps: below which the speed does.
        fast_mps: above which it does.
        closeness_m: what two agents cost that are a meter apart.
    """

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    height_m: Annotated[Real, POSITIVE] = 10.0
    within_m: Annotated[Real, POSITIVE] = 70.0
    far_m: Annotated[Real, POSITIVE] = 60.0
    slow_mps: Annotated[Real, POSITIVE] = 2.0
    fast_mps: Annotated[Real, POSITIVE] = 3.0
    closeness_m: Annotated[Real, NOT_NEGATIVE] = 0.0025

    scenario: ClassVar[str] = "holding-pattern"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = NOISELESS
    lost_reward: ClassVar[float] = LOST
    lost_together: ClassVar[bool] = True

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return level_velocities(float(self.height_m))

    @override
    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        sides_m = [(-self.within_m, self.within_m)] * 2
        return scattered(given, sides_m, world.collision_distance_m, key, self.height_m)

    @override
    def observe(self, goal: Any, agent: Agent, scene: TaskScene) -> HoldingObservation:
        del goal
        own, others = agent.estimate, mates(scene, agent).estimate
        return HoldingObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            ways_to_mates_world_m=ways_to(others, own),
            velocities_of_mates_world_mps=rows(others.velocity_world_mps),
        )

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        del goal
        away = (agent.truth.position_world_m - Vec3(0.0, 0.0, scene.world.ground_z_m)).norm()
        speed = agent.truth.velocity_world_mps.norm()
        ways = ways_to(mates(scene, agent).truth, agent.truth)
        apart = jnp.sqrt(jnp.maximum((ways**2).sum(axis=1), CLOSEST_M**2))
        far = jnp.exp(jnp.minimum(away - self.far_m, GREATEST))
        moving = jnp.exp(speed - self.fast_mps) + jnp.exp(self.slow_mps - speed)
        return -moving - far - 0.5 * (self.closeness_m / apart).sum()

    @override
    def figures(self, goal: Any, scene: TaskScene) -> dict[str, Real]:
        del goal
        places = rows(scene.agents.truth.position_world_m)
        ground_m = jnp.asarray([0.0, 0.0, scene.world.ground_z_m], places.dtype)
        away_m = jnp.sqrt(((places - ground_m[None]) ** 2).sum(axis=1))
        ways = places[:, None] - places[None]
        apart_m = jnp.sqrt((ways**2).sum(axis=2)) + jnp.where(jnp.eye(len(places)) > 0, jnp.inf, 0)
        return {"furthest_agent_m": away_m.max(), "nearest_pair_m": apart_m.min()}

    @override
    def baseline(self, goal: Any, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        # From outside it goes inwards first, as fast as it can.
        del goal
        here = rows(agent.estimate.position_world_m)[:2]
        radius = _length(here[0], here[1])
        # in the middle, where no direction leads outwards, each has its own
        angle = jnp.asarray(agent.number, here.dtype)
        there = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        out = jnp.where(radius > LEAST_M, here / jnp.maximum(radius, LEAST_M), there)
        left = jnp.stack([-out[1], out[0]])
        others = rows(mates(scene, agent).estimate.position_world_m)[:, :2]
        angles = jnp.arctan2(others @ left, others @ out) % (2.0 * jnp.pi)
        uneven = jnp.min(angles) - (2.0 * jnp.pi - jnp.max(angles))
        speed = SPEED_MPS + jnp.clip(CLOSING * uneven, -0.5, 0.5)
        # far out each meter costs more than all that comes later
        speed = jnp.where(radius < self.far_m - LEAST_M, speed, 0.0)
        x, y = speed * left + GAIN_PER_S * (RING_M - radius) * out
        return asking(level_velocities(float(self.height_m)), Vec3(x, y, 0.0))


def _length(x: Real, y: Real) -> Float[Array, ""]:
    """Of a horizontal vector, with a slope also where there is none."""
    return jnp.sqrt(jnp.maximum(x**2 + y**2, 1e-12))
