"""Packing of trees to flat arrays and back, bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.core.keys import seed_key
from kittiwake.sim.packing import Packing, RowPacking

AWKWARD = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, np.nextafter(1.0, 2.0), 1e308]


def round_trip(tree):
    packing = Packing.of(jax.eval_shape(lambda t: t, tree))
    return jax.jit(lambda t: packing.unpack(*packing.pack(t)))(tree)


def bits(leaf):
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return str(leaf.dtype), leaf.shape, np.asarray(leaf).tobytes()


def assert_same_bits(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert [bits(x) for x in jax.tree.leaves(one)] == [bits(x) for x in jax.tree.leaves(other)]


def test_a_state_with_all_kinds_of_leaves_round_trips_bit_for_bit():
    tree = {
        "scalar": jnp.asarray(0.1),
        "vector": jnp.asarray(AWKWARD),
        "matrix": jnp.arange(6.0).reshape(2, 3),
        "count": jnp.asarray(-7, jnp.int32),
        "counts": jnp.asarray([2**31 - 1, -(2**31), 0], jnp.int32),
        "words": jnp.asarray([0, 2**32 - 1], jnp.uint32),
        "flags": jnp.asarray([True, False, True]),
        "key": seed_key(5),
        "keys": jax.random.split(seed_key(6), 3),
        "nested": (jnp.asarray(False), [jnp.asarray(2.5)]),
    }
    assert_same_bits(round_trip(tree), tree)


@pytest.mark.usefixtures("single_precision")
def test_single_precision_round_trips_bit_for_bit():
    tree = {"x": jnp.asarray([0.1, -0.0, np.nan, 1e-45], jnp.float32), "key": seed_key(1)}
    assert_same_bits(round_trip(tree), tree)


@pytest.mark.parametrize("tree", [(), {"x": jnp.zeros(())}, {"n": jnp.asarray([1], jnp.int32)}])
def test_a_state_without_floats_or_without_words_round_trips(tree):
    assert_same_bits(round_trip(tree), tree)


@pytest.mark.slow
@given(st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_any_floats_round_trip_bit_for_bit(values):
    tree = {"values": np.asarray(values)}
    packing = Packing.of(tree)
    floats, words = packing.pack({"values": jnp.asarray(values)})
    assert words.size == 0
    assert np.asarray(floats).tobytes() == tree["values"].tobytes()


@pytest.mark.parametrize("kind", [jnp.int64, jnp.uint64, jnp.int16, jnp.uint8])
def test_integers_of_other_sizes_round_trip_bit_for_bit(kind):
    # a third party's component may well count with jnp.asarray(0), which is int64 in this mode
    tree = {"count": jnp.asarray(100, kind), "counts": jnp.asarray([1, 2, 3], kind)}
    assert_same_bits(round_trip(tree), tree)


def test_rows_unpack_to_plain_numbers_by_vehicle():
    tree = {
        "x": jnp.asarray([1.5, -0.25]),
        "matrix": jnp.arange(8.0).reshape(2, 2, 2),
        "flag": jnp.asarray([True, False]),
    }
    packing = RowPacking.of(tree)
    rows = np.asarray(packing.pack(tree, jnp.float64))
    assert rows.shape == (2, 6)
    second = packing.unpack(rows[1])
    assert second["x"] == -0.25
    assert isinstance(second["x"], float)
    assert second["flag"] is False
    np.testing.assert_array_equal(second["matrix"], [[4.0, 5.0], [6.0, 7.0]])


def test_counts_in_rows_are_integers():
    tree = {"count": jnp.asarray([3, 4]), "flags": jnp.asarray([[True, False], [False, True]])}
    packing = RowPacking.of(tree)
    second = packing.unpack(np.asarray(packing.pack(tree, jnp.float32))[1])
    assert isinstance(second["count"], int)
    assert second["count"] == 4
    assert second["flags"].dtype == bool
