"""Transfer of a flight's state to a fleet that was rebuilt in flight."""

from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.arrays import ArrayTree
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.schedule import ScheduledState
from kittiwake.sim.state import FleetState

Tree = TypeVar("Tree")
# states of each group, along an axis of its vehicles
Groups: TypeAlias = tuple[ArrayTree, ...]


def transfer_state(before: Fleet, state: FleetState, after: Fleet, fresh: FleetState) -> FleetState:
    """Return a fleet's state for another fleet, which may have other vehicles.

    Values are matched by vehicle and by name, so groups may differ, and vehicles and components may
    be added. What only the other fleet has starts as in ``fresh``, and the clocks of added vehicles
    begin now.
    """
    known, initial = as_numpy(state), as_numpy(fresh)
    # in the order of ``FleetState``, whose constructor does not accept NumPy arrays
    parts = (
        known.tick,
        known.began,
        _groups(before, known.groups, after, initial.groups),
        _transferred(known.processes, initial.processes),
        _transferred(known.streams, initial.streams),
        _radio(before, known.radio, after, initial.radio),
        _transferred(known.commander, initial.commander),
        {name: known.additions.get(name, known.tick) for name in initial.additions},
    )
    later = jax.tree.unflatten(jax.tree.structure(initial), jax.tree.leaves(parts))
    return with_keys(later, fresh)


def transfer_guidance(
    before: Fleet,
    state: tuple[Groups, ScheduledState],
    after: Fleet,
    fresh: tuple[Groups, ScheduledState],
) -> tuple[Groups, ScheduledState]:
    """Return the states of guidance and radio for another fleet, which may have other vehicles.

    Args:
        before: the fleet.
        state: the states of each group's guidance, and of the radio.
        after: the other fleet.
        fresh: its initial states.
    """
    (groups, radio), (initial, initial_radio) = as_numpy(state), as_numpy(fresh)
    later = _radio(before, radio, after, initial_radio)
    assert later is not None, "there is one before and after"
    return with_keys((_groups(before, groups, after, initial), later), fresh)


def with_index_replaced(before: Tree, after: Tree, index: int) -> Tree:
    """Return a tree with the entries at one index from another; shared leaves stay as they are."""

    def one(old: Any, new: Any) -> Any:
        if old is new:
            return old
        # NumPy needs no compilation
        own = np.array(old)
        own[index] = np.asarray(new)[index]
        return own

    return jax.tree.map(one, before, after)


def _groups(before: Fleet, known: Groups, after: Fleet, initial: Groups) -> Groups:
    """Return the state of each group of a fleet."""
    return tuple(
        _group(before, known, names, own)
        for names, own in zip((g.names for g in after.groups), initial, strict=True)
    )


def _group(before: Fleet, known: Groups, names: tuple[str, ...], initial: Tree) -> Tree:
    """Return the state of a group of vehicles, from whichever groups they were in."""
    there = [index for index, name in enumerate(names) if name in before.names]
    if not there:
        return initial
    if len(there) < len(names):
        kept = _group(before, known, tuple(names[index] for index in there), _part(initial, there))
        return jax.tree.map(lambda leaf, own: _replaced(leaf, there, own), initial, kept)
    locations = np.array([before.locate(name) for name in names])
    parts, order = [], []
    for group_index in np.unique(locations[:, 0]):
        indices = np.flatnonzero(locations[:, 0] == group_index)
        own = _part(known[group_index], locations[indices, 1])
        parts.append(_transferred(own, _part(initial, indices)))
        order.append(indices)
    back = np.argsort(np.concatenate(order))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[back], *parts)


def _part(group: Tree, indices: Any) -> Tree:
    """Return the states of some vehicles of a group."""
    return jax.tree.map(lambda leaf: leaf[indices], group)


def _replaced(leaf: np.ndarray, indices: list[int], own: np.ndarray) -> np.ndarray:
    later = np.array(leaf)
    later[indices] = own
    return later


def _radio(
    before: Fleet, known: ScheduledState | None, after: Fleet, fresh: ScheduledState | None
) -> ScheduledState | None:
    """Return the state of the radio, whose arrays are in the order of the fleet's vehicles."""
    if known is None or fresh is None or before.names == after.names:
        return _transferred(known, fresh)
    places = {name: index for index, name in enumerate(before.names)}
    kept = [(i, places[name]) for i, name in enumerate(after.names) if name in places]
    there, here = np.array([*zip(*kept, strict=True)], int).reshape(2, -1)

    def reordered(axis: int, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        # the words of a random key are no vehicles, however many there are
        is_key = np.issubdtype(new.dtype, np.unsignedinteger)
        sizes = tuple(leaf.shape[axis] if leaf.ndim else 0 for leaf in (old, new))
        if is_key or sizes != (len(before.names), len(after.names)):
            return new if old.shape != new.shape else old
        later, known_first = np.moveaxis(np.array(new), axis, 0), np.moveaxis(old, axis, 0)
        if later.shape[1:] != known_first.shape[1:]:
            return new  # the table of each one has room for another number of neighbors
        later[there] = known_first[here]
        return np.moveaxis(later, 0, axis)

    if jax.tree.structure(known) != jax.tree.structure(fresh):
        return fresh
    # a component's own state has the vehicles last, and its output has them first
    return replace(
        fresh,
        state=jax.tree.map(partial(reordered, -1), known.state, fresh.state),
        output=jax.tree.map(partial(reordered, 0), known.output, fresh.output),
    )


def _transferred(known: Any, fresh: Any) -> Any:
    """Return ``fresh`` with the leaves of ``known`` that have the same path, shape and type."""
    memory = dict(jax.tree_util.tree_leaves_with_path(known))

    def remembered(path: Any, leaf: np.ndarray) -> np.ndarray:
        before = memory.get(path)
        if before is None or before.shape != leaf.shape or before.dtype != leaf.dtype:
            return leaf
        return before

    return jax.tree_util.tree_map_with_path(remembered, fresh)


def as_numpy(state: Tree) -> Tree:
    """Return the state with NumPy arrays, which are split and joined without compilation."""
    return jax.tree.map(
        lambda leaf: np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf), state
    )


def with_keys(state: Tree, form: Tree) -> Tree:
    """Return the state with JAX keys where ``form`` has keys."""
    return jax.tree.map(
        lambda leaf, like: jax.random.wrap_key_data(leaf) if _is_key(like) else leaf, state, form
    )


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
