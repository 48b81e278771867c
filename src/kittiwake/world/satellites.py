"""Navigation satellites, as processes of the world and as receivers see them.

A constellation describes the orbits of its satellites; range errors are the errors of the distances
measured to them. Both belong to the world: every receiver sees the same satellites with the same
errors, so that receivers close together have similar errors.
"""

from abc import abstractmethod
from datetime import datetime
from typing import ClassVar, Generic

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.component import AbstractKeyedComponent, State
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import AbstractVar, Module, field
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import Origin, WorldModel

# name of the satellites among a world's processes
SKY = "satellites"


class Sky(Module):
    """All satellites at one time, above and below the horizon.

    Attributes:
        numbers: identifiers of the satellites.
        positions_world_m: east, north and up from the origin, on its tangent plane.
        range_errors_m: error of the measured distance to each, the same for every receiver.
    """

    numbers: tuple[int, ...] = field(static=True)
    positions_world_m: Float[Array, "satellites 3"]
    range_errors_m: Float[Array, " satellites"]


class AbstractOrbits(Module):
    """Orbits of the satellites of a world, known up to ``end_s``; None without a limit."""

    numbers: AbstractVar[tuple[int, ...]]
    end_s: AbstractVar[float | None]

    @abstractmethod
    def positions_world_m(self, time_s: Real) -> Float[Array, "satellites 3"]:
        """Return their positions at a time after the start."""


class AbstractRangeError(AbstractKeyedComponent[State, Real, Real], Generic[State]):
    """Error of all distances to one satellite.

    ``step`` takes the time in seconds, and returns the error in meters.
    """


class AbstractConstellation(AbstractProcessKind):
    """Kind of constellation, with the errors of the distances to its satellites."""

    default_rate_hz: ClassVar[float | None] = 5.0

    errors: AbstractVar[AbstractRangeError]

    @abstractmethod
    def orbits(self, origin: Origin, start_utc: datetime) -> AbstractOrbits:
        """Return the orbits relative to a world with this origin and start time.

        Raises:
            ScenarioError: if the orbits are unknown at that time.
        """

    @override
    def process(self, world: WorldModel, period_s: float) -> "SatelliteProcess":
        del period_s
        return SatelliteProcess(self.orbits(world.origin, world.start_utc), self.errors)


class SatelliteProcess(AbstractProcess[State, Sky]):
    """Process of the satellites of one world."""

    orbits: AbstractOrbits
    errors: AbstractRangeError[State]

    @override
    def init(self, key: PRNGKeyArray) -> State | tuple[()]:
        return jax.vmap(self.errors.init)(self._keys(key))

    @override
    def step(self, state: State, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[State, Sky]:
        def error(own: State, draw: PRNGKeyArray) -> tuple[State, Real]:
            return self.errors.step(own, inputs, dt_s, draw)

        next_state, errors_m = jax.vmap(error)(state, self._keys(key))
        positions = self.orbits.positions_world_m(inputs)
        return next_state, Sky(
            self.orbits.numbers, positions, jnp.asarray(errors_m, positions.dtype)
        )

    @override
    def end_s(self) -> float | None:
        return self.orbits.end_s

    def _keys(self, key: PRNGKeyArray) -> Key[Array, " satellites"]:
        # by its number, so that a satellite's errors do not depend on the presence of others
        numbers = jnp.asarray(self.orbits.numbers, jnp.uint32)
        return jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers)
