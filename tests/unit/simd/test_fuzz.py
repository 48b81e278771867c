"""Random programs give what JAX gives; each is known by its seed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.selection import slow_besides

from kittiwake import simd

SHAPES = [(), (1,), (3,), (4, 5), (2, 3, 4), (9, 8)]
# of values near one, after some fifty operations
TOLERANCES = {np.float32: 2e-4, np.float64: 1e-9}
OPERATIONS = 40


class RandomProgram:
    """A random program over values of several shapes, whose numbers stay moderate."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, *arguments):
        draws = np.random.default_rng(self.seed)
        pool = [*arguments]
        for _ in range(OPERATIONS):
            pool.append(self.operation(draws, pool, depth=0))
        return pool[len(arguments) :]

    def pick(self, draws, pool):
        return pool[draws.integers(len(pool))]

    def like(self, draws, pool, value):
        """Return a value of the same shape, made of another one."""
        other = self.pick(draws, pool)
        return jnp.resize(other, value.shape) if other.shape != value.shape else other

    def operation(self, draws, pool, depth):
        kinds = [self.unary, self.binary, self.move, self.reduction, self.choice, self.index]
        kinds += [self.conditional, self.loop, self.scan] if depth < 2 else []
        return bounded(kinds[draws.integers(len(kinds))](draws, pool, depth))

    def unary(self, draws, pool, depth):
        del depth
        functions = [jnp.sin, jnp.cos, jnp.tanh, jnp.exp, jnp.abs, jnp.negative, jnp.arctan]
        functions += [lambda x: jnp.sqrt(jnp.abs(x)), lambda x: 1 / (2 + x * x), jnp.square]
        return functions[draws.integers(len(functions))](self.pick(draws, pool))

    def binary(self, draws, pool, depth):
        del depth
        functions = [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.hypot]
        value = self.pick(draws, pool)
        return functions[draws.integers(len(functions))](value, self.like(draws, pool, value))

    def move(self, draws, pool, depth):
        del depth
        value = self.pick(draws, pool)
        moves = [
            lambda x: x.ravel(),
            lambda x: x.T,
            lambda x: jnp.flip(x),
            lambda x: x.ravel()[::2],
            lambda x: jnp.stack([x, -x]).reshape(-1)[:24],
            lambda x: jnp.concatenate([x.ravel(), x.ravel()[:1]])[:30],
            lambda x: jnp.pad(x.ravel(), (1, 2))[:40],
        ]
        return moves[draws.integers(len(moves))](value)

    def reduction(self, draws, pool, depth):
        del depth
        functions = [jnp.mean, jnp.max, jnp.min, jnp.sum]
        value = self.pick(draws, pool)
        axis = int(draws.integers(value.ndim)) if value.ndim else None
        return functions[draws.integers(len(functions))](value, axis=axis)

    def choice(self, draws, pool, depth):
        del depth
        value = self.pick(draws, pool)
        flags = jnp.asarray(draws.random(value.shape) < 0.5)
        return jnp.where(flags, value, self.like(draws, pool, value))

    def index(self, draws, pool, depth):
        del depth
        value = self.pick(draws, pool).ravel()
        places = jnp.asarray(draws.integers(-50, 50, 5))
        mode = ["clip", "fill", "drop"][draws.integers(3)]
        if mode == "drop":
            return value.at[places].add(0.5, mode=mode)
        return value.at[places].get(mode=mode, fill_value=0.25)

    def conditional(self, draws, pool, depth):
        seeds = draws.integers(2**31, size=2)
        value, which = self.pick(draws, pool), jnp.asarray(int(draws.integers(-1, 3)))
        branches = [
            lambda x, s=seed: self.inner(s, [x, *pool[:2]], depth, x.shape) for seed in seeds
        ]
        # computed from an argument, so that nothing is known before
        return lax.switch(which + (pool[0].ravel()[0] > 99).astype(int), branches, value)

    def loop(self, draws, pool, depth):
        seed, value = draws.integers(2**31), self.pick(draws, pool)
        body = lambda i, x: self.inner(seed, [x, x * 0.5 + i, *pool[:2]], depth, x.shape)  # noqa: E731
        return lax.fori_loop(0, int(draws.integers(0, 4)), body, value)

    def scan(self, draws, pool, depth):
        seed, value = draws.integers(2**31), self.pick(draws, pool)
        rows = jnp.stack([value, -value, value * 0.5])

        def body(carry, row):
            later = self.inner(seed, [carry, row, *pool[:2]], depth, carry.shape)
            return later, later * 2

        carry, stacked = lax.scan(body, value, rows, reverse=bool(draws.integers(2)))
        return carry if draws.random() < 0.5 else stacked.ravel()[:60]

    def inner(self, seed, pool, depth, shape):
        draws = np.random.default_rng(seed)
        pool = [*pool]
        for _ in range(4):
            pool.append(self.operation(draws, pool, depth + 1))
        return bounded(jnp.resize(pool[-1], shape).astype(pool[0].dtype))


def bounded(value):
    """Return numbers within two, by a smooth function."""
    return 2 * jnp.tanh(0.5 * value)


def check(seed, dtype):
    program = RandomProgram(seed)
    draws = np.random.default_rng(seed + 1)
    arguments = [draws.normal(size=shape).astype(dtype) for shape in SHAPES]
    with (
        jax.enable_x64(dtype == np.float64),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        found = simd.compile_jaxpr(jax.make_jaxpr(program)(*arguments))(*arguments)
        expected = jax.jit(program)(*arguments)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, TOLERANCES[dtype], TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("seed", slow_besides(range(2), range(6)))
def test_random_programs_give_what_jax_gives(seed, dtype):
    check(seed, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("seed", range(6, 256))
def test_many_random_programs_give_what_jax_gives(seed, dtype):
    check(seed, dtype)
