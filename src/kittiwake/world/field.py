"""What the water carries or is, as a field: temperature, chlorophyll, oxygen.

A kind of field says what there is of it at the surface, by east and north. All kinds have a trend
with depth, and go with a slow drift. A field becomes a process of the world that is named by
``FIELD`` and a name of the user's own. What is drawn of it for a flight is its state; what is
given stays in the process itself, however large a map it is.

    value(x, y, z, t) = surface(x - u t, y - v t) + trend min(z, 0)

(u, v): the drift. The surface is the world's zero; above it there is no trend.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind

# before the names of fields among a world's processes
FIELD = "fields."


class AbstractField(AbstractProcessKind):
    """Kinds of fields.

    Attributes:
        unit: of its values, as it is to be written beside them.
        trend_per_m: how much the value grows with each meter upwards in the water.
        drift_world_mps: how fast the whole pattern goes with the water.
    """

    unit: eqx.AbstractVar[str]
    trend_per_m: eqx.AbstractVar[Real]
    drift_world_mps: eqx.AbstractVar[Vec3]

    def drawn(self, key: PRNGKeyArray) -> Any:
        """What of it is drawn for a flight; nothing of a field that is given."""
        del key
        return ()

    @abstractmethod
    def at_surface(self, drawn: Any, east_m: Real, north_m: Real) -> Real:
        """The value at the surface, before anything has drifted."""

    def value(self, drawn: Any, position_world_m: Vec3, time_s: Real) -> Real:
        """At a place and a time."""
        place = position_world_m - self.drift_world_mps * time_s
        surface = self.at_surface(drawn, place.x, place.y)
        return surface + self.trend_per_m * jnp.minimum(position_world_m.z, 0.0)

    @override
    def process(self, world: Any, period_s: float) -> "FieldProcess":
        del world, period_s
        return FieldProcess(self)


class FieldProcess(AbstractProcess):
    """One field; there is to see what was drawn of it."""

    kind: AbstractField

    @override
    def init(self, key: PRNGKeyArray) -> Any:
        return self.kind.drawn(key)

    @override
    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Any]:
        del inputs, dt_s, key
        return state, state
