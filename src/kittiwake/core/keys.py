"""Named random streams: one seed, and a key for each named component.

A stream's key depends only on the seed, the vehicle's name and the component's name, so adding a
sensor or a vehicle changes no other stream. Each draw folds the step's number into it.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import SupportsIndex
from zlib import crc32

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key, PRNGKeyArray

from kittiwake.core.errors import ScenarioError

GENERATOR = "threefry2x32"


def seed_key(seed: int | Int[Array, ""]) -> PRNGKeyArray:
    """Return the root key of a run: the same bits on every machine and in every mode of JAX.

    Args:
        seed: from 0 to 2^64 - 1; all its bits count, also in float32 mode. In a mapped or compiled
            function it may be a nonnegative integer array.

    Raises:
        ScenarioError: if the seed is not an integer in this range.
    """
    if isinstance(seed, jax.Array):
        # a shift by all bits of a 32-bit number is not defined
        high = seed >> 32 if seed.dtype.itemsize == 8 else jnp.zeros_like(seed)
        words = jnp.stack([high, seed & 0xFFFFFFFF]).astype(jnp.uint32)
    else:
        whole = _whole(seed)
        # no conversion, which would compile a program
        words = jax.device_put(np.asarray([whole >> 32, whole & 0xFFFFFFFF], np.uint32))
    return jax.random.wrap_key_data(words, impl=GENERATOR)


def seed_keys(seeds: Sequence[int]) -> Key[Array, " runs"]:
    """Return the root key of each of many runs, as ``seed_key`` does."""
    whole = [_whole(seed) for seed in seeds]
    words = np.asarray([(each >> 32, each & 0xFFFFFFFF) for each in whole], np.uint32)
    return jax.random.wrap_key_data(jnp.asarray(words.reshape(-1, 2)), impl=GENERATOR)


def _whole(seed: SupportsIndex) -> int:
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= index(seed) < 2**64:
        message = f"seed: {seed!r} is not allowed; must be a whole number from 0 to 2^64 - 1"
        raise ScenarioError(message)
    return index(seed)


def fold_in_name(key: PRNGKeyArray, name: str) -> PRNGKeyArray:
    """Return the key of the stream with this name below ``key``."""
    return jax.random.fold_in(key, crc32(name.encode()))


def fold_in_names(key: PRNGKeyArray, names: Iterable[str]) -> dict[str, PRNGKeyArray]:
    """Return the keys of several streams, computed at once."""
    hashes = {name: crc32(name.encode()) for name in names}
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.asarray([*hashes.values()], jnp.uint32))
    return {name: keys[index] for index, name in enumerate(hashes)}
