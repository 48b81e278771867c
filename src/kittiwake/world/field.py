"""Scalar fields in the water: temperature, chlorophyll, oxygen.

A kind of field gives the value at the surface, by east and north. All kinds have a trend with
depth, and move with a slow drift. A field becomes a process of the world that is named by ``FIELD``
and a name chosen by the user. The random parameters of a flight are its state; given parameters,
such as a large map, stay in the process itself.

    value(x, y, z, t) = surface(x - u t, y - v t) + trend min(z, 0)

(u, v): the drift. The surface is the world's zero; above it there is no trend.
"""

from abc import abstractmethod
from typing import Generic

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.component import State
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import AbstractVar
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import WorldModel

# prefix of the names of fields among a world's processes
FIELD = "fields."


class AbstractField(AbstractProcessKind, Generic[State]):
    """Kind of field.

    Attributes:
        unit: unit of its values, as it is to be displayed.
        trend_per_m: increase of the value per meter upwards in the water.
        drift_world_mps: velocity of the whole pattern.
    """

    unit: AbstractVar[str]
    trend_per_m: AbstractVar[Real]
    drift_world_mps: AbstractVar[Vec3]

    def sample(self, key: PRNGKeyArray) -> State | tuple[()]:
        """Return the random parameters of a flight; empty for a given field."""
        del key
        return ()

    @abstractmethod
    def at_surface(self, sample: State, east_m: Real, north_m: Real) -> Real:
        """Return the value at the surface, before any drift."""

    def value(self, sample: State, position_world_m: Vec3, time_s: Real) -> Real:
        """Return the value at a position and a time."""
        position = position_world_m - self.drift_world_mps * time_s
        surface = self.at_surface(sample, position.x, position.y)
        return surface + self.trend_per_m * jnp.minimum(position_world_m.z, 0.0)

    @override
    def process(self, world: WorldModel, period_s: float) -> "FieldProcess[State]":
        del world, period_s
        return FieldProcess(self)


class FieldProcess(AbstractProcess[State, State]):
    """Process of one field; its visible value is the random parameters."""

    kind: AbstractField[State]

    @override
    def init(self, key: PRNGKeyArray) -> State | tuple[()]:
        return self.kind.sample(key)

    @override
    def step(
        self, state: State, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, State]:
        del inputs, dt_s, key
        return state, state
