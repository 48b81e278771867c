"""QRSim's HoldingPattern: three vehicles go on flying in a ring, and keep apart.

With an agent's horizontal speed s, its horizontal distance rho from the middle of the ring, and its
distances d_j from the others, a step is worth to it

    r = exp(-((s - s0) / ds)^2) exp(-((rho - rho0) / drho)^2) - w sum_j 1 / d_j

What is known of the original (QRSim, R. De Nardi, 2013, branch flexiblecontrol) is three vehicles,
1000 steps of 1 s, penalties that are exponential in speed and distance, and 0.0025 / d. The form
above is ours, and all its numbers but one: w is 0.0025 km, as distances count in km there.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.vehicle import Vehicle
from kittiwake.geometry.scalar import Real
from kittiwake.tasks.mates import mates, rows, ways_to
from kittiwake.tasks.motion import FAR, FAST, Travel
from kittiwake.tasks.pelican import LOST, level_velocities, without_noise
from kittiwake.tasks.rung import Rung
from kittiwake.tasks.task import AbstractTask, Agent, Scene

# of the baseline: how fast it goes back to the ring, and how much faster where the next one is far
GAIN_PER_S, CLOSING = 0.2, 0.3


class HoldingObservation(Travel):
    """What an agent knows, in axes of the world.

    Attributes:
        ways_to_mates_world_m: to the others, the next one first.
        velocities_of_mates_world_mps: over the ground.
    """

    ways_to_mates_world_m: Annotated[Float[Array, "mates 3"], FAR]
    velocities_of_mates_world_mps: Annotated[Float[Array, "mates 3"], FAST]


class HoldingPattern(AbstractTask):
    """The ring is about (0, 0); agents choose horizontal velocities at ``height_m``."""

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    height_m: Annotated[Real, POSITIVE] = 20.0
    radius_m: Annotated[Real, POSITIVE] = 50.0
    radius_width_m: Annotated[Real, POSITIVE] = 10.0
    speed_mps: Annotated[Real, POSITIVE] = 2.0
    speed_width_mps: Annotated[Real, POSITIVE] = 1.0
    closeness_m: Annotated[Real, NOT_NEGATIVE] = 2.5

    scenario: ClassVar[str] = "holding-pattern"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noiseless": without_noise("pelican"),
        "noisy": {},
    }
    # of each, so that all together get QRSim's penalty
    lost_reward: ClassVar[float] = LOST / 3.0

    def rung(self, vehicle: Vehicle) -> Rung:
        """A horizontal velocity."""
        del vehicle
        return level_velocities(float(self.height_m))

    def observe(self, goal: Any, agent: Agent, scene: Scene) -> HoldingObservation:
        """What it believes of itself, and the others of themselves."""
        del goal
        own, others = agent.estimate, mates(scene, agent).estimate
        return HoldingObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            ways_to_mates_world_m=ways_to(others, own),
            velocities_of_mates_world_mps=rows(others.velocity_world_mps),
        )

    def reward(self, goal: Any, agent: Agent, scene: Scene) -> Real:
        """The reward above."""
        del goal
        place, velocity = agent.truth.position_world_m, agent.truth.velocity_world_mps
        slow = (_length(velocity.x, velocity.y) - self.speed_mps) / self.speed_width_mps
        off = (_length(place.x, place.y) - self.radius_m) / self.radius_width_m
        ways = ways_to(mates(scene, agent).truth, agent.truth)
        near = (1.0 / jnp.sqrt((ways**2).sum(axis=1))).sum()
        return jnp.exp(-(slow**2)) * jnp.exp(-(off**2)) - self.closeness_m * near

    def baseline(self, goal: Any, agent: Agent, scene: Scene) -> Float[Array, " numbers"]:
        """Round to the left, and faster the further the next one ahead is than the one behind."""
        del goal
        here = rows(agent.estimate.position_world_m)[:2]
        radius = _length(here[0], here[1])
        out = here / jnp.maximum(radius, 1.0)
        left = jnp.stack([-out[1], out[0]])
        others = rows(mates(scene, agent).estimate.position_world_m)[:, :2]
        angles = jnp.arctan2(others @ left, others @ out) % (2.0 * jnp.pi)
        uneven = jnp.min(angles) - (2.0 * jnp.pi - jnp.max(angles))
        speed = self.speed_mps + jnp.clip(CLOSING * uneven, -0.5, 0.5)
        x, y = speed * left + GAIN_PER_S * (self.radius_m - radius) * out
        return level_velocities(float(self.height_m)).action(
            {"velocity_x_world_mps": x, "velocity_y_world_mps": y}
        )


def _length(x: Real, y: Real) -> Float[Array, ""]:
    """Of a horizontal vector, with a slope also where there is none."""
    return jnp.sqrt(jnp.maximum(x**2 + y**2, 1e-12))
