from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import PressureMeasurement, RangeMeasurement
from kittiwake.estimation.altitude_fusion import AltitudeFusion, Heights
from kittiwake.estimation.dead_reckoning import DeadReckoning
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.barometer import Barometer
from kittiwake.sensors.ultrasonic import Ultrasonic

KEY = jax.random.key(0)
DT_S = 0.01
FUSION = AltitudeFusion(gravity_mps2=9.81, surface_z_m=1.0)
BELOW = Ultrasonic(direction_body=Vec3(0.0, 0.0, -1.0))


def heights(over_m, by_pressure_m=2.0, *, echoes=True, off=(0.0, 0.0)):
    nil = jnp.zeros(())
    numbers = (*map(jnp.asarray, off), jnp.asarray(over_m))
    return Heights(*numbers, jnp.asarray(echoes), jnp.asarray(by_pressure_m), nil, nil)


def weight(*args, **kwargs):
    return float(FUSION.weight(heights(*args, **kwargs)))


def flown(start, ranges_m, altitudes_m, fresh=None, *, range_valid=True):
    """Estimates and states by step of a vehicle that hovers, to which this is told."""
    truth = replace(start.kinematics(), specific_force_body_mps2=up(start))
    initialized = as_arrays(FUSION.init(as_arrays(truth), KEY))
    fresh = np.ones(len(ranges_m), bool) if fresh is None else fresh

    def step(state, told):
        said = {
            "ultrasonic": RangeMeasurement(told[0], jnp.asarray(range_valid)),
            "barometer": PressureMeasurement(jnp.zeros(()), told[1]),
        }
        inputs = EstimatorInputs(as_arrays(truth), said, dict.fromkeys(said, told[2]))
        state, estimate = FUSION.step(state, inputs, DT_S, KEY)
        return state, (state, estimate)

    told = (jnp.asarray(ranges_m), jnp.asarray(altitudes_m), jnp.asarray(fresh))
    return jax.jit(lambda: jax.lax.scan(step, initialized, told)[1])()


def up(start):
    """The specific force in the body that carries the weight."""
    return start.kinematics().q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 9.81))


def height_m(estimates):
    return np.asarray(estimates.position_world_m.z)


@pytest.mark.parametrize("over_m", [0.0, 0.1, 1.0, 3.0, 3.999])
def test_range_finder_weighs_as_published(over_m):
    # equation 36 with M_u = 5 and R_u = 1, to rounding
    assert weight(over_m) == pytest.approx(np.sqrt(25.0 - (over_m + 1.0) ** 2) / 5.0, rel=1e-12)


def test_range_finder_has_no_weight_where_it_would_be_imaginary_or_without_an_echo():
    assert weight(4.0) == 0.0
    assert weight(4.5) == 0.0
    assert weight(1.0, echoes=False) == 0.0
    # over its thresholds
    assert weight(1.0, 15.0) == 0.0
    near = replace(FUSION, longest_range_m=10.0, range_threshold_m=3.0)
    assert float(near.weight(heights(3.0))) == 0.0
    assert float(near.weight(heights(2.9))) > 0.0


def test_weight_has_finite_slopes_everywhere():
    slope = jax.grad(lambda over_m: FUSION.weight(heights(over_m)))
    for over_m in (0.0, 3.9, 4.0, 4.1, 1e7):
        assert np.isfinite(float(slope(jnp.asarray(over_m))))


def test_altitude_is_the_weighted_mean_of_both():
    readings = heights(2.0, off=(0.3, -0.1))
    # W_u = sqrt(25 - 9) / 5 = 0.8
    assert float(FUSION.error_m(readings)) == pytest.approx(0.8 * 0.3 - 0.2 * 0.1, rel=1e-12)


def test_wrong_start_is_forgotten_at_the_rate_of_the_filter():
    # 0.2 m nearer to its surface than it believes: it falls back on the range finder alone
    steps = 500
    start = Start(Vec3(0.0, 0.0, 3.0))
    state, estimates = flown(start, np.full(steps, 1.8), np.full(steps, 503.0))
    t = DT_S * np.arange(steps)
    f, share = 1.5, np.sqrt(25.0 - 2.8**2) / 5.0
    # the barometer's zero is set meanwhile, to the mean of what is left of the error
    assert height_m(estimates)[-1] == pytest.approx(2.8, abs=0.03)
    # at first it falls at 2 f W e; what it has fallen by then is second order in f t
    small = t < 0.3
    expected = 3.0 - 0.2 * 2.0 * f * share * t
    np.testing.assert_allclose(height_m(estimates)[small], expected[small], atol=0.04)
    assert abs(float(estimates.velocity_world_mps.z[-1])) < 0.01
    assert np.asarray(state.heights.zero_readings)[-1] == pytest.approx(1.0 / DT_S, abs=1.0)


