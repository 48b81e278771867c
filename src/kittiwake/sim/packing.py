"""Conversion of a tree of arrays to two flat arrays and back.

Passing a state with thirty leaves through ``jit`` costs more than stepping one vehicle; packed into
one array of floats and one of words, a step from a Python loop is five times as fast.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, UInt32

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import GENERATOR


@dataclass(frozen=True)
class Packing:
    """Layout of the leaves of a tree in the two flat arrays."""

    treedef: Hashable
    shapes: tuple[jax.ShapeDtypeStruct, ...]

    @classmethod
    def of(cls, tree: ArrayTree) -> "Packing":
        """Return the packing of trees like this one (arrays or their shapes)."""
        leaves, treedef = jax.tree.flatten(tree)
        return cls(treedef, tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves))

    def pack(self, tree: ArrayTree) -> tuple[Float[Array, " n"], UInt32[Array, " m"]]:
        """Return all floats as one array, and keys, counts and flags as another."""
        floats: list[Array] = []
        words: list[Array] = []
        for leaf, shape in zip(jax.tree.leaves(tree), self.shapes, strict=True):
            if prod(shape.shape) == 0:
                continue  # the compiler aborts on an empty part of a concatenation
            if _is_float(shape):
                floats.append(jnp.ravel(leaf))
            else:
                words.append(_words(leaf))
        return _concatenated(floats, float), _concatenated(words, jnp.uint32)

    def unpack(self, floats: Float[Array, " n"], words: UInt32[Array, " m"]) -> ArrayTree:
        """Return the tree, inside a compiled function."""
        leaves: list[Array] = []
        float_at = word_at = 0
        for shape in self.shapes:
            if prod(shape.shape) == 0:
                leaves.append(jnp.zeros(shape.shape, shape.dtype))
            elif _is_float(shape):
                size = prod(shape.shape)
                leaves.append(floats[float_at : float_at + size].reshape(shape.shape))
                float_at += size
            else:
                size = prod(shape.shape) * _words_each(shape)
                leaves.append(_from_words(words[word_at : word_at + size], shape))
                word_at += size
        return jax.tree.unflatten(self.treedef, leaves)

    def buffers(self) -> tuple[Float[np.ndarray, " n"], UInt32[np.ndarray, " m"]]:
        """Return two arrays of zeros, of the sizes that ``pack`` returns."""
        floats = [shape for shape in self.shapes if _is_float(shape)]
        words = sum(
            prod(shape.shape) * _words_each(shape) for shape in self.shapes if not _is_float(shape)
        )
        dtype = floats[0].dtype if floats else np.dtype(float)
        return np.zeros(sum(prod(shape.shape) for shape in floats), dtype), np.zeros(
            words, np.uint32
        )

    def pack_into(
        self, tree: ArrayTree, floats: Float[np.ndarray, " n"], words: UInt32[np.ndarray, " m"]
    ) -> None:
        """Write the same as ``pack`` into two arrays, outside of a compiled function."""
        float_at = word_at = 0
        for leaf, shape in zip(jax.tree.leaves(tree), self.shapes, strict=True):
            if _is_float(shape):
                part = np.ravel(leaf)
                floats[float_at : float_at + part.size] = part
                float_at += part.size
            else:
                part = _host_words(leaf, shape)
                words[word_at : word_at + part.size] = part
                word_at += part.size

    def unpack_from(
        self, floats: Float[np.ndarray, " n"], words: UInt32[np.ndarray, " m"]
    ) -> ArrayTree:
        """Return the same as ``unpack``, outside of a compiled function; its arrays are views."""
        leaves: list[np.ndarray | Array] = []
        float_at = word_at = 0
        for shape in self.shapes:
            if _is_float(shape):
                size = prod(shape.shape)
                leaves.append(floats[float_at : float_at + size].reshape(shape.shape))
                float_at += size
            else:
                size = prod(shape.shape) * _words_each(shape)
                leaves.append(_from_host_words(words[word_at : word_at + size], shape))
                word_at += size
        return jax.tree.unflatten(self.treedef, leaves)


@dataclass(frozen=True)
class RowPacking:
    """Layout of one vehicle's record in a row of numbers; unpacked to plain Python numbers."""

    treedef: Hashable
    places: tuple[tuple[int, tuple[int, ...]], ...]
    leaf_types: tuple[type, ...]

    @classmethod
    def of(cls, tree: ArrayTree) -> "RowPacking":
        """Return the packing of records with these leaves, which have a leading vehicle axis."""
        leaves, treedef = jax.tree.flatten(tree)
        shapes = [tuple(leaf.shape[1:]) for leaf in leaves]
        starts = np.cumsum([0, *(prod(shape) for shape in shapes)])
        leaf_types = tuple(_number_type(leaf.dtype) for leaf in leaves)
        return cls(treedef, tuple(zip(starts[:-1].tolist(), shapes, strict=True)), leaf_types)

    def pack(self, tree: ArrayTree, dtype: DTypeLike) -> Float[Array, "vehicles columns"]:
        """Return the rows of all vehicles."""
        leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
        return jnp.concatenate(
            [leaf.reshape(leaf.shape[0], -1).astype(dtype) for leaf in leaves], axis=1
        )

    def unpack(self, row: np.ndarray) -> ArrayTree:
        """Return one vehicle's record: flags, counts and other numbers, as scalars and arrays."""
        numbers = row.tolist()
        leaves = [
            _array(row[start : start + prod(shape)], leaf_type).reshape(shape)
            if shape
            else leaf_type(numbers[start])
            for (start, shape), leaf_type in zip(self.places, self.leaf_types, strict=True)
        ]
        return jax.tree.unflatten(self.treedef, leaves)


