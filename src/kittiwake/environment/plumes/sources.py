"""Sources of plumes."""

from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.world import FlightArea

# share of each side of the area, about its center
MIDDLE_SHARE = 0.8
SOURCES = Bounds(1.0, 100.0)
# limits of a parameter with a uniform distribution
Range = tuple[Annotated[Real, POSITIVE], Annotated[Real, POSITIVE]]


class SourcePositions(NamedTuple):
    """Positions of sources; those that are not ``there`` emit nothing."""

    positions_world_m: Float[Array, "sources 3"]
    exists: Bool[Array, " sources"]


class Sources(Module):
    """Sources at given positions, or a random number of them at random positions.

    ``number`` is the range of their number. Positions are uniform in the middle 80 % of each side
    of the world's area, as in QRSim.
    """

    positions_world_m: tuple[Vec3, ...] = ()
    number: tuple[Annotated[int, SOURCES], Annotated[int, SOURCES]] = field(
        static=True, default=(1, 1)
    )

    def __post_init__(self) -> None:
        """Raise ValueError if the range of the number is empty."""
        low, high = self.number
        if low > high:
            message = f"number: got [{low}, {high}]; write the lower number first"
            raise ValueError(message)

    def check(self, area: FlightArea) -> None:
        """Raise ScenarioError for an area too large for random positions."""
        if not self.positions_world_m:
            area.check_drawable()

    def sample(self, area: FlightArea, key: PRNGKeyArray) -> SourcePositions:
        """Return the positions of one flight."""
        if self.positions_world_m:
            positions = jnp.stack([jnp.asarray(p.array, float) for p in self.positions_world_m])
            return SourcePositions(positions, jnp.ones(len(positions), bool))
        low, high = self.number
        count_key, place_key = jax.random.split(key)
        count = jax.random.randint(count_key, (), low, high + 1, jnp.int32)
        positions = random_positions(area, place_key, high)
        return SourcePositions(positions, jnp.arange(high, dtype=jnp.int32) < count)


def random_positions(
    area: FlightArea, key: PRNGKeyArray, count: int
) -> Float[Array, "positions 3"]:
    """Return random positions, uniform in the middle of an area."""
    draws = jax.random.uniform(key, (count, 3), jnp.result_type(float), -0.5, 0.5)
    sides = jnp.asarray([area.x_m, area.y_m, area.z_m], draws.dtype)
    middle, length = sides.mean(axis=1), sides[:, 1] - sides[:, 0]
    return middle[None] + draws * (MIDDLE_SHARE * length[None])


def random_values(
    limits: tuple[Real, Real], key: PRNGKeyArray, count: int
) -> Float[Array, " count"]:
    """Return random values, uniform between two limits."""
    low, high = limits
    return low + (high - low) * jax.random.uniform(key, (count,), jnp.result_type(float))


def validate_order(name: str, limits: tuple[Real, Real]) -> None:
    """Raise ValueError if the higher limit comes first."""
    low, high = limits
    if low > high:
        message = f"{name}: got [{low:g}, {high:g}]; write the lower limit first"
        raise ValueError(message)
