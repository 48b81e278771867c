"""What a flight remembers, taken over by a fleet that was built anew while it went on."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, VehicleState

Tree = TypeVar("Tree")


def transfer_state(before: Fleet, state: FleetState, after: Fleet, fresh: FleetState) -> FleetState:
    """The state of one fleet for another of the same vehicles; what only that has begins fresh.

    Vehicle by vehicle and name by name, so that neither what has become of their groups matters
    nor what has been added.
    """
    known, begun = _plain(state), _plain(fresh)
    # in the order of ``FleetState``, which is not made of NumPy's arrays by its constructor
    parts = (
        known.tick,
        known.began,
        tuple(
            _group(before, known, names, own)
            for names, own in zip((g.names for g in after.groups), begun.groups, strict=True)
        ),
        _kept(known.processes, begun.processes),
        _kept(known.streams, begun.streams),
        _kept(known.radio, begun.radio),
        _kept(known.commander, begun.commander),
    )
    later = jax.tree.unflatten(jax.tree.structure(begun), jax.tree.leaves(parts))
    return _as_given(later, fresh)


def exchanged(before: Tree, after: Tree, lane: int) -> Tree:
    """A group of which one vehicle is another group's; what is the same in both stays as it is."""

    def one(old: Any, new: Any) -> Any:
        if old is new:
            return old
        # of NumPy, which takes no compiler
        own = np.array(old)
        own[lane] = np.asarray(new)[lane]
        return own

    return jax.tree.map(one, before, after)


def _group(
    before: Fleet, known: FleetState, names: tuple[str, ...], begun: VehicleState
) -> VehicleState:
    """The vehicles of a group, from whichever groups they were in."""
    places = np.array([before.place(name) for name in names])
    parts, order = [], []
    for number in np.unique(places[:, 0]):
        lanes = np.flatnonzero(places[:, 0] == number)
        own = jax.tree.map(lambda leaf, at=places[lanes, 1]: leaf[at], known.groups[number])
        parts.append(_kept(own, jax.tree.map(lambda leaf, at=lanes: leaf[at], begun)))
        order.append(lanes)
    back = np.argsort(np.concatenate(order))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[back], *parts)


def _kept(known: Any, fresh: Any) -> Any:
    """A tree with the leaves of another where that has the same ones."""
    memory = dict(jax.tree_util.tree_leaves_with_path(known))

    def remembered(path: Any, leaf: np.ndarray) -> np.ndarray:
        before = memory.get(path)
        if before is None or before.shape != leaf.shape or before.dtype != leaf.dtype:
            return leaf
        return before

    return jax.tree_util.tree_map_with_path(remembered, fresh)


def _plain(state: FleetState) -> FleetState:
    """With NumPy's arrays, which take no compiler to be cut and joined."""
    return jax.tree.map(
        lambda leaf: np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf), state
    )


def _as_given(state: FleetState, form: FleetState) -> FleetState:
    """With keys where the form has keys."""
    return jax.tree.map(
        lambda leaf, like: jax.random.wrap_key_data(leaf) if _is_key(like) else leaf, state, form
    )


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
