"""Kernels: binding, repetition, what cannot be translated, and what is left out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from kittiwake import simd
from kittiwake.simd.flattening import flatten


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        yield


def compiled(function, *arguments):
    return simd.compile_jaxpr(jax.make_jaxpr(function)(*arguments))


def step(gain, state, tick):
    later = jnp.sin(state) * gain + 0.1 * state[::-1]
    return later, tick + 1, later.sum(), tick > 3


STATE = np.linspace(-1.0, 1.0, 40), np.asarray(0)


def test_bound_arrays_are_read_and_written_at_each_call():
    kernel = compiled(lambda x, y: (x + y, x * y), 1.0, 2.0)
    one, other = np.asarray(1.0), np.asarray(2.0)
    total, product = np.empty(()), np.empty(())
    call = kernel.bind([one, other], [total, product])
    call()
    assert (total, product) == (3.0, 2.0)
    one[...] = 5.0
    call()
    assert (total, product) == (7.0, 10.0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([np.zeros(3)], [], "got 0 outputs; must be 1"),
        ([np.zeros(3), np.zeros(3)], [np.zeros(3)], "got 2 inputs; must be 1"),
        ([np.zeros(4)], [np.zeros(3)], r"input 0: got float64\[4\]; must be float64\[3\]"),
        ([np.zeros(3, np.float32)], [np.zeros(3)], r"got float32\[3\]; must be float64\[3\]"),
        ([np.zeros(6)[::2]], [np.zeros(3)], "input 0: must be contiguous"),
        ([np.zeros(3)], [np.zeros((3, 1))], r"output 0: got float64\[3, 1\]"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(inputs, outputs, message):
    kernel = compiled(lambda x: x + 1, np.zeros(3))
    with pytest.raises(ValueError, match=message):
        kernel.bind(inputs, outputs)


def test_repetition_has_the_bits_of_a_loop_of_calls():
    kernel, gain, count = compiled(step, 0.5, *STATE), np.asarray(0.7), 25
    state, totals = [part.copy() for part in STATE], []
    for _ in range(count):
        *state, total, late = kernel(gain, *state)
        totals.append((total, late))
    inputs = [gain, *(part.copy() for part in STATE)]
    carried = [np.empty(40), np.empty((), int)]
    stacked = [np.empty((1, count)), np.empty((1, count), bool)]
    kernel.bind_tiles(inputs, [*carried, *stacked], carried=2)(0, 1, count)
    found = [*carried, *(each[0] for each in stacked)]
    for one, other in zip(found, [*state, *zip(*totals, strict=True)], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_each_tile_is_called_so_often(calls):
    kernel, tiles = compiled(step, 0.5, *STATE), 3
    states = [STATE[0] + np.arange(tiles)[:, None], STATE[1] + np.arange(tiles)]
    inputs = [np.asarray(0.7), *(each.copy() for each in states)]
    carried = [np.empty((tiles, 40)), np.empty(tiles, int)]
    stacked = [np.full((tiles, 5), np.nan), np.zeros((tiles, 5), bool)]
    call = kernel.bind_tiles(inputs, [*carried, *stacked], carried=2)
    call(2, 1, calls)
    call(0, 2, calls)
    later = carried if calls % 2 else inputs[1:]
    for tile in range(tiles):
        state, totals = [each[tile] for each in states], []
        for _ in range(calls):
            *state, total, _ = kernel(np.asarray(0.7), *state)
            totals.append(total)
        for one, other in zip(later, state, strict=True):
            np.testing.assert_array_equal(one[tile], other)
        np.testing.assert_array_equal(stacked[0][tile, :calls], totals)
        assert np.isnan(stacked[0][tile, calls:]).all()


def test_calls_beyond_the_room_for_results_are_refused():
    kernel = compiled(step, 0.5, *STATE)
    carried, stacked = [np.empty(40), np.empty((), int)], [np.empty((1, 5)), np.empty((1, 5), bool)]
    call = kernel.bind_tiles([np.asarray(0.7), *STATE], [*carried, *stacked], carried=2)
    with pytest.raises(ValueError, match="got 6 calls; the outputs have room for 5"):
        call(0, 1, 6)


def test_outputs_may_be_inputs_constants_and_equal_to_each_other():
    kernel = compiled(lambda x: (x, x + 1, x + 1, jnp.arange(50), 3.0, x[:0]), np.ones(40))
    found = kernel(np.full(40, 2.0))
    expected = [np.full(40, 2.0), np.full(40, 3.0), np.full(40, 3.0), np.arange(50), 3.0, []]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_calls_equal_equations_and_unused_ones_go():
    @jax.jit
    def inner(x):
        return jnp.sin(x) + jnp.sin(x), jnp.cos(x)

    program = flatten(jax.make_jaxpr(lambda x: inner(x)[0] + inner(x)[0])(1.0))
    assert [equation.primitive for equation in program.equations] == ["sin", "add", "add"]


def test_all_that_cannot_be_translated_is_named_with_its_line():
    def function(x):
        shape = jax.ShapeDtypeStruct((), float)
        called = jax.pure_callback(lambda y: np.asarray(y), shape, x)
        return called + lax.cond(
            x > 0, lambda y: jnp.fft.fft(y * jnp.ones(4)).real[0], lambda y: y, x
        )

    closed = jax.make_jaxpr(function)(1.0)
    missing = simd.unsupported(closed)
    assert {"pure_callback", "fft"} <= {each.primitive for each in missing}
    assert any(each.primitive == "real" and __file__ in each.source for each in missing)
    with pytest.raises(simd.UnsupportedError, match="pure_callback at .*test_kernel.py:"):
        simd.compile_jaxpr(closed)


def test_subnormal_numbers_are_zero_and_the_mode_of_the_caller_stays():
    kernel = compiled(lambda x: x * 0.5, 1.0)
    (half,) = kernel(np.asarray(3e-308))
    assert half == 0.0
    assert np.asarray(3e-308) * 0.5 > 0.0


@pytest.mark.slow
def test_a_workspace_is_shared_by_arrays_that_do_not_live_together():
    def chain(x):
        for _ in range(20):
            x = jnp.cumsum(jnp.sin(x[::-1])) / 1000
        return x

    kernel = compiled(chain, np.ones(1000))
    assert kernel.workspace().nbytes < 6 * 8000
    np.testing.assert_allclose(kernel(np.ones(1000))[0], jax.jit(chain)(np.ones(1000)), 1e-9)
