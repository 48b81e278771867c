"""Launch file and RViz configuration of ROS 1 against the simulator's topics and frames."""

import os
import subprocess
from xml.etree import ElementTree

import pytest
import yaml

from kittiwake.adapters.ros.ros1.definitions import PACKAGES

PACKAGE = PACKAGES / "kittiwake_ros"
LAUNCH = PACKAGE / "launch" / "serve.launch"
RVIZ = PACKAGE / "rviz" / "drone.rviz"
SERVE = PACKAGE / "scripts" / "serve"
# class of the RViz display of each topic
DISPLAYED = {
    "/obstacles": "rviz/MarkerArray",
    "/drone/odometry": "rviz/Odometry",
    "/drone/path": "rviz/Path",
    "/drone/lidar": "rviz/LaserScan",
    "/drone/ultrasonic": "rviz/Range",
    "/drone/camera/points": "rviz/PointCloud2",
}
FRAMES = {"world"}


@pytest.fixture(scope="module")
def launch():
    return ElementTree.parse(LAUNCH).getroot()


@pytest.fixture(scope="module")
def view():
    return yaml.safe_load(RVIZ.read_text())["Visualization Manager"]


def test_rviz_displays_published_topics(view):
    displays = view["Displays"]
    topics = {
        display.get(key): display["Class"]
        for display in displays
        for key in ("Topic", "Marker Topic")
        if key in display
    }
    assert topics == DISPLAYED
    assert {display["Class"] for display in displays} - set(topics.values()) == {
        "rviz/Grid",
        "rviz/TF",
    }


def test_rviz_uses_published_frames(view):
    named = {
        display["Reference Frame"] for display in view["Displays"] if "Reference Frame" in display
    }
    named |= {view["Global Options"]["Fixed Frame"], view["Views"]["Current"]["Target Frame"]}
    assert named == FRAMES


def test_rviz_displays_have_unique_names(view):
    names = [display["Name"] for display in view["Displays"]]
    assert len(set(names)) == len(names)


def test_launch_file_remaps_rviz_to_another_namespace(launch):
    rviz = next(node for node in launch.iter("node") if node.get("pkg") == "rviz")
    assert rviz.get("if") == "$(arg rviz)"
    remapped = {remap.get("from"): remap.get("to") for remap in rviz.iter("remap")}
    own = [topic for topic in DISPLAYED if topic.startswith("/drone/")]
    assert remapped == {topic: topic.replace("/drone/", "/$(arg namespace)/") for topic in own}


def test_launch_file_refers_to_existing_files(launch):
    arguments = {argument.get("name") for argument in launch.iter("arg")}
    assert arguments == {"scenario", "namespace", "options", "rviz"}
    node = next(node for node in launch.iter("node") if node.get("name") == "kittiwake")
    name = ElementTree.parse(PACKAGE / "package.xml").findtext("name")
    assert (node.get("pkg"), node.get("type")) == (name, SERVE.name)
    assert node.get("args", "").startswith("$(arg scenario) --ros1")
    assert "rviz/drone.rviz" in next(n.get("args", "") for n in launch.iter("node") if n.get("if"))


def test_launched_script_drops_remapping_arguments(tmp_path):
    program = tmp_path / "kittiwake"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [SERVE, "ros-drone", "--ros1", "__name:=kittiwake", "__log:=/tmp/x.log"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "serve ros-drone --ros1\n"


def test_message_package_has_all_types_of_uav_gazebo():
    package = PACKAGES / "uav_gazebo_msgs"
    assert ElementTree.parse(package / "package.xml").findtext("name") == "uav_gazebo_msgs"
    types = {part: {file.stem for file in (package / part).iterdir()} for part in ("msg", "srv")}
    assert types["srv"] == {"GetMode", "Land", "SwitchMode", "Takeoff"}
    modes = {"PositionYaw", "VelocityYawRate", "ThrustAttitude", "ThrustVelocity", "ThrustTorque"}
    assert types["msg"] == {"ControlMode"} | {f"{mode}Control" for mode in modes}
