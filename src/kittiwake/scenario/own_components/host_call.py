"""Calls of objects in plain Python from a compiled program."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt32

from kittiwake.core.errors import OwnComponentError
from kittiwake.geometry.scalar import Flag, Integer
from kittiwake.scenario.own_components.host_object import Conversion, HostCall, HostObject
from kittiwake.sim.packing import RowPacking


class HostState(eqx.Module):
    """State of a component that calls an object.

    Attributes:
        count: the number of calls in this flight.
        seed: the words from which the object's random numbers follow.
    """

    count: Integer
    seed: UInt32[Array, " words"]

    @classmethod
    def of(cls, key: PRNGKeyArray) -> "HostState":
        """Return the state before the first call."""
        return cls(jnp.asarray(0, jnp.int32), jax.random.key_data(key))


class Callee(NamedTuple):
    """Object to call, and the conversion of its arguments and results.

    Attributes:
        host: the object.
        initial: the numbers that hold until there are others.
        given: converts the arguments of the program to those of ``update`` but for the time.
        convert: converts what ``update`` returns to numbers.
        noun: what the object is, such as ``a controller``.
        interface: the class of which a component in JAX derives instead.
    """

    host: HostObject
    initial: tuple[float, ...]
    given: Callable[..., tuple[Any, ...]]
    convert: Conversion
    noun: str
    interface: str


def call_host(
    callee: Callee, state: HostState, arguments: tuple[Any, ...], is_flown: Flag | None = None
) -> tuple[HostState, Array]:
    """Return the next state and the numbers of a call.

    Args:
        callee: the object.
        state: the state.
        arguments: the time since the start, and further arguments.
        is_flown: false if the result is discarded: the object is not called. None is true.
    """
    arguments = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], arguments)
    packing = RowPacking.of(arguments)
    flown = True if is_flown is None else is_flown
    counts = jnp.stack([jnp.asarray(one, jnp.uint32) for one in (state.count, flown)])
    initial = np.array(callee.initial)

    def on_host(counts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        number, is_flown, *seed = counts.tolist()
        if not is_flown:
            return initial
        time_s, *given = packing.unpack(numbers)
        call = HostCall(number, tuple(seed), time_s, callee.given(*given), numbers.copy())
        return callee.host.call(call, initial, callee.convert)

    numbers = packing.pack(arguments, jnp.result_type(float))[0]
    counts = jnp.concatenate([counts, jnp.asarray(state.seed, jnp.uint32)])
    count, returned = _called(on_host, callee, counts, numbers)
    # the count comes from the call, so that the program cannot leave the call out
    return HostState(count.astype(jnp.int32), state.seed), returned


def _called(
    function: Callable[[np.ndarray, np.ndarray], Sequence[float] | np.ndarray],
    callee: Callee,
    counts: Array,
    numbers: Array,
) -> tuple[Array, Array]:
    """Return count and result of a function on the host, which no batch or gradient passes."""
    whose = f"{callee.host.title} of '{callee.host.vehicle}' is {callee.noun} in plain Python, "
    advice = f"; write it as a component in JAX (kw.{callee.interface})"
    dtype, length = np.dtype(numbers.dtype), len(callee.initial)

    # one array, as each costs time; of words, since JAX rounds arrays of double precision in the
    # thread of a callback
    def on_words(words: Array) -> np.ndarray:
        given = np.array(words)
        returned = function(given[: len(counts)], given[len(counts) :].view(dtype))
        after = np.array([given[0] + 1], np.uint32)
        return np.concatenate([after, np.array(returned, dtype).view(np.uint32)])

    @jax.custom_batching.custom_vmap
    def alone(counts: Array, numbers: Array) -> tuple[Array, Array]:
        words = jax.lax.bitcast_convert_type(numbers, jnp.uint32)
        per_number = words.shape[1:]
        words = jnp.concatenate([counts, words.ravel()])
        shape = jax.ShapeDtypeStruct((1 + length * prod(per_number),), jnp.uint32)
        returned = jax.pure_callback(on_words, shape, words)
        numbers_after = returned[1:].reshape(length, *per_number)
        return returned[0], jax.lax.bitcast_convert_type(numbers_after, dtype)

    @alone.def_vmap
    def _refuse_batch(*_: Any) -> Any:
        message = f"{whose}which flies one world at a time, not a batch{advice}"
        raise OwnComponentError(message)

    @jax.custom_jvp
    def called(counts: Array, numbers: Array) -> tuple[Array, Array]:
        return alone(counts, numbers)

    @called.defjvp
    def _refuse_gradient(*_: Any) -> Any:
        message = f"{whose}through which no gradient passes{advice}"
        raise OwnComponentError(message)

    return called(counts, numbers)
