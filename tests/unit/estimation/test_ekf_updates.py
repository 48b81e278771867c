from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.measurements import GnssMeasurement, RangeMeasurement
from kittiwake.estimation import ekf_updates as updates
from kittiwake.estimation.ekf_motion import mechanize, rotation_matrix
from kittiwake.estimation.ekf_parameters import SatelliteErrors
from kittiwake.estimation.ekf_state import ERRORS, ImuReading, MotionIncrement, NominalState
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

GATE = 5.0
SENSORS = ("field", "altitude", "range", "fix")


def reading():
    return ImuReading(jnp.asarray([0.3, -0.2, 10.2]), jnp.asarray([0.4, -0.6, 0.5]))


def nominal_state():
    draws = np.random.default_rng(7)
    tilted = Quaternion.from_rotation_vector(Vec3(0.3, -0.2, 1.1))
    return NominalState(
        jnp.asarray([3.0, -2.0, 4.0]),
        jnp.asarray([1.0, 2.0, -0.5]),
        Quaternion(*map(jnp.asarray, tilted.array)),
        jnp.asarray(0.01 * draws.normal(size=37)),
    )


def covariance_of(seed):
    mixing = np.random.default_rng(seed).normal(size=(ERRORS, ERRORS))
    return mixing @ mixing.T / ERRORS


def fix_at(place):
    return GnssMeasurement(
        *(Vec3.of(place), Vec3.zero(), 8, 1.2, 1.7, 2.1, 1.0), valid=jnp.asarray(True)
    )


def observing(sensor, *, fresh=True):
    """What this sensor tells, by what is nominal_state."""
    observed = {
        "field": partial(
            updates.from_field,
            field_body_t=jnp.asarray([1e-5, 2e-5, -3e-5]),
            field_world_t=jnp.asarray([1e-6, 2.1e-5, -4.3e-5]),
            noise_t=2e-7,
            fresh=fresh,
        ),
        "altitude": partial(
            updates.from_altitude, altitude_m=510.0, offset_m=505.0, noise_m=0.1, fresh=fresh
        ),
        "range": partial(
            updates.from_range,
            measured=RangeMeasurement(jnp.asarray(5.0), jnp.asarray(True)),
            ground_z_m=-0.5,
            noise_m=0.02,
            fresh=fresh,
        ),
        "fix": partial(
            updates.from_fix,
            fix=fix_at([3.1, -2.2, 4.4]),
            periods=(),
            reading=reading(),
            errors=SatelliteErrors(),
            fresh=fresh,
        ),
    }
    return observed[sensor]


@pytest.mark.slow
@pytest.mark.parametrize("sensor", SENSORS)
def test_measurement_matrix_is_the_derivative_of_the_prediction(sensor):
    observe = observing(sensor)

    def innovation(error):
        return observe(nominal_state().corrected(error)).innovation

    slope = jax.jacfwd(innovation)(jnp.zeros(ERRORS))
    found = observe(nominal_state()).by_error
    # the same numbers but for rounding, of up to 400 for the field in units of its noise
    np.testing.assert_allclose(found, -slope, atol=1e-12 * max(1.0, float(jnp.abs(slope).max())))


def test_an_update_is_that_of_a_plain_kalman_filter():
    draws = np.random.default_rng(3)
    p, h = covariance_of(1), draws.normal(size=(3, ERRORS))
    r, nu = np.diag([0.5, 1.0, 2.0]), draws.normal(size=3)
    update = updates.MeasurementUpdate(*map(jnp.asarray, (nu, h, r)), counts=jnp.asarray(True))
    nominal, found = updates.apply_update(nominal_state(), jnp.asarray(p), update, 1e3)
    gain = np.linalg.solve(h @ p @ h.T + r, h @ p).T
    # sums of 46 products of the order of one
    np.testing.assert_allclose(found, p - gain @ h @ p, atol=1e-12)
    error = gain @ nu
    np.testing.assert_allclose(
        nominal.position_world_m, np.array([3.0, -2.0, 4.0]) + error[:3], atol=1e-13
    )
    np.testing.assert_allclose(
        nominal.instruments, np.asarray(nominal_state().instruments) + error[9:], atol=1e-13
    )
    turn = Quaternion.from_rotation_vector(Vec3.of(error[6:9])) * nominal_state().q_world_from_body
    np.testing.assert_allclose(nominal.q_world_from_body.array, turn.array, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("off_m", "accepted"), [(4.9, True), (5.1, False), (1e30, False)])
