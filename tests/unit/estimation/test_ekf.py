import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import (
    GnssMeasurement,
    InertialMeasurement,
    MagneticMeasurement,
    PressureMeasurement,
)
from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.estimation.ekf import Ekf
from kittiwake.estimation.ekf_parameters import (
    AccelerometerErrors,
    FilterAssumptions,
    GyroscopeErrors,
    StartErrors,
)
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.barometer import Barometer
from kittiwake.sensors.gnss import Gnss
from kittiwake.sensors.imu import Imu
from kittiwake.sensors.magnetometer import Magnetometer

SENSORS = {
    "imu": Imu(),
    "gnss": Gnss(),
    "barometer": Barometer(),
    "magnetometer": Magnetometer(),
}
START = Start(Vec3(1.0, 2.0, 3.0), yaw_rad=0.5, velocity_world_mps=Vec3(1.0, 0.0, 0.0))
ALL = tuple(SENSORS)
KEY = jax.random.key(1)


def said(place=START.position_world_m):
    """What sensors without errors say of a body that stands still."""
    q = START.kinematics().q_world_from_body
    return as_arrays(
        {
            "imu": InertialMeasurement(Vec3(0.0, 0.0, 9.80665), Vec3.zero()),
            "gnss": GnssMeasurement(place, Vec3.zero(), 9, 1.0, 1.5, 1.8, 1.0, valid=True),
            "barometer": PressureMeasurement(101300.0, place.z),
            "magnetometer": MagneticMeasurement(
                q.inverse().rotate(FilterAssumptions.default().magnetic_field_world_t)
            ),
        }
    )


def inputs(fresh):
    return EstimatorInputs(
        as_arrays(START.kinematics()),
        said(),
        {name: jnp.asarray(name in fresh) for name in SENSORS},
    )


def stood(ekf, fresh, steps=100):
    """The state after so many steps of 10 ms in which these sensors speak."""
    still = dataclasses.replace(START, velocity_world_mps=Vec3.zero())
    first = ekf.init(as_arrays(still.kinematics()), KEY)

    def carry_on(state, _):
        later, estimate = ekf.step(state, inputs(fresh), 0.01, KEY)
        return later, estimate

    return jax.jit(lambda: jax.lax.scan(carry_on, first, length=steps))()


def deviations(state):
    return np.sqrt(np.diagonal(np.asarray(state.covariance)))


@pytest.mark.slow
def test_sensors_correct_what_the_inertial_unit_cannot_know():
    silent, _ = stood(Ekf(), ("imu",))
    spoken, estimates = stood(Ekf(), ALL)
    assert (deviations(spoken)[:9] < deviations(silent)[:9]).all()
    yaw_rad = np.asarray(estimates.euler_world_from_body.yaw_rad)
    assert yaw_rad[-1] == pytest.approx(START.yaw_rad, abs=5.0 * deviations(spoken)[8])
    # in a steep field, half of what is not known of the tilt about it is left in the yaw
    assert deviations(spoken)[8] < 0.02
    assert deviations(silent)[8] > 0.08


@pytest.mark.slow
def test_without_anything_new_the_estimate_only_loses():
    state, _ = stood(Ekf(), ("imu",))
    assert (
        deviations(state)[:9] >= deviations(Ekf().init(as_arrays(Start().kinematics()), KEY))[:9]
    ).all()
    assert np.isfinite(deviations(state)).all()


@pytest.fixture(scope="module")
def heard():
    """The state after two steps with all sensors."""
    with jax.enable_x64(True):
        return stood(Ekf(), ALL, steps=2)[0]


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["gnss", "barometer", "magnetometer"])
def test_a_sensor_is_left_out_by_null(left_out, heard):
    state, _ = stood(Ekf(**{left_out: None}), ALL, steps=2)
    assert deviations(state)[:9].sum() > deviations(heard)[:9].sum()


