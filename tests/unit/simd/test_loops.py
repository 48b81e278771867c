"""Loops of passes that do not depend on each other, against JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake import simd
from kittiwake.simd.flattening import PASSES_AT_A_TIME
from kittiwake.simd.loops import flat_program

RNG = np.random.default_rng(1)


def of_one(gain, shared, x, pair, key):
    """Return functions of one pass: numbers, short arrays, draws, branches and a constant."""
    drawn = jax.random.normal(key)
    bent = jax.lax.cond(x > 0.0, lambda: jnp.sin(x) * gain, lambda: x - shared.sum())
    total = jax.lax.while_loop(lambda n: n < x, lambda n: n + 0.5, jnp.zeros_like(x))
    return bent + drawn, pair[::-1] * x + shared[:2], total, 3.0, key


def looped(gain, shared, xs, pairs, keys):
    return jax.lax.map(lambda own: of_one(gain, shared, *own), (xs, pairs, keys))


def arguments(length, dtype):
    numbers = [RNG.normal(size=size).astype(dtype) for size in ((), (3,), (length,), (length, 2))]
    return [*numbers, jax.random.split(jax.random.key(3), length)]


def passes(closed):
    return [
        equation.params[PASSES_AT_A_TIME]
        for equation in flat_program(closed).walk()
        if PASSES_AT_A_TIME in equation.params
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "width"), [("float32", 16), ("float64", 8)])
@pytest.mark.parametrize("length", [1, 7, 16, 17, 40])
def test_passes_at_a_time_give_what_jax_gives(length, dtype, width):
    with jax.enable_x64(dtype == "float64"):
        given = arguments(length, dtype)
        closed = jax.make_jaxpr(looped)(*given)
        assert passes(closed) == [width] * (length >= width)
        words = np.moveaxis(np.asarray(jax.random.key_data(given[-1])), -1, 0).copy()
        found = simd.compile_jaxpr(closed)(*given[:-1], words)
        *expected, keys = jax.jit(looped)(*given)
    for one, other in zip(found[:-1], expected, strict=True):
        tolerance = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(found[-1], np.moveaxis(jax.random.key_data(keys), -1, 0))


@pytest.mark.slow
def test_a_pass_has_the_same_bits_in_a_loop_of_any_length():
    given = arguments(50, "float64")
    results = []
    for length in (8, 31, 50):
        own = [*given[:2], *(one[:length] for one in given[2:])]
        closed = jax.make_jaxpr(looped)(*own)
        words = np.moveaxis(np.asarray(jax.random.key_data(own[-1])), -1, 0).copy()
        results.append(simd.compile_jaxpr(closed)(*own[:-1], words)[:3])
    for few in results[:-1]:
        for one, other in zip(few, results[-1], strict=True):
            np.testing.assert_array_equal(one, other[: len(one)])


def test_what_depends_on_no_pass_is_computed_before_the_loop():
    def with_costly_constant(gain, xs):
        return jax.lax.map(lambda x: x * jnp.exp(gain), xs)

    closed = jax.make_jaxpr(with_costly_constant)(np.float32(0.3), np.ones(32, np.float32))
    found = simd.compile_jaxpr(closed)(np.float32(0.3), np.ones(32, np.float32))[0]
    np.testing.assert_allclose(found, np.exp(0.3), rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda xs: jax.lax.map(lambda row: jnp.sort(row * 2.0), xs),
        lambda xs: jax.lax.scan(lambda total, row: (total + row[0], row[1]), 0.0, xs),
    ],
    ids=["long arrays", "passes that depend on each other"],
)
def test_other_loops_do_one_pass_at_a_time(function):
    xs = RNG.normal(size=(20, 80)).astype(np.float32)
    closed = jax.make_jaxpr(function)(xs)
    assert not passes(closed)
    for one, other in zip(
        simd.compile_jaxpr(closed)(xs), jax.tree.leaves(jax.jit(function)(xs)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5)
