"""Facts of the state at a glance."""

from math import inf, nan
from types import SimpleNamespace

import pytest

from kittiwake.cockpit.panels.glance import live_status, speed_text, state_facts

STATE = {
    "x_m": 0.0, "y_m": 0.0, "z_m": -0.001,
    "qw": 1.0, "qx": 0.0, "qy": 0.0, "qz": 0.0,
    "vx_mps": 3.0, "vy_mps": 4.0, "vz_mps": -0.001,
}  # fmt: skip


def facts(**more):
    return dict(state_facts(STATE | more, afloat=False))


def test_state_has_words_and_units_and_no_negative_zero():
    assert facts() == {
        "Height": "0.00 m",
        "Ground speed": "5.00 m/s",
        "Vertical speed": "+0.00 m/s",
        "Heading": "090° E",
    }


def test_a_vessel_has_a_place_instead_of_a_height():
    assert state_facts(STATE | {"x_m": -0.01, "y_m": 12.34}, afloat=True) == [
        ("Position", "x 0.0, y 12.3 m"),
        ("Ground speed", "5.00 m/s"),
        ("Heading", "090° E"),
    ]


def test_a_heading_is_below_360_degrees():
    # almost north
    assert facts(qw=0.7072, qz=0.7070)["Heading"] == "000° N"
    assert facts(qw=0.7070, qz=0.7072)["Heading"] == "000° N"


def test_wind_battery_and_estimate_are_shown_if_there_are_any():
    shown = facts(
        **{"estimate.x_m": 0.3, "estimate.y_m": 0.4, "estimate.z_m": -0.001},
        wind_x_world_mps=-2.0, wind_y_world_mps=0.0, act_battery_charge=0.83, act_battery_v=3.94,
    )  # fmt: skip
    assert shown["Wind"] == "2.0 m/s from E"
    assert shown["Battery"] == "83 %, 3.9 V"
    assert shown["Estimate error"] == "0.50 m"


def test_a_nearly_empty_battery_is_marked():
    assert "kw-alarm" in facts(act_battery_charge=0.1)["Battery"]


def test_unknown_numbers_are_left_out():
    assert facts(z_m=nan, wind_x_world_mps=nan, wind_y_world_mps=nan).keys() == {
        "Ground speed",
        "Vertical speed",
        "Heading",
    }


@pytest.mark.parametrize(
    ("factor", "asked", "text"),
    [
        (None, 1.0, ""),
        (0.99, 1.0, "<span>0.99x real time</span>"),
        (0.5, 1.0, "<span class=kw-alarm>0.50x real time (asked 1x)</span>"),
        (7.04, inf, "<span>7.0x real time</span>"),
    ],
)
def test_a_speed_below_the_asked_one_is_marked(factor, asked, text):
    assert speed_text(factor, asked) == text


def session(*, ended=False, ready=True, paused=False, reason=""):
    return SimpleNamespace(
        executor=SimpleNamespace(ended=ended, ready=ready),
        clock=SimpleNamespace(paused=paused),
        end_reason=reason,
    )


def test_status_is_the_most_important_fact():
    row = {"status": 0.0, "act_rotor_0_radps": 400.0}
    assert live_status(session(), row, afloat=False) == ("Flying", False)
    assert live_status(session(), {}, afloat=True) == ("Under way", False)
    assert live_status(session(ready=False), row, afloat=False) == ("Preparing", False)
    assert live_status(session(paused=True), row, afloat=False) == ("Paused", False)
    stopped = row | {"act_rotor_0_radps": 0.0}
    assert live_status(session(), stopped, afloat=False) == ("Motors off", False)
    fallen = row | {"qw": 0.1, "qx": 0.99, "qy": 0.1, "qz": 0.0}
    assert live_status(session(), fallen | {"contact": 0.0}, afloat=False) == ("Flying", False)
    assert live_status(session(), fallen | {"contact": 1.0}, afloat=False) == ("Turned over", True)
    assert live_status(session(), row | {"status": 2.0}, afloat=False) == ("Lost", True)
    assert live_status(session(ended=True), row, afloat=False) == ("Ended", False)
    lost = session(ended=True, reason="tern lost: z_m = -1 is not above 0")
    assert live_status(lost, row, afloat=False) == ("Ended: tern lost: z_m = -1", True)
