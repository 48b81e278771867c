"""Measured speed of a flight."""

import pytest

from kittiwake.cockpit.speed_meter import SPAN_S, SpeedMeter


def fill(meter, factor, begin_s, end_s, simulated_s=0.0):
    for step in range(int((end_s - begin_s) / 0.1) + 1):
        meter.add(simulated_s + 0.1 * step * factor, begin_s + 0.1 * step)


def test_speed_is_simulated_time_per_wall_time():
    meter = SpeedMeter()
    fill(meter, 0.5, 100.0, 103.0)
    assert meter.factor == pytest.approx(0.5)


def test_speed_is_unknown_at_first_and_after_a_restart():
    meter = SpeedMeter()
    assert meter.factor is None
    meter.add(0.0, 10.0)
    assert meter.factor is None
    fill(meter, 1.0, 10.1, 12.0, 0.1)
    meter.add(0.0, 12.1)
    assert meter.factor is None


def test_only_the_last_seconds_count():
    meter = SpeedMeter()
    fill(meter, 0.1, 0.0, 5.0)
    fill(meter, 2.0, 5.1, 5.2 + SPAN_S, 0.6)
    assert meter.factor == pytest.approx(2.0)
