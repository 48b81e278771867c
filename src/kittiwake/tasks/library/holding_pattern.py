"""QRSim's HoldingPattern: three vehicles keep flying near a landing site, apart from each other.

With an agent's speed s_i over the ground, its distance d_i from the landing site and its distances
d_ij from the others, all in m and s, the total reward of a step is

    r = -sum_i (exp(s_i - 3) + exp(2 - s_i) + exp(d_i - 60)) - sum_{i<j} 0.0025 / d_ij

Each agent gets its own terms and half of the terms of its pairs. Source: QRSim (R. De Nardi, 2013),
branch flexiblecontrol, TaskHoldingPattern; the original reads the speed from the entries of the
attitude, ours from those of the velocity. As in QRSim, agents begin at 10 m, uniformly within 70 m
to each side, without wind and without noise. exp(d - 60) dominates far out, with up to 1e59 in a
corner of the area: its exponent is limited to ``MAX_EXPONENT``, as single precision ends at 3e38.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import POSITION_BOUNDS, VELOCITY_BOUNDS, WorldMotion
from kittiwake.tasks.library.other_agents import offsets_to, other_agents, rows
from kittiwake.tasks.library.pelican import LOST_REWARD, NOISELESS, pelican_level_velocity_mapping
from kittiwake.tasks.library.velocities import velocity_action
from kittiwake.tasks.starts import scatter_starts
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene
from kittiwake.world.world import WorldModel

# limit of the exponent in the cost of distance
MAX_EXPONENT = 80.0
# QRSim's lower bound of distances, for vehicles that have collided
CLOSEST_M = 1e-5
# built-in policy: radius of the ring, speed, gain toward the ring, and gain of the speed that evens
# out the gaps between neighbors
RING_M, SPEED_MPS, GAIN_PER_S, GAP_GAIN = 40.0, 2.5, 0.2, 0.3
# radius below which the outward direction is undefined
LEAST_M = 1.0


class HoldingObservation(WorldMotion):
    """Observation of an agent, in world axes.

    Attributes:
        offsets_to_teammates_world_m: offsets to the other agents, the next one first.
        velocities_of_mates_world_mps: their velocities over the ground.
    """

    offsets_to_teammates_world_m: Annotated[Float[Array, "others 3"], POSITION_BOUNDS]
    velocities_of_mates_world_mps: Annotated[Float[Array, "others 3"], VELOCITY_BOUNDS]


class HoldingPattern(AbstractTask[tuple[()]]):
    """Flight by horizontal velocities about the landing site at (0, 0) on the ground.

    Attributes:
        height_m: height of flight.
        within_m: half side of the square of initial positions.
        far_m: distance from the landing site above which it costs more than 1.
        slow_mps: speed below which it costs more than 1.
        fast_mps: speed above which it costs more than 1.
        closeness_m: cost of two agents at a distance of 1 m, in m.
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
    conditions: ClassVar[Conditions] = NOISELESS
    lost_reward: ClassVar[float] = LOST_REWARD
    lost_together: ClassVar[bool] = True

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return pelican_level_velocity_mapping(float(self.height_m))

    @override
    def starts(self, given: Start, world: WorldModel, key: PRNGKeyArray) -> Start:
        sides_m = [(-self.within_m, self.within_m)] * 2
        return scatter_starts(given, sides_m, world.collision_distance_m, key, self.height_m)

    @override
    def observe(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> HoldingObservation:
        del goal
        own, others = agent.estimate, other_agents(scene, agent).estimate
        return HoldingObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            offsets_to_teammates_world_m=offsets_to(others, own),
            velocities_of_mates_world_mps=rows(others.velocity_world_mps),
        )

    @override
    def reward(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> Real:
        del goal
        distance = (agent.truth.position_world_m - Vec3(0.0, 0.0, scene.world.ground_z_m)).norm()
        speed = agent.truth.velocity_world_mps.norm()
        offsets = offsets_to(other_agents(scene, agent).truth, agent.truth)
        distances = jnp.sqrt(jnp.maximum((offsets**2).sum(axis=1), CLOSEST_M**2))
        far = jnp.exp(jnp.minimum(distance - self.far_m, MAX_EXPONENT))
        speed_cost = jnp.exp(speed - self.fast_mps) + jnp.exp(self.slow_mps - speed)
        return -speed_cost - far - 0.5 * (self.closeness_m / distances).sum()

    @override
    def metrics(self, goal: tuple[()], scene: TaskScene) -> dict[str, Real]:
        del goal
        places = rows(scene.agents.truth.position_world_m)
        ground_m = jnp.asarray([0.0, 0.0, scene.world.ground_z_m], places.dtype)
        distance_m = jnp.sqrt(((places - ground_m[None]) ** 2).sum(axis=1))
        offsets = places[:, None] - places[None]
        pairs_m = jnp.sqrt((offsets**2).sum(axis=2)) + jnp.where(
            jnp.eye(len(places)) > 0, jnp.inf, 0
        )
        return {"furthest_agent_m": distance_m.max(), "nearest_pair_m": pairs_m.min()}

    @override
    def expert_action(
        self, goal: tuple[()], agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        # From outside of ``far_m`` it flies inward first, at full speed.
        del goal
        here = rows(agent.estimate.position_world_m)[:2]
        radius = _length(here[0], here[1])
        # at the center, where the outward direction is undefined, each agent has its own
        angle = jnp.asarray(agent.index, here.dtype)
        default = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        out = jnp.where(radius > LEAST_M, here / jnp.maximum(radius, LEAST_M), default)
        left = jnp.stack([-out[1], out[0]])
        others = rows(other_agents(scene, agent).estimate.position_world_m)[:, :2]
        angles = jnp.arctan2(others @ left, others @ out) % (2.0 * jnp.pi)
        uneven = jnp.min(angles) - (2.0 * jnp.pi - jnp.max(angles))
        speed = SPEED_MPS + jnp.clip(GAP_GAIN * uneven, -0.5, 0.5)
        # far out a meter costs more than the whole rest of the episode
        speed = jnp.where(radius < self.far_m - LEAST_M, speed, 0.0)
        x, y = speed * left + GAIN_PER_S * (RING_M - radius) * out
        return velocity_action(
            pelican_level_velocity_mapping(float(self.height_m)), Vec3(x, y, 0.0)
        )


def _length(x: Real, y: Real) -> Float[Array, ""]:
    """Return the length of a horizontal vector, with a finite gradient also at zero."""
    return jnp.sqrt(jnp.maximum(x**2 + y**2, 1e-12))
