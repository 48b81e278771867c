"""From what vehicles send to what each of them knows."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.core.arrays import as_arrays
from kittiwake.core.neighbors import Neighbor, NeighborTable, Roster, StateReport
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.nearest import NearestNeighbors
from kittiwake.geometry.scalar import Count, Flag, Real


def with_leaders(
    near: NearestNeighbors, roster: Roster
) -> tuple[Int[Array, "vehicles heard"], Bool[Array, "vehicles heard"]]:
    """The numbers of those to listen to, the leader last, and whether there are such."""
    own = jnp.arange(len(roster.leader), dtype=jnp.int32)
    numbers = jnp.concatenate([near.numbers, roster.leader[:, None]], axis=1)
    there = jnp.concatenate([near.found, (roster.leader != own)[:, None]], axis=1)
    return numbers, there


def peers_of(
    reports: StateReport,
    age_s: Float[Array, "vehicles heard"],
    numbers: Int[Array, "vehicles heard"],
    heard: Bool[Array, "vehicles heard"],
    roster: Roster,
) -> NeighborTable:
    """What each vehicle knows by the last reports that it heard.

    Args:
        reports: with two axes, over vehicles and those that they listen to, the leader last.
        age_s: of the reports.
        numbers: whose reports they are.
        heard: which of them there are.
        roster: who belongs together.
    """

    def known(
        own: Count,
        told: StateReport,
        ages_s: Float[Array, " heard"],
        senders: Int[Array, " heard"],
        there: Bool[Array, " heard"],
    ) -> NeighborTable:
        each = jax.vmap(_peer, (None, None, 0, 0, 0, 0))
        peers = each(roster, own, told, ages_s, senders, there)
        return NeighborTable(
            others=jax.tree.map(lambda leaf: leaf[:-1], peers),
            leader=jax.tree.map(lambda leaf: leaf[-1], peers),
            number=roster.number[own],
            size=roster.size[own],
        )

    every = jnp.arange(len(roster.team), dtype=jnp.int32)
    return jax.vmap(known)(every, reports, age_s, numbers, heard)


def _peer(
    roster: Roster, own: Count, report: StateReport, age_s: Real, sender: Count, heard: Flag
) -> Neighbor:
    now = report.after(age_s)
    peer = Neighbor(
        position_world_m=now.position_world_m,
        velocity_world_mps=now.velocity_world_mps,
        age_s=age_s,
        number=roster.number[sender],
        mate=roster.team[sender] == roster.team[own],
        heard=heard,
    )
    # what is not heard is nowhere in particular, but a number
    return tree_where(heard, as_arrays(peer), jax.tree.map(jnp.zeros_like, as_arrays(peer)))
