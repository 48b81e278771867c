from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.estimation.dead_reckoning import DeadReckoning
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.barometer import Barometer
from kittiwake.sensors.imu import Imu

KEY = jax.random.key(0)
GRAVITY = 9.81
RECKONING = DeadReckoning(gravity_mps2=GRAVITY)
# round a circle, looking ahead, with a climb that swings
RADIUS, OMEGA, SWING, BEAT = 2.0, 1.5, 0.3, 2.0
LASTS_S = 2.0


def position_m(time_s):
    angle = OMEGA * time_s
    return np.array(
        [RADIUS * np.sin(angle), -RADIUS * np.cos(angle), SWING * np.cos(BEAT * time_s)]
    )


def reading(time_s):
    """What a unit on that way feels: centripetal to its left, and the swing over gravity."""
    swing = -SWING * BEAT**2 * jnp.cos(BEAT * time_s)
    force = Vec3(jnp.zeros(()), jnp.asarray(RADIUS * OMEGA**2), GRAVITY + swing)
    rate = Vec3(jnp.zeros(()), jnp.zeros(()), jnp.asarray(OMEGA))
    return as_arrays(InertialMeasurement(force, rate))


def reckoned(period_s, dt_s=None, lasts_s=LASTS_S):
    """The last estimate, with a reading after each period."""
    dt_s = dt_s or period_s
    every = round(period_s / dt_s)
    start = Start(
        Vec3(*position_m(0.0).tolist()), velocity_world_mps=Vec3(RADIUS * OMEGA, 0.0, 0.0)
    ).kinematics()
    initialized = as_arrays(RECKONING.init(as_arrays(start), KEY))

    def step(state, tick):
        told, fresh = reading(tick.astype(float) * dt_s), tick % every == 0
        inputs = EstimatorInputs(start, {"imu": told}, {"imu": fresh})
        return RECKONING.step(state, inputs, dt_s, KEY)

    ticks = jnp.arange(round(lasts_s / dt_s) + 1)
    estimates = jax.jit(lambda: jax.lax.scan(step, initialized, ticks)[1])()
    return jax.tree.map(lambda leaf: leaf[-1], estimates)


@pytest.mark.slow
def test_error_falls_with_the_square_of_the_period():
    off = [
        np.linalg.norm(reckoned(period_s).position_world_m.array - position_m(LASTS_S))
        for period_s in (0.02, 0.01)
    ]
    # terms of third order are some hundredths of it
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.05)
    assert off[1] < 1e-3


def test_between_readings_the_last_one_leads_on():
    # half a period after the last reading, which is five steps of the estimator
    lasts_s = LASTS_S + 0.005
    estimate = reckoned(0.01, dt_s=0.001, lasts_s=lasts_s)
    # what a jerk of some m/s^3 does in 5 ms, beside the error that is there already
    np.testing.assert_allclose(
        np.asarray(estimate.position_world_m.array), position_m(lasts_s), atol=1e-3
    )
    np.testing.assert_allclose(float(estimate.euler_world_from_body.yaw_rad), OMEGA * lasts_s)


def test_estimate_is_the_start_until_the_first_reading():
    start = as_arrays(Start(Vec3(1.0, 2.0, 3.0), yaw_rad=0.5).kinematics())
    silent = EstimatorInputs(start, {"imu": reading(0.0)}, {"imu": jnp.asarray(False)})
    state, estimate = RECKONING.step(RECKONING.init(start, KEY), silent, 0.01, KEY)
    _, estimate = RECKONING.step(state, silent, 0.01, KEY)
    np.testing.assert_allclose(np.asarray(estimate.position_world_m.array), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(np.asarray(estimate.velocity_world_mps.array), 0.0)


def test_gravity_is_the_worlds_unless_another_is_given():
    vehicle = load_scenario("dead-reckoning").vehicles["os4"].estimator.component
    assert vehicle.gravity_mps2 == load_scenario("dead-reckoning").world.gravity_mps2
    given = ["vehicles.os4.estimator.type=dead-reckoning", "vehicles.os4.estimator.gravity_mps2=9"]
    assert load_scenario("dead-reckoning", given).vehicles["os4"].estimator.component == replace(
        vehicle, gravity_mps2=9.0
    )


def test_vehicle_without_the_unit_is_refused_with_what_to_write():
    DeadReckoning("unit").check({"unit": Imu()})
    with pytest.raises(ScenarioError, match="imu: the vehicle has no sensor 'imu'.*write imu: imu"):
        DeadReckoning().check({})
    with pytest.raises(ScenarioError, match="the sensor 'imu' gives PressureMeasurement"):
        DeadReckoning().check({"imu": Barometer()})
