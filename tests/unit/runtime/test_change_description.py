"""Changes in words."""

import pytest

from kittiwake.runtime.change_description import describe_change


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "world.wind",
            "{type: shear, speed_at_6m_mps: 5.0, from_deg: 270.0}",
            "shear wind 5 m/s at 6 m from 270°",
        ),
        ("world.wind", "none", "no wind"),
        ("world.wind", "{type: constant, wind_world_mps: [1.5, 0.0, -2.0]}",
         "constant wind (1.5, 0, -2) m/s"),
        ("world.wind.speed_mps", "4.5", "wind 4.5 m/s"),
        ("world.wind.from_deg", "90.0", "wind from 90°"),
        ("world.wind.wind_world_mps", "[1.0, 2, 0]", "wind (1, 2, 0) m/s"),
        ("world.wind.1.start_s", "3.0", "wind 2: start 3 s"),
        ("world.wind.0", "{type: shear, speed_at_6m_mps: 5, from_deg: 0}",
         "shear wind 1: 5 m/s at 6 m from 0°"),
        ("world.wind.scale", "1.5", "wind scale 1.5"),
        ("world.turbulence.speed_at_6m_mps", "3.0", "turbulence 3 m/s at 6 m"),
        ("vehicles.drone.sensors.turns.max_range_m", "4.0", "sensors turns max range 4 m"),
        ("vehicles.drone.sensors.turns.scheme", "all-1", "sensors turns scheme all-1"),
        ("vehicles.drone.controller", "[{type: position, gain_hz: 2}, attitude]",
         "controller (position gain 2 Hz, attitude)"),
        ("seed", "3", "seed 3"),
        ("world.wind", "{type: shear", "world.wind={type: shear"),
    ],
)  # fmt: skip
def test_changes_are_in_words_with_units(path, value, words):
    assert describe_change(path, value) == words
