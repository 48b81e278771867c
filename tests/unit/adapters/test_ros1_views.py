"""What roslaunch starts, and what RViz shows, are what the simulator offers."""

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
# what a display of RViz listens to, by its class
SHOWN = {
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


def test_rviz_shows_the_topics_that_there_are(view):
    displays = view["Displays"]
    topics = {
        display.get(key): display["Class"]
        for display in displays
        for key in ("Topic", "Marker Topic")
        if key in display
    }
    assert topics == SHOWN
    assert {display["Class"] for display in displays} - set(topics.values()) == {
        "rviz/Grid",
        "rviz/TF",
    }


def test_rviz_shows_the_frames_that_there_are(view):
    named = {
        display["Reference Frame"] for display in view["Displays"] if "Reference Frame" in display
    }
    named |= {view["Global Options"]["Fixed Frame"], view["Views"]["Current"]["Target Frame"]}
    assert named == FRAMES


def test_displays_have_names_of_their_own(view):
    names = [display["Name"] for display in view["Displays"]]
    assert len(set(names)) == len(names)


def test_another_drone_is_shown_by_its_topics(launch):
    rviz = next(node for node in launch.iter("node") if node.get("pkg") == "rviz")
    assert rviz.get("if") == "$(arg rviz)"
    moved = {remap.get("from"): remap.get("to") for remap in rviz.iter("remap")}
    own = [topic for topic in SHOWN if topic.startswith("/drone/")]
    assert moved == {topic: topic.replace("/drone/", "/$(arg namespace)/") for topic in own}


def test_what_is_launched_is_there(launch):
    arguments = {argument.get("name") for argument in launch.iter("arg")}
    assert arguments == {"scenario", "namespace", "options", "rviz"}
    node = next(node for node in launch.iter("node") if node.get("name") == "kittiwake")
    name = ElementTree.parse(PACKAGE / "package.xml").findtext("name")
    assert (node.get("pkg"), node.get("type")) == (name, SERVE.name)
    assert node.get("args", "").startswith("$(arg scenario) --ros1")
    assert "rviz/drone.rviz" in next(n.get("args", "") for n in launch.iter("node") if n.get("if"))


def test_the_launched_program_leaves_words_of_ros_out(tmp_path):
    program = tmp_path / "kittiwake"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    told = subprocess.run(
        [SERVE, "ros-drone", "--ros1", "__name:=kittiwake", "__log:=/tmp/x.log"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "serve ros-drone --ros1\n"


def test_definitions_that_are_built_are_those_that_there_are():
    package = PACKAGES / "uav_gazebo_msgs"
    assert ElementTree.parse(package / "package.xml").findtext("name") == "uav_gazebo_msgs"
    kinds = {what: {file.stem for file in (package / what).iterdir()} for what in ("msg", "srv")}
    assert kinds["srv"] == {"GetMode", "Land", "SwitchMode", "Takeoff"}
    modes = {"PositionYaw", "VelocityYawRate", "ThrustAttitude", "ThrustVelocity", "ThrustTorque"}
    assert kinds["msg"] == {"ControlMode"} | {f"{mode}Control" for mode in modes}
