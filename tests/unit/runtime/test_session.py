"""Flights of one scenario, one after another: restarts with changes, and the end."""

from math import inf
from threading import Thread

import numpy as np
import pytest

from kittiwake.core.errors import CommandError
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.program_builder import ProgramBuilder
from kittiwake.runtime.session import Session
from kittiwake.scenario.load import load_scenario

SHORT = ["time.duration_s=0.5", "time.log_rate_hz=200"]
GUSTS = "world.turbulence={type: dryden, speed_at_6m_mps: 5}"


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("hover-angle-velocity", [*SHORT, GUSTS])


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """Nothing is compiled beside these flights, which are shorter than that takes."""
    monkeypatch.setattr(ProgramBuilder, "_schedule_update", lambda _: None)


def rows(log):
    return log.values("drone")


@pytest.mark.slow
def test_restarts_repeat_the_flight_with_the_same_seed_only(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    first = session.fly(tmp_path)
    session.restart()
    assert session.restart_requested
    assert session.wait()
    session.prepare_restart()
    assert not session.restart_requested
    again = session.fly(tmp_path)
    assert rows(again).tobytes() == rows(first).tobytes()
    session.restart(seed=77)
    session.prepare_restart()
    assert session.seed == 77
    other = session.fly(tmp_path)
    assert np.abs(rows(other) - rows(first)).max() > 1e-3
    # and the seed stays until there is another one
    session.restart()
    session.prepare_restart()
    assert session.seed == 77
    session.close()


@pytest.mark.slow
def test_another_seed_draws_anew_and_the_same_one_does_not(tmp_path):
    speed = "world.wind.speed_at_6m_mps"
    given = [*SHORT, "world.wind={type: shear, speed_at_6m_mps: 1, from_deg: 0}"]
    given.append(f"randomize.{speed}={{uniform: [0, 3]}}")
    session = Session(load_scenario("hover-angle-velocity", given), RealTimeClock(inf))
    speeds = [session.fly(tmp_path).summary["drawn"][speed]]
    for seed in (None, 5, 0):
        session.restart(seed)
        session.prepare_restart()
        speeds.append(session.fly(tmp_path).summary["drawn"][speed])
    assert speeds[1] == speeds[0] == speeds[3]
    assert speeds[2] != speeds[0]
    session.close()


@pytest.mark.slow
def test_a_restart_applies_all_changes_even_those_not_flown(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    calm = session.fly(tmp_path)
    # not compiled before the restart
    session.executor.change("world.wind", "{type: shear, speed_at_6m_mps: 6, from_deg: 270}")
    session.executor.set_gains("drone", "position", natural_frequency_radps=1.0)
    session.executor.change("world.wind", "{type: shear, speed_at_6m_mps: 8, from_deg: 270}")
    session.restart()
    session.prepare_restart()
    windy = session.fly(tmp_path)
    column = windy.columns("drone").index("wind_x_world_mps")
    assert rows(windy)[0, column] > 7.0
    assert rows(calm)[0, column] < 7.0
    document = session.executor.scenario.document.data
    assert document["vehicles"]["drone"]["controller"][0]["natural_frequency_radps"] == 1.0
    session.close()


def test_a_wrong_late_change_is_reported_in_the_next_flight(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    session.fly(tmp_path)
    session.executor.change("world.wind", "hurricane")
    session.restart()
    session.prepare_restart()
    (problem,) = session.executor.take_problems()
    assert "hurricane" in problem
    session.close()


def test_commands_after_a_flight_raise_command_errors(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    session.fly(tmp_path)
    with pytest.raises(CommandError, match="the flight has ended; restart it"):
        session.executor.command("drone", None)
    with pytest.raises(CommandError, match="the flight has ended; restart it"):
        session.executor.fail("drone", "motor 0", failed=True)
    assert session.executor.take_problems() == []
    session.close()


def test_close_ends_a_paused_flight_and_the_session(scenario, tmp_path):
    clock = RealTimeClock(1.0)
    clock.paused = True
    session = Session(scenario, clock)
    logs = []
    flying = Thread(target=lambda: logs.append(session.fly(tmp_path)))
    flying.start()
    flying.join(0.05)
    session.close("the ROS node was shut down")
    session.close()
    flying.join(60.0)
    assert not flying.is_alive()
    assert logs[0].summary["reason"].startswith("the ROS node was shut down at ")
    assert not session.wait()


def test_restart_ends_a_paused_flight(scenario, tmp_path):
    clock = RealTimeClock(1.0)
    clock.paused = True
    session = Session(scenario, clock)
    flying = Thread(target=lambda: session.fly(tmp_path))
    flying.start()
    session.restart(seed=3)
    flying.join(60.0)
    assert not flying.is_alive()
    assert clock.paused
    assert session.restart_requested
    session.close()


def test_the_newest_of_two_restarts_counts(scenario):
    session = Session(scenario, RealTimeClock(inf))
    session.restart(seed=5)
    session.restart(seed=6)
    session.prepare_restart()
    assert session.seed == 6
    session.close()
