"""Recorded set points: which signal a file's columns are, and what is said of those of none."""

import numpy as np
import pytest

from kittiwake.core.columns import column_names, required_columns
from kittiwake.core.commands import AttitudeThrottle, PositionYaw, VelocityYaw
from kittiwake.core.recording import Recording
from kittiwake.guidance.maneuvers.playback import Playback

STICKS = column_names(AttitudeThrottle)


def recorded(columns):
    return Recording(tuple(columns), "inputs.csv", 1.0, np.zeros(1), np.zeros((1, len(columns))))


def refusal(columns):
    with pytest.raises(ValueError) as refused:
        Playback(recorded(columns))
    return str(refused.value)


@pytest.mark.parametrize("kind", [AttitudeThrottle, PositionYaw, VelocityYaw])
def test_columns_in_any_order_name_their_signal(kind):
    assert Playback(recorded(column_names(kind)[::-1])).command_types() == (kind,)


def test_a_misspelt_column_is_answered_with_the_nearest_that_is_lacking():
    columns = ["throtle" if name == "throttle" else name for name in STICKS]
    assert refusal(columns) == (
        "inputs.csv:1: AttitudeThrottle has no column 'throtle'. "
        "Did you mean 'throttle'? Allowed: throttle."
    )


def test_columns_without_frame_or_unit_are_answered_with_the_full_names():
    message = refusal(["position_x_m", "position_y_m", "position_z_m", "yaw"])
    assert "PositionYaw has no column 'position_x_m'" in message
    assert "Did you mean 'position_x_world_m'?" in message


def test_lacking_columns_are_named():
    assert refusal(STICKS[:-2]) == (
        "inputs.csv:1: the columns of AttitudeThrottle lack yaw_rate_radps, battery_v"
    )


def test_a_column_too_many_is_to_be_taken_out():
    assert refusal([*STICKS, "rpm"]) == (
        "inputs.csv:1: AttitudeThrottle has no column 'rpm'. Take it out."
    )


def test_columns_like_no_signals_are_answered_with_an_example():
    message = refusal(["a", "b"])
    assert message.startswith("inputs.csv:1: no signal has columns a, b. ")
    assert all(name in message for name in required_columns(PositionYaw))


def test_whatever_a_file_holds_is_answered_in_a_readable_line():
    message = refusal([f"\x1b{n}" * 1000 for n in range(5000)])
    assert message.isprintable()
    assert len(message) < 2000


def test_axes_of_the_body_are_refused_for_a_signal_without_them():
    with pytest.raises(ValueError, match=r"inputs\.csv holds PositionYaw; leave it out"):
        Playback(recorded(column_names(PositionYaw)), body_axes="frd")