def _number_type(dtype: np.dtype) -> type:
    """Return the Python type of the numbers in an array."""
    if jnp.issubdtype(dtype, jnp.bool_):
        return bool
    return int if jnp.issubdtype(dtype, jnp.integer) else float


def _array(numbers: np.ndarray, number_type: type) -> np.ndarray:
    return numbers if number_type is float else numbers.astype(number_type)


def _is_float(shape: jax.ShapeDtypeStruct) -> bool:
    return jnp.issubdtype(shape.dtype, jnp.floating)


def is_key(leaf: Array | np.ndarray | jax.ShapeDtypeStruct) -> bool:
    """Return True for keys of random streams."""
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _words_each(shape: jax.ShapeDtypeStruct) -> int:
    return 2 if is_key(shape) or shape.dtype.itemsize == 8 else 1


def _words(leaf: Array) -> Array:
    if is_key(leaf):
        return jnp.ravel(jax.random.key_data(leaf))
    wide = leaf.astype(_widened(leaf.dtype))
    return jnp.ravel(jax.lax.bitcast_convert_type(wide, jnp.uint32))


def _from_words(words: Array, shape: jax.ShapeDtypeStruct) -> Array:
    if is_key(shape):
        return jax.random.wrap_key_data(words.reshape(*shape.shape, 2), impl=GENERATOR)
    wide = _widened(shape.dtype)
    parts = words.reshape((*shape.shape, 2) if wide.itemsize == 8 else shape.shape)
    return jax.lax.bitcast_convert_type(parts, wide).astype(shape.dtype)


def _host_words(leaf: Array | np.ndarray, shape: jax.ShapeDtypeStruct) -> UInt32[np.ndarray, " m"]:
    """Return the same as ``_words``, outside of a compiled function."""
    if is_key(shape):
        return np.ravel(key_words(leaf))
    return np.ascontiguousarray(leaf, _widened(shape.dtype)).view(np.uint32).ravel()


def _from_host_words(
    words: UInt32[np.ndarray, " m"], shape: jax.ShapeDtypeStruct
) -> np.ndarray | Array:
    """Return the same as ``_from_words``, outside of a compiled function."""
    if is_key(shape):
        return wrapped_keys((*shape.shape, 2), words.tobytes())
    return words.view(_widened(shape.dtype)).astype(shape.dtype).reshape(shape.shape)


def key_words(keys: Array | np.ndarray) -> UInt32[np.ndarray, "... 2"]:
    """Return the words of keys, outside of a compiled function."""
    return np.asarray(jax.random.key_data(keys))


@lru_cache(256)
def wrapped_keys(shape: tuple[int, ...], content: bytes) -> Array:
    """Return an array of keys; the keys of a flight's streams stay the same from step to step."""
    words = np.frombuffer(content, np.uint32).reshape(shape)
    return jax.random.wrap_key_data(jax.device_put(words), impl=GENERATOR)


def _widened(dtype: np.dtype) -> np.dtype:
    """Return the dtype, widened to at least one word, that holds a count or a flag."""
    return np.dtype(dtype) if dtype.itemsize >= 4 else np.dtype(np.int32)


def _concatenated(parts: list[Array], dtype: DTypeLike) -> Array:
    return jnp.concatenate(parts) if parts else jnp.zeros(0, dtype)
