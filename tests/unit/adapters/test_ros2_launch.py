"""The launch file and the configuration of RViz 2, read without either."""

import ast
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from kittiwake.adapters import ros

PACKAGES = Path(ros.__file__).with_name("packages")
PACKAGE = PACKAGES / "kittiwake_ros2"
LAUNCH = PACKAGE / "launch" / "serve.launch.py"
# those that a drone has whatever it carries, and those of the world
ALWAYS = {"/drone/odometry": "Odometry", "/drone/path": "Path", "/obstacles": "MarkerArray"}
# sensors, whose names a scenario gives
SENSORS = {
    "/drone/lidar": "LaserScan",
    "/drone/ultrasonic": "Range",
    "/drone/camera/points": "PointCloud2",
}
PLUGINS = {"Grid", "TF", *ALWAYS.values(), *SENSORS.values()}


@pytest.fixture(scope="module")
def displays():
    read = yaml.safe_load((PACKAGE / "rviz" / "drone.rviz").read_text())
    manager = read["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "world"
    assert manager["Views"]["Current"]["Target Frame"] == "world"
    return manager["Displays"]


def test_rviz_shows_the_topics_by_displays_of_their_kinds(displays):
    kinds = {one["Topic"]["Value"]: one["Class"] for one in displays if "Topic" in one}
    expected = ALWAYS | SENSORS
    assert kinds == {topic: f"rviz_default_plugins/{kind}" for topic, kind in expected.items()}
    assert {one["Class"].partition("/")[2] for one in displays} == PLUGINS


def test_rviz_hears_what_the_node_publishes(displays):
    topics = {one["Topic"]["Value"]: one["Topic"] for one in displays if "Topic" in one}
    assert {topic["Reliability Policy"] for topic in topics.values()} == {"Reliable"}
    late = {name for name, one in topics.items() if one["Durability Policy"] == "Transient Local"}
    # only what is latched may be asked for when it was said before
    assert late == {"/obstacles"}


class Recorded:
    """Any class of the launch library: what it was made with."""

    def __init__(self, *given, **named):
        self.given, self.named = given, named

    def perform(self, context):
        return context[self.given[0]]


@pytest.fixture
def launched(monkeypatch):
    """What the launch file describes, with records in place of the launch library."""
    for name in ("launch", "launch.actions", "launch.conditions", "launch.substitutions"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name in ("launch_ros", "launch_ros.actions"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for node in ast.walk(ast.parse(LAUNCH.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("launch"):
            for alias in node.names:
                kind = type(alias.name, (Recorded,), {})
                setattr(sys.modules[node.module], alias.name, kind)
    return runpy.run_path(str(LAUNCH))


def actions(launched, kind):
    (described,) = launched["generate_launch_description"]().given
    return [one for one in described if type(one).__name__ == kind]


def test_the_launch_file_starts_the_simulator(launched):
    context = {"scenario": "my drone.yaml", "options": "--speed 2 --out 'a folder'"}
    (start,) = actions(launched, "OpaqueFunction")
    (process,) = start.named["function"](context)
    expected = ["kittiwake", "serve", "my drone.yaml", "--ros2", "--speed", "2"]
    assert process.named["cmd"] == [*expected, "--out", "a folder"]
    assert type(process.named["on_exit"]).__name__ == "Shutdown"


def test_its_arguments_have_defaults(launched):
    declared = actions(launched, "DeclareLaunchArgument")
    defaults = {one.given[0]: one.named["default_value"] for one in declared}
    assert defaults == {
        "scenario": "ros-drone",
        "namespace": "drone",
        "options": "",
        "rviz": "false",
    }


def test_rviz_shows_another_drone_by_remapping_all_its_topics(launched, displays):
    (rviz,) = actions(launched, "Node")
    shown = [one["Topic"]["Value"] for one in displays if "Topic" in one]
    ours = {topic for topic in shown if topic.startswith("/drone/")}
    assert {topic for topic, _ in rviz.named["remappings"]} == ours
    assert rviz.named["parameters"] == [{"use_sim_time": True}]
    (path,) = rviz.named["arguments"][1].given
    assert path[1:] == ["..", "rviz", "drone.rviz"]


@pytest.mark.parametrize(("before", "after"), [(None, "LOCALHOST"), ("SUBNET", "SUBNET")])
def test_launched_it_stays_on_this_machine_unless_asked(launched, monkeypatch, before, after):
    name = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    monkeypatch.delenv(name, raising=False)
    if before is not None:
        monkeypatch.setenv(name, before)
    (put,) = actions(launched, "SetEnvironmentVariable")
    assert put.given == (name, after)


@pytest.mark.parametrize(
    "manifest", list(PACKAGES.rglob("package.xml")), ids=lambda path: path.parent.name
)
def test_packages_are_named_as_their_folders_and_can_be_built(manifest):
    package = ET.parse(manifest).getroot()
    assert package.findtext("name") == manifest.parent.name
    # catkin and colcon refuse other addresses
    assert "." in package.find("maintainer").get("email").partition("@")[2]


@pytest.mark.parametrize("name", ["uav_gazebo_msgs", "gazebo_msgs"])
def test_message_packages_are_for_both_ros(name):
    package = ET.parse(PACKAGES / name / "package.xml").getroot()
    kinds = {one.text: one.get("condition") for one in package.iter("build_type")}
    assert kinds == {"catkin": "$ROS_VERSION == 1", "ament_cmake": "$ROS_VERSION == 2"}
