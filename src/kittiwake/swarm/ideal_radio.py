"""A radio that carries every message at once, as far as it reaches."""

from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.nearest import nearest
from kittiwake.geometry.scalar import Real
from kittiwake.swarm.neighbor_table import peers_of, with_leaders
from kittiwake.world.radio import AbstractRadio, Broadcast

MOST = Bounds(1.0, 256.0)


class IdealRadio(AbstractRadio):
    """Each vehicle hears the nearest others, and its leader wherever that is.

    Attributes:
        range_m: how far it reaches.
        most: others that a vehicle listens to, the nearest.
    """

    default_rate_hz: ClassVar[float | None] = 25.0

    range_m: Annotated[Real, POSITIVE] = 50.0
    most: Annotated[int, MOST] = eqx.field(static=True, default=16)

    @override
    def begin(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> tuple[()]:
        del vehicles, period_s, key
        return ()

    @override
    def step(
        self, state: tuple[()], inputs: Broadcast, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], NeighborTable]:
        del dt_s, key
        sends = inputs.present & inputs.reports.sent
        points = jax.vmap(lambda place: place.array)(inputs.places_world_m)
        near = nearest(points, sends, self.range_m, self.most)
        numbers, there = with_leaders(near, inputs.roster)
        reports = jax.tree.map(lambda leaf: leaf[numbers], inputs.reports)
        age_s = jnp.broadcast_to(inputs.age_s, jnp.shape(numbers))
        return state, peers_of(reports, age_s, numbers, there & sends[numbers], inputs.roster)
