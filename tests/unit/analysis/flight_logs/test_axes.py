"""Axes of recorded columns, against the conversions of single vectors and rotations."""

import math

import numpy as np
import pytest

from kittiwake.analysis.flight_logs.axes import attitude_enu_flu, axis_rule, from_euler_zyx
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

# away from the singularity, so that angles are unique
ANGLES = [(0.1, -0.4, 2.0), (-2.0, 0.7, -3.0), (0.5, 0.2, 0.0)]


def rows(q):
    return np.array([[float(part) for part in q]])


def quaternion(angles):
    return Quaternion.from_euler(EulerZYX(*angles))


def same_rotation(one, other):
    return abs(float(np.sum(one * other))) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("angles", ANGLES)
def test_euler_angles_are_those_of_the_geometry(angles):
    assert same_rotation(from_euler_zyx(np.array([angles])), rows(quaternion(angles)))


@pytest.mark.parametrize("angles", ANGLES)
def test_an_attitude_of_frd_in_ned_agrees_with_the_conversion_of_angles(angles):
    own = swap_euler(EulerZYX(*angles))
    found = attitude_enu_flu(rows(quaternion(angles)), "ned", "frd")
    assert same_rotation(found, rows(Quaternion.from_euler(own)))


@pytest.mark.parametrize(("world", "body"), [("enu", "flu"), ("ned", "flu"), ("enu", "frd")])
def test_an_attitude_rotates_a_vector_as_the_recorded_one_does(world, body):
    recorded = quaternion(ANGLES[0])
    vector = Vec3(1.0, -2.0, 3.0)
    turned = recorded.rotate(swap_flu_frd(vector) if body == "frd" else vector)
    expected = swap_enu_ned(turned) if world == "ned" else turned
    w, x, y, z = attitude_enu_flu(rows(recorded), world, body)[0]
    found = Quaternion(w, x, y, z).rotate(vector)
    assert np.allclose(np.array(found), np.array(expected), atol=1e-14)


def test_consecutive_attitudes_have_the_nearer_sign():
    q = np.array([[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [-0.8, 0.6, 0.0, 0.0]])
    found = attitude_enu_flu(q, "enu", "flu")
    assert found.tolist() == [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.8, -0.6, 0.0, 0.0]]


@pytest.mark.parametrize(
    "column",
    [
        "{}_m",
        "v{}_mps",
        "estimate.{}_m",
        "cmd_position_{}_world_m",
        "sensor.gnss.velocity_{}_world_mps",
    ],
)
def test_a_world_vector_is_converted_as_a_vector_is(column):
    value = Vec3(1.0, 2.0, 3.0)
    found = {}
    for axis in "xyz":
        rule = axis_rule(column.format(axis), "ned", "frd")
        found[rule.name] = rule.sign * getattr(value, axis) + rule.offset
    expected = swap_enu_ned(value)
    assert found == {column.format(axis): getattr(expected, axis) for axis in "xyz"}
    assert axis_rule(column.format("x"), "enu", "frd") == (column.format("x"), 1.0, 0.0)


@pytest.mark.parametrize(
    "column",
    ["w{}_radps", "estimate.w{}_radps", "cmd_torque_{}_body_nm", "sensor.a.b_{}_body_mps2"],
)
def test_a_body_vector_is_converted_as_a_vector_is(column):
    value = Vec3(1.0, 2.0, 3.0)
    rules = {axis: axis_rule(column.format(axis), "ned", "frd") for axis in "xyz"}
    expected = swap_flu_frd(value)
    for axis, rule in rules.items():
        assert rule.name == column.format(axis)
        assert rule.sign * getattr(value, axis) + rule.offset == getattr(expected, axis)
    assert axis_rule(column.format("y"), "ned", "flu").sign == 1.0


def test_stick_inputs_are_converted_as_recorded_inputs_are():
    assert axis_rule("cmd_pitch_rad", "enu", "frd").sign == -1.0
    assert axis_rule("cmd_yaw_rate_radps", "enu", "frd").sign == -1.0
    assert axis_rule("cmd_roll_rad", "ned", "frd") == ("cmd_roll_rad", 1.0, 0.0)
    assert axis_rule("cmd_throttle", "ned", "frd") == ("cmd_throttle", 1.0, 0.0)


def test_headings_are_counted_from_east_to_north():
    assert axis_rule("cmd_yaw_rad", "ned", "frd") == ("cmd_yaw_rad", -1.0, math.pi / 2.0)
    assert axis_rule("cmd_heading_rad", "enu", "frd").sign == 1.0
