"""Gusts: their statistics against theory, over many seeds at once, and their corner cases."""

import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov

from kittiwake.core.kinematics import Start
from kittiwake.environment import TURBULENCE
from kittiwake.environment.turbulence import (
    TRANSVERSE_WEIGHTS,
    Dryden,
    DrydenFirstOrder,
    NoTurbulence,
    TransverseFilter,
    first_order_filters,
    intensities,
    scale_lengths,
)
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.surroundings import Air, Surroundings

SEEDS = 200
HEIGHT_M = 5.0
WIND = Vec3(-4.8, 3.6, 0.0)
VELOCITY = Vec3(3.2, 0.0, 0.6)
SPEED_AT_6M_MPS = 6.0
AXES = ("longitudinal", "lateral", "vertical")


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def flight(velocity=VELOCITY, wind=WIND, height_m=HEIGHT_M):
    start = Start(roll_rad=0.1, pitch_rad=-0.2, yaw_rad=0.3, velocity_world_mps=velocity)
    air = Air(288.15, 101325.0, 1.225)
    return start.kinematics(), Surroundings(9.81, air, wind, height_m, math.inf)


def along_the_wind(gusts, wind=WIND):
    """By axis: gusts along the wind, across it to the left, and upwards."""
    speed = math.hypot(wind.x, wind.y)
    cosine, sine = wind.x / speed, wind.y / speed
    return (cosine * gusts.x + sine * gusts.y, cosine * gusts.y - sine * gusts.x, gusts.z)


def gusts_of(model, dt_s, steps, seeds=SEEDS, inputs=None):
    """Gusts in the world by seed and time."""
    inputs = flight() if inputs is None else inputs

    def one(seed):
        key = jax.random.key(seed)

        def step(state, tick):
            return model.step(state, inputs, dt_s, jax.random.fold_in(key, tick))

        return jax.lax.scan(step, model.init(jax.random.fold_in(key, steps)), jnp.arange(steps))[1]

    return jax.jit(jax.vmap(one))(jnp.arange(seeds))


@cache
def sampled(form, dt_s):
    with jax.enable_x64(True):
        model = {"first": DrydenFirstOrder, "exact": Dryden}[form](SPEED_AT_6M_MPS)
        gusts = gusts_of(model, dt_s, steps=6000)
        return [np.asarray(axis) for axis in along_the_wind(gusts)]


def theory(form, dt_s, axis):
    """The deviation, the autocorrelation by lag, and the correlation time in steps."""
    vertical = axis == "vertical"
    if form == "first":
        speed = math.sqrt(VELOCITY.x**2 + VELOCITY.y**2 + VELOCITY.z**2)
        found = first_order_filters(HEIGHT_M, speed, SPEED_AT_6M_MPS, dt_s)[int(vertical)]
        decay = float(found.decay)
        return float(found.deviation_mps), lambda lag: decay**lag, -1.0 / math.log(decay)
    sigma = float(intensities(HEIGHT_M, SPEED_AT_6M_MPS)[int(vertical)])
    length = float(scale_lengths(HEIGHT_M)[int(vertical)])
    airspeed = math.dist((VELOCITY.x, VELOCITY.y, VELOCITY.z), (WIND.x, WIND.y, WIND.z))
    ratio = airspeed * dt_s / length

    def correlation(lag):
        # the longitudinal and transverse correlations of the Dryden spectra
        s = lag * ratio
        return math.exp(-s) if axis == "longitudinal" else math.exp(-s) * (1.0 - s / 2.0)

    return sigma, correlation, 1.0 / ratio


def components(gusts):
    return np.stack([gusts.x, gusts.y, gusts.z])


def standard_errors_off(by_seed, expected):
    """How many standard errors the mean over independent seeds lies from the expected value."""
    return (by_seed.mean() - expected) / (by_seed.std(ddof=1) / math.sqrt(len(by_seed)))


