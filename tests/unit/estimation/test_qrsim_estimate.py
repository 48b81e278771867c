import jax
import jax.numpy as jnp
import pytest
from tests.unit.sensors.sample_series import seen

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.estimation.qrsim_estimate import QRSimEstimate
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.altimeter import Altimeter
from kittiwake.sensors.gnss import Gnss
from kittiwake.sensors.imu_sets import MicklischImu, QrsimImu
from kittiwake.sensors.orientation import Orientation

SENSORS = {
    "gnss": Gnss(),
    "altimeter": Altimeter(),
    "orientation": Orientation(),
    "imu": QrsimImu(),
}
MOTION = Start(
    position_world_m=Vec3(1.0, -2.0, 30.0),
    roll_rad=0.2,
    pitch_rad=-0.3,
    yaw_rad=2.5,
    velocity_world_mps=Vec3(1.5, -0.5, 0.7),
    angular_velocity_body_radps=Vec3(0.1, 0.2, -0.3),
)
DEFAULT = QRSimEstimate()
KEY = jax.random.key(0)


def said(**changes):
    """What sensors without errors say of a motion, with changes by name."""
    inputs = seen(MOTION)
    without_sky = {name: s.ideal(inputs) for name, s in SENSORS.items() if name != "gnss"}
    fix = GnssMeasurement(
        *(inputs.truth.position_world_m, inputs.truth.velocity_world_mps, 9),
        *(1.0, 1.0, 1.0, 1.0, True),
    )
    return inputs.truth, {"gnss": fix, **without_sky, **changes}


def estimated(measurements, truth, estimator=DEFAULT):
    inputs = EstimatorInputs(truth, measurements, dict.fromkeys(measurements, jnp.asarray(True)))
    return estimator.step((), inputs, 0.02, KEY)[1]


def assert_close(estimate, truth):
    for found, expected in zip(jax.tree.leaves(estimate), jax.tree.leaves(truth), strict=True):
        # a rotation forth and back
        assert float(found) == pytest.approx(float(expected), abs=1e-14)


def test_sensors_without_errors_give_the_truth():
    truth, measurements = said()
    assert_close(estimated(measurements, truth), truth)


def test_height_and_climb_are_the_altimeters():
    truth, measurements = said()
    _, lower = said()
    lower["altimeter"] = type(lower["altimeter"])(12.0, -3.0)
    estimate = estimated(lower, truth)
    assert estimate.position_world_m.z == 12.0
    assert estimate.velocity_world_mps.z == -3.0
    assert estimate.position_world_m.x == measurements["gnss"].position_world_m.x
    # the rotation keeps the length of what it turns
    length = float(estimate.velocity_body_mps.norm())
    assert length == pytest.approx((1.5**2 + 0.5**2 + 3.0**2) ** 0.5, rel=1e-14)


def test_velocity_is_rotated_by_the_estimated_attitude():
    truth, measurements = said()
    turned = type(measurements["orientation"])(0.0, 0.0, 0.0)
    estimate = estimated(measurements | {"orientation": turned}, truth)
    assert_close(estimate.velocity_body_mps, truth.velocity_world_mps)


def test_sensors_may_have_names_of_their_own():
    truth, measurements = said()
    renamed = {f"{name}-2": measurement for name, measurement in measurements.items()}
    estimator = QRSimEstimate("gnss-2", "altimeter-2", "orientation-2", "imu-2")
    assert_close(estimated(renamed, truth, estimator), truth)
    estimator.check({f"{name}-2": sensor for name, sensor in SENSORS.items()})


@pytest.mark.parametrize("missing", SENSORS)
def test_missing_sensor_is_refused_with_what_to_write(missing):
    QRSimEstimate().check(SENSORS | {"imu": MicklischImu()})
    others = {name: sensor for name, sensor in SENSORS.items() if name != missing}
    with pytest.raises(ScenarioError) as refused:
        QRSimEstimate().check(others)
    kind = "imu-qrsim" if missing == "imu" else missing
    assert f"{missing}: the vehicle has no sensor '{missing}'" in str(refused.value)
    assert f"write {missing}: {kind} under sensors" in str(refused.value)


def test_sensor_of_another_kind_is_refused():
    with pytest.raises(ScenarioError, match="the sensor 'gnss' gives HeightMeasurement"):
        QRSimEstimate().check(SENSORS | {"gnss": Altimeter()})


def test_scenario_without_the_sensors_is_refused_with_file_and_line():
    without = ["vehicles.pelican.sensors={}", "vehicles.pelican.estimator=qrsim"]
    with pytest.raises(ScenarioError, match=r"estimator.*gnss: the vehicle has no sensor 'gnss'"):
        load_scenario("keep-spot", without)
