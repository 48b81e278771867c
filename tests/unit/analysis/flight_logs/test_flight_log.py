"""Signals of a flight log at other times, and parts of it."""

import re

import numpy as np
import pytest

from kittiwake.analysis.flight_logs import FlightLog, Signal
from kittiwake.analysis.flight_logs.resampling import to_table
from kittiwake.core.errors import LogError

HEIGHT = Signal(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 10.0, 20.0, 10.0]))
THROTTLE = Signal(np.array([0.5, 2.5]), np.array([0.2, 0.4]))
LOG = FlightLog("flight.csv", {"z_m": HEIGHT, "cmd_throttle": THROTTLE})


def test_a_signal_is_linear_between_its_samples():
    assert LOG.at("z_m", np.array([0.5, 2.25])).tolist() == [5.0, 17.5]


def test_a_held_signal_is_its_latest_sample():
    assert LOG.at("z_m", np.array([0.99, 1.0, 3.0]), hold=True).tolist() == [0.0, 10.0, 10.0]


@pytest.mark.parametrize("hold", [False, True])
def test_a_signal_is_unknown_outside_its_samples(hold):
    assert np.isnan(LOG.at("cmd_throttle", np.array([0.4, 2.6]), hold=hold)).all()


def test_the_span_is_that_of_all_signals():
    assert LOG.span_s() == (0.5, 2.5)


def test_a_part_has_the_samples_from_one_time_to_another():
    part = LOG.between(1.0, 2.5)
    assert part.signals["z_m"].time_s.tolist() == [1.0, 2.0]
    assert part.signals["cmd_throttle"].values.tolist() == [0.4]
    assert part.source == LOG.source


def test_a_part_without_samples_is_refused():
    message = "flight.csv: 'cmd_throttle' has no samples from 1 to 2 s; it is recorded from 0.5 to"
    with pytest.raises(LogError, match=message):
        LOG.between(1.0, 2.0)


def test_an_unknown_signal_is_refused_with_the_nearest_one():
    with pytest.raises(LogError, match="flight.csv has no signal 'z_'. Did you mean 'z_m'"):
        LOG.at("z_", np.zeros(1))


def test_signals_without_a_common_time_have_no_span():
    late = FlightLog("a.csv", {"x_m": THROTTLE, "y_m": Signal(np.array([7.0]), np.array([1.0]))})
    message = "a.csv: the signals have no time in common: 'x_m' ends at 2.5 s, 'y_m' begins at 7 s"
    with pytest.raises(LogError, match=message):
        late.span_s()


def test_a_table_has_the_times_of_the_fastest_signal_within_the_span():
    table = to_table(LOG)
    assert table.columns == ("time_s", "z_m", "cmd_throttle")
    assert table.values.tolist() == [[1.0, 10.0, 0.2], [2.0, 20.0, 0.2]]


def test_a_table_can_have_a_rate_of_its_own():
    table = to_table(LOG, 2.0)
    assert table.values[:, 0].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    assert table.values[:, 1].tolist() == [5.0, 10.0, 15.0, 20.0, 15.0]
    assert table.values[:, 2].tolist() == [0.2, 0.2, 0.2, 0.2, 0.4]


def test_too_many_rows_are_refused():
    with pytest.raises(LogError, match=re.escape("flight.csv: 2,000,000,000,001 rows of 2")):
        to_table(LOG, 1e12)


def test_attitudes_between_samples_have_the_norm_one():
    time_s = np.array([0.0, 1.0])
    parts = {"qw": [1.0, 0.6], "qx": [0.0, 0.8], "qy": [0.0, 0.0], "qz": [0.0, 0.0]}
    log = FlightLog("a", {name: Signal(time_s, np.array(v)) for name, v in parts.items()})
    table = to_table(log, 2.0)
    assert np.linalg.norm(table.part(tuple(parts)), axis=1) == pytest.approx(np.ones(3), abs=1e-15)


@pytest.mark.parametrize("rate_hz", [None, 2.0])
def test_a_frame_has_the_rows_of_an_export(rate_hz):
    frame, table = LOG.frame(rate_hz), to_table(LOG, rate_hz)
    assert tuple(frame.columns) == table.columns
    np.testing.assert_array_equal(frame.to_numpy(), table.values)
