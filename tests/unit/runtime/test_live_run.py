"""A live flight without user input equals the flight of ``run``."""

from math import inf

import numpy as np
import pytest

from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.flight_record import Memory
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="module")
def gusty():
    """A flight with draws of its own."""
    changes = ["world.turbulence={type: dryden, speed_at_6m_mps: 3}", "time.duration_s=2"]
    return Simulation(load_scenario("hover-angle-velocity", changes))


@pytest.mark.slow
def test_an_untouched_live_flight_equals_a_run(gusty):
    executor = LiveExecutor(gusty.scenario, gusty.program.layout, RealTimeClock(inf))
    with executor:
        flight, memory = gusty.flight(executor=executor), Memory()
        outcome = flight.fly(memory)
    log, expected = gusty.finished_log(flight, memory), gusty.run()
    assert outcome.status == "completed"
    # another compiled program rounds differently
    rows, expected_rows = log.values("drone"), expected.values("drone")
    np.testing.assert_allclose(rows, expected_rows, rtol=1e-9, atol=1e-9)
    assert np.ptp(rows[:, 1]) > 0.1
    assert log.columns("drone") == expected.columns("drone")
    assert log.events == expected.events


@pytest.mark.slow  # compiles a task twice
def test_a_live_flight_of_a_task_has_the_return_of_a_run():
    simulation = Simulation(load_scenario("keep-spot", ["time.duration_s=1"]))
    with LiveExecutor(
        simulation.scenario, simulation.program.layout, RealTimeClock(inf)
    ) as executor:
        flight, memory = simulation.flight(executor=executor), Memory()
        flight.fly(memory)
        log = simulation.finished_log(flight, memory)
        program = executor.latest
    expected = simulation.run().summary["metrics"]["task"]
    assert log.summary["metrics"]["task"] == pytest.approx(expected, rel=1e-9)
    # a change of the wind leaves the task as it is, and nothing is compiled again
    windy = LiveExecutor(
        load_scenario("keep-spot", ["world.wind={type: shear, speed_at_6m_mps: 2, from_deg: 0}"]),
        simulation.program.layout,
        RealTimeClock(inf),
        former=program,
    )
    with windy:
        windy.begin(0, 1)
        assert windy.latest is program