def test_barometer_is_set_in_the_first_second():
    # 500 m above the sea, of a noise of 0.3 m: the mean of a hundred is a tenth as noisy
    noise = np.random.default_rng(3).normal(size=1000) * 0.3
    start = Start(Vec3(0.0, 0.0, 12.0))
    farthest = np.full(1000, 5.0)
    _, estimates = flown(start, farthest, 512.0 + noise, range_valid=False)
    assert abs(height_m(estimates)[:90] - 12.0).max() < 0.1
    # four deviations of the zero, and of the filter's own 0.3 sqrt(dt 1.25 f)
    assert abs(height_m(estimates)[-1] - 12.0) < 4.0 * np.hypot(0.03, 0.3 * np.sqrt(DT_S * 1.9))


def test_tilt_is_no_error_of_the_range():
    start = Start(Vec3(0.0, 0.0, 3.0), roll_rad=0.3, pitch_rad=-0.2)
    cosine = np.cos(0.3) * np.cos(-0.2)
    _, estimates = flown(start, np.full(100, 2.0 / cosine), np.full(100, 3.0))
    # rotations forth and back, over a hundred steps
    np.testing.assert_allclose(height_m(estimates), 3.0, atol=1e-12)


def test_old_reading_is_compared_with_the_height_of_its_time():
    # rising at 2 m/s, a reading each tenth of a second: nothing to correct
    start = Start(Vec3(0.0, 0.0, 1.5), velocity_world_mps=Vec3(0.0, 0.0, 2.0))
    ticks = np.arange(100)
    true_m = 1.5 + 2.0 * DT_S * ticks
    held_m = true_m[ticks - ticks % 10]
    _, estimates = flown(start, held_m - 1.0, held_m, ticks % 10 == 0)
    np.testing.assert_allclose(height_m(estimates), true_m, atol=1e-12)


def test_all_but_the_height_is_the_other_estimators():
    start = Start(Vec3(1.0, 2.0, 3.0), 0.1, 0.2, 0.3, Vec3(0.5, -0.5, 0.0))
    _, estimates = flown(start, np.full(3, 1.7), np.full(3, 3.0))
    expected = start.kinematics()
    assert float(estimates.position_world_m.x[-1]) == 1.0
    assert float(estimates.velocity_world_mps.y[-1]) == -0.5
    assert (
        float(estimates.euler_world_from_body.yaw_rad[-1]) == expected.euler_world_from_body.yaw_rad
    )
    last = jax.tree.map(lambda leaf: leaf[-1], estimates)
    turned = last.q_world_from_body.rotate(last.velocity_body_mps)
    # a rotation forth and back
    np.testing.assert_allclose(turned.z, last.velocity_world_mps.z, atol=1e-15)


def test_sensors_are_checked_with_those_of_the_other_estimator():
    sensors = {"ultrasonic": BELOW, "barometer": Barometer()}
    AltitudeFusion().check(sensors)
    with pytest.raises(
        ScenarioError, match="range: the sensor 'ultrasonic' does not look straight"
    ):
        AltitudeFusion().check(sensors | {"ultrasonic": Ultrasonic()})
    with pytest.raises(ScenarioError, match="barometer: the vehicle has no sensor 'barometer'"):
        AltitudeFusion().check({"ultrasonic": BELOW})
    with pytest.raises(ScenarioError, match="imu: the vehicle has no sensor 'imu'"):
        AltitudeFusion(DeadReckoning()).check(sensors)


def test_a_scenario_names_the_other_estimator():
    written = ["vehicles.os4.sensors.imu=imu", "vehicles.os4.estimator.base=dead-reckoning"]
    vehicle = load_scenario("takeoff", written).vehicles["os4"]
    gravity = load_scenario("takeoff").world.gravity_mps2
    assert vehicle.estimator.component.base == DeadReckoning(gravity_mps2=gravity)
    assert vehicle.estimator.component.surface_z_m == 1.36
    nested = ["vehicles.os4.estimator.base=altitude-fusion"]
    with pytest.raises(ScenarioError, match="there is no estimator 'altitude-fusion'"):
        load_scenario("takeoff", nested)