# the exact form also where a step is as long as the vertical correlation
CASES = [("first", 0.02), ("exact", 0.02), ("exact", 0.5)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("form", "dt_s"), CASES)
@pytest.mark.slow
def test_sampled_gusts_have_the_deviation_of_theory(form, dt_s, axis):
    gusts = sampled(form, dt_s)[AXES.index(axis)]
    deviation, _, _ = theory(form, dt_s, axis)
    assert abs(standard_errors_off(np.mean(gusts, axis=1), 0.0)) < 3.0
    assert abs(standard_errors_off(np.mean(gusts**2, axis=1), deviation**2)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("times", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("form", "dt_s"), CASES)
def test_sampled_gusts_forget_at_the_rate_of_theory(form, dt_s, axis, times):
    gusts = sampled(form, dt_s)[AXES.index(axis)]
    deviation, correlation, correlation_steps = theory(form, dt_s, axis)
    lag = max(1, round(times * correlation_steps))
    products = np.mean(gusts[:, lag:] * gusts[:, :-lag], axis=1)
    assert abs(standard_errors_off(products, deviation**2 * correlation(lag))) < 3.0


@pytest.mark.parametrize(("form", "dt_s"), CASES)
def test_sampled_gusts_on_different_axes_are_independent(form, dt_s):
    u, v, w = sampled(form, dt_s)
    for product in (u * v, v * w, w * u):
        assert abs(standard_errors_off(np.mean(product, axis=1), 0.0)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("form", [DrydenFirstOrder, Dryden])
def test_the_first_gust_has_the_stationary_deviation_already(form):
    gusts = gusts_of(form(SPEED_AT_6M_MPS), 0.02, steps=1, seeds=20_000)
    name = "first" if form is DrydenFirstOrder else "exact"
    for axis, gust in zip(AXES, along_the_wind(gusts), strict=True):
        deviation, _, _ = theory(name, 0.02, axis)
        assert abs(standard_errors_off(np.asarray(gust)[:, 0] ** 2, deviation**2)) < 3.0


@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 0.1, 0.4999, 0.5, 2.0, 30.0])
def test_the_transverse_filter_keeps_unit_variance_at_any_step(ratio):
    found = TransverseFilter.over(ratio)
    f = np.array([[found.decay, 0.0], [found.coupling, found.decay]])
    m = np.array([[found.m11, 0.0], [found.m21, found.m22]])
    np.testing.assert_allclose(f @ f.T + m @ m.T, np.eye(2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("ratio", [1e-3, 0.1, 0.3, 0.4999, 0.5, 2.0])
def test_the_transverse_filter_works_in_single_precision(ratio):
    exact = TransverseFilter.over(ratio)
    with jax.enable_x64(False):
        single = TransverseFilter.over(ratio)
    for name in ("decay", "coupling", "m11", "m21", "m22"):
        # a few roundings of 6e-8; the direct form loses a digit where the series ends
        assert float(getattr(single, name)) == pytest.approx(float(getattr(exact, name)), rel=2e-6)


@pytest.mark.parametrize("elapsed", [0.0, 0.3, 1.0, 4.0])
def test_the_transverse_filter_realizes_the_transfer_function_of_the_standard(elapsed):
    # H(s) = (1 + sqrt(3) s) / (1 + s)^2 with white noise of intensity one, in companion form
    a = np.array([[0.0, 1.0], [-1.0, -2.0]])
    b = np.array([[0.0], [1.0]])
    c = np.array([1.0, math.sqrt(3.0)])
    covariance = solve_continuous_lyapunov(a, -b @ b.T)
    expected = c @ expm(a * elapsed) @ covariance @ c / (c @ covariance @ c)
    weights = np.array([TRANSVERSE_WEIGHTS[0], -TRANSVERSE_WEIGHTS[1]])
    f = np.eye(2)
    if elapsed > 0.0:
        found = TransverseFilter.over(elapsed)
        f = np.array([[found.decay, 0.0], [found.coupling, found.decay]])
    assert weights @ f @ weights == pytest.approx(expected, abs=1e-13)


@pytest.mark.slow
def test_dryden_gusts_turn_with_the_wind():
    east, north = (
        gusts_of(Dryden(3.0), 0.02, steps=5, seeds=1, inputs=flight(Vec3.zero(), wind))
        for wind in (Vec3(4.0, 0.0, 0.0), Vec3(0.0, 4.0, 0.0))
    )
    np.testing.assert_allclose(north.y, east.x, atol=1e-15)
    np.testing.assert_allclose(north.x, -east.y, atol=1e-15)
    np.testing.assert_allclose(north.z, east.z, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(("outside", "inside"), [(0.0, 3.048), (-2.0, 3.048), (900.0, 304.8)])
def test_dryden_takes_heights_outside_its_range_as_the_nearest_inside(outside, inside):
    found, expected = (
        gusts_of(Dryden(3.0), 0.02, steps=5, seeds=2, inputs=flight(height_m=height))
        for height in (outside, inside)
    )
    np.testing.assert_array_equal(components(found), components(expected))


@pytest.mark.slow
@pytest.mark.parametrize("form", [DrydenFirstOrder, Dryden])
def test_gusts_grow_in_proportion_to_the_wind(form):
    single, double = (gusts_of(form(speed), 0.02, steps=5, seeds=2) for speed in (2.0, 4.0))
    np.testing.assert_allclose(components(double), 2.0 * components(single), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("form", [DrydenFirstOrder, Dryden])
def test_the_same_key_draws_the_same_gusts(form):
    first, again, other = (
        gusts_of(form(3.0), 0.02, steps=20, seeds=seeds).x for seeds in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, other[:3])
    assert not np.any(first[0] == first[1])


@pytest.mark.slow
@pytest.mark.parametrize("form", [DrydenFirstOrder, Dryden])
def test_a_compiled_step_is_the_plain_step(form):
    model, key = form(3.0), jax.random.key(5)
    state = model.init(key)
    plain = model.step(state, flight(), 0.02, key)
    compiled = jax.jit(lambda s, i: model.step(s, i, 0.02, key))(state, flight())
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(compiled), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@cache
def third_gust_and_its_gradient(form):
    """Of the height, the velocity and the wind; compiled once for all cases."""
    model, key = form(3.0), jax.random.key(5)

    def third_gust(height, velocity, wind):
        state = model.init(key)
        for tick in range(3):
            inputs = flight(velocity, wind, height)
            state, gust = model.step(state, inputs, 0.02, jax.random.fold_in(key, tick))
        return gust.x + gust.y + gust.z

    return jax.jit(jax.value_and_grad(third_gust, argnums=(0, 1, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("form", [DrydenFirstOrder, Dryden])
@pytest.mark.parametrize("height_m", [-1.0, 0.0, 0.001, 10.0, 500.0])
@pytest.mark.parametrize("velocity", [Vec3.zero(), Vec3(30.0, 0.0, 0.0)])
@pytest.mark.parametrize("wind", [Vec3.zero(), WIND])
def test_gusts_and_their_gradients_are_finite_everywhere(form, height_m, velocity, wind):
    found = third_gust_and_its_gradient(form)(height_m, velocity, wind)
    assert all(bool(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(found))


@pytest.mark.slow
def test_first_order_gusts_stay_bounded_on_the_ground():
    gusts = gusts_of(DrydenFirstOrder(2.0), 0.02, steps=500, inputs=flight(height_m=0.0))
    # at b = 1 the vertical gust is white noise of sqrt(2) sigma_w = 0.28 m/s
    assert float(jnp.max(jnp.abs(gusts.z))) < 6.0 * math.sqrt(2.0) * 0.2


@pytest.mark.slow
def test_first_order_gusts_change_with_ground_speed_only():
    still, windy = (
        gusts_of(DrydenFirstOrder(3.0), 0.02, steps=5, seeds=1, inputs=flight(wind=wind))
        for wind in (Vec3.zero(), WIND)
    )
    np.testing.assert_array_equal(components(still), components(windy))


def test_smooth_air_has_no_gusts():
    model, key = NoTurbulence(), jax.random.key(0)
    state, gust = model.step(model.init(key), flight(), 0.02, key)
    assert state == ()
    assert (gust.x, gust.y, gust.z) == (0.0, 0.0, 0.0)


def test_registered_turbulence_is_found_by_name():
    found = [TURBULENCE.find(name) for name in ("none", "dryden", "dryden-first-order")]
    assert found == [NoTurbulence, Dryden, DrydenFirstOrder]


@pytest.mark.slow
def test_gusts_in_still_air_keep_their_correlation_though_the_hovering_vehicle_turns_about():
    # first-order decay of the axes at V = 0.5 m/s, whichever way the small velocity points
    model, dt_s, lag = Dryden(speed_at_6m_mps=SPEED_AT_6M_MPS), 0.02, 50
    length_m, _ = scale_lengths(HEIGHT_M)

    def one(seed):
        key = jax.random.key(seed)

        def step(state, tick):
            heading = 0.3 * tick.astype(float)
            drift = Vec3(0.05 * jnp.cos(heading), 0.05 * jnp.sin(heading), 0.0)
            inputs = flight(velocity=drift, wind=Vec3.zero())
            state, gust = model.step(state, inputs, dt_s, jax.random.fold_in(key, tick))
            return state, gust.x

        return jax.lax.scan(step, model.init(key), jnp.arange(400))[1]

    gusts = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(SEEDS)))
    expected = math.exp(-model.least_airspeed_mps * dt_s * lag / length_m)
    found = np.mean(gusts[:, :-lag] * gusts[:, lag:]) / np.mean(gusts**2)
    assert found == pytest.approx(expected, abs=0.02)
