"""Conversion of typed records to named columns and back."""

from typing import get_args

import jax
import pytest

from kittiwake.core.columns import (
    axis_column,
    column_names,
    from_columns,
    required_columns,
    to_columns,
)
from kittiwake.core.commands import (
    AttitudeThrottle,
    Command,
    PositionYaw,
    RotorSpeeds,
    ThrustAttitude,
    VelocityYaw,
    zero_command,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

each_signal = pytest.mark.parametrize(
    "command_type", get_args(Command), ids=lambda command_type: command_type.__name__
)


class Reading(Module):
    """A record for these tests."""

    acceleration_body_mps2: Vec3
    temperature_k: Real


def numbered(command_type, length=5):
    """Return a record whose columns contain 0, 1, 2 and so on."""
    names = column_names(command_type, length)
    return from_columns(command_type, {name: float(i) for i, name in enumerate(names)})


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("velocity_world_mps", "velocity_y_world_mps"),
        ("angular_velocity_body_radps", "angular_velocity_y_body_radps"),
        ("offset_m", "offset_y_m"),
        ("direction", "direction_y"),
    ],
)
def test_axis_stands_before_frame_and_unit(field, column):
    assert axis_column(field, "y") == column


def test_columns_are_the_fields_in_order():
    assert required_columns(PositionYaw) == [
        *("position_x_world_m", "position_y_world_m", "position_z_world_m"),
        "yaw_rad",
    ]
    assert column_names(PositionYaw) == [
        *required_columns(PositionYaw),
        *(f"velocity_{axis}_world_mps" for axis in "xyz"),
        *(f"acceleration_{axis}_world_mps2" for axis in "xyz"),
        *(f"jerk_{axis}_world_mps3" for axis in "xyz"),
        "yaw_rate_radps",
    ]
    assert column_names(AttitudeThrottle) == [
        *("pitch_rad", "roll_rad", "throttle", "yaw_rate_radps", "battery_v")
    ]
    assert required_columns(ThrustAttitude) == [
        "thrust_n",
        *(f"q_world_from_body_{part}" for part in "wxyz"),
    ]


@each_signal
def test_every_command_converts_to_columns_and_back(command_type):
    signal = numbered(command_type)
    columns = to_columns(signal)
    assert list(columns) == column_names(command_type, 5)
    assert list(columns.values()) == [float(i) for i in range(len(columns))]
    assert from_columns(command_type, columns) == signal


def test_columns_distinguish_all_command_types():
    command_types = get_args(Command)
    assert len({frozenset(column_names(command_type, 5)) for command_type in command_types}) == len(
        command_types
    )


@pytest.mark.parametrize("length", [3, 4, 6, 8])
def test_a_tuple_of_any_length_has_a_column_for_each_number(length):
    names = [f"speeds_{i}_radps" for i in range(length)]
    assert column_names(RotorSpeeds, length) == required_columns(RotorSpeeds, length) == names
    assert len(numbered(RotorSpeeds, length).speeds_radps) == length
    assert zero_command(RotorSpeeds, length) == RotorSpeeds((0.0,) * length)


def test_an_open_tuple_ends_before_the_first_missing_column():
    columns = {"speeds_0_radps": 1.0, "speeds_1_radps": 2.0, "speeds_9_radps": 3.0}
    assert from_columns(RotorSpeeds, columns) == RotorSpeeds((1.0, 2.0))


def test_missing_feed_forward_is_zero():
    command = from_columns(VelocityYaw, {c: 1.0 for c in required_columns(VelocityYaw)})
    assert command == VelocityYaw(Vec3(1.0, 1.0, 1.0), 1.0)
    assert command.acceleration_world_mps2 == Vec3.zero()


def test_missing_column_is_an_error():
    with pytest.raises(KeyError, match="yaw_rad"):
        from_columns(VelocityYaw, {f"velocity_{axis}_world_mps": 0.0 for axis in "xyz"})


def test_prefix_stands_before_the_name():
    columns = to_columns(numbered(VelocityYaw), "cmd_")
    assert list(columns)[:4] == [
        *(f"cmd_velocity_{axis}_world_mps" for axis in "xyz"),
        "cmd_yaw_rad",
    ]


def test_nested_records_follow_their_name_and_a_dot():
    nested = {"imu": numbered(Reading), "count": 3}
    assert list(to_columns(nested, "sensor.")) == [
        *(f"sensor.imu.acceleration_{axis}_body_mps2" for axis in "xyz"),
        "sensor.imu.temperature_k",
        "sensor.count",
    ]


def test_prefix_with_the_name_of_a_frame_is_unchanged():
    columns = to_columns(numbered(Reading), "sensor.imu_body_left.")
    expected = [f"sensor.imu_body_left.acceleration_{axis}_body_mps2" for axis in "xyz"]
    assert list(columns)[:3] == expected


def test_quaternion_and_vector_are_not_confused():
    attitude = ThrustAttitude(5.0, Quaternion(1.0, 2.0, 3.0, 4.0))
    assert to_columns(attitude)["q_world_from_body_w"] == 1.0
    assert to_columns(attitude)["q_world_from_body_z"] == 4.0
    assert to_columns({"v_m": Vec3(1.0, 2.0, 3.0)}) == {"v_x_m": 1.0, "v_y_m": 2.0, "v_z_m": 3.0}


def test_traced_records_keep_their_leaves():
    def through(value):
        return to_columns(VelocityYaw(Vec3(value, value, value), value))

    found = jax.jit(through)(1.5)
    expected = dict.fromkeys(found, 0.0) | dict.fromkeys(required_columns(VelocityYaw), 1.5)
    assert {name: float(leaf) for name, leaf in found.items()} == expected
