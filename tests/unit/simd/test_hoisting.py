"""Tests of programs in two parts, the first of which depends only on constant arguments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake import simd
from kittiwake.simd.flattening import flatten
from kittiwake.simd.hoisting import hoisted
from kittiwake.simd.moves import MOVE, with_moves


def traced(function, *arguments):
    return jax.make_jaxpr(function)(*arguments)


def of_gains(gains, offset, x):
    """Return functions of constants, of both, and of neither."""
    inverse = jnp.linalg.inv(jnp.diag(gains) + 1.0)
    bent = jnp.where(offset > 0.0, jnp.sin(offset), jnp.cos(gains[0]))
    branch = jax.lax.cond(gains[1] > 2.0, lambda g: g * x[0], lambda g: g - x[1], gains[2])
    return inverse @ x, bent, branch, gains[::-1] * 1.0, x + 1.0, gains[:2], 3.0


ARGUMENTS = np.asarray([1.0, 2.5, 4.0]), np.asarray(0.3), np.asarray([0.1, -0.7, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_both_parts_have_the_bits_of_the_whole(count):
    closed = traced(of_gains, *ARGUMENTS)
    constants, rest = simd.compile_hoisted(closed, count)
    for scale in (1.0, -0.4, 3.0):
        given = [np.asarray(scale * each) for each in ARGUMENTS]
        found = rest(*constants(*given[:count]), *given)
        for one, other in zip(found, simd.compile_jaxpr(closed)(*given), strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_depends_on_constants_alone_leaves_the_rest():
    program = with_moves(flatten(traced(of_gains, *ARGUMENTS)))
    constants, rest = hoisted(program, 2)
    assert not {"sin", "cos", "lu"} & {each.primitive for each in rest.equations}
    assert {"sin", "cos"} <= {each.primitive for each in constants.equations}
    assert len(constants.equations) + len(rest.equations) >= len(program.equations)


def test_moves_of_arguments_stay_where_they_are_needed():
    program = with_moves(flatten(traced(lambda gains, x: gains[::-1] * x, *ARGUMENTS[::2])))
    constants, rest = hoisted(program, 1)
    assert not constants.equations
    assert not constants.outputs
    assert MOVE in {each.primitive for each in rest.equations}


def test_what_depends_on_no_argument_is_hoisted_even_without_constants():
    program = with_moves(flatten(traced(lambda x: x + jnp.cumsum(jnp.arange(3.0)), ARGUMENTS[2])))
    constants, rest = hoisted(program, 0)
    assert "cumsum" in {each.primitive for each in constants.equations}
    assert "cumsum" not in {each.primitive for each in rest.equations}


def test_a_carried_loop_of_both_parts_has_the_bits_of_calls():
    def step(gain, x):
        return jnp.exp(-gain) * x + jnp.sqrt(gain), x.sum()

    gain, x = np.asarray([0.3, 0.7]), np.asarray([1.0, -2.0])
    constants, rest = simd.compile_hoisted(traced(step, gain, x), 1)
    whole, state, sums = simd.compile_jaxpr(traced(step, gain, x)), x, []
    for _ in range(7):
        state, total = whole(gain, state)
        sums.append(total)
    later, stacked = np.empty(2), np.empty((1, 7))
    rest.bind_tiles([*constants(gain), gain, x.copy()], [later, stacked], carried=1)(0, 1, 7)
    np.testing.assert_array_equal(later, state)
    np.testing.assert_array_equal(stacked[0], sums)
