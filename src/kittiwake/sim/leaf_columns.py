"""Structures and columns of leaves of many trees, computed once for each object that trees share.

Vehicles of one entry share all components but their starts, so their number costs little.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
from jaxtyping import ArrayLike

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.copies import distinct
from kittiwake.pytree import Module

Nodes: TypeAlias = Sequence[Any]
NUMBERS = {bool, int, float}


class LeafColumn(NamedTuple):
    """Leaf at the same place of many trees.

    Attributes:
        leaves: the leaf of each tree, or a single one if it is the same object in all.
        shared: true if all trees share the component to which it belongs.
    """

    leaves: Sequence[ArrayLike]
    shared: bool

    def stacked(self, count: int) -> np.ndarray:
        """Return the leaves of so many trees along a leading axis."""
        is_plain = {*map(type, self.leaves)} <= NUMBERS
        array = np.array(self.leaves) if is_plain else np.stack(self.leaves)
        return np.broadcast_to(array, (count, *array.shape[1:]))


def structure_codes(trees: Nodes) -> list[int]:
    """Return a number for each tree, which is equal for trees of equal structure.

    The structure holds the shapes of leaves, too.
    """
    objects = {} if {*map(type, trees)} <= NUMBERS else distinct(trees)
    if len(objects) < 2:
        return [0] * len(trees)
    codes = _numbered(_structures([*objects.values()]))
    code_of = dict(zip(objects, codes, strict=True))
    return [code_of[each] for each in map(id, trees)]


def leaf_columns(
    trees: Nodes, is_component: Callable[[ArrayTree], bool], *, within_own: bool = False
) -> list[LeafColumn]:
    """Return the columns of trees of equal structure, in the order of their leaves.

    Args:
        trees: the trees.
        is_component: returns True for a node that is shared as a whole or not at all.
        within_own: true if the trees are parts of components that are not shared.
    """
    first = trees[0]
    if first is trees[-1] and len(distinct(trees)) == 1:
        return [LeafColumn([leaf], shared=not within_own) for leaf in jax.tree.leaves(first)]
    if jax.tree_util.all_leaves([first]):
        return [LeafColumn(trees, shared=False)]
    within = within_own or is_component(first)
    return [
        column
        for part in _parts(trees)
        for column in leaf_columns(part, is_component, within_own=within)
    ]


def _structures(trees: Nodes) -> Sequence[Hashable]:
    """Return what describes the structure of each tree."""
    if len(trees) > 1 and len({*map(type, trees)}) == 1 and isinstance(trees[0], Module):
        static, dynamic = _field_names(trees[0])
        described = [[getattr(tree, name) for tree in trees] for name in static]
        described += [structure_codes([getattr(tree, name) for tree in trees]) for name in dynamic]
        varying = [column for column in described if len({*column}) > 1]
        return [*zip(*varying, strict=True)] if varying else [()] * len(trees)
    flattened = map(jax.tree.flatten, trees)
    return [(treedef, *map(np.shape, leaves)) for leaves, treedef in flattened]


def _parts(trees: Nodes) -> list[Nodes]:
    """Return each direct part of trees of equal structure."""
    if isinstance(trees[0], Module):
        return [[getattr(tree, name) for tree in trees] for name in _field_names(trees[0])[1]]
    parts = [
        jax.tree.leaves(tree, is_leaf=lambda node, own=tree: node is not own) for tree in trees
    ]
    return [*zip(*parts, strict=True)]


def _field_names(record: Module) -> tuple[list[str], list[str]]:
    """Return the names of a record's static fields, and of the others."""
    names: tuple[list[str], list[str]] = [], []
    for each in fields(record):
        names[not each.metadata.get("static", False)].append(each.name)
    return names


def _numbered(values: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]
