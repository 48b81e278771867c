"""Neighbor tables of all vehicles from the reports that they have received."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.core.arrays import as_arrays
from kittiwake.core.neighbors import Neighbor, NeighborTable, Roster, StateReport
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.nearest import NearestNeighbors
from kittiwake.geometry.scalar import Flag, Integer, Real


def with_leaders(
    near: NearestNeighbors, roster: Roster
) -> tuple[Int[Array, "vehicles received"], Bool[Array, "vehicles received"]]:
    """Return the indices of the senders, the leader last, and whether each of them exists."""
    own = jnp.arange(len(roster.leader), dtype=jnp.int32)
    senders = jnp.concatenate([near.indices, roster.leader[:, None]], axis=1)
    exists = jnp.concatenate([near.found, (roster.leader != own)[:, None]], axis=1)
    return senders, exists


def neighbor_tables(
    reports: StateReport,
    age_s: Float[Array, "vehicles received"],
    senders: Int[Array, "vehicles received"],
    received: Bool[Array, "vehicles received"],
    roster: Roster,
) -> NeighborTable:
    """Return the neighbor table of each vehicle from the last reports that it received.

    Args:
        reports: reports with axes (vehicles, senders), the leader last.
        age_s: ages of the reports.
        senders: indices of the senders.
        received: flags of the reports that were received.
        roster: teams and leaders of the vehicles.
    """

    def table(
        own: Integer,
        received: StateReport,
        ages_s: Float[Array, " received"],
        senders: Int[Array, " received"],
        exists: Bool[Array, " received"],
    ) -> NeighborTable:
        each = jax.vmap(_neighbor, (None, None, 0, 0, 0, 0))
        neighbors = each(roster, own, received, ages_s, senders, exists)
        return NeighborTable(
            entries=jax.tree.map(lambda leaf: leaf[:-1], neighbors),
            leader=jax.tree.map(lambda leaf: leaf[-1], neighbors),
            index_in_team=roster.index_in_team[own],
            size=roster.size[own],
        )

    every = jnp.arange(len(roster.team), dtype=jnp.int32)
    return jax.vmap(table)(every, reports, age_s, senders, received)


def _neighbor(
    roster: Roster, own: Integer, report: StateReport, age_s: Real, sender: Integer, received: Flag
) -> Neighbor:
    now = report.after(age_s)
    neighbor = Neighbor(
        position_world_m=now.position_world_m,
        velocity_world_mps=now.velocity_world_mps,
        age_s=age_s,
        index_in_team=roster.index_in_team[sender],
        teammate=roster.team[sender] == roster.team[own],
        received=received,
    )
    # zeros, not NaN, for reports that were not received
    return tree_where(
        received, as_arrays(neighbor), jax.tree.map(jnp.zeros_like, as_arrays(neighbor))
    )
