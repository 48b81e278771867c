"""What a live flight has looked like for a while."""

import numpy as np
import pytest

from kittiwake.cockpit.frame_buffer import HISTORY_S, TRAIL_HZ, TRAIL_S, FrameBuffer

COLUMNS = {"tern": ("time_s", "x_m", "y_m", "z_m", "qw"), "auk": ("time_s", "x_m", "y_m", "z_m")}


def block(time_s, rows=2, dt_s=0.01):
    """Rows of both vehicles that end at a time; the tern flies along x, the auk along y."""
    times = time_s - dt_s * np.arange(rows)[::-1]
    nothing = np.zeros(rows)
    tern = np.column_stack([times, times, nothing, nothing + 5.0, nothing + 1.0])
    return {"tern": tern, "auk": np.column_stack([times, nothing, times, nothing])}


@pytest.fixture
def board():
    return FrameBuffer(COLUMNS)


def posted(board, until_s, every_s=0.02):
    for time_s in np.arange(every_s, until_s + 1e-9, every_s):
        board.post(block(float(time_s)))


def test_before_a_block_there_is_nothing_to_see(board):
    assert board.frame() is None
    assert board.history("tern", ("x_m",), 10.0).shape == (0, 2)


def test_the_newest_row_of_each_vehicle_is_seen(board):
    posted(board, 1.0)
    frame = board.frame()
    assert frame.time_s == pytest.approx(1.0)
    np.testing.assert_allclose(frame.rows["tern"], [1.0, 1.0, 0.0, 5.0, 1.0])
    np.testing.assert_allclose(frame.rows["auk"], [1.0, 0.0, 1.0, 0.0])


def test_trails_are_the_last_seconds_oldest_first_and_end_where_the_vehicle_is(board):
    posted(board, 30.0)
    trail = board.frame().trails["tern"]
    assert len(trail) == round(TRAIL_S * TRAIL_HZ) + 1
    assert (np.diff(trail[:-1, 0]) > 0.5 / TRAIL_HZ).all()
    assert trail[0, 0] == pytest.approx(30.0 - TRAIL_S, abs=2.0 / TRAIL_HZ)
    assert trail[-1, 0] == pytest.approx(30.0)
    assert board.frame().trails["auk"][-1, 1] == pytest.approx(30.0)


def test_history_is_of_the_watched_vehicle_alone(board):
    posted(board, 2.0)
    rows = board.history("tern", ("qw", "x_m"), 0.5)
    np.testing.assert_allclose(rows[:, 0], rows[:, 2])
    assert rows[0, 0] == pytest.approx(1.5, abs=0.021)
    assert rows[-1, 0] == pytest.approx(2.0)
    assert len(board.history("auk", ("y_m",), 0.5)) == 0
    board.watch(["auk"])
    assert len(board.history("auk", ("y_m",), 0.5)) == 0
    board.post(block(2.02))
    np.testing.assert_allclose(board.history("auk", ("y_m",), 0.5), [[2.02, 2.02]])
    # who watches the same one again loses nothing
    board.watch(["auk"])
    assert len(board.history("auk", ("y_m",), 0.5)) == 1


def test_history_is_kept_for_a_while_and_no_longer(board):
    posted(board, HISTORY_S + 20.0, every_s=0.5)
    rows = board.history("tern", ("x_m",), 10.0 * HISTORY_S)
    assert rows[0, 0] == pytest.approx(20.0)


@pytest.mark.parametrize("last_s", [0.02, 7.0])
def test_a_flight_that_begins_anew_has_no_trail_of_the_one_before(board, last_s):
    posted(board, last_s)
    board.post(block(0.02))
    frame = board.frame()
    assert frame.time_s == pytest.approx(0.02)
    assert len(frame.trails["tern"]) == 2
    assert len(board.history("tern", ("x_m",), 60.0)) == 1


def test_what_was_seen_does_not_change_when_the_flight_goes_on(board):
    posted(board, 1.0)
    frame = board.frame()
    trail = frame.trails["tern"].copy()
    board.post(block(1.2))
    assert frame.rows["tern"][0] == pytest.approx(1.0)
    np.testing.assert_array_equal(frame.trails["tern"], trail)
