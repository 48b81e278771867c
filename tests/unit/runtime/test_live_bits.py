"""A live flight without user input is the flight of ``run``, bit for bit."""

from math import inf

import pytest

from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.loop import Memory
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario

pytestmark = pytest.mark.bits


@pytest.fixture(scope="module")
def gusty():
    """A flight with draws of its own."""
    changes = ["world.turbulence={type: dryden, speed_at_6m_mps: 3}", "time.duration_s=2"]
    return Simulation(load_scenario("hover-angle-velocity", changes))


def test_an_untouched_live_flight_has_the_bits_of_a_run(gusty):
    executor = LiveExecutor(gusty.scenario, gusty.program, RealTimeClock(inf))
    with executor:
        flight, memory = gusty.flight(executor=executor), Memory()
        outcome = flight.fly(memory)
    log, expected = gusty.finished_log(flight, outcome, memory), gusty.run()
    assert outcome.status == "completed"
    assert log.values("drone").tobytes() == expected.values("drone").tobytes()
    assert log.columns("drone") == expected.columns("drone")
    assert log.events == expected.events