def test_an_outlier_is_rejected(off_m, accepted):
    update = observing("altitude")(nominal_state())
    covariance = jnp.diag(jnp.full(ERRORS, 0.01))
    deviation = float(
        jnp.sqrt((update.by_error @ covariance @ update.by_error.T + update.noise)[0, 0])
    )
    update = updates.MeasurementUpdate(
        jnp.asarray([off_m * deviation]), update.by_error, update.noise, update.counts
    )
    nominal, after = updates.apply_update(nominal_state(), covariance, update, GATE)
    assert bool((after != covariance).any()) is accepted
    assert bool(nominal.position_world_m[2] != 4.0) is accepted


def test_a_measurement_that_is_not_fresh_is_ignored():
    update = observing("fix", fresh=False)(nominal_state())
    nominal, after = updates.apply_update(
        nominal_state(), jnp.asarray(covariance_of(2)), update, GATE
    )
    np.testing.assert_allclose(after, covariance_of(2), atol=1e-14)
    np.testing.assert_array_equal(nominal.position_world_m, [3.0, -2.0, 4.0])


def test_single_precision_keeps_a_covariance_positive(single_precision):
    covariance = jnp.asarray(covariance_of(5), jnp.float32)
    nominal = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), nominal_state())

    def carry_on(covariance, _):
        for sensor in SENSORS:
            update = observing(sensor)(nominal)
            covariance = updates.apply_update(nominal, covariance, update, 1e6)[1]
        return covariance, None

    run = jax.jit(lambda first: jax.lax.scan(carry_on, first, length=1000)[0])
    found = np.asarray(run(covariance), np.float64)
    # rounding of the largest entries
    assert np.linalg.eigvalsh(found).min() > -1e-6 * found.max()
    assert np.diagonal(found).min() > 0.0


@pytest.mark.slow
def test_a_fix_is_compared_with_the_position_at_its_measurement():
    right = nominal_state()
    off = right.corrected(jnp.zeros(ERRORS).at[:9].set(0.02))
    step_s, steps = 0.01, 20

    def later(nominal):
        advance = MotionIncrement.none()
        for _ in range(steps):
            nominal, more, _ = mechanize(nominal, reading(), reading(), 9.81, step_s)
            advance = advance.then(more)
        return nominal, advance

    right_now, advance = jax.jit(later)(right)
    place, ago_s = updates.rewind(right_now, (advance,))
    np.testing.assert_allclose(place, right.position_world_m, atol=1e-14)
    assert float(ago_s) == pytest.approx(0.2, rel=1e-12)
    off_now, advance = jax.jit(later)(off)
    fix = fix_at(right.position_world_m)
    update = updates.from_fix(off_now, fix, (advance,), reading(), SatelliteErrors(), fresh=True)
    turn = right_now.q_world_from_body * off_now.q_world_from_body.inverse()
    error = jnp.zeros(ERRORS)
    error = error.at[:3].set(right_now.position_world_m - off_now.position_world_m)
    error = error.at[3:6].set(right_now.velocity_world_mps - off_now.velocity_world_mps)
    error = error.at[6:9].set(2.0 * jnp.asarray(turn.vector.array))
    offset = update.by_error @ error - SatelliteErrors().deviation_m * jnp.asarray(
        [1.2 * 0.5**0.5, 1.2 * 0.5**0.5, 1.7]
    ) * right.part(slice(39, 42))
    # beyond the terms of the second order in 0.2 s, 1 / 3 of 4 mm of the tilt's change, and theta^2
    np.testing.assert_allclose(update.innovation, offset, atol=1e-3)
    # without the delay it would be off by what the velocity makes of it
    assert float(jnp.abs(update.innovation - error[:3]).max()) > 2e-3


def test_a_new_satellite_makes_part_of_the_error_new():
    covariance = jnp.asarray(covariance_of(6)).at[39:45, 39:45].set(0.1 * jnp.eye(6))
    same, as_before = updates.with_other_satellites(
        nominal_state(), covariance, *map(jnp.asarray, (8, 8))
    )
    np.testing.assert_allclose(as_before, covariance, atol=1e-15)
    np.testing.assert_allclose(same.instruments, nominal_state().instruments, atol=1e-15)
    _, after = updates.with_other_satellites(nominal_state(), covariance, *map(jnp.asarray, (8, 9)))
    np.testing.assert_allclose(np.diagonal(after)[39:45], 0.1 * 8 / 9 + 1 / 9, rtol=1e-12)
    np.testing.assert_allclose(after[:9, 39:45], covariance[:9, 39:45] * np.sqrt(8 / 9), rtol=1e-12)
    np.testing.assert_allclose(after[:39, :39], covariance[:39, :39], rtol=1e-12)


def test_the_rotation_matrix_turns_like_the_quaternion():
    q = nominal_state().q_world_from_body
    v = Vec3(1.0, -2.0, 0.5)
    np.testing.assert_allclose(
        rotation_matrix(q) @ jnp.asarray(v.array), q.rotate(v).array, atol=1e-15
    )
