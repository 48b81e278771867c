"""Programs that run as nodes, without ROS."""

from math import cos, pi, sin

import pytest

from kittiwake.adapters.ros.nodes.configure_controllers import forward_changes, gains_namespace
from kittiwake.adapters.ros.nodes.example_control import CommandedCircle
from kittiwake.core.errors import RosError


class Drone:
    """Fake drone that accepts gains up to 5, or none if it is not reachable."""

    def __init__(self, *, reachable=True):
        self.gains = {"Wp": 0.5, "Kv": 1.0}
        self.reachable = reachable

    def change(self, values):
        if not self.reachable:
            message = "no gains"
            raise RosError(message)
        self.gains |= {name: value for name, value in values.items() if value <= 5.0}
        return dict(self.gains)


@pytest.mark.parametrize(
    ("parts", "namespace"),
    [
        (("drone1",), "/drone1/gains"),
        (("/drone1/", "fleet"), "/fleet/drone1/gains"),
        (("drone1", "/a/b/", "/control"), "/a/b/drone1/control"),
        (("drone1", "", ""), "/drone1"),
    ],
)
def test_gains_namespace_joins_its_parts(parts, namespace):
    assert gains_namespace(*parts) == namespace


def test_a_change_is_forwarded_to_all_drones():
    drones, warnings = {"a": Drone(), "b": Drone()}, []
    assert forward_changes(drones, warnings.append)({"Wp": 2.0}) == {"Wp": 2.0}
    assert [drone.gains for drone in drones.values()] == [{"Wp": 2.0, "Kv": 1.0}] * 2
    assert warnings == []


def test_rejected_change_is_logged():
    warnings = []
    assert forward_changes({"a": Drone()}, warnings.append)({"Wp": 7.0}) == {"Wp": 0.5}
    assert warnings == ["a: requested Wp 7, has Wp 0.5"]


def test_unreachable_drone_does_not_block_others():
    drones, warnings = {"a": Drone(reachable=False), "b": Drone()}, []
    change = forward_changes(drones, warnings.append)
    assert change({"Kv": 3.0}) == {"Kv": 3.0}
    assert drones["b"].gains["Kv"] == 3.0
    assert warnings == ["a: no gains"]
    assert forward_changes({"a": drones["a"]}, warnings.append)({"Kv": 4.0}) == {}


def test_default_circle_matches_uav_gazebo():
    command = CommandedCircle().command(pi / 3.0)
    assert command["position"] == pytest.approx({"x": 0.5, "y": sin(pi / 3.0), "z": 1.0})
    assert command["velocity"] == pytest.approx({"x": -sin(pi / 3.0), "y": 0.5})
    assert command["acceleration"] == {}
    assert (command["yaw"], command["yaw_rate"]) == (pytest.approx(pi / 3.0), 1.0)


def test_circle_velocity_and_acceleration_are_derivatives_of_position():
    circle, step_s, time_s = CommandedCircle(2.0, 3.0, -0.7, feed_forward=True), 1e-5, 4.0
    before, now, after = (circle.command(time_s + k * step_s) for k in (-1, 0, 1))
    for one, derivative in (("position", "velocity"), ("velocity", "acceleration")):
        for axis in "xy":
            slope = (after[one][axis] - before[one][axis]) / (2.0 * step_s)
            # the error of the difference is the third derivative / 6 times the step squared
            assert now[derivative][axis] == pytest.approx(slope, abs=1e-9)
    assert cos(now["yaw"]) * 2.0 == pytest.approx(now["position"]["x"])
