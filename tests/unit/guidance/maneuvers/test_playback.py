"""Recorded commands: command types of a file's columns, and errors of unknown columns."""

from types import SimpleNamespace

import numpy as np
import pytest

from kittiwake.core.columns import column_names, from_columns, required_columns
from kittiwake.core.commands import (
    AttitudeThrottle,
    PositionYaw,
    RotorSpeeds,
    ThrustAttitude,
    VelocityYaw,
)
from kittiwake.core.errors import ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.guidance.maneuvers.playback import Playback
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES

STICKS = column_names(AttitudeThrottle)


def recorded(columns):
    return Recording(tuple(columns), "inputs.csv", 1.0, np.zeros(1), np.zeros((1, len(columns))))


def refusal(columns):
    with pytest.raises(ValueError) as refused:
        Playback(recorded(columns))
    return str(refused.value)


@pytest.mark.parametrize("command_type", [AttitudeThrottle, PositionYaw, VelocityYaw, RotorSpeeds])
def test_columns_in_any_order_select_their_command_type(command_type):
    assert Playback(recorded(column_names(command_type, 6)[::-1])).command_types() == (
        command_type,
    )


def test_rotor_speeds_have_a_column_for_each_rotor():
    (zero,) = Playback(recorded(column_names(RotorSpeeds, 6))).zero_commands()
    assert zero == RotorSpeeds((0.0,) * 6)
    assert refusal(["speeds_0_radps", "speeds_1_radps", "speeds_3_radps"]) == (
        "inputs.csv:1: RotorSpeeds has no column 'speeds_3_radps'. "
        "Did you mean 'speeds_2_radps'? Allowed: speeds_2_radps."
    )


def test_commands_beyond_the_limits_are_refused_or_left_to_the_vehicle():
    columns = column_names(AttitudeThrottle)
    rows = np.tile([0.0, 0.0, 0.5, 0.0, 11.0], (2, 1))
    rows[1, columns.index("throttle")] = 1.25
    file = Recording(tuple(columns), "inputs.csv", 1.0, np.array([0.0, 0.5]), rows)
    model = VEHICLES.find("pelican")
    dynamics = build_component(model.dynamics, model.parameters(), str)
    context = SimpleNamespace(dynamics=dynamics)
    message = r"`throttle`: got 1.25 at time_s = 0.5; must be from 0 to 1, or write saturate: true"
    with pytest.raises(ScenarioError, match=message):
        Playback(file).prepare(context)
    flown = Playback(file, saturate=True).prepare(context)
    np.testing.assert_array_equal(flown.file.values, rows)
    # as all commands of a flight are limited
    command = dynamics.limit_command(
        from_columns(AttitudeThrottle, dict(zip(columns, rows[1], strict=True)))
    )
    assert command.throttle == 1.0


def test_setpoints_are_not_saturated():
    model = VEHICLES.find("pelican")
    context = SimpleNamespace(dynamics=build_component(model.dynamics, model.parameters(), str))
    message = "`saturate`: applies to the vehicle's actuator command, AttitudeThrottle; inputs.csv"
    with pytest.raises(ScenarioError, match=message):
        Playback(recorded(column_names(PositionYaw)), saturate=True).prepare(context)


def test_angles_beside_a_thrust_stand_for_its_quaternion():
    angles = [0.3, -0.4, 1.2]
    columns = ("yaw_rad", "thrust_n", "roll_rad", "pitch_rad")
    file = Recording(columns, "inputs.csv", 1.0, np.zeros(1), np.array([[1.2, 15.0, 0.3, -0.4]]))
    playback = Playback(file)
    assert playback.command_types() == (ThrustAttitude,)
    row = dict(zip(playback.file.columns, playback.file.values[0].tolist(), strict=True))
    expected = Quaternion.from_euler(EulerZYX(*angles))
    found = [row[f"q_world_from_body_{part}"] for part in "wxyz"]
    # rounding of products of four sines
    np.testing.assert_allclose(found, expected.array, rtol=0, atol=1e-7)
    assert row["thrust_n"] == 15.0


def test_misspelled_column_gives_the_nearest_missing_one():
    columns = ["throtle" if name == "throttle" else name for name in STICKS]
    assert refusal(columns) == (
        "inputs.csv:1: AttitudeThrottle has no column 'throtle'. "
        "Did you mean 'throttle'? Allowed: throttle."
    )


def test_columns_without_frame_or_unit_give_the_full_names():
    message = refusal(["position_x_m", "position_y_m", "position_z_m", "yaw"])
    assert "PositionYaw has no column 'position_x_m'" in message
    assert "Did you mean 'position_x_world_m'?" in message


def test_missing_columns_are_named():
    assert refusal(STICKS[:-2]) == (
        "inputs.csv:1: missing columns of AttitudeThrottle: yaw_rate_radps, battery_v"
    )


def test_extra_column_gives_a_hint_to_remove_it():
    assert refusal([*STICKS, "rpm"]) == (
        "inputs.csv:1: AttitudeThrottle has no column 'rpm'. Remove it."
    )


def test_unknown_columns_give_an_example():
    message = refusal(["a", "b"])
    assert message.startswith("inputs.csv:1: no command type has columns a, b. ")
    assert all(name in message for name in required_columns(PositionYaw))


def test_error_is_a_printable_line_for_any_file():
    message = refusal([f"\x1b{n}" * 1000 for n in range(5000)])
    assert message.isprintable()
    assert len(message) < 2000


def test_body_axes_are_refused_for_a_command_without_them():
    with pytest.raises(ValueError, match=r"inputs\.csv holds PositionYaw; omit it"):
        Playback(recorded(column_names(PositionYaw)), body_axes="frd")
