"""The buffer of the last frames of a live flight."""

import numpy as np
import pytest

from kittiwake.cockpit.frame_buffer import HISTORY_S, TRAIL_HZ, TRAIL_S, FrameBuffer

COLUMNS = {"tern": ("time_s", "x_m", "y_m", "z_m", "qw"), "auk": ("time_s", "x_m", "y_m", "z_m")}


def block(time_s, rows=2, dt_s=0.01):
    """Return rows of both vehicles up to a time; the tern flies along x, the auk along y."""
    times = time_s - dt_s * np.arange(rows)[::-1]
    zeros = np.zeros(rows)
    tern = np.column_stack([times, times, zeros, zeros + 5.0, zeros + 1.0])
    return {"tern": tern, "auk": np.column_stack([times, zeros, times, zeros])}


@pytest.fixture
def buffer():
    return FrameBuffer(COLUMNS)


def fill(buffer, until_s, every_s=0.02):
    for time_s in np.arange(every_s, until_s + 1e-9, every_s):
        buffer.post(block(float(time_s)))


def test_an_empty_buffer_has_no_frame(buffer):
    assert buffer.scene_state() is None
    assert buffer.history("tern", ("x_m",), 10.0).shape == (0, 2)


def test_initial_rows_are_shown_until_the_first_block():
    buffer = FrameBuffer(COLUMNS, block(0.0, rows=1))
    assert buffer.scene_state().time_s == 0.0
    assert not buffer.scene_state().trails
    assert buffer.history("tern", ("x_m",), 10.0).shape == (0, 2)
    buffer.post(block(0.02))
    assert buffer.scene_state().time_s == 0.02
    assert buffer.history("tern", ("x_m",), 10.0).shape == (1, 2)


def test_the_frame_has_the_newest_row_of_each_vehicle(buffer):
    fill(buffer, 1.0)
    scene_state = buffer.scene_state()
    assert scene_state.time_s == pytest.approx(1.0)
    np.testing.assert_allclose(scene_state.rows["tern"], [1.0, 1.0, 0.0, 5.0, 1.0])
    np.testing.assert_allclose(scene_state.rows["auk"], [1.0, 0.0, 1.0, 0.0])


def test_trails_cover_the_last_seconds_up_to_the_current_position(buffer):
    fill(buffer, 30.0)
    trail = buffer.scene_state().trails["tern"]
    assert len(trail) == round(TRAIL_S * TRAIL_HZ) + 1
    assert (np.diff(trail[:-1, 0]) > 0.5 / TRAIL_HZ).all()
    assert trail[0, 0] == pytest.approx(30.0 - TRAIL_S, abs=2.0 / TRAIL_HZ)
    assert trail[-1, 0] == pytest.approx(30.0)
    assert buffer.scene_state().trails["auk"][-1, 1] == pytest.approx(30.0)


def test_history_is_kept_only_for_selected_vehicles(buffer):
    fill(buffer, 2.0)
    rows = buffer.history("tern", ("qw", "x_m"), 0.5)
    np.testing.assert_allclose(rows[:, 0], rows[:, 2])
    assert rows[0, 0] == pytest.approx(1.5, abs=0.021)
    assert rows[-1, 0] == pytest.approx(2.0)
    assert len(buffer.history("auk", ("y_m",), 0.5)) == 0
    buffer.select_vehicles(["auk"])
    assert len(buffer.history("auk", ("y_m",), 0.5)) == 0
    buffer.post(block(2.02))
    np.testing.assert_allclose(buffer.history("auk", ("y_m",), 0.5), [[2.02, 2.02]])
    # selecting the same vehicle again keeps its rows
    buffer.select_vehicles(["auk"])
    assert len(buffer.history("auk", ("y_m",), 0.5)) == 1


def test_history_is_limited_in_time(buffer):
    fill(buffer, HISTORY_S + 20.0, every_s=0.5)
    rows = buffer.history("tern", ("x_m",), 10.0 * HISTORY_S)
    assert rows[0, 0] == pytest.approx(20.0)


@pytest.mark.parametrize("last_s", [0.02, 7.0])
def test_a_restart_clears_trails_and_history(buffer, last_s):
    fill(buffer, last_s)
    buffer.post(block(0.02))
    scene_state = buffer.scene_state()
    assert scene_state.time_s == pytest.approx(0.02)
    assert len(scene_state.trails["tern"]) == 2
    assert len(buffer.history("tern", ("x_m",), 60.0)) == 1


def test_returned_frames_do_not_change(buffer):
    fill(buffer, 1.0)
    scene_state = buffer.scene_state()
    trail = scene_state.trails["tern"].copy()
    buffer.post(block(1.2))
    assert scene_state.rows["tern"][0] == pytest.approx(1.0)
    np.testing.assert_array_equal(scene_state.trails["tern"], trail)
