"""Differences among the worlds of a batch, in the leaves of their numbers and of their states."""

from collections.abc import Sequence

import jax
import numpy as np

from kittiwake.core.arrays import ArrayTree
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers

# fields of a state that all worlds share
CLOCK = ("tick", "began", "additions")


def state_marks(state: FleetState, *, own: bool | int, shared: bool | None) -> ArrayTree:
    """Return marks of a state's leaves: those of each world, and the clock that worlds share."""
    return jax.tree_util.tree_map_with_path(
        lambda path, _: shared if path[0].name in CLOCK else own, state
    )


def joined_numbers(numbers: Sequence[Numbers]) -> tuple[list[np.ndarray], tuple[bool, ...]]:
    """Return the leaves of all worlds' numbers, with True for those that differ among these."""
    columns = [*zip(*map(jax.tree.leaves, numbers), strict=True)]
    # packed numbers of several worlds always count as differing, so that these compile once
    differ = len(numbers) > 1, *map(_differ, columns[1:])
    leaves = [
        np.stack(own) if differs else np.asarray(own[0])
        for own, differs in zip(columns, differ, strict=True)
    ]
    return leaves, differ


def _differ(leaves: Sequence[np.ndarray]) -> bool:
    first, *others = leaves
    return any(leaf is not first and not np.array_equal(leaf, first) for leaf in others)
