import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from kittiwake.core.noise import GaussMarkov
from kittiwake.estimation.ekf_motion import (
    InstrumentErrors,
    decay,
    decay_instruments,
    mechanize,
    motion_rows,
    process_noise,
    propagate,
)
from kittiwake.estimation.ekf_parameters import (
    AccelerometerErrors,
    GyroscopeErrors,
    SatelliteErrors,
)
from kittiwake.estimation.ekf_state import ERRORS, MOTION, SATELLITE_ERROR, ImuReading, NominalState
from kittiwake.geometry.quaternion import Quaternion

GRAVITY_MPS2 = 9.81
ERRORS_OF_SENSORS = InstrumentErrors(
    GyroscopeErrors().triad,
    AccelerometerErrors().triad,
    SatelliteErrors(),
    GaussMarkov(2.5, 3600.0),
)
NOISELESS = InstrumentErrors(
    GyroscopeErrors(0.0, drift_radps=0.0, walk_radps_per_rts=0.0).triad,
    AccelerometerErrors(drift_mps2=0.0, walk_mps2_per_rts=0.0).triad,
    SatelliteErrors(),
    GaussMarkov(0.0, 3600.0),
)


def rates_body(t):
    return np.stack([0.8 * np.sin(2.0 * t), 0.5 * np.cos(1.3 * t), 0.4 + 0.3 * np.sin(0.7 * t)])


def force_body(t):
    return np.stack([0.6 * np.cos(t), -0.4 * np.sin(1.7 * t), 9.81 + 2.0 * np.sin(0.9 * t)])


def at_rest(instruments=None):
    nothing = jnp.zeros(ERRORS - MOTION.stop) if instruments is None else instruments
    one = Quaternion(*map(jnp.asarray, (1.0, 0.0, 0.0, 0.0)))
    return NominalState(jnp.zeros(3), jnp.zeros(3), one, nothing)


def flown(step_s, duration_s):
    """The last nominal of inertial navigation with readings without errors."""
    times = np.arange(round(duration_s / step_s) + 1) * step_s
    said = jnp.asarray(np.concatenate([force_body(times), rates_body(times)]).T)

    def carry_on(nominal, pair):
        before, after = (ImuReading(one[:3], one[3:]) for one in pair)
        return mechanize(nominal, before, after, GRAVITY_MPS2, step_s)[0], None

    return jax.jit(lambda: jax.lax.scan(carry_on, at_rest(), (said[:-1], said[1:]))[0])()


def integrated(duration_s):
    """The same motion by SciPy, with the rotation as a matrix."""

    def slope(t, x):
        rotation = x[6:].reshape(3, 3)
        acceleration = rotation @ force_body(t) - [0.0, 0.0, GRAVITY_MPS2]
        # the rows of R [w]x are those of R crossed with w
        turning = np.cross(rotation, rates_body(t)[None, :])
        return np.concatenate([x[3:6], acceleration, turning.ravel()])

    start = np.concatenate([np.zeros(6), np.eye(3).ravel()])
    return solve_ivp(slope, (0.0, duration_s), start, rtol=1e-11, atol=1e-12).y[:, -1]


@pytest.mark.slow
def test_navigation_with_readings_without_errors_is_scipys_integration():
    expected = integrated(10.0)
    off_m, off_rad = [], []
    for step_s in (0.01, 0.005):
        found = flown(step_s, 10.0)
        off_m.append(np.linalg.norm(found.position_world_m - expected[:3]))
        turned = Rotation.from_quat(np.roll(np.asarray(found.q_world_from_body.array), -1))
        rotation = Rotation.from_matrix(expected[6:].reshape(3, 3))
        off_rad.append((turned * rotation.inv()).magnitude())
    # a centimeter in 10 s of turning about: far below what the accelerometer's noise makes, 5 cm
    assert off_m[1] < 0.01
    assert off_rad[1] < 1e-4
    # of second order: a quarter of the error at half the step
    assert off_m[0] / off_m[1] == pytest.approx(4.0, rel=0.1)
    assert off_rad[0] / off_rad[1] == pytest.approx(4.0, rel=0.1)


def typical():
    """Return a nominal state with instrument errors, and two readings."""
    draws = np.random.default_rng(4)
    deviations = np.concatenate([np.full(12, 0.02), np.full(18, 0.005), np.ones(7)])
    nominal_state = NominalState(
        jnp.asarray(draws.normal(size=3)),
        jnp.asarray(draws.normal(size=3)),
        Quaternion(*jnp.asarray(draws.normal(size=4))).normalized(),
        jnp.asarray(deviations * draws.normal(size=37)),
    )
    readings = [
        ImuReading(jnp.asarray(force_body(t)), jnp.asarray(rates_body(t))) for t in (1, 1.005)
    ]
    return nominal_state, *readings


