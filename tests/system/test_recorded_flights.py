"""Estimators on recorded sensors: the same estimates as in the recorded flight, and mistakes."""

import csv
import shutil

import numpy as np
import pytest
import yaml
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.analysis.consistency import estimation_errors
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import library
from kittiwake.scenario.load import load_scenario

SECONDS, RATE_HZ = 8.0, 200
LACKING = (".fresh", "dop", ".satellites")
STATE = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")
SCENARIO = yaml.safe_load((library.FOLDER / "recorded-flight.yaml").read_text())


def tilt_error_rad(table):
    """Root mean square of the rotation error about the horizontal axes, after the first second."""
    rows = table.part(("time_s",))[:, 0] > 1.0
    return float(np.sqrt(np.square(estimation_errors(table)[rows, 6:8]).mean()))


@pytest.fixture(scope="module")
def flight():
    overrides = {"time.duration_s": SECONDS, "time.log_rate_hz": RATE_HZ}
    return kw.load("ekf-flight", overrides=overrides).run(seed=5).tables["hummingbird"]


@pytest.fixture
def recorded(flight, tmp_path):
    """Scenario with a CSV of the flight's motion and sensors, as loggers have them."""
    sensors = [name for name in flight.columns if name.startswith("sensor.")]
    columns = ["time_s", *STATE, *(name for name in sensors if not name.endswith(LACKING))]
    with (tmp_path / "flight.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(flight.part(columns).tolist())
    data = {**SCENARIO, "time": {"rate_hz": RATE_HZ, "duration_s": SECONDS}}
    bird = {**SCENARIO["vehicles"]["bird"], "motion": str(tmp_path / "flight.csv")}
    bird["sensors"] = {**bird["sensors"], "file": str(tmp_path / "flight.csv"), "imu": "imu"}
    return {**data, "vehicles": {"bird": bird}}


@pytest.mark.slow
def test_a_filter_on_recorded_sensors_is_as_good_as_the_vehicle_s_own(flight, recorded):
    again = kw.load(recorded).run(seed=1).tables["bird"]
    assert tilt_error_rad(again) < 1.5 * tilt_error_rad(flight)
    rows = len(again.values)
    np.testing.assert_allclose(again.part(STATE), flight.part(STATE)[:rows], atol=1e-9)
    names = ("sensor.imu.specific_force_x_body_mps2", "sensor.gnss.position_x_world_m")
    np.testing.assert_allclose(again.part(names), flight.part(names)[:rows], atol=1e-12)


@pytest.mark.slow
def test_other_sensors_make_another_estimate(recorded):
    recorded["vehicles"]["bird"]["sensors"].pop("file")
    simulated = kw.load(recorded).run(seed=1).tables["bird"]
    recorded["vehicles"]["bird"]["sensors"]["file"] = recorded["vehicles"]["bird"]["motion"]
    played = kw.load(recorded).run(seed=1).tables["bird"]
    name = ("sensor.imu.specific_force_x_body_mps2",)
    assert not np.allclose(simulated.part(name), played.part(name))


@pytest.mark.slow
def test_the_library_scenario_is_flown_again_from_its_folder(tmp_path):
    assert kittiwake_does("run", "recorded-flight", "--out", tmp_path / "a", "--quiet").status == 0
    scenario = tmp_path / "a" / "scenario.yaml"
    assert kittiwake_does("run", scenario, "--out", tmp_path / "b", "--quiet").status == 0
    one, other = (kw.Log.read(tmp_path / name).tables["bird"].values for name in "ab")
    np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guidance": "hold"}, "vehicles.bird.guidance: the vehicle moves as"),
        ({"start": {"yaw_deg": 3}}, "omit `start`"),
        ({"count": 2}, "omit `count`"),
        ({"motion": "none.csv"}, "vehicles.bird.motion: cannot read"),
        ({"sensors": {"file": "recorded-flight.csv"}}, "name the sensors whose measurements"),
        ({"sensors": {"file": 7, "imu": "imu"}}, "7 is not allowed; must be the name of a CSV"),
        (
            {"sensors": {"file": "recorded-flight.csv", "imv": "imu"}},
            "has no column 'sensor.imv.specific_force_x_body_mps2'. Did you mean 'sensor.imu.",
        ),
    ],
)
def test_mistakes_say_what_is_allowed(tmp_path, change, message):
    shutil.copyfile(library.FOLDER / "recorded-flight.csv", tmp_path / "recorded-flight.csv")
    bird = {**SCENARIO["vehicles"]["bird"], "estimator": "truth", **change}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({**SCENARIO, "vehicles": {"bird": bird}}))
    with pytest.raises(ScenarioError) as refused:
        kw.load(tmp_path / "a.yaml")
    assert message in str(refused.value)


def test_a_flight_beyond_its_recording_is_warned_of():
    (warning, *_) = load_scenario("recorded-flight", ["time.duration_s=40"]).warnings()
    assert "bird: the motion stays as it is from 6.01 s on" in warning
    assert "the flight lasts 40 s" in warning
    assert load_scenario("recorded-flight").warnings() == []
