"""Radio without losses or latency within its range."""

from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.nearest import nearest
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import field
from kittiwake.swarm.neighbor_table import neighbor_tables, with_leaders
from kittiwake.world.radio import AbstractRadio, Broadcast

MOST = Bounds(1.0, 256.0)


class IdealRadio(AbstractRadio[tuple[()]]):
    """Radio that delivers the messages of the nearest vehicles, and of the leader at any distance.

    Attributes:
        range_m: range of the radio.
        most: largest number of neighbors; the nearest are received.
    """

    default_rate_hz: ClassVar[float | None] = 25.0

    range_m: Annotated[Real, POSITIVE] = 50.0
    most: Annotated[int, MOST] = field(static=True, default=16)

    @override
    def init(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> tuple[()]:
        del vehicles, period_s, key
        return ()

    @override
    def step(
        self, state: tuple[()], inputs: Broadcast, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], NeighborTable]:
        del dt_s, key
        sending = inputs.present & inputs.reports.sent
        points = jax.vmap(lambda place: place.array)(inputs.positions_world_m)
        near = nearest(points, sending, self.range_m, self.most)
        senders, exists = with_leaders(near, inputs.roster)
        reports = jax.tree.map(lambda leaf: leaf[senders], inputs.reports)
        age_s = jnp.broadcast_to(inputs.age_s, jnp.shape(senders))
        return state, neighbor_tables(
            reports, age_s, senders, exists & sending[senders], inputs.roster
        )
