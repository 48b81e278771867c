"""Where plumes come from."""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.world import FlightArea

# of each side of the area, about its middle
MIDDLE_SHARE = 0.8
SOURCES = Bounds(1.0, 100.0)
# of a parameter that is drawn evenly between two limits
Range = tuple[Annotated[Real, POSITIVE], Annotated[Real, POSITIVE]]


class Placed(NamedTuple):
    """Sources at their places; those that there are not count as well, and emit nothing."""

    positions_world_m: Float[Array, "sources 3"]
    there: Bool[Array, " sources"]


class Sources(eqx.Module):
    """At places that are given, or so many of them at places that are drawn.

    ``number`` is from how many to how many. They are drawn evenly from the middle 80 % of each side
    of the world's area, as in QRSim.
    """

    positions_world_m: tuple[Vec3, ...] = ()
    number: tuple[Annotated[int, SOURCES], Annotated[int, SOURCES]] = eqx.field(
        static=True, default=(1, 1)
    )

    def __check_init__(self) -> None:
        """Refuses a number that is none."""
        low, high = self.number
        if low > high:
            message = f"number: [{low}, {high}] is not allowed; write the lower number first"
            raise ValueError(message)

    def check(self, area: FlightArea) -> None:
        """Refuses an area from which no place should be drawn."""
        if not self.positions_world_m:
            area.check_drawable()

    def placed(self, area: FlightArea, key: PRNGKeyArray) -> Placed:
        """Where they are."""
        if self.positions_world_m:
            places = jnp.stack([jnp.asarray(p.array, float) for p in self.positions_world_m])
            return Placed(places, jnp.ones(len(places), bool))
        low, high = self.number
        count_key, place_key = jax.random.split(key)
        count = jax.random.randint(count_key, (), low, high + 1, jnp.int32)
        places = drawn_places(area, place_key, high)
        return Placed(places, jnp.arange(high, dtype=jnp.int32) < count)


def drawn_places(area: FlightArea, key: PRNGKeyArray, count: int) -> Float[Array, "places 3"]:
    """So many places, evenly drawn from the middle of an area."""
    draws = jax.random.uniform(key, (count, 3), jnp.result_type(float), -0.5, 0.5)
    sides = jnp.asarray([area.x_m, area.y_m, area.z_m], draws.dtype)
    middle, length = sides.mean(axis=1), sides[:, 1] - sides[:, 0]
    return middle[None] + draws * (MIDDLE_SHARE * length[None])


def drawn_between(
    limits: tuple[Real, Real], key: PRNGKeyArray, count: int
) -> Float[Array, " count"]:
    """So many numbers, evenly drawn between two limits."""
    low, high = limits
    return low + (high - low) * jax.random.uniform(key, (count,), jnp.result_type(float))


def refuse_unordered(name: str, limits: tuple[Real, Real]) -> None:
    """Refuses limits with the higher one first."""
    low, high = limits
    if low > high:
        message = f"{name}: [{low:g}, {high:g}] is not allowed; write the lower limit first"
        raise ValueError(message)
