"""Transfer of a flight's state to a fleet that was rebuilt in flight."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, VehicleState

Tree = TypeVar("Tree")


def transfer_state(before: Fleet, state: FleetState, after: Fleet, fresh: FleetState) -> FleetState:
    """Return a fleet's state for another fleet of the same vehicles.

    Values are matched by vehicle and by name, so groups may differ and components may be added.
    What only the other fleet has starts as in ``fresh``.
    """
    known, initial = as_numpy(state), as_numpy(fresh)
    # in the order of ``FleetState``, whose constructor does not accept NumPy arrays
    parts = (
        known.tick,
        known.began,
        tuple(
            _group(before, known, names, own)
            for names, own in zip((g.names for g in after.groups), initial.groups, strict=True)
        ),
        _transferred(known.processes, initial.processes),
        _transferred(known.streams, initial.streams),
        _transferred(known.radio, initial.radio),
        _transferred(known.commander, initial.commander),
    )
    later = jax.tree.unflatten(jax.tree.structure(initial), jax.tree.leaves(parts))
    return with_keys(later, fresh)


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


def _group(
    before: Fleet, known: FleetState, names: tuple[str, ...], initial: VehicleState
) -> VehicleState:
    """Return the state of a group of vehicles, from whichever groups they were in."""
    locations = np.array([before.locate(name) for name in names])
    parts, order = [], []
    for group_index in np.unique(locations[:, 0]):
        indices = np.flatnonzero(locations[:, 0] == group_index)
        own = jax.tree.map(
            lambda leaf, at=locations[indices, 1]: leaf[at], known.groups[group_index]
        )
        parts.append(_transferred(own, jax.tree.map(lambda leaf, at=indices: leaf[at], initial)))
        order.append(indices)
    back = np.argsort(np.concatenate(order))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[back], *parts)


def _transferred(known: Any, fresh: Any) -> Any:
    """Return ``fresh`` with the leaves of ``known`` that have the same path, shape and type."""
    memory = dict(jax.tree_util.tree_leaves_with_path(known))

    def remembered(path: Any, leaf: np.ndarray) -> np.ndarray:
        before = memory.get(path)
        if before is None or before.shape != leaf.shape or before.dtype != leaf.dtype:
            return leaf
        return before

    return jax.tree_util.tree_map_with_path(remembered, fresh)


def as_numpy(state: FleetState) -> FleetState:
    """Return the state with NumPy arrays, which are split and joined without compilation."""
    return jax.tree.map(
        lambda leaf: np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf), state
    )


def with_keys(state: FleetState, form: FleetState) -> FleetState:
    """Return the state with JAX keys where ``form`` has keys."""
    return jax.tree.map(
        lambda leaf, like: jax.random.wrap_key_data(leaf) if _is_key(like) else leaf, state, form
    )


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
