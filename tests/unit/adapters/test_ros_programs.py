"""What the programs of uav_gazebo do, without ROS."""

from math import cos, pi, sin

import pytest

from kittiwake.adapters.ros.nodes.configure_controllers import forwarding, place_of
from kittiwake.adapters.ros.nodes.example_control import Circle
from kittiwake.core.errors import RosError


class Drone:
    """Gains up to 5; none where it cannot be reached."""

    def __init__(self, *, reached=True):
        self.gains = {"Wp": 0.5, "Kv": 1.0}
        self.reached = reached

    def change(self, values):
        if not self.reached:
            message = "nobody offers gains"
            raise RosError(message)
        self.gains |= {name: value for name, value in values.items() if value <= 5.0}
        return dict(self.gains)


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        (("drone1",), "/drone1/gains"),
        (("/drone1/", "fleet"), "/fleet/drone1/gains"),
        (("drone1", "/a/b/", "/control"), "/a/b/drone1/control"),
        (("drone1", "", ""), "/drone1"),
    ],
)
def test_drones_are_looked_for_where_the_parameters_say(parts, place):
    assert place_of(*parts) == place


def test_a_change_goes_to_all_drones():
    drones, warnings = {"a": Drone(), "b": Drone()}, []
    assert forwarding(drones, warnings.append)({"Wp": 2.0}) == {"Wp": 2.0}
    assert [drone.gains for drone in drones.values()] == [{"Wp": 2.0, "Kv": 1.0}] * 2
    assert warnings == []


def test_what_a_drone_refuses_is_said():
    warnings = []
    assert forwarding({"a": Drone()}, warnings.append)({"Wp": 7.0}) == {"Wp": 0.5}
    assert warnings == ["a was told Wp 7 and has Wp 0.5"]


def test_a_drone_that_is_lost_does_not_keep_others_from_changing():
    drones, warnings = {"a": Drone(reached=False), "b": Drone()}, []
    change = forwarding(drones, warnings.append)
    assert change({"Kv": 3.0}) == {"Kv": 3.0}
    assert drones["b"].gains["Kv"] == 3.0
    assert warnings == ["a: nobody offers gains"]
    assert forwarding({"a": drones["a"]}, warnings.append)({"Kv": 4.0}) == {}


def test_the_usual_circle_is_that_of_the_original():
    command = Circle().command(pi / 3.0)
    assert command["position"] == pytest.approx({"x": 0.5, "y": sin(pi / 3.0), "z": 1.0})
    assert command["velocity"] == pytest.approx({"x": -sin(pi / 3.0), "y": 0.5})
    assert command["acceleration"] == {}
    assert (command["yaw"], command["yaw_rate"]) == (pytest.approx(pi / 3.0), 1.0)


def test_velocity_and_acceleration_are_derivatives_of_the_place():
    circle, step_s, time_s = Circle(2.0, 3.0, -0.7, leads=True), 1e-5, 4.0
    before, now, after = (circle.command(time_s + k * step_s) for k in (-1, 0, 1))
    for one, derivative in (("position", "velocity"), ("velocity", "acceleration")):
        for axis in "xy":
            slope = (after[one][axis] - before[one][axis]) / (2.0 * step_s)
            # the difference's own error is the third derivative over 6, times the step squared
            assert now[derivative][axis] == pytest.approx(slope, abs=1e-9)
    assert cos(now["yaw"]) * 2.0 == pytest.approx(now["position"]["x"])
