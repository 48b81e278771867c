"""Worlds side by side in memory: tiles of as many as a register holds, shared out to threads."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from kittiwake import simd
from kittiwake.core.arrays import ArrayTree
from kittiwake.sim.packing import is_key, wrapped_keys

# worlds side by side, by precision: those of a register of 64 bytes
LANES = {"float32": 16, "float64": 8}
# a thread is worth its start for so much work
MIN_THREAD_S = 5e-4


class Tiles:
    """Tiles of worlds; the last one is filled with worlds that nobody sees.

    Arrays have the tiles as first axis and, where the worlds of a tile differ, these as last one.

    Attributes:
        count: number of worlds.
        lanes: number of worlds in a tile.
        number: number of tiles.
    """

    def __init__(self, count: int, *, single_precision: bool) -> None:
        self.count = count
        self.lanes = LANES["float32" if single_precision else "float64"]
        self.number = -(-count // self.lanes)
        # of all threads in the last call
        self._work_s = 0.0

    def array(self, shape: Sequence[int], dtype: np.dtype | type) -> np.ndarray:
        """Return zeros of a shape in each world."""
        return np.zeros((self.number, *shape, self.lanes), dtype)

    def filled(self, by_world: np.ndarray) -> np.ndarray:
        """Return an array that has the worlds as first axis; unseen worlds are like the last."""
        unseen = self.number * self.lanes - len(by_world)
        if unseen:
            by_world = np.concatenate([by_world, np.repeat(by_world[-1:], unseen, axis=0)])
        tiles = by_world.reshape(self.number, self.lanes, *by_world.shape[1:])
        return np.ascontiguousarray(np.moveaxis(tiles, 1, -1))

    def by_world(self, buffer: np.ndarray) -> np.ndarray:
        """Return an array with the worlds as first axis, which is not part of the buffer."""
        worlds = buffer.transpose(0, buffer.ndim - 1, *range(1, buffer.ndim - 1))
        own = worlds.reshape(self.number * self.lanes, *buffer.shape[1:-1])[: self.count]
        return own.copy() if np.may_share_memory(own, buffer) else own

    def run(self, call: simd.BoundTiles, calls: int = 1) -> None:
        """Call a kernel so often for each tile, in as many threads as gain from it."""
        threads = min(processors(), max(int(self._work_s * calls / MIN_THREAD_S), 1), self.number)
        edges = [self.number * number // threads for number in range(threads + 1)]
        ranges = [(start, end - start, calls) for start, end in pairwise(edges)]
        began = time.perf_counter()
        others = [self._pool.submit(call, *own) for own in ranges[1:]]
        call(*ranges[0])
        for other in others:
            other.result()
        # each time anew, so that one slow call does not decide for the others
        self._work_s = threads * (time.perf_counter() - began) / calls

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(processors())


class TiledTree:
    """Form of a tree of arrays in tiles, some of which all worlds share.

    Attributes:
        varies: for each leaf, True if it differs among the worlds.
    """

    def __init__(self, form: ArrayTree, varies: Sequence[bool], tiles: Tiles) -> None:
        """Prepare; ``form`` holds the shapes and types of one world."""
        self._forms, self._treedef = jax.tree.flatten(form)
        self.varies, self._tiles = [*varies], tiles

    def buffers(self) -> list[np.ndarray]:
        """Return arrays of zeros, one for each leaf; keys are words, two for each."""
        return [
            self._tiles.array(shape, dtype)
            if varies
            else np.zeros((self._tiles.number, *shape), dtype)
            for (shape, dtype), varies in zip(map(_stored, self._forms), self.varies, strict=True)
        ]

    def tree(self, buffers: Sequence[np.ndarray]) -> ArrayTree:
        """Return arrays of JAX, with the worlds as first axis where they differ."""
        leaves = []
        for form, buffer, varies in zip(self._forms, buffers, self.varies, strict=True):
            array = self._tiles.by_world(buffer) if varies else buffer[0]
            if is_key(form):
                words = np.moveaxis(array, int(varies), -1)
                leaves.append(wrapped_keys(words.shape, words.tobytes()))
            else:
                leaves.append(jnp.array(array))
        return jax.tree.unflatten(self._treedef, leaves)

    def of_world(self, buffers: Sequence[np.ndarray], world: int) -> ArrayTree:
        """Return the arrays of one world, as views of the buffers; keys are copies."""
        tile, lane = divmod(world, self._tiles.lanes)
        leaves = []
        for form, buffer, varies in zip(self._forms, buffers, self.varies, strict=True):
            array = buffer[tile, ..., lane] if varies else buffer[tile]
            if is_key(form):
                words = np.moveaxis(array, 0, -1)
                leaves.append(wrapped_keys(words.shape, words.tobytes()))
            else:
                leaves.append(array)
        return jax.tree.unflatten(self._treedef, leaves)


def compile_tiles(
    program: ClosedJaxpr, varies: Sequence[bool], results_vary: Sequence[bool], lanes: int
) -> simd.Kernel:
    """Return a kernel of a tile, from the program of one world.

    Raises:
        UnsupportedError: with all primitives that are not supported.
    """
    return simd.compile_jaxpr(simd.with_lanes(program, varies, results_vary, lanes))


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stored(form: jax.ShapeDtypeStruct) -> tuple[tuple[int, ...], np.dtype]:
    return ((2, *form.shape), np.dtype(np.uint32)) if is_key(form) else (form.shape, form.dtype)
