"""Minimal coordinates of a tree of numbers: deviations from a reference, by name.

Each number is a coordinate, and each unit quaternion three: the rotation vector theta in body axes
with q = q_0 exp(theta) (Sola 2017, "Quaternion kinematics for the error-state Kalman filter",
section 4.3).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import DictKey
from jaxtyping import Array, Float

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.columns import axis_column
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

AXES = ("x", "y", "z")
ROTATION = "rotation_body_rad"
# levels of a tree that say nothing about a number
PLAIN_LEVELS = {
    "component",
    "configuration",
    "mechanical_state",
    "rigid_body",
    "state",
    "twist",
    "velocities",
}
# a vector of any length
Vector = Float[Array, " _"]


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of trees of one structure.

    Attributes:
        names: names of the coordinates.
        left_out: reasons why the other numbers are no coordinates, by name.
        places: for each node of the tree, its numbers of the coordinates.
    """

    names: tuple[str, ...]
    left_out: dict[str, str] = field(compare=False)
    places: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: ArrayTree, prefix: str = "", without: Collection[str] = ()) -> "Coordinates":
        """Return the coordinates of trees like this one.

        Args:
            tree: the tree.
            prefix: the beginning of all names.
            without: fields of the tree that are constant.
        """
        names: list[str] = []
        left_out: dict[str, str] = {}
        places: list[tuple[int, ...]] = []
        for path, node in jax.tree_util.tree_flatten_with_path(tree, is_leaf=_is_node)[0]:
            words = _words(path)
            reason = "constant" if words[:1] and words[0] in without else _reason(node)
            own = [] if reason else _coordinate_names(words, node)
            if reason:
                left_out[f"{prefix}{_joined(words)}"] = reason
            places.append(tuple(range(len(names), len(names) + len(own))))
            names += [f"{prefix}{name}" for name in own]
        return cls(tuple(names), left_out, tuple(places))

    def deviated(self, reference: ArrayTree, deviation: Vector) -> ArrayTree:
        """Return a tree that deviates from the reference."""
        nodes, treedef = jax.tree.flatten(reference, is_leaf=_is_node)
        moved = [
            _moved(node, deviation[np.asarray(place)]) if place else node
            for node, place in zip(nodes, self.places, strict=True)
        ]
        return jax.tree.unflatten(treedef, moved)

    def deviation(self, reference: ArrayTree, tree: ArrayTree) -> Vector:
        """Return the deviation of a tree from the reference, to first order in rotations."""
        pairs = zip(
            jax.tree.leaves(reference, is_leaf=_is_node),
            jax.tree.leaves(tree, is_leaf=_is_node),
            self.places,
            strict=True,
        )
        parts = [_difference(known, other) for known, other, place in pairs if place]
        return jnp.concatenate(parts) if parts else jnp.zeros(0)


def _is_node(node: ArrayTree) -> bool:
    return isinstance(node, Quaternion)


def _reason(node: ArrayTree) -> str:
    """Return why a node is no coordinate; empty if it is one."""
    if isinstance(node, Quaternion):
        return ""
    leaf = jnp.asarray(node)
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return "random key"
    if leaf.dtype == bool:
        return "flag"
    if not jnp.issubdtype(leaf.dtype, jnp.floating):
        return "counter"
    if leaf.ndim > 1:
        return "matrix, held constant"
    return "" if bool(jnp.isfinite(leaf).all()) else "not finite"


def _words(path: tuple[Any, ...]) -> list[str]:
    """Return the levels of a path, without those that say nothing about the number."""
    words = [str(key.key) if isinstance(key, DictKey) else _bare(str(key)) for key in path]
    return [word for word in words if word not in PLAIN_LEVELS]


def _bare(key: str) -> str:
    return re.sub(r"[^\w]+", "", key)


def _joined(words: Sequence[str]) -> str:
    """Return a name such as ``cascade.0.integral_x_world_m``."""
    *above, last = words or ["value"]
    if above and (last in AXES or last.isdecimal()):
        *above, stem = above
        last = axis_column(stem, last)
    return ".".join([*above, last])


def _coordinate_names(words: list[str], node: ArrayTree) -> list[str]:
    """Return the names of a node's coordinates."""
    if isinstance(node, Quaternion):
        *above, last = words
        rotation = ROTATION if last == "q_world_from_body" else f"{last}_rotation_rad"
        return [_joined([*above, rotation, axis]) for axis in AXES]
    places = np.ndindex(np.shape(node))
    return [_joined([*words, *map(str, place)]) for place in places]


def _moved(node: ArrayTree, deviation: Vector) -> ArrayTree:
    if isinstance(node, Quaternion):
        return node * Quaternion.from_rotation_vector(Vec3.of([*deviation]))
    leaf = jnp.asarray(node)
    return leaf + deviation.reshape(leaf.shape)


def _difference(known: ArrayTree, other: ArrayTree) -> Vector:
    if isinstance(known, Quaternion):
        turn = known.inverse() * other
        return 2.0 * jnp.sign(turn.w) * turn.vector.array
    return jnp.ravel(jnp.asarray(other) - jnp.asarray(known))


def numbers(names: Sequence[str], values: Float[Array | np.ndarray, " _"]) -> dict[str, float]:
    """Return values by name as plain numbers."""
    return dict(zip(names, np.asarray(values).tolist(), strict=True))
