"""Warnings of summaries: saturated actuators, missing samples, coarse steps, missed deadlines."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.consistency import overconfidence
from kittiwake.analysis.flight_warnings import deadline_warning, estimate_warning, sensor_warnings
from kittiwake.analysis.saturation import Actuators, saturations
from kittiwake.analysis.sensor_gaps import FlownSensor, sensor_gaps
from kittiwake.analysis.table import STATE_COLUMNS, Table
from kittiwake.analysis.time_spans import TimeSpans
from kittiwake.cli.summary_table import summary_lines

RATE_HZ = 100.0
ROWS = 1001


def table(**columns):
    """Return the log of ten seconds at rest, with further columns."""
    values = dict.fromkeys((*STATE_COLUMNS, "status"), np.zeros(ROWS))
    values |= {"time_s": np.arange(ROWS) / RATE_HZ, "qw": np.ones(ROWS)}
    values |= {name: np.asarray(own, float) for name, own in columns.items()}
    return Table(tuple(values), np.stack([*values.values()], axis=1))


def between(begin_s, end_s):
    time_s = np.arange(ROWS) / RATE_HZ
    return (time_s >= begin_s - 1e-9) & (time_s < end_s - 1e-9)


def test_time_spans_are_those_of_the_rows_until_the_next():
    time_s = np.array([0.0, 0.1, 0.2, 0.4, 0.5])
    spans = TimeSpans.of(time_s, np.array([True, False, True, True, False]))
    assert spans.total_s == pytest.approx(0.4)
    assert spans.share == pytest.approx(0.8)
    assert spans.longest_s == pytest.approx(0.3)
    assert spans.longest_from_s == 0.2
    assert TimeSpans.of(time_s, np.zeros(5, bool)).longest_from_s is None
    assert TimeSpans.of(time_s, np.ones(5, bool)).share == pytest.approx(1.0)


ROTORS = Actuators({"speeds_0_radps": (0.0, 1000.0)}, {"speeds_0_radps": 0.0})


def test_time_at_a_limit_counts_in_flight_alone():
    full = between(2.0, 3.5)
    command = np.where(full, 1000.0, 500.0)
    (spans,) = saturations(table(cmd_speeds_0_radps=command), ROTORS).values()
    assert (spans.longest_s, spans.longest_from_s) == pytest.approx((1.5, 2.0))
    # motors off, standing on the ground, invalid, or failed
    resting = np.where(full, 0.0, 500.0)
    for own, actuators in (
        ({"cmd_speeds_0_radps": resting}, ROTORS),
        ({"cmd_speeds_0_radps": command, "contact": full}, ROTORS),
        ({"cmd_speeds_0_radps": command, "status": full}, ROTORS),
        (
            {"cmd_speeds_0_radps": command},
            Actuators(ROTORS.limits, ROTORS.off, {"speeds_0_radps": 2.0}),
        ),
    ):
        (spans,) = saturations(table(**own), actuators).values()
        assert spans.total_s == 0.0


def test_commands_without_limits_are_not_saturated():
    command = table(cmd_thrust_n=np.zeros(ROWS))
    assert saturations(command, Actuators({"thrust_n": (0.0, np.inf)})) == {}


def gaps_of(fresh, period_s=0.1, **more):
    own = {"sensor.s.fresh": fresh, **more}
    (found,) = sensor_gaps(table(**own), {"s": FlownSensor(period_s)}).values()
    return found


def texts(found, *, always_valid=False):
    sensors = {"s": FlownSensor(0.1, always_valid=always_valid)}
    return [*sensor_warnings({"s": found}, sensors)]


ON_TIME = np.arange(ROWS) % 10 == 0


def test_a_sensor_that_delivers_on_time_is_not_warned_of():
    found = gaps_of(ON_TIME)
    assert (found.samples, found.lost_share, found.invalid_share) == (101, 0.0, None)
    assert found.longest_gap_s == pytest.approx(0.1)
    assert texts(found) == []


def test_a_sensor_that_drops_out_is_warned_of():
    found = gaps_of(ON_TIME & ~between(4.0, 6.0))
    assert found.longest_gap_s == pytest.approx(2.1)
    assert found.gap_from_s == pytest.approx(3.9)
    assert found.lost_share == pytest.approx(20 / 101)
    assert texts(found) == [
        "sensor s delivered no sample for 2.1 s from 3.9 s on; its period is 0.1 s"
    ]
    # one that drops out before the end
    assert gaps_of(ON_TIME & between(0.0, 5.0)).longest_gap_s == pytest.approx(5.1)


def test_a_sensor_that_never_delivers_is_warned_of():
    found = gaps_of(np.zeros(ROWS))
    assert found.samples == 0
    (text,) = texts(found)
    assert text.startswith("sensor s delivered no sample;")


def test_single_losses_are_warned_of_by_their_share():
    lost = ON_TIME & (np.arange(ROWS) % 50 != 0)
    assert texts(gaps_of(lost)) == ["sensor s lost 21% of its samples"]


def test_a_thinned_log_does_not_count_losses():
    assert gaps_of(np.ones(ROWS), period_s=0.002).lost_share is None


def test_samples_without_an_echo_are_counted_and_those_without_a_fix_warned_of():
    found = gaps_of(ON_TIME, **{"sensor.s.valid": ~between(4.0, 6.0)})
    assert found.invalid_share == pytest.approx(20 / 101)
    assert texts(found) == []
    (text,) = texts(found, always_valid=True)
    assert text.startswith("sensor s had no fix for 2.1 s; 20% of its samples are invalid")


def test_a_scan_is_valid_with_one_echo():
    flags = {"sensor.s.valid_0": np.zeros(ROWS), "sensor.s.valid_1": np.ones(ROWS)}
    assert gaps_of(ON_TIME, **flags).invalid_share == 0.0


def estimated(x_m, variance_m2):
    """Return the log of a vehicle at rest whose estimate is off along x."""
    state = {f"estimate.{name}": np.zeros(ROWS) for name in STATE_COLUMNS[1:]}
    covariance = {f"estimate.cov_{axis}_{axis}": np.full(ROWS, variance_m2) for axis in "xyz"}
    return table(**state | covariance | {"estimate.x_m": x_m, "estimate.qw": np.ones(ROWS)})


def test_an_estimate_that_does_not_know_its_error_is_warned_of():
    drifting = np.where(between(4.0, 9.0), 20.0, 0.0)
    found = overconfidence(estimated(drifting, 1.0))
    assert (found.spans.longest_s, found.spans.longest_from_s) == pytest.approx((5.0, 4.0))
    text = estimate_warning(found)
    assert "up to 20.0 m off" in text
    assert "for 5 s from 4 s on" in text
    # a covariance that explains the error, an error that is small, and one that is short
    assert overconfidence(estimated(drifting, 16.0)) is None
    assert overconfidence(estimated(drifting / 10.0, 1e-4)) is None
    short = np.where(between(4.0, 4.9), 20.0, 0.0)
    assert estimate_warning(overconfidence(estimated(short, 1.0))) is None
    # the true state, and an estimate without a covariance
    assert overconfidence(table()) is None
    assert overconfidence(estimated(drifting, 0.0)) is None


def test_missed_deadlines_are_warned_of_above_a_percent():
    kept = {"deadlines": 1000, "missed_deadlines": 10, "jitter_p99_ms": 0.4}
    assert deadline_warning(kept) is None
    text = deadline_warning(kept | {"missed_deadlines": 11})
    assert text is not None
    assert "11 of 1000 blocks missed their deadlines" in text


FLIGHT = """
name: overloaded
time: {rate_hz: 100, duration_s: 3}
vehicles:
  h:
    model: hummingbird
    start: {position_world_m: [0, 0, 10]}
    parameters: {mass_kg: 1.4, rotor: {max_speed_radps: 800, spin_up_s: 0.007}}
    sensors:
      imu: {type: imu, rate_hz: 50, errors: [{type: dropout, probability: 0.6, mean_length: 30}]}
    controller: position
    guidance: {type: hold, position_world_m: [0, 0, 40]}