@pytest.mark.slow
def test_the_transition_is_the_slope_of_the_navigation():
    nominal, before, after = typical()
    h = 0.005

    def errors_later(error):
        off, _, _ = mechanize(nominal.corrected(error), before, after, GRAVITY_MPS2, h)
        right, _, _ = mechanize(nominal, before, after, GRAVITY_MPS2, h)
        turn = off.q_world_from_body * right.q_world_from_body.inverse()
        instruments = decay_instruments(ERRORS_OF_SENSORS, nominal.corrected(error).instruments, h)
        undisturbed = decay_instruments(ERRORS_OF_SENSORS, nominal.instruments, h)
        return jnp.concatenate(
            [
                off.position_world_m - right.position_world_m,
                off.velocity_world_mps - right.velocity_world_mps,
                2.0 * jnp.asarray(turn.vector.array),
                instruments - undisturbed,
            ]
        )

    exact = jax.jit(jax.jacfwd(errors_later))(jnp.zeros(ERRORS))
    leg = mechanize(nominal, before, after, GRAVITY_MPS2, h)[2]
    rows = motion_rows(leg, nominal)
    below = jnp.eye(ERRORS)[MOTION.stop :]
    found = jnp.concatenate([rows, decay(ERRORS_OF_SENSORS, below, h)])
    # entries are of the order of h g = 0.05; neglected are h^2 w g / 6 and M^2 h g: some 1e-5
    np.testing.assert_allclose(found, exact, atol=3e-5)
    # in the places h^3 a / 4
    np.testing.assert_allclose(found[:3], exact[:3], atol=5e-7)


@pytest.fixture(scope="module")
def carried():
    """The covariance of a body that rests, after 20 s; a fix of the start, biases, tilts, noise."""
    with jax.enable_x64(True):
        still = ImuReading(jnp.asarray([0.0, 0.0, GRAVITY_MPS2]), jnp.zeros(3))
        variances = np.zeros(ERRORS)
        variances[:9] = [0.25, 0.25, 0.25, 0.01, 0.01, 0.01, 1e-4, 1e-4, 4e-4]
        variances[9:12], variances[15:18] = 1e-6, 4e-4

        def carry_on(covariance, _):
            leg = mechanize(at_rest(), still, still, GRAVITY_MPS2, 0.01)[2]
            return propagate(covariance, motion_rows(leg, at_rest()), NOISELESS, 0.01), None

        first = jnp.diag(jnp.asarray(variances))
        return np.asarray(jax.jit(lambda: jax.lax.scan(carry_on, first, length=2000)[0])())


@pytest.mark.slow
def test_the_covariance_of_a_resting_body_is_that_of_polynomials(carried):
    t, g = 20.0, GRAVITY_MPS2
    density = 0.0039227**2 / 2.0
    common = 0.25 + 0.01 * t**2 + 4e-4 * t**4 / 4.0 + density * t**3 / 3.0
    across = common + 1e-4 * g**2 * t**4 / 4.0 + 1e-6 * g**2 * t**6 / 36.0
    # a bias of the gyroscope acts within a step on the place too, which is left out: h^2 / t^2
    assert carried[0, 0] == pytest.approx(across, rel=1e-5)
    assert carried[1, 1] == pytest.approx(across, rel=1e-5)
    assert carried[2, 2] == pytest.approx(common, rel=1e-9)
    speed = 0.01 + 4e-4 * t**2 + density * t
    assert carried[5, 5] == pytest.approx(speed, rel=1e-9)
    assert carried[2, 5] == pytest.approx(
        0.01 * t + 4e-4 * t**3 / 2.0 + density * t**2 / 2.0, rel=1e-9
    )
    assert carried[8, 8] == pytest.approx(4e-4 + 1e-6 * t**2, rel=1e-9)
    assert carried[8, 11] == pytest.approx(-1e-6 * t, rel=1e-9)


def test_a_covariance_stays_symmetric(carried):
    np.testing.assert_array_equal(carried, carried.T)


def test_errors_of_satellites_keep_their_deviation_and_forget_as_they_should():
    h, steps = 0.01, 3000
    errors, place = SatelliteErrors(), SATELLITE_ERROR.start
    rows = jnp.eye(ERRORS)[: MOTION.stop]
    unit = jnp.zeros(ERRORS - MOTION.stop).at[place - MOTION.stop].set(1.0)

    def carry_on(state, _):
        covariance, mean = state
        later = propagate(covariance, rows, ERRORS_OF_SENSORS, h)
        return (later, decay_instruments(ERRORS_OF_SENSORS, mean, h)), None

    first = jnp.diag(jnp.zeros(ERRORS).at[place : place + 6].set(1.0))
    run = jax.jit(lambda: jax.lax.scan(carry_on, (first, unit), length=steps)[0])
    covariance, mean = run()
    block = np.asarray(covariance)[place : place + 6, place : place + 6]
    # Q is that of short steps: h / T' of it is left out
    np.testing.assert_allclose(block, np.eye(6), atol=2.0 * h / 4.0)
    t, slow, fast = h * steps, errors.time_constant_s, errors.driving_time_constant_s
    kept = (slow * np.exp(-t / slow) - fast * np.exp(-t / fast)) / (slow - fast)
    assert float(mean[place - MOTION.stop]) == pytest.approx(kept, rel=1e-4)


def test_noise_of_two_half_steps_is_that_of_one():
    rows = jnp.eye(ERRORS)[: MOTION.stop].at[:3, 3:6].set(0.005 * jnp.eye(3))
    half = process_noise(ERRORS_OF_SENSORS, 0.005)
    twice = propagate(half, rows, ERRORS_OF_SENSORS, 0.005)
    whole = process_noise(ERRORS_OF_SENSORS, 0.01)
    # those of drifts and satellites to the first order in h / T
    np.testing.assert_allclose(twice, whole, rtol=5e-3, atol=1e-18)
