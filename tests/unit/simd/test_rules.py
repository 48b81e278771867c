"""Each primitive gives what JAX gives: bit for bit where that is exact, else to rounding."""

# tables of small functions, none of which binds what a loop changes
# ruff: noqa: B023, C901, E731
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from kittiwake import simd
from kittiwake.simd.flattening import CALLS, IDENTITIES, flatten
from kittiwake.simd.moves import with_moves
from kittiwake.simd.rules import RULES

# units in the last place: functions of two mathematical libraries, sums in another order
ROUNDING = 64
SHAPES = [(), (3,), (4, 6), (5, 20)]
FLOATS = [np.float32, np.float64]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e30, 3.0, -2.5]


class Case(NamedTuple):
    """A function and its arguments; its floating-point results agree to some units."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    units: float = 0.0


def numbers(shape, dtype, seed=0, low=-3.0, high=3.0):
    draws = np.random.default_rng(seed)
    if dtype == np.bool_:
        return draws.random(shape) < 0.5
    if np.issubdtype(dtype, np.integer):
        return draws.integers(max(low, np.iinfo(dtype).min, -9), 10, shape).astype(dtype)
    return draws.uniform(low, high, shape).astype(dtype)


def special(dtype):
    return np.asarray(SPECIAL, dtype)


def unary() -> Iterator[tuple[str, Case]]:
    exact = [lax.neg, lax.abs, lax.sign, lax.floor, lax.ceil, lax.sqrt, lax.square, lax.is_finite]
    rounded = [lax.sin, lax.cos, lax.tan, lax.asin, lax.acos, lax.atan, lax.sinh, lax.cosh]
    rounded += [lax.tanh, lax.asinh, lax.exp, lax.exp2, lax.expm1, lax.logistic, lax.erf, lax.erfc]
    rounded += [lax.rsqrt, lax.cbrt]
    for dtype in FLOATS:
        for function in (*exact, *rounded):
            units = 0.0 if function in exact else ROUNDING
            for shape in SHAPES:
                argument = numbers(shape, dtype)
                if function in (lax.asin, lax.acos):
                    argument = argument / 3
                if function in (lax.sqrt, lax.rsqrt):
                    argument = np.abs(argument)
                yield f"{function.__name__}-{dtype.__name__}", Case(function, [argument], units)
            if function not in (lax.sinh, lax.cosh):
                yield f"{function.__name__}-special", Case(function, [special(dtype)], units)
        for function in (lax.log, lax.log1p, lax.acosh, lax.lgamma):
            positive = numbers((5, 20), dtype, low=1.0, high=9.0)
            yield f"{function.__name__}-{dtype.__name__}", Case(function, [positive], ROUNDING)
        inside = numbers((5, 20), dtype, low=-0.999, high=0.999)
        yield "atanh", Case(lax.atanh, [inside], ROUNDING)
        yield "erf_inv", Case(lax.erf_inv, [inside], ROUNDING)
        yield "erf_inv-ends", Case(lax.erf_inv, [np.asarray([1, -1, 0, 2], dtype)], ROUNDING)
        for method in lax.RoundingMethod:
            halves = np.arange(-4, 5, 0.5).astype(dtype)
            yield f"round-{method.name}", Case(lambda x, m=method: lax.round(x, m), [halves])
        for power in (-3, -1, 0, 1, 2, 5):
            units = ROUNDING if abs(power) > 2 else 1.0
            case = Case(lambda x, p=power: lax.integer_pow(x, p), [numbers((4, 6), dtype)], units)
            yield f"integer_pow{power}", case
    for dtype in (np.int32, np.uint32, np.int64):
        values = numbers((4, 6), dtype)
        signed = [lax.abs] if np.issubdtype(dtype, np.signedinteger) else []
        for function in (lax.neg, lax.sign, lax.bitwise_not, lax.population_count, *signed):
            yield f"{function.__name__}-{np.dtype(dtype)}", Case(function, [values])
    yield "not-bool", Case(lax.bitwise_not, [numbers((50,), np.bool_)])


def binary() -> Iterator[tuple[str, Case]]:
    exact = [lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min, lax.nextafter]
    comparisons = [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
    for dtype in FLOATS:
        for function in (*exact, *comparisons, lax.atan2, lax.pow, lax.rem):
            rounded = function in (lax.atan2, lax.pow)
            for shape in SHAPES:
                one, other = numbers(shape, dtype), numbers(shape, dtype, 1)
                one = np.abs(one) if function is lax.pow else one
                units = ROUNDING if rounded else 0.0
                yield f"{function.__name__}-{dtype.__name__}", Case(function, [one, other], units)
            one, other = (np.ravel(part) for part in np.meshgrid(special(dtype), special(dtype)))
            if function not in (lax.nextafter, lax.pow):
                yield f"{function.__name__}-special", Case(function, [one, other], ROUNDING)
    integers = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, *comparisons]
    bitwise = [lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor]
    shifts = [lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic]
    for dtype in (np.int32, np.uint32, np.int64, np.uint64):
        one, other = numbers((40,), dtype), numbers((40,), dtype, 1)
        edges = np.asarray([np.iinfo(dtype).min, np.iinfo(dtype).max, 7, 0], dtype)
        divisors = np.asarray([np.iinfo(dtype).max, 0, 0, 3], dtype)
        for function in (*integers, *bitwise):
            yield f"{function.__name__}-{np.dtype(dtype)}", Case(function, [one, other])
            yield f"{function.__name__}-edges", Case(function, [edges, divisors])
        by = np.asarray([0, 1, 31, 32, 63, 64, 5, 2] * 5, dtype)
        for function in shifts:
            yield f"{function.__name__}-{np.dtype(dtype)}", Case(function, [one, by])
    least = np.full(3, np.iinfo(np.int32).min, np.int32)
    yield "overflow", Case(lambda x: (lax.div(x, -1 * jnp.ones_like(x)), x // -1), [least])
    flags = numbers((40,), np.bool_), numbers((40,), np.bool_, 1)
    for function in (*bitwise, lax.eq, lax.lt, lax.max):
        yield f"{function.__name__}-bool", Case(function, flags)
    yield (
        "broadcast",
        Case(
            lambda x, y: (x * y, x + 2.0),
            [numbers((4, 1), np.float64), numbers((1, 6), np.float64)],
        ),
    )


def choices() -> Iterator[tuple[str, Case]]:
    x, y = numbers((5, 20), np.float64), numbers((5, 20), np.float64, 1)
    flags = numbers((5, 20), np.bool_)
    yield "select", Case(lax.select, [flags, x, y])
    yield "select-scalar", Case(lambda f, a, b: jnp.where(f, a, b), [np.asarray(True), x, y])
    which = numbers((5, 20), np.int32) % 3
    yield "select_n", Case(lambda w, a, b: lax.select_n(w, a, b, a + b), [which, x, y])
    yield "clamp", Case(lambda a: lax.clamp(-1.0, a, 0.5), [special(np.float64)])
    yield "clamp-arrays", Case(lax.clamp, [x - 1, y, x + 1])


def conversions() -> Iterator[tuple[str, Case]]:
    kinds = [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8, np.uint32, np.bool_]
    for source in kinds:
        values = numbers((40,), source)
        for target in kinds:
            name = f"convert-{np.dtype(source)}-{np.dtype(target)}"
            yield name, Case(lambda a, t=target: lax.convert_element_type(a, t), [values])
    for target in (np.int32, np.int64, np.uint32, np.float32):
        values = np.asarray([np.nan, np.inf, -np.inf, 1e20, -1e20, 2.7, -2.7])
        yield f"saturate-{np.dtype(target)}", Case(lambda a, t=target: a.astype(t), [values])
    yield "bitcast", Case(lambda a: lax.bitcast_convert_type(a, jnp.uint64), [special(np.float64)])
    wide = numbers((5, 20), np.float64)
    yield "bitcast-narrow", Case(lambda a: lax.bitcast_convert_type(a, jnp.uint32), [wide])
    words = numbers((5, 2), np.uint32)
    yield "bitcast-wide", Case(lambda a: lax.bitcast_convert_type(a, jnp.uint64), [words])
    yield "reduce_precision", Case(lambda a: lax.reduce_precision(a, 8, 23), [wide])


def moves() -> Iterator[tuple[str, Case]]:
    for shape in ((2, 3, 4), (3, 10, 5)):
        x = numbers(shape, np.float64)
        yield "reshape", Case(lambda a: a.reshape(-1, a.shape[0]), [x])
        yield "transpose", Case(lambda a: a.transpose(2, 0, 1), [x])
        yield "slice", Case(lambda a: (a[1:, ::2, -1], a[:, 1], a[0, 0, 0]), [x])
        yield "rev", Case(lambda a: lax.rev(a, (0, 2)), [x])
        yield "squeeze", Case(lambda a: (a[:, None], jnp.squeeze(a[:1], 0)), [x])
        yield "expand_dims", Case(lambda a: jnp.expand_dims(a, (0, 2)), [x])
        yield "concatenate", Case(lambda a: jnp.concatenate([a, a * 2, a[:, :1]], 1), [x])
        yield "stack", Case(lambda a: jnp.stack([a, -a], -1), [x])
        yield "tile", Case(lambda a: jnp.tile(a, (2, 1, 3)), [x])
        yield "split", Case(lambda a: jnp.split(a, [1, 2], 2), [x])
        yield "unstack", Case(lambda a: jnp.unstack(a, axis=1), [x])
        yield (
            "broadcast",
            Case(
                lambda a: jnp.broadcast_to(a[:, :1, None], (2, *a.shape[:1], 3, 7, a.shape[2])), [x]
            ),
        )
        padding = ((1, 2, 0), (0, -1, 0), (2, 0, 1))
        yield "pad", Case(lambda a: lax.pad(a, 7.0, padding), [x])
    yield (
        "iota",
        Case(lambda a: a + lax.broadcasted_iota(float, (4, 6), 1), [numbers((4, 6), np.float64)]),
    )
    yield (
        "empty",
        Case(
            lambda a: (a[:0], jnp.concatenate([a[:0], a]), a[:0].sum()), [numbers((6,), np.float64)]
        ),
    )


def reductions() -> Iterator[tuple[str, Case]]:
    for shape in ((6,), (4, 6), (30, 4), (4, 5, 20)):
        x = numbers(shape, np.float64)
        for axis in range(len(shape)):
            for function in (jnp.sum, jnp.prod, jnp.max, jnp.min, jnp.cumsum, jnp.cumprod):
                case = Case(lambda a, f=function, i=axis: f(a, axis=i), [x], ROUNDING)
                yield f"{function.__name__}-{shape}-{axis}", case
            yield (
                "cummax",
                Case(lambda a, i=axis: (lax.cummax(a, i), lax.cummin(a, i, reverse=True)), [x]),
            )
            yield "arguments", Case(lambda a, i=axis: (a.argmax(i), a.argmin(i)), [x.round()])
        yield (
            "all",
            Case(lambda a: ((a > 0).any(0), (a > -9).all(), a.sum(), a.max()), [x], ROUNDING),
        )
    flags = numbers((30, 4), np.bool_)
    yield "xor", Case(lambda a: lax.reduce_xor(a.astype(jnp.int32), (0,)), [flags])
    nothing = np.asarray([[1.0, np.nan, 3.0], [np.nan, 5.0, np.nan], [-np.inf, np.inf, 2.0]])
    yield "not-a-number", Case(lambda a: (a.argmax(1), a.argmin(1), a.max(1), a.min(0)), [nothing])
    for left, right, spec in (
        ((3, 3), (3,), "ij,j->i"),
        ((3, 4), (4, 5), "ij,jk->ik"),
        ((20, 30), (30, 10), "ij,jk->ik"),
        ((4, 3, 5), (4, 5, 2), "bij,bjk->bik"),
        ((8, 20, 20), (8, 20), "bij,bj->bi"),
        ((6,), (6,), "i,i->"),
        ((3,), (4,), "i,j->ij"),
    ):
        arguments = [numbers(left, np.float64), numbers(right, np.float64, 1)]
        yield f"dot-{spec}", Case(lambda a, b, s=spec: jnp.einsum(s, a, b), arguments, 4096)


def indexing() -> Iterator[tuple[str, Case]]:
    for x in (numbers((5, 6), np.float64), numbers((20, 9), np.float64)):
        for index in (0, 4, -1, 99, -99):
            place = np.asarray(index)
            yield "take", Case(lambda a, i: (a[i], a[:, i]), [x, place])
            yield (
                "dynamic_slice",
                Case(lambda a, i: lax.dynamic_slice(a, (i, i - 1), (2, 3)), [x, place]),
            )
            update = lambda a, i: lax.dynamic_update_slice(a, -a[:2, :3], (i, i - 1))
            yield "dynamic_update_slice", Case(update, [x, place])
            yield "set", Case(lambda a, i: (a.at[i].set(1.0), a.at[1, i].add(2.0)), [x, place])
        places = np.asarray([0, 3, -1, 2, 99, 3])
        for mode in ("clip", "fill", "promise_in_bounds"):
            allowed = places if mode != "promise_in_bounds" else places[:2]
            yield f"take-{mode}", Case(lambda a, i, m=mode: a.at[i].get(mode=m), [x, allowed])
        many = numbers((40,), np.int64) % 5
        yield "take-many", Case(lambda a, i: (a[i], a[i, i], a[:, i]), [x, many])
        yield "take-each", Case(jax.vmap(lambda row, i: row[i]), [x, numbers((len(x),), np.int64)])
        each = jax.vmap(lambda row, i: row.at[i].set(9.0))
        yield "set-each", Case(each, [x, numbers((len(x),), np.int64)])
        for name in ("set", "add", "multiply", "min", "max"):
            case = Case(lambda a, i, n=name: getattr(a.at[i], n)(2.0), [x, places], 1.0)
            yield f"scatter-{name}", case
        yield (
            "scatter-rows",
            Case(lambda a, i: a.at[i[:3]].set(a[:3] * 2, mode="drop"), [x, places]),
        )
        known = np.asarray([1, 3, 0])
        yield (
            "known",
            Case(lambda a: (a[known], a.at[known].set(5.0), a.at[:, known].add(1.0)), [x], 1.0),
        )
    flags = numbers((9,), np.bool_)
    yield "flags", Case(lambda a, i: (a[i], a.at[i].set(True)), [flags, np.asarray(7)])


def ordering() -> Iterator[tuple[str, Case]]:
    for x in (
        numbers((7,), np.float64),
        numbers((4, 30), np.float64).round(1),
        special(np.float32),
    ):
        yield "sort", Case(lambda a: (jnp.sort(a), jnp.argsort(a), jnp.sort(a, 0)), [x])
        yield "sort-keys", Case(lambda a: lax.sort((a.round(), a, -a), num_keys=2), [x])
        yield "top_k", Case(lambda a: lax.top_k(a, 3), [x])
        yield "top_k-all", Case(lambda a: lax.top_k(a, a.shape[-1]), [x])
    many = numbers((3, 200), np.float32)
    many[:, ::9], many[:, 4::17], many[:, ::31], many[:, ::59] = 0.0, -0.0, np.nan, -np.nan
    yield "top_k-long", Case(lambda a: (lax.top_k(a, 12), lax.top_k(a.T, 2)), [many])
    counts = np.arange(40, dtype=np.uint32) * np.uint32(0x51EB851F)
    for dtype in (np.uint32, np.int32, np.int8, np.bool_):
        own = counts.astype(dtype) if dtype != np.bool_ else counts % 3 == 0
        yield f"top_k-{np.dtype(dtype)}", Case(lambda a: lax.top_k(a, 20), [own])
    for length in (16, 17, 33, 700):
        few = numbers((2, length), np.float32).round(1)
        case = Case(lambda a: (jnp.argsort(a), lax.sort((a.round(), -a, a), num_keys=2)), [few])
        yield f"sort-{length}", case
    yield "sort-integers", Case(jnp.sort, [numbers((30,), np.int32)])
    yield "sort-unsigned", Case(jnp.sort, [numbers((30,), np.uint32) - np.uint32(3)])


def algebra() -> Iterator[tuple[str, Case]]:
    for size in (1, 3, 8):
        matrix = numbers((size, size), np.float64) + 5 * np.eye(size)
        many, right = np.stack([matrix, matrix.T]), numbers((size, 2), np.float64)
        yield "lu", Case(lambda a: lax.linalg.lu(a), [numbers((size, size), np.float64)], 1e6)
        yield "solve", Case(jnp.linalg.solve, [matrix, right], 1e6)
        yield "inverse", Case(jnp.linalg.inv, [many], 1e6)
        yield "cholesky", Case(jnp.linalg.cholesky, [matrix @ matrix.T], 1e6)
        for left in (True, False):
            for lower in (True, False):
                for transposed in (True, False):
                    solve = lambda a, b, s=left, o=lower, t=transposed: lax.linalg.triangular_solve(
                        a, b if s else b.T, left_side=s, lower=o, transpose_a=t
                    )
                    yield (
                        f"triangular-{left}-{lower}-{transposed}",
                        Case(solve, [matrix, right], 1e6),
                    )


def draws() -> Iterator[tuple[str, Case]]:
    seeds = np.arange(5, dtype=np.uint32)
    key = lambda seed: jax.random.key(seed)
    yield "fold_in", Case(lambda s: jax.random.key_data(jax.random.fold_in(key(3), s[2])), [seeds])
    each = jax.vmap(lambda s: jax.random.key_data(jax.random.split(key(s), 3)))
    yield "split", Case(each, [seeds])
    for bits in (jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64):
        yield (
            f"bits-{bits.__name__}",
            Case(
                lambda s, b=bits: jax.random.bits(jax.random.fold_in(key(1), s[1]), (3, 20), b),
                [seeds],
            ),
        )
    uniform = lambda s, d: jax.random.uniform(jax.random.fold_in(key(1), s[1]), (50,), d)
    normal = lambda s, d: jax.random.normal(jax.random.fold_in(key(1), s[1]), (50,), d)
    for dtype in FLOATS:
        yield f"uniform-{dtype.__name__}", Case(lambda s, d=dtype: uniform(s, d), [seeds])
        yield f"normal-{dtype.__name__}", Case(lambda s, d=dtype: normal(s, d), [seeds], 16)
    yield "integers", Case(lambda s: jax.random.randint(key(s[0]), (30,), -5, 5), [seeds])
    moved = lambda s: jax.random.key_data(
        jnp.where(s[0] < 1, jax.vmap(key)(s)[jnp.asarray([1, 0])], jax.vmap(key)(s)[2:4])
    )
    yield "moved", Case(moved, [seeds])
    keys = lambda s: jax.vmap(key)(s)
    chosen = lambda s: jax.random.key_data(jnp.where(s[:4] < s[1:5], keys(s)[:4], keys(s)[1:5]))
    yield "chosen", Case(chosen, [seeds])
    replaced = lambda s: jax.random.key_data(keys(s).at[s[:3] % 3].set(keys(s)[2:5]))
    yield "replaced", Case(replaced, [seeds])
    carried = lambda s: lax.scan(
        lambda k, _: (jax.random.split(k)[0], jax.random.uniform(k)), key(s[4]), None, length=7
    )[1]
    yield "carried", Case(carried, [seeds])
    yield "permutation", Case(lambda s: jax.random.permutation(key(s[0]), 30), [seeds])


def flow() -> Iterator[tuple[str, Case]]:
    x = numbers((4, 6), np.float64)
    for flag in (True, False):
        double = lambda f, a: lax.cond(f, lambda b: (b * 2, b[0]), lambda b: (b, b[1]), a)
        yield f"cond-{flag}", Case(double, [np.asarray(flag), x])
        yield f"cond-long-{flag}", Case(double, [np.asarray(flag), numbers((9, 20), np.float64)])
    for index in (-3, 0, 1, 2, 9):
        branches = [lambda a: a, lambda a: -a, lambda a: a * 3]
        yield "switch", Case(lambda i, a: lax.switch(i, branches, a), [np.asarray(index), x])
    body = lambda c, a: ((c[1], c[0] + a), (c[0] * 2, a))
    for rows in (x, numbers((20, 40), np.float64)):
        for reverse in (False, True):
            scan = lambda a, r=reverse: lax.scan(body, (a[0] * 0, a[0]), a, reverse=r)
            yield "scan", Case(scan, [rows])
    collatz = lambda n: lax.while_loop(
        lambda c: c[0] != 1,
        lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1),
        (n, 0),
    )
    yield "while", Case(collatz, [np.asarray(27)])
    nested = lambda a: lax.fori_loop(
        0,
        5,
        lambda i, b: lax.cond(
            i % 2 == 0,
            lambda c: lax.scan(lambda d, e: (d + e, None), c, a)[0],
            lambda c: c * 0.5,
            b,
        ),
        a[0],
    )
    yield "nested", Case(nested, [x])
    swapped = lambda a: lax.fori_loop(0, 3, lambda _, c: (c[1], c[0]), (a, a.T.reshape(a.shape)))
    yield "swapped", Case(swapped, [numbers((8, 20), np.float64)])
    platform = lambda a: lax.platform_dependent(a, cpu=lambda b: b + 1, default=lambda b: b)
    yield "platform", Case(platform, [x])


FAMILIES = {
    family.__name__: family
    for family in (
        unary,
        binary,
        choices,
        conversions,
        moves,
        reductions,
        indexing,
        ordering,
        algebra,
        draws,
        flow,
    )
}


@pytest.fixture(autouse=True)
def standard_jax():
    """Both precisions, and promotions as users have them."""
    with (
        jax.enable_x64(True),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        yield


def together(cases):
    """Return one function of the arguments of all cases, which compiles once."""
    edges = np.cumsum([0, *(len(case.arguments) for case in cases)])

    def function(*arguments):
        return [
            case.function(*map(jnp.asarray, arguments[start:end]))
            for case, start, end in zip(cases, edges, edges[1:], strict=False)
        ]

    return function, [argument for case in cases for argument in case.arguments]


def require_equal(name, found, expected, units):
    assert found.shape == expected.shape, name
    assert found.dtype == expected.dtype, name
    if not np.issubdtype(found.dtype, np.floating) or units == 0.0:
        np.testing.assert_array_equal(found, expected, err_msg=name)
        return
    tolerance = units * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=name)


@pytest.mark.parametrize("family", FAMILIES)
def test_primitives_give_what_jax_gives(family):
    named = [*FAMILIES[family]()]
    for start in range(0, len(named), 60):
        names, cases = zip(*named[start : start + 60], strict=True)
        function, arguments = together(cases)
        closed = jax.make_jaxpr(function)(*arguments)
        found = iter(simd.compile_jaxpr(closed)(*map(np.asarray, arguments)))
        for name, case, expected in zip(names, cases, jax.jit(function)(*arguments), strict=True):
            for leaf in jax.tree.leaves(expected):
                require_equal(name, next(found), np.asarray(leaf), case.units)


@pytest.mark.slow
def test_each_rule_is_tested():
    used = set()
    for family in FAMILIES.values():
        for _, case in family():
            closed = jax.make_jaxpr(case.function)(*map(jnp.asarray, case.arguments))
            used |= {equation.primitive for equation in with_moves(flatten(closed)).walk()}
    # rules of what only other versions of JAX emit, or transformations of functions
    unseen = {"threefry2x32", "random_seed", "add_any", "unstack", "lt_to", "le_to", "eq_to"}
    unseen |= {name for name in RULES if name.startswith("scatter_")}
    assert set(RULES) - used <= unseen
    assert not set(RULES) & (CALLS.keys() | IDENTITIES)
