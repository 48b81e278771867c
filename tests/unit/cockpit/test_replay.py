"""A log that is played: where it is at a time, forwards and back."""

import numpy as np
import pytest
from tests.unit.scene.flights import scenario_in

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Event, Table
from kittiwake.cockpit import replay as module
from kittiwake.cockpit.replay import Replay
from kittiwake.scene.log_playback import LogPlayback

COLUMNS = ("time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


def table(until_s):
    """A vehicle that flies along x, 1 m each second."""
    times = np.arange(0.0, until_s + 1e-9, 0.05)
    nothing = np.zeros_like(times)
    upright = [nothing + 1.0, nothing, nothing, nothing]
    return Table(COLUMNS, np.column_stack([times, times, nothing, nothing, *upright]), ())


@pytest.fixture
def wall(monkeypatch):
    class Wall:
        now_s = 10.0

    monkeypatch.setattr(module, "monotonic", lambda: Wall.now_s)
    return Wall


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return scenario_in(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def replay(wall, scenario):
    """Two vehicles, one of which was recorded to an earlier end."""
    del wall
    log = Log({"ann": table(30.0), "bob": table(12.0)}, (Event(3.0, "ann", "motor 1 fails"),))
    return Replay(LogPlayback(log, scenario))


def test_it_plays_from_the_beginning_and_stops_at_the_end(replay, wall):
    assert replay.time_s == replay.begin_s == 0.0
    wall.now_s += 4.0
    assert replay.time_s == pytest.approx(4.0)
    wall.now_s += 400.0
    assert replay.time_s == replay.end_s == 30.0


def test_it_plays_at_its_speed(replay, wall):
    wall.now_s += 2.0
    replay.speed = 5.0
    wall.now_s += 2.0
    assert replay.time_s == pytest.approx(12.0)
    assert replay.speed == 5.0


def test_while_it_is_paused_it_stands_still_and_then_goes_on(replay, wall):
    wall.now_s += 2.0
    replay.paused = True
    wall.now_s += 50.0
    assert replay.time_s == pytest.approx(2.0)
    replay.paused = False
    wall.now_s += 1.0
    assert replay.time_s == pytest.approx(3.0)


def test_it_goes_to_a_time_and_not_beyond_its_ends(replay, wall):
    replay.time_s = 20.0
    wall.now_s += 1.0
    assert replay.time_s == pytest.approx(21.0)
    replay.paused = True
    replay.time_s = 1e3
    assert replay.time_s == 30.0
    replay.time_s = -5.0
    assert replay.time_s == 0.0


def test_after_its_end_it_can_be_played_again(replay, wall):
    wall.now_s += 400.0
    replay.time_s = 5.0
    wall.now_s += 1.0
    assert replay.time_s == pytest.approx(6.0)


def test_it_shows_its_time(replay):
    replay.paused = True
    replay.time_s = 7.0
    assert replay.frame().rows["ann"][1] == pytest.approx(7.0)


def test_of_a_vehicle_whose_log_has_ended_history_holds_what_there_was(replay):
    replay.time_s = 25.0
    assert replay.history("bob", ("x_m",), 5.0).shape[1] == 2
    assert (replay.history("bob", ("x_m",), 20.0)[:, 0] <= 12.0).all()


def test_history_ends_now_and_begins_so_long_before(replay):
    replay.paused = True
    replay.time_s = 20.0
    rows = replay.history("ann", ("qw", "x_m"), 5.0)
    assert rows[0, 0] == pytest.approx(15.0)
    assert rows[-1, 0] == pytest.approx(20.0)
    np.testing.assert_allclose(rows[:, 0], rows[:, 2])


def test_events_are_those_of_the_log(replay):
    assert [event.event for event in replay.events] == ["motor 1 fails"]