def test_initial_errors_have_their_deviations():
    ekf = Ekf(start_errors=StartErrors(0.5, 0.1, 0.02, 0.05))
    start = as_arrays(START.kinematics())

    def errors(key):
        believed = ekf.init(start, key).nominal
        turn = start.q_world_from_body * believed.q_world_from_body.inverse()
        return jnp.concatenate(
            [
                jnp.asarray(start.position_world_m.array) - believed.position_world_m,
                jnp.asarray(start.velocity_world_mps.array) - believed.velocity_world_mps,
                2.0 * jnp.asarray(turn.vector.array),
            ]
        )

    draws = np.asarray(jax.jit(jax.vmap(errors))(jax.random.split(KEY, 4000)))
    stated = ekf.uncertainty(ekf.init(start, KEY)).covariance
    # four deviations of the variance of 4000 draws, sqrt(2 / 4000)
    scale = np.sqrt(np.diagonal(stated))
    np.testing.assert_allclose(np.cov(draws.T) / np.outer(scale, scale), np.eye(9), atol=0.09)


def test_a_vehicle_without_the_inertial_unit_is_refused():
    with pytest.raises(
        ScenarioError, match=r"imu: the vehicle has no sensor 'imu'.*write imu: imu"
    ):
        Ekf().check({"gnss": Gnss()})


def test_a_sensor_of_a_name_of_ones_own_has_to_be_there():
    Ekf().check({"imu": Imu()})
    with pytest.raises(ScenarioError, match=r"gnss: the vehicle has no sensor 'left'.*or null"):
        Ekf(gnss="left").check(SENSORS)
    with pytest.raises(ScenarioError, match="the sensor 'gnss' gives PressureMeasurement"):
        Ekf().check({**SENSORS, "gnss": Barometer()})


OF_ITS_OWN = (
    "world.origin.altitude_m=400",
    "world.atmosphere={type: isa, temperature_offset_k: 10}",
    "vehicles.hummingbird.start.position_world_m=[0, 0, 7]",
    "vehicles.hummingbird.sensors={imu: imu, fixes: {type: gnss, rate_hz: 2, delay_periods: 3}}",
    "vehicles.hummingbird.estimator={type: ekf, gnss: fixes, gyroscope: {turn_on_degps: 0.2}}",
)


def test_assumptions_default_to_the_world_and_the_receiver():
    built = load_scenario("ekf-flight", OF_ITS_OWN)
    ekf = built.vehicles["hummingbird"].estimator.component
    assert (ekf.gnss, ekf.barometer, ekf.magnetometer, ekf.range) == ("fixes", None, None, None)
    assert (ekf.assumptions.gnss_period_s, ekf.assumptions.gnss_delay_periods) == (0.5, 3)
    assert ekf.assumptions.magnetic_field_world_t == built.world.magnetic_field_world_t
    assert ekf.gyroscope.turn_on_radps == pytest.approx(np.radians(0.2))
    pressure_pa = built.world.atmosphere.air(407.0).pressure_pa
    offset_m = float(standard_altitude(pressure_pa)) - 7.0
    assert ekf.assumptions.altitude_offset_m == pytest.approx(offset_m, rel=1e-12)


def test_assumptions_of_a_scenario_must_be_complete():
    with pytest.raises(ScenarioError, match=r"assumptions.ground_z_m"):
        load_scenario(
            "ekf-flight",
            ["vehicles.hummingbird.estimator={type: ekf, assumptions: {gravity_mps2: 9.7}}"],
        )


@pytest.mark.parametrize(
    ("believed", "built_in"),
    [(AccelerometerErrors(), Imu().accelerometer), (GyroscopeErrors(), Imu().gyroscope)],
)
def test_default_errors_are_those_of_the_inertial_unit(believed, built_in):
    for field in dataclasses.fields(believed):
        assert getattr(believed, field.name) == getattr(built_in, field.name)


@pytest.mark.slow
def test_an_invalid_fix_is_ignored():
    measurements = said()
    wrong = dataclasses.replace(measurements["gnss"], valid=jnp.asarray(False), hdop=0.0, vdop=0.0)
    fed = inputs(ALL)
    without = dataclasses.replace(fed, measurements={**measurements, "gnss": as_arrays(wrong)})
    state = Ekf().init(as_arrays(START.kinematics()), KEY)
    step = jax.jit(lambda fed: Ekf().step(state, fed, 0.01, KEY)[0])
    heard, deaf = step(fed), step(without)
    assert deviations(deaf)[0] > deviations(heard)[0]
    assert deviations(deaf)[0] == pytest.approx(0.5)
    assert int(deaf.satellites) == 0
    assert int(heard.satellites) == 9
