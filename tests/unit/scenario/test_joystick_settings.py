"""Settings of a gamepad's sticks, and error messages."""

import math
from pathlib import Path

import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.joystick_settings import JoystickSettings

FLIGHT = """\
name: by-hand
time: {duration_s: 5}
vehicles: {gull: {model: pelican}}
"""


def built(joystick="", *overrides):
    document = parse_document(FLIGHT + joystick, "test.yaml")
    return build(apply_overrides(document, overrides), Path())


def refusal(joystick):
    with pytest.raises(ScenarioError) as refused:
        built(joystick)
    return str(refused.value)


def test_default_scales_are_those_of_uav_gazebo():
    assert built().joystick == JoystickSettings()


def test_given_scales_replace_single_defaults():
    text = "joystick: {dead_zone: 0.2, position_scale_m: 3, torque_scale_nm: 0.1}"
    wanted = JoystickSettings(dead_zone=0.2, position_scale_m=3.0, torque_scale_nm=0.1)
    assert built(text).joystick == wanted


def test_angles_may_be_given_in_degrees():
    text = "joystick: {yaw_scale_deg: 90, yaw_rate_scale_degps: 45, velocity_scale_kn: 1}"
    joystick = built(text).joystick
    assert joystick.yaw_scale_rad == pytest.approx(math.pi / 2)
    assert joystick.yaw_rate_scale_radps == pytest.approx(math.pi / 4)
    assert joystick.velocity_scale_mps == pytest.approx(1852 / 3600)


def test_a_value_can_be_set_from_outside():
    assert built("", "joystick.thrust_scale_n=20").joystick.thrust_scale_n == 20.0
    given = "joystick: {attitude_scale_deg: 30}"
    changed = built(given, "joystick.attitude_scale_rad=0.25")
    assert changed.joystick.attitude_scale_rad == 0.25


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("joystick: {thrust_scale: 1}", "thrust_scale", "Did you mean 'thrust_scale_n'?"),
        ("joystick: {dead_zon: 0.1}", "dead_zon", "Did you mean 'dead_zone'?"),
        ("joystick: {dead_zone: 1}", "dead_zone", "must be from 0 to 0.9"),
        ("joystick: {yaw_scale_deg: -90}", "yaw_scale_deg", "must be at least 0"),
        ("joystick: {thrust_scale_n: much}", "thrust_scale_n", "must be a number"),
    ],
)
def test_a_mistake_is_refused_with_its_line_and_what_to_write(text, place, why):
    message = refusal(text)
    assert message.startswith(f"test.yaml:4: joystick.{place}: ")
    assert why in message


def test_a_key_that_is_nearly_joystick_is_recognized():
    assert "Did you mean 'joystick'?" in refusal("joysticks: {dead_zone: 0.1}")


def test_settings_that_are_no_mapping_are_refused():
    assert refusal("joystick: fast").startswith("test.yaml:4: joystick: ")


def test_other_mistakes_are_reported_with_those_of_the_joystick():
    message = refusal("joystick: {dead_zone: 2}\nphysics: magic")
    assert "joystick.dead_zone" in message
    assert "physics" in message
