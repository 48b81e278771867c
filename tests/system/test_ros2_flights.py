"""Two drones served to a plain rclpy node."""

import json
import subprocess

import numpy as np
import pytest
from tests.system.ros_flights import (
    QW,
    QX,
    TIME,
    VX,
    VZ,
    WX,
    WZ,
    X,
    Y,
    Z,
    rise_time_s,
    settling_time_s,
)
from tests.system.test_ros2_node import NODES, PYTHON, VENV, environment

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        not (VENV / ".ros2").exists(),
        reason="no environment with ROS 2; scripts/ros2-setup makes one",
    ),
]
QUICK = ("modes", "manager", "gains", "malformed", "time")
FACTOR = 4.0


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """Run the node ``flights.py`` with named parts of it while two drones are served."""
    out = tmp_path_factory.mktemp("served") / "run"
    command = [PYTHON, "-m", "kittiwake", "serve", "ros-drones", "--ros2", "--quiet"]
    command += ["--speed", str(FACTOR), "--out", str(out)]
    variables = environment()
    with (
        (out.parent / "errors").open("w+") as errors,
        subprocess.Popen(command, env=variables, text=True, stderr=errors) as served,
    ):

        def run(*parts):
            peer = subprocess.run(
                [PYTHON, NODES / "flights.py", *parts],
                env=variables | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
                capture_output=True,
                text=True,
                timeout=500,
                check=False,
            )
            errors.seek(0)
            assert peer.returncode == 0, peer.stderr + errors.read()
            return json.loads(peer.stdout.splitlines()[-1])

        try:
            wait_until_it_flies(served, errors)
            yield run
        finally:
            served.terminate()
            served.wait(30)


def wait_until_it_flies(served, errors):
    for _ in range(600):
        errors.seek(0)
        if "flying ros-drones" in errors.read():
            return
        try:
            served.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        break
    errors.seek(0)
    pytest.fail(errors.read())


@pytest.fixture(scope="module")
def seen(flown):
    return flown(*QUICK)


def test_step_responses_of_all_modes_match_their_gains(seen):
    modes = seen["modes"]
    rows = np.array(modes["position"])
    assert settling_time_s(rows, rows[:, Z] - 21.0) == pytest.approx(11.7, abs=0.15)
    np.testing.assert_allclose(np.diff(rows[:, TIME]), 0.005, atol=1e-6)
    rows = np.array(modes["velocity"])
    assert rise_time_s(rows, rows[:, VZ], 1.0) == pytest.approx(1.0, abs=0.01)
    assert rise_time_s(rows, rows[:, WZ], 0.4) == pytest.approx(0.5, abs=0.01)
    rows = np.array(modes["angles"])
    roll_rad = 2.0 * np.arctan2(rows[:, QX], rows[:, QW])
    assert settling_time_s(rows, roll_rad - 0.2) == pytest.approx(1.167, abs=0.015)
    rows = np.array(modes["rates"])
    assert rise_time_s(rows, rows[:, WZ], 0.5) == pytest.approx(0.286, abs=0.01)
    rows = np.array(modes["torque"])
    np.testing.assert_allclose(rows[:, WX], rows[:, TIME], atol=0.01)
    rows = np.array(modes["inactive"])
    falls = np.polyfit(rows[:, TIME], rows[:, VZ], 1)[0]
    assert falls == pytest.approx(-9.81, abs=0.05)


def test_standard_messages_have_the_same_effect(seen):
    assert seen["modes"]["pose"][Z] == pytest.approx(21.0, abs=0.02)
    assert seen["modes"]["twist"][VZ] == pytest.approx(1.0 - np.exp(-2.5), abs=0.02)
    assert seen["modes"]["twist"][VX] == pytest.approx(0.0, abs=1e-6)


def test_takeoff_and_landing_succeed(seen):
    success, residual, z = seen["manager"]["up"]
    assert success
    assert residual < 0.05
    assert z == pytest.approx(2.0, abs=0.05)
    assert seen["manager"]["down"] == [True, 0]


def test_gains_are_parameters_of_one_drone_only(seen):
    gains = seen["gains"]
    assert gains["before"] == [0.5, 1.0, 3.5]
    assert gains["done"]
    assert gains["now"] == [[1.0, 1.0, 3.5], [0.5, 1.0, 3.5]]
    assert not gains["too_much"]
    rows, other = np.array(gains["rows"]), np.array(gains["other"])
    assert settling_time_s(rows, rows[:, Z] - 21.0) == pytest.approx(5.83, abs=0.1)
    assert settling_time_s(other, other[:, Z] - 21.0) == pytest.approx(11.7, abs=0.15)


def test_malformed_requests_change_nothing(seen):
    found = seen["malformed"]
    assert found["modes"] == [False, False]
    assert found["outside"][0] is False
    assert "z_m" in found["outside"][1]
    assert found["mode"] == 1
    rows = np.array(found["rows"])
    np.testing.assert_allclose(
        rows[:, [X, Y, Z]], np.tile([0.0, 0.0, 20.0], (len(rows), 1)), atol=0.01
    )


def test_transforms_have_the_rate_of_odometry_and_time_restarts(seen):
    time = seen["time"]
    assert np.median(np.diff(time["stamps"])) == pytest.approx(0.005, abs=1e-6)
    assert time["after"] < time["before"]


@pytest.mark.slow
def test_pursuit_passes_its_waypoints(flown):
    found = flown("pursuit")["pursuit"]
    assert found["started"]
    rows = np.array(found["rows"])
    for place in [(0, 50, 7), (50, 50, 6), (50, 0, 7), (0.1, 0, 6)]:
        assert np.linalg.norm(rows[:, [X, Y, Z]] - place, axis=1).min() < 8.0


@pytest.mark.slow
def test_entities_are_spawned_flown_and_deleted_as_in_gazebo(flown):
    found = flown("models")["models"]
    reasons = ["is taken", "must begin with a letter", "begins with <robot>", "no model 'no'"]
    for (success, text), reason in zip(found["refused"], reasons, strict=True):
        assert not success
        assert reason in text
    assert found["spawned"] == [True, ""]
    assert "/gull/odometry" in found["topics"]
    assert {"/gull/takeoff", "/gull/gains/set_parameters"} <= {*found["services"]}
    assert found["up"][0]
    assert found["up"][1] == pytest.approx(2.0, abs=0.1)
    assert found["deleted"] == [True, ""]
    assert "no model 'gull'" in found["gone"]
    assert found["silent"] < 0.5
    assert found["services_after"] == []
    assert "name of a vehicle of this flight" in found["again"]
    assert found["others"] in range(6)
