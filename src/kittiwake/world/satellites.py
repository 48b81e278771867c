"""Navigation satellites, as a world has them and as receivers see them.

A constellation says where its satellites are, range errors what is wrong with the distances that
are measured to them. Both belong to the world: every receiver sees the same satellites with the
same errors, so that receivers close together err alike.
"""

from abc import abstractmethod
from datetime import datetime
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.component import AbstractComponent
from kittiwake.geometry.scalar import Real
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import Origin, World

# under this name a world keeps its satellites among its processes
SKY = "satellites"


class Sky(eqx.Module):
    """All satellites at one time, above the horizon and below it.

    Attributes:
        numbers: by which they are known.
        positions_world_m: east, north and up from the origin, on its tangent plane.
        range_errors_m: by how much every receiver measures its distance to them as too large.
    """

    numbers: tuple[int, ...] = eqx.field(static=True)
    positions_world_m: Float[Array, "satellites 3"]
    range_errors_m: Float[Array, " satellites"]


class AbstractOrbits(eqx.Module):
    """Where the satellites of a world are; ``end_s`` is up to when that is known, None for ever."""

    numbers: eqx.AbstractVar[tuple[int, ...]]
    end_s: eqx.AbstractVar[float | None]

    @abstractmethod
    def positions_world_m(self, time_s: Real) -> Float[Array, "satellites 3"]:
        """Their places at a time after the start."""


class AbstractRangeError(AbstractComponent):
    """What is wrong with all distances to one satellite."""

    @abstractmethod
    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Real]:
        """The next state and the error in meters; ``inputs`` is the time in seconds."""


class AbstractConstellation(AbstractProcessKind):
    """Kinds of satellites, with the errors of the distances to them."""

    default_rate_hz: ClassVar[float | None] = 5.0

    errors: eqx.AbstractVar[AbstractRangeError]

    @abstractmethod
    def orbits(self, origin: Origin, start_utc: datetime) -> AbstractOrbits:
        """Their orbits as seen from a world at this place that begins at this time.

        Raises:
            ScenarioError: if nothing is known of that time.
        """

    @override
    def process(self, world: World, period_s: float) -> "SatelliteProcess":
        del period_s
        return SatelliteProcess(self.orbits(world.origin, world.start_utc), self.errors)


class SatelliteProcess(AbstractProcess):
    """The sky of one world."""

    orbits: AbstractOrbits
    errors: AbstractRangeError

    @override
    def init(self, key: PRNGKeyArray) -> Any:
        return jax.vmap(self.errors.init)(self._keys(key))

    @override
    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Sky]:
        def err(own: Any, draw: PRNGKeyArray) -> tuple[Any, Real]:
            return self.errors.step(own, inputs, dt_s, draw)

        later, errors_m = jax.vmap(err)(state, self._keys(key))
        places = self.orbits.positions_world_m(inputs)
        return later, Sky(self.orbits.numbers, places, jnp.asarray(errors_m, places.dtype))

    @override
    def end_s(self) -> float | None:
        return self.orbits.end_s

    def _keys(self, key: PRNGKeyArray) -> Key[Array, " satellites"]:
        # by its number, so that a satellite's errors do not depend on which others there are
        numbers = jnp.asarray(self.orbits.numbers, jnp.uint32)
        return jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers)