"""


@pytest.mark.slow
def test_a_flight_with_all_of_these_says_so(tmp_path):
    file = tmp_path / "overloaded.yaml"
    file.write_text(FLIGHT)
    scenario = kw.Scenario.load(file)
    summary = kw.Simulation(scenario).run().summary
    saturated, coarse, dropped = summary["metrics"]["warnings"]
    assert saturated.startswith("h: commands were at their limits")
    assert "speeds_0_radps" in saturated
    assert "coarse for rotors" in coarse
    assert coarse in scenario.warnings()
    assert "sensor imu delivered no sample for" in dropped
    assert [f"Warning: {text}." for text in summary["metrics"]["warnings"]] == [
        line for line in summary_lines(summary) if line.startswith("Warning")
    ]
    metrics = summary["metrics"]
    assert metrics["actuators"]["h"]["speeds_0_radps"]["share"] > 0.05
    assert metrics["sensors"]["h"]["imu"]["lost_share"] > 0.2
    assert metrics["time_constants"]["h"]["rotors"]["simulated_s"] > 0.0


@pytest.mark.slow
def test_a_hover_has_no_warnings():
    given = {"time.duration_s": 3}
    assert kw.load("hover-hummingbird", given).run().summary["metrics"]["warnings"] == []


@pytest.mark.slow
def test_a_failed_rotor_is_not_a_saturated_one():
    fault = {"type": "motor", "at_s": 0.1, "rotor": 0, "keeps": 0.0}
    given = {"time.duration_s": 1.5, "vehicles.hummingbird.faults": [fault]}
    summary = kw.load("hover-hummingbird", given).run().summary
    assert summary["metrics"]["actuators"]["hummingbird"]["speeds_0_radps"]["total_s"] == 0.0
