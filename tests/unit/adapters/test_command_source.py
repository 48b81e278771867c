"""Reports and commands of vehicles that are members of a hub."""

import numpy as np
import pytest
from tests.unit.adapters.flocks import write_scenario

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.command_source import HubCommandSource
from kittiwake.adapters.hub.packets import Hello, SetPoint
from kittiwake.runtime.command_source import reports_of
from kittiwake.runtime.flight_executor import CompiledExecutor
from kittiwake.runtime.flight_record import Memory
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario

STILL = (0.0, 0.0, 0.0)
RATE_HZ = 25.0


class RecordingMember(Member):
    """Member that records its reports; its set points are an increasing velocity."""

    joined = True
    hello = Hello(1, "all", "drone-1", "", RATE_HZ, lockstep=True)

    def __init__(self, acceleration_mps2):
        self.acceleration_mps2, self.reports = acceleration_mps2, []

    def report(self, *motion):
        self.reports.append(motion)

    def set_point(self):
        time_s = self.reports[-1][0]
        velocity = (0.5 * time_s, 0.0, 0.0)
        return SetPoint(1, 1, velocity, STILL, 0.0, self.acceleration_mps2)

    def take_changes(self):
        return []


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """Reports of two members in two seconds; the first one has acceleration feedforward."""
    scenario = load_scenario(write_scenario(tmp_path_factory.mktemp("source"), count=2))
    simulation, source = Simulation(scenario), HubCommandSource(scenario, RATE_HZ)
    members = dict(
        zip(
            scenario.vehicles,
            [RecordingMember((0.5, 0.0, 0.0)), RecordingMember(None)],
            strict=True,
        )
    )
    flight = simulation.flight(
        duration_s=2.0, executor=CompiledExecutor(simulation.program, source)
    )
    source.attach(members, reports_of(simulation.fleet, flight.state))
    flight.fly(Memory())
    return [member.reports for member in members.values()]


def test_reported_acceleration_is_that_of_the_reported_velocity(flown):
    for reports in flown:
        velocity_mps = np.array([motion[2] for motion in reports])
        acceleration_mps2 = np.array([motion[4] for motion in reports])
        # nothing is felt before the first step
        np.testing.assert_array_equal(acceleration_mps2[0], STILL)
        # 0.5 m/s^2 ahead in the end but for what drag takes, and none of gravity
        np.testing.assert_allclose(acceleration_mps2[-1], [0.5, 0.0, 0.0], atol=0.1)
        gained_mps = np.diff(velocity_mps, axis=0) * RATE_HZ
        mean_mps2 = 0.5 * (acceleration_mps2[1:] + acceleration_mps2[:-1])
        # samples at 25 Hz of what answers within 0.1 s
        assert np.abs(gained_mps - mean_mps2)[5:].max() < 0.1


def test_acceleration_of_set_points_is_fed_forward(flown):
    fed, not_fed = (reports[-1][2][0] for reports in flown)
    # the controller follows a velocity that grows by 0.5 m/s^2 with a lag of 0.4 s, unless the
    # acceleration is fed forward; drag takes some of the difference
    assert fed - not_fed == pytest.approx(0.4 * 0.5, abs=0.03)
