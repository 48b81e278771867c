"""Random streams by name: one scenario seed, one key for each named component.

A stream's key depends on the seed, the vehicle's name and the component's name only, so adding a
sensor or a vehicle changes no other stream. Each draw folds the step's number into it.
"""

from zlib import crc32

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

GENERATOR = "threefry2x32"


def seed_key(seed: int) -> PRNGKeyArray:
    """The root key of a run: the same bits on every machine and in every mode of JAX.

    Args:
        seed: from 0 to 2^64 - 1; all its bits count, also in float32 mode.
    """
    words = jnp.asarray([seed >> 32, seed & 0xFFFFFFFF], jnp.uint32)
    return jax.random.wrap_key_data(words, impl=GENERATOR)


def named(key: PRNGKeyArray, name: str) -> PRNGKeyArray:
    """The key of the stream with this name below ``key``."""
    return jax.random.fold_in(key, crc32(name.encode()))
