"""Functions agree with exact values to the errors that they state, at any number of elements."""

import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax

from kittiwake.simd import coefficients, compile_jaxpr
from kittiwake.simd.functions import ERRORS

ROOT = Path(__file__).parents[3]
mpmath.mp.dps = 40
COUNT = 4000
PRIMITIVES = {
    **{name: getattr(jnp, name) for name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tan")},
    "atan": jnp.arctan,
    "atan2": lax.atan2,
    "asin": lax.asin,
    "acos": lax.acos,
    "tanh": jnp.tanh,
    "logistic": lax.logistic,
    "pow": lax.pow,
    "rem": lax.rem,
    "erf_inv": lax.erf_inv,
}
# from numbers of mpmath to one
EXACT = {
    **{name: getattr(mpmath, name) for name in ("exp", "expm1", "log", "log1p", "sin", "cos")},
    **{name: getattr(mpmath, name) for name in ("tan", "atan", "atan2", "asin", "acos", "tanh")},
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "pow": mpmath.power,
    "rem": lambda x, y: mpmath.sign(x) * mpmath.fmod(abs(x), abs(y)),
    "erf_inv": lambda x: mpmath.findroot(lambda y: mpmath.erf(y) - x, mpmath.erfinv(x)),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def kernel(name, dtype, count):
    arguments = [jnp.zeros(count, dtype)] * (2 if name in ("atan2", "pow", "rem") else 1)
    return compile_jaxpr(jax.make_jaxpr(PRIMITIVES[name])(*arguments))


def spread(draws, low, high):
    """Numbers of both signs whose exponents are spread evenly."""
    sizes = 10 ** draws.uniform(np.log10(low), np.log10(high), COUNT)
    return sizes * draws.choice([-1, 1], COUNT)


def of_exponentials(draws, limits):
    low, high = -0.95 * np.log(limits.max), np.log(limits.max)
    return [np.concatenate([spread(draws, 1e-6, 1), draws.uniform(low, high, COUNT)])]


def of_logarithms(draws, limits):
    top = np.log10(limits.max) - 1
    return [np.concatenate([10 ** draws.uniform(-top, top, COUNT), 1 + spread(draws, 1e-7, 0.5)])]


def of_shifted_logarithms(draws, limits):
    large = 10 ** draws.uniform(0, np.log10(limits.max) - 1, COUNT)
    return [np.concatenate([large, spread(draws, 1e-9, 0.999)])]


def of_angles(draws, limits):
    del limits
    return [np.concatenate([spread(draws, 1e-6, 1), spread(draws, 1, 2e4)])]


def of_saturating(draws, limits):
    del limits
    return [np.concatenate([spread(draws, 1e-6, 1), spread(draws, 1, 60)])]


def of_shares(draws, limits):
    del limits
    near_one = 1 - 10 ** draws.uniform(-6, 0, COUNT)
    return [np.concatenate([draws.uniform(-1, 1, COUNT), near_one])]


def of_probabilities(draws, limits):
    near_one = 1 - 10 ** draws.uniform(np.log10(limits.eps) + 1, 0, COUNT // 4)
    return [np.concatenate([draws.uniform(-1, 1, COUNT // 4), near_one])]


ARGUMENTS = {
    "exp": of_exponentials,
    "expm1": of_exponentials,
    "log": of_logarithms,
    "log1p": of_shifted_logarithms,
    **dict.fromkeys(("sin", "cos", "tan"), of_angles),
    **dict.fromkeys(("tanh", "logistic"), of_saturating),
    **dict.fromkeys(("asin", "acos"), of_shares),
    "erf_inv": of_probabilities,
    "atan": lambda draws, _: [spread(draws, 1e-6, 1e6)],
    "atan2": lambda draws, _: [spread(draws, 1e-6, 1e6), spread(draws, 1e-6, 1e6)],
    "pow": lambda draws, _: [10 ** draws.uniform(-6, 6, COUNT), draws.uniform(-5, 5, COUNT)],
    "rem": lambda draws, _: [spread(draws, 1e-3, 1e6), spread(draws, 1e-2, 1e3)],
}


def arguments(name, dtype):
    given = ARGUMENTS[name](np.random.default_rng(1), np.finfo(dtype))
    return [one.astype(dtype) for one in given]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_as_stated(name, dtype):
    given = arguments(name, dtype)
    (found,) = kernel(name, dtype, len(given[0]))(*given)
    worst = 0.0
    for result, *own in zip(found, *given, strict=True):
        exact = EXACT[name](*(mpmath.mpf(float(one)) for one in own))
        unit = np.spacing(np.abs(dtype(exact)))
        assert np.isfinite(result), own
        worst = max(worst, float(abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(float(unit))))
    assert worst <= ERRORS[name]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ERRORS)
def test_bits_do_not_depend_on_the_number_of_elements(name, dtype):
    given = arguments(name, dtype)
    special = np.asarray(SPECIAL, dtype)
    pairs = np.meshgrid(special, special) if len(given) == 2 else [special]
    given = [
        np.concatenate([one[:: len(one) // 40], own.ravel()])
        for one, own in zip(given, pairs, strict=True)
    ]
    (together,) = kernel(name, dtype, len(given[0]))(*given)
    alone, seven = kernel(name, dtype, ()), kernel(name, dtype, 7)
    one_by_one = [
        alone(*(np.asarray(x, dtype) for x in own))[0] for own in zip(*given, strict=True)
    ]
    assert np.array(one_by_one, dtype).tobytes() == together.tobytes()
    assert seven(*(one[-7:] for one in given))[0].tobytes() == together[-7:].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ERRORS)
def test_special_arguments_have_the_results_of_jax(name, dtype):
    special = np.asarray(SPECIAL, dtype)
    given = [special]
    if name in ("atan2", "pow", "rem"):
        given = [one.ravel() for one in np.meshgrid(special, special)]
    (found,) = kernel(name, dtype, len(given[0]))(*given)
    wanted = np.asarray(PRIMITIVES[name](*given))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-30)
    numbers = ~np.isnan(wanted)
    assert (np.signbit(found) == np.signbit(wanted))[numbers].all()


@pytest.mark.slow
def test_coefficients_are_those_that_the_script_fits():
    script = runpy.run_path(str(ROOT / "scripts" / "fit_functions"))
    for fit in script["FITS"]:
        committed = getattr(coefficients, fit.name)
        for dtype, degree in zip((np.float32, np.float64), fit.degrees, strict=True):
            fitted = [] if degree is None else script["coefficients"](fit, degree)
            rounded = [dtype(mpmath.nstr(one, 30)) for one in fitted]
            assert [dtype(one) for one in committed.get(np.dtype(dtype), ())] == rounded
