"""Settings of the ROS interface, and error messages."""

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


def test_default_settings_are_those_of_uav_gazebo():
    usual = built()
    assert usual == RosSettings()
    assert (usual.world_frame, usual.frame_of("gull")) == ("world", "gull")
    assert (usual.odometry_hz, usual.twist_in) == (200.0, "world")
    assert math.degrees(usual.origin.latitude_rad) == pytest.approx(49.397742)


def test_given_settings_replace_single_defaults():
    text = "ros: {vehicle_frame: '{name}/base_link', path_hz: 0, origin: {latitude_deg: 47}}"
    settings = built(text)
    assert settings.frame_of("gull") == "gull/base_link"
    assert settings.path_hz == 0.0
    assert math.degrees(settings.origin.latitude_rad) == pytest.approx(47.0)
    assert math.degrees(settings.origin.longitude_rad) == pytest.approx(9.545594)
    assert settings.world_frame == "world"


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("ros: {odometry_hertz: 100}", ".odometry_hertz", "Did you mean 'odometry_hz'?"),
        ("ros: {odometry_hz: 0}", ".odometry_hz", "must be above 0"),
        ("ros: {path_points: 1}", ".path_points", "must be from 2"),
        ("ros: {twist_in: map}", ".twist_in", "Allowed: body, world"),
        ("ros: {vehicle_frame: base_link}", "", "write {name} in place of its name"),
        ("ros: {vehicle_frame: '/{name}'}", "", "is not a valid frame name"),
        ("ros: {vehicle_frame: '{vehicle}'}", "", "is not a valid frame name"),
        ("ros: {world_frame: the world}", "", "is not a valid frame name"),
        ("ros: {world_frame: ''}", "", "is not a valid frame name"),
        ("ros: fast", "", ""),
    ],
)
def test_a_mistake_is_refused_with_its_line_and_what_to_write(text, place, why):
    message = refusal(text)
    assert message.startswith(f"test.yaml:4: ros{place}: ")
    assert why in message
