"""What a scenario may say about ROS, and what is refused."""

import math
from pathlib import Path

import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.ros_settings import RosSettings

FLIGHT = """\
name: for-ros
time: {duration_s: 5}
vehicles: {gull: {model: pelican}}
"""


def built(ros=""):
    return build(parse_document(FLIGHT + ros, "test.yaml"), Path()).ros


def refusal(ros):
    with pytest.raises(ScenarioError) as refused:
        built(ros)
    return str(refused.value)


def test_without_a_word_of_it_it_looks_like_uav_gazebo():
    usual = built()
    assert usual == RosSettings()
    assert (usual.world_frame, usual.frame_of("gull")) == ("world", "gull")
    assert (usual.odometry_hz, usual.twist_in) == (200.0, "world")
    assert math.degrees(usual.origin.latitude_rad) == pytest.approx(49.397742)


def test_what_a_scenario_says_arrives_and_leaves_the_rest():
    said = "ros: {vehicle_frame: '{name}/base_link', path_hz: 0, origin: {latitude_deg: 47}}"
    settings = built(said)
    assert settings.frame_of("gull") == "gull/base_link"
    assert settings.path_hz == 0.0
    assert math.degrees(settings.origin.latitude_rad) == pytest.approx(47.0)
    assert math.degrees(settings.origin.longitude_rad) == pytest.approx(9.545594)
    assert settings.world_frame == "world"


@pytest.mark.parametrize(
    ("said", "place", "why"),
    [
        ("ros: {odometry_hertz: 100}", ".odometry_hertz", "Did you mean 'odometry_hz'?"),
        ("ros: {odometry_hz: 0}", ".odometry_hz", "must be above 0"),
        ("ros: {path_points: 1}", ".path_points", "must be from 2"),
        ("ros: {twist_in: map}", ".twist_in", "Allowed: body, world"),
        ("ros: {vehicle_frame: base_link}", "", "write {name} where its name is to stand"),
        ("ros: {vehicle_frame: '/{name}'}", "", "is no name of a frame"),
        ("ros: {vehicle_frame: '{vehicle}'}", "", "is no name of a frame"),
        ("ros: {world_frame: the world}", "", "is no name of a frame"),
        ("ros: {world_frame: ''}", "", "is no name of a frame"),
        ("ros: fast", "", ""),
    ],
)
def test_a_mistake_is_refused_with_its_line_and_what_to_write(said, place, why):
    message = refusal(said)
    assert message.startswith(f"test.yaml:4: ros{place}: ")
    assert why in message
