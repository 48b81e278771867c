"""The past of a live flight, in bounded memory."""

import numpy as np
import pytest

from kittiwake.cockpit.flight_history import FRAME_BYTES, HISTORY_HZ, FlightHistory
from kittiwake.scene.interpolated_rows import PoseColumns

NAMES = ("tern", "auk")
COLUMNS = 12
POSES = {name: [PoseColumns([1, 2, 3], [4, 5, 6, 7])] for name in NAMES}


def rows(time_s, names=NAMES):
    """Return rows of vehicles that fly along x at 1 m/s and turn about z."""
    found = {}
    for number, name in enumerate(names):
        row = np.zeros(COLUMNS)
        row[:4] = time_s, time_s, number, 0.0
        row[4], row[7] = np.cos(0.1 * time_s), np.sin(0.1 * time_s)
        row[11] = 100.0 * time_s
        found[name] = row
    return found


def filled(until_s, max_bytes=2**20, rate_hz=50.0):
    history = FlightHistory(max_bytes)
    for time_s in np.arange(0.0, until_s, 1.0 / rate_hz):
        history.add(float(time_s), rows(float(time_s)))
    return history


def test_the_whole_flight_is_kept_within_the_memory_limit():
    limit = 50_000
    history = filled(600.0, limit)
    begin_s, end_s = history.span_s
    assert (begin_s, end_s) == (0.0, pytest.approx(600.0, abs=10.0))
    kept = len(history.history("tern", (1,), 0.0, 600.0))
    assert kept * (len(NAMES) * COLUMNS * 4 + FRAME_BYTES) <= limit
    # no more is removed than every second row at a time
    assert kept * (len(NAMES) * COLUMNS * 4 + FRAME_BYTES) > 0.4 * limit


def test_rows_are_kept_at_no_more_than_the_highest_rate():
    history = filled(10.0, rate_hz=500.0)
    assert len(history.history("auk", (1,), 0.0, 10.0)) <= 10.0 * HISTORY_HZ + 1


@pytest.mark.parametrize("max_bytes", [2**20, 50_000])
def test_poses_between_rows_are_interpolated(max_bytes):
    history = filled(60.0, max_bytes)
    state = history.scene_state(31.234, POSES)
    assert state.time_s == state.rows["auk"][0] == 31.234
    np.testing.assert_allclose(state.rows["auk"][1:4], [31.234, 1.0, 0.0], atol=1e-5)
    half_rad = 0.1 * 31.234
    np.testing.assert_allclose(
        state.rows["tern"][4:8], [np.cos(half_rad), 0.0, 0.0, np.sin(half_rad)], atol=1e-3
    )


def test_times_outside_of_the_span_show_its_ends():
    history = filled(5.0)
    assert history.scene_state(-1.0, POSES).rows["tern"][1] == 0.0
    assert history.scene_state(99.0, POSES).rows["tern"][1] == pytest.approx(history.span_s[1])


def test_trails_end_at_the_time_that_is_shown():
    trail = filled(60.0).scene_state(30.5, POSES).trails["tern"]
    assert trail[-1, 0] == pytest.approx(30.5)
    assert trail[0, 0] == pytest.approx(20.5, abs=0.2)
    assert (np.diff(trail[:-1, 0]) > 0.0).all()


def test_vehicles_may_come_and_go():
    history = FlightHistory()
    history.add(0.0, rows(0.0))
    history.add(1.0, rows(1.0, ("tern",)))
    history.add(2.0, rows(2.0, ("tern", "gull")))
    assert set(history.scene_state(0.5, POSES).rows) == {"tern", "auk"}
    assert set(history.scene_state(2.0, POSES).rows) == {"tern", "gull"}
    assert history.history("gull", (11,), 0.0, 9.0).tolist() == [[2.0, 200.0]]
