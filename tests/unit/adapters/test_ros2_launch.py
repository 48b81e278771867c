"""Launch file and RViz 2 configuration, without ROS 2."""

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
# topics of every drone and of the world
ALWAYS = {"/drone/odometry": "Odometry", "/drone/path": "Path", "/obstacles": "MarkerArray"}
# topics of sensors, with names given in the scenario
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


def test_rviz_displays_match_message_types(displays):
    classes = {one["Topic"]["Value"]: one["Class"] for one in displays if "Topic" in one}
    expected = ALWAYS | SENSORS
    assert classes == {topic: f"rviz_default_plugins/{kind}" for topic, kind in expected.items()}
    assert {one["Class"].partition("/")[2] for one in displays} == PLUGINS


def test_rviz_qos_matches_the_publishers(displays):
    topics = {one["Topic"]["Value"]: one["Topic"] for one in displays if "Topic" in one}
    assert {topic["Reliability Policy"] for topic in topics.values()} == {"Reliable"}
    late = {name for name, one in topics.items() if one["Durability Policy"] == "Transient Local"}
    # only a latched topic may have a transient local subscriber
    assert late == {"/obstacles"}


class Recorded:
    """Fake class of the launch library that records its arguments."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs

    def perform(self, context):
        return context[self.args[0]]


@pytest.fixture
def launched(monkeypatch):
    """Run the launch file with a fake launch library."""
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
    (described,) = launched["generate_launch_description"]().args
    return [one for one in described if type(one).__name__ == kind]


def test_launch_file_starts_the_simulator(launched):
    context = {"scenario": "my drone.yaml", "options": "--speed 2 --out 'a folder'"}
    (start,) = actions(launched, "OpaqueFunction")
    (process,) = start.kwargs["function"](context)
    expected = ["kittiwake", "serve", "my drone.yaml", "--ros2", "--speed", "2"]
    assert process.kwargs["cmd"] == [*expected, "--out", "a folder"]
    assert type(process.kwargs["on_exit"]).__name__ == "Shutdown"


def test_launch_arguments_have_defaults(launched):
    declared = actions(launched, "DeclareLaunchArgument")
    defaults = {one.args[0]: one.kwargs["default_value"] for one in declared}
    assert defaults == {
        "scenario": "ros-drone",
        "namespace": "drone",
        "options": "",
        "rviz": "false",
    }


def test_rviz_shows_another_drone_by_remapping_all_topics(launched, displays):
    (rviz,) = actions(launched, "Node")
    displayed = [one["Topic"]["Value"] for one in displays if "Topic" in one]
    ours = {topic for topic in displayed if topic.startswith("/drone/")}
    assert {topic for topic, _ in rviz.kwargs["remappings"]} == ours
    assert rviz.kwargs["parameters"] == [{"use_sim_time": True}]
    (path,) = rviz.kwargs["arguments"][1].args
    assert path[1:] == ["..", "rviz", "drone.rviz"]


@pytest.mark.parametrize(("before", "after"), [(None, "LOCALHOST"), ("SUBNET", "SUBNET")])
def test_launch_file_restricts_discovery_to_localhost_by_default(
    launched, monkeypatch, before, after
):
    name = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    monkeypatch.delenv(name, raising=False)
    if before is not None:
        monkeypatch.setenv(name, before)
    (put,) = actions(launched, "SetEnvironmentVariable")
    assert put.args == (name, after)


@pytest.mark.parametrize(
    "manifest", list(PACKAGES.rglob("package.xml")), ids=lambda path: path.parent.name
)
def test_packages_are_named_like_their_folders(manifest):
    package = ET.parse(manifest).getroot()
    assert package.findtext("name") == manifest.parent.name
    # catkin and colcon reject other addresses
    assert "." in package.find("maintainer").get("email").partition("@")[2]


@pytest.mark.parametrize("name", ["uav_gazebo_msgs", "gazebo_msgs"])
def test_message_packages_build_for_ros_1_and_ros_2(name):
    package = ET.parse(PACKAGES / name / "package.xml").getroot()
    build_types = {one.text: one.get("condition") for one in package.iter("build_type")}
    assert build_types == {"catkin": "$ROS_VERSION == 1", "ament_cmake": "$ROS_VERSION == 2"}
