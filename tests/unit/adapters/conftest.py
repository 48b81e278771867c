"""Flight that the tests of MAVLink share, since its program takes long to compile."""

import pytest

from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="session")
def mavlink_flight():
    """A drone that waits for MAVLink clients."""
    pytest.importorskip("pymavlink")
    from tests.unit.adapters.mavlink_flight import Served

    made = Served(load_scenario("mavlink-drone", ["time.rate_hz=200"]))
    yield made
    made.flight.executor.__exit__()


@pytest.fixture
def served(mavlink_flight):
    """The drone on the ground, disarmed, at the beginning of the flight."""
    mavlink_flight.flight.begin()
    mavlink_flight.server.use(mavlink_flight.flight.executor)
    mavlink_flight.fly(0.2)
    return mavlink_flight
