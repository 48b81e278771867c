"""Flights of one scenario, one after another: begun anew, with changes, and closed."""

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
    monkeypatch.setattr(ProgramBuilder, "_look", lambda _: None)


def rows(log):
    return log.values("drone")


def test_flights_with_one_seed_are_one_and_with_another_seed_another(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    first = session.fly(tmp_path)
    session.restart()
    assert session.wanted_again
    assert session.wait()
    session.begin_again()
    assert not session.wanted_again
    again = session.fly(tmp_path)
    assert rows(again).tobytes() == rows(first).tobytes()
    session.restart(seed=77)
    session.begin_again()
    assert session.seed == 77
    other = session.fly(tmp_path)
    assert np.abs(rows(other) - rows(first)).max() > 1e-3
    # and the seed stays until there is another one
    session.restart()
    session.begin_again()
    assert session.seed == 77
    session.close()


def test_a_flight_that_begins_anew_has_the_changes_also_those_that_were_not_flown(
    scenario, tmp_path
):
    session = Session(scenario, RealTimeClock(inf))
    # not compiled before the flight is over, and not before it begins anew
    session.executor.change("world.wind", "{type: shear, speed_at_6m_mps: 6, from_deg: 270}")
    calm = session.fly(tmp_path)
    session.executor.set_gains("drone", "position", natural_frequency_radps=1.0)
    session.executor.change("world.wind", "{type: shear, speed_at_6m_mps: 8, from_deg: 270}")
    session.restart()
    session.begin_again()
    windy = session.fly(tmp_path)
    column = windy.columns("drone").index("wind_x_world_mps")
    assert rows(windy)[0, column] > 7.0
    assert rows(calm)[0, column] < 7.0
    document = session.executor.scenario.document.data
    assert document["vehicles"]["drone"]["controller"][0]["natural_frequency_radps"] == 1.0
    session.close()


def test_what_is_wrong_with_a_late_change_is_told_in_the_next_flight(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    session.fly(tmp_path)
    session.executor.change("world.wind", "hurricane")
    session.restart()
    session.begin_again()
    (problem,) = session.executor.take_problems()
    assert "hurricane" in problem
    session.close()


def test_after_a_flight_commands_are_refused_without_a_fault(scenario, tmp_path):
    session = Session(scenario, RealTimeClock(inf))
    session.fly(tmp_path)
    with pytest.raises(CommandError, match="the flight is over; begin anew"):
        session.executor.ask("drone", None)
    with pytest.raises(CommandError, match="'drone' has no 'wing'"):
        session.executor.fail("drone", "wing", failed=True)
    assert session.executor.take_problems() == []
    session.close()


def test_closing_ends_a_flight_that_stands_still_and_there_is_no_other(scenario, tmp_path):
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


def test_beginning_anew_ends_a_flight_that_stands_still(scenario, tmp_path):
    clock = RealTimeClock(1.0)
    clock.paused = True
    session = Session(scenario, clock)
    flying = Thread(target=lambda: session.fly(tmp_path))
    flying.start()
    session.restart(seed=3)
    flying.join(60.0)
    assert not flying.is_alive()
    assert clock.paused
    assert session.wanted_again
    session.close()


def test_the_newest_of_two_wishes_to_begin_anew_counts(scenario):
    session = Session(scenario, RealTimeClock(inf))
    session.restart(seed=5)
    session.restart(seed=6)
    session.begin_again()
    assert session.seed == 6
    session.close()
