"""Playback of a log: time, speed, pause and jumps."""

import numpy as np
import pytest
from tests.unit.scene.synthetic_logs import scenario_in

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Event, Table
from kittiwake.cockpit import playback_clock as module
from kittiwake.cockpit.replay import Replay
from kittiwake.scene.log_playback import LogPlayback

COLUMNS = ("time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


def table(until_s):
    """Return the log of a vehicle that flies along x at 1 m/s."""
    times = np.arange(0.0, until_s + 1e-9, 0.05)
    zeros = np.zeros_like(times)
    upright = [zeros + 1.0, zeros, zeros, zeros]
    return Table(COLUMNS, np.column_stack([times, times, zeros, zeros, *upright]), ())


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now_s = 10.0

    monkeypatch.setattr(module, "monotonic", lambda: Clock.now_s)
    return Clock


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return scenario_in(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def replay(clock, scenario):
    """Replay of two vehicles, one with a shorter log."""
    del clock
    log = Log({"ann": table(30.0), "bob": table(12.0)}, (Event(3.0, "ann", "motor 1 fails"),))
    return Replay(LogPlayback(log, scenario))


def test_replay_starts_at_the_beginning_and_stops_at_the_end(replay, clock):
    assert replay.clock.time_s == replay.span_s[0] == 0.0
    clock.now_s += 4.0
    assert replay.clock.time_s == pytest.approx(4.0)
    clock.now_s += 400.0
    assert replay.clock.time_s == replay.span_s[1] == 30.0


def test_replay_runs_at_its_speed(replay, clock):
    clock.now_s += 2.0
    replay.clock.speed = 5.0
    clock.now_s += 2.0
    assert replay.clock.time_s == pytest.approx(12.0)
    assert replay.clock.speed == 5.0


def test_replay_pauses_and_resumes(replay, clock):
    clock.now_s += 2.0
    replay.clock.paused = True
    clock.now_s += 50.0
    assert replay.clock.time_s == pytest.approx(2.0)
    replay.clock.paused = False
    clock.now_s += 1.0
    assert replay.clock.time_s == pytest.approx(3.0)


def test_jumps_are_limited_to_the_log(replay, clock):
    replay.seek(20.0)
    clock.now_s += 1.0
    assert replay.clock.time_s == pytest.approx(21.0)
    replay.clock.paused = True
    replay.seek(1e3)
    assert replay.clock.time_s == 30.0
    replay.seek(-5.0)
    assert replay.clock.time_s == 0.0


def test_replay_can_jump_back_after_its_end(replay, clock):
    clock.now_s += 400.0
    replay.seek(5.0)
    clock.now_s += 1.0
    assert replay.clock.time_s == pytest.approx(6.0)


def test_the_frame_is_at_the_current_time(replay):
    replay.clock.paused = True
    replay.seek(7.0)
    assert replay.scene_state().rows["ann"][1] == pytest.approx(7.0)


def test_history_of_an_ended_vehicle_has_its_last_rows(replay):
    replay.seek(25.0)
    assert replay.history("bob", ("x_m",), 5.0).shape[1] == 2
    assert (replay.history("bob", ("x_m",), 20.0)[:, 0] <= 12.0).all()


def test_history_covers_the_time_before_now(replay):
    replay.clock.paused = True
    replay.seek(20.0)
    rows = replay.history("ann", ("qw", "x_m"), 5.0)
    assert rows[0, 0] == pytest.approx(15.0)
    assert rows[-1, 0] == pytest.approx(20.0)
    np.testing.assert_allclose(rows[:, 0], rows[:, 2])


def test_events_are_those_of_the_log(replay):
    assert [event.event for event in replay.events] == ["motor 1 fails"]
