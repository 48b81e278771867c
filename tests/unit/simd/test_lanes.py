"""The program of many worlds agrees with ``jax.vmap`` of the program of one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from kittiwake.simd import compile_jaxpr, with_lanes

LANES = 5


def newton(x):
    def later(carry):
        count, root = carry
        return count + 1, 0.5 * (root + (x[0] + 4.0) / root)

    return lax.while_loop(
        lambda carry: jnp.abs(carry[1] ** 2 - x[0] - 4.0) > 1e-9, later, (0, x[1] + 3.0)
    )


def drawn(x, seed):
    key = jax.random.fold_in(jax.random.key(3), seed)
    parts = jax.random.split(key, 3)
    return (
        jax.random.uniform(parts[0], (4,)),
        jax.random.bits(parts[1], (2, 3), jnp.uint32),
        jax.random.bits(parts[1], (2,), jnp.uint64),
        jax.random.normal(parts[2]) + x[0],
        jax.random.key_data(jnp.where(x[0] > 0, parts[0], parts[2])),
        jax.random.key_data(parts[seed % 3]),
    )


def branched(x, seed):
    def long(y):
        for _ in range(20):
            y = jnp.sin(y) + 1.0
        return y, seed

    return lax.switch(seed % 3, [lambda y: (y, 2 * seed), long, lambda y: (-y, seed + 1)], x)


def scanned(x):
    def step(carry, own):
        return carry * 0.5 + own, carry

    return lax.scan(step, x[0], x, reverse=True)


def clocked(x, c):
    """A loop that carries a clock, and a sum that comes to differ by another one."""

    def step(carry, own):
        tick, total, result = carry
        return (tick + 1, total + result * own, result + x[0]), (tick * 2, total)

    return lax.scan(step, (jnp.int32(4), c[1], c[2]), c)


def counting(x, c):
    """A loop that ends together, with a count, a sum of its own, and one that comes to differ."""
    return lax.while_loop(
        lambda carry: carry[1] < 9.0,
        lambda carry: (carry[0] + 1, carry[1] + c[0], carry[2] * 0.5 + carry[1] + x[0]),
        (jnp.int32(0), c[1], c[2]),
    )


def switched(x, c):
    """Branches that all worlds take, with a result that none of them makes differ."""
    return lax.cond(c[0] > 0, lambda: (c + 1.0, x * 2.0), lambda: (c - 1.0, -x))


def grid(row):
    return jnp.stack([row, 2.0 * row, row - 1.0])


# functions of an array that differs among worlds, a seed that does, and an array that does not
CASES = {
    "arithmetic": lambda x, s, c: jnp.where(x > c, x * c[0] - 2.0, jnp.maximum(x, 0.1) / c),
    "single-flag": lambda x, s, c: jnp.where(x[0] > 0, x, c) + lax.select(c[0] > 0, x, -x),
    "clipped": lambda x, s, c: (jnp.clip(x, x[0], c[1]), jnp.clip(c, -0.1, x[1])),
    "moved": lambda x, s, c: jnp.concatenate([x[::-1], c[1:3], x.reshape(2, 2).T.ravel()]),
    "stacked": lambda x, s, c: jnp.stack([x, c, jnp.broadcast_to(x[2], (4,))], axis=1)[1:3],
    "reduced": lambda x, s, c: (x.sum(), x.max(), jnp.cumsum(x), jnp.argmin(x), (x > 0).any()),
    "matrix": lambda x, s, c: jnp.outer(x, c) @ jnp.outer(c, x) @ x,
    "long-product": lambda x, s, c: jnp.dot(jnp.tile(x, 10), jnp.tile(c, 10)),
    "batched-product": lambda x, s, c: jnp.einsum(
        "bij,bjk->bik", x.reshape(2, 1, 2), jnp.stack([c, x]).reshape(2, 2, 2)
    ),
    "indexed": lambda x, s, c: (x[s % 4], c[s % 4], x.at[s % 4].set(7.0), c.at[s % 4].add(x[0])),
    "sliced": lambda x, s, c: lax.dynamic_slice(jnp.tile(x, 2), (s % 4,), (3,)),
    "rows": lambda x, s, c: (
        grid(x)[s % 3],
        grid(x)[:, jnp.array([2, 0])],
        grid(x)[jnp.array([1, 2]), s % 4],
        grid(c)[s % 3, :2],
    ),
    "written": lambda x, s, c: (
        grid(x).at[s % 3, 1].set(5.0),
        grid(x).at[1].set(c),
        grid(x).at[:, jnp.array([3, 1])].add(x[0]),
        grid(c).at[s % 3].max(x),
        grid(c).at[jnp.array([0, 2]), s % 4].min(x[:2]),
        grid(c).at[2, 1].mul(x[1]),
    ),
    "sliced-together": lambda x, s, c: lax.dynamic_slice(
        grid(x), (jnp.int32(c[0] > 9), jnp.int32(1)), (2, 3)
    ),
    "sliced-apart": lambda x, s, c: lax.dynamic_slice(grid(x), (s % 3, (s + 1) % 4), (2, 2)),
    "sorted": lambda x, s, c: (jnp.sort(x), lax.top_k(x, 2), jnp.argsort(-x)),
    "drawn": lambda x, s, c: drawn(x, s),
    "branched": lambda x, s, c: branched(x, s),
    "branched-together": lambda x, s, c: lax.cond(c[0] > 0, lambda: x, lambda: -x),
    "looped": lambda x, s, c: newton(x),
    "counted": lambda x, s, c: lax.fori_loop(0, s % 4, lambda i, y: y * 0.5 + c, x),
    "scanned": lambda x, s, c: scanned(x),
    "clocked": lambda x, s, c: clocked(x, c),
    "counting": lambda x, s, c: counting(x, c + 0.5),
    "switched": lambda x, s, c: switched(x, c),
    "padded": lambda x, s, c: jnp.pad(x, (1, 2)),
    "unvarying": lambda x, s, c: (c * 2.0, x),
    "solved": lambda x, s, c: jnp.linalg.solve(jnp.eye(4) * 3.0 + jnp.outer(x, c) * 0.1, x),
}


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", CASES)
def test_many_worlds_agree_with_vmap(name):
    draws = np.random.default_rng(5)
    worlds, shared = draws.normal(size=(LANES, 4)), draws.normal(size=4) ** 2
    seeds = np.arange(7, 7 + LANES, dtype=np.int32)
    function = CASES[name]
    closed = jax.make_jaxpr(function)(*map(jnp.asarray, (worlds[0], seeds[0], shared)))
    laned = with_lanes(closed, [True, True, False], [True] * len(closed.out_avals), LANES)
    found = compile_jaxpr(laned)(worlds.T.copy(), seeds, shared)
    wanted = jax.tree.leaves(
        jax.vmap(function, (0, 0, None))(*map(jnp.asarray, (worlds, seeds, shared)))
    )
    for one, other in zip(found, wanted, strict=True):
        expected = np.moveaxis(np.asarray(other), 0, -1)
        assert one.dtype == expected.dtype
        if expected.dtype.kind in "iub":
            np.testing.assert_array_equal(one, expected)
        else:
            np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-13)


def test_a_result_that_differs_among_worlds_must_have_lanes():
    closed = jax.make_jaxpr(lambda x: x + 1.0)(1.0)
    with pytest.raises(ValueError, match="result 0 differs among worlds"):
        with_lanes(closed, [True], [False], LANES)


def test_what_a_loop_carries_for_all_worlds_stays_without_lanes():
    x, c = jnp.zeros(4), jnp.ones(4)
    closed = jax.make_jaxpr(clocked)(x, c)
    may_vary = [False, True, True, False, True]
    laned = with_lanes(closed, [True, False], may_vary, LANES)
    shapes = [aval.shape for aval in laned.out_avals]
    assert shapes == [(), (LANES,), (LANES,), (4,), (4, LANES)]


@pytest.mark.parametrize(
    ("function", "vary"), [(counting, [False, False, True]), (switched, [False, True])]
)
def test_what_branches_and_loops_share_stays_without_lanes(function, vary):
    closed = jax.make_jaxpr(function)(jnp.zeros(4), jnp.ones(4))
    laned = with_lanes(closed, [True, False], vary, LANES)
    lanes = [aval.shape[-1:] == (LANES,) for aval in laned.out_avals]
    assert lanes == vary
