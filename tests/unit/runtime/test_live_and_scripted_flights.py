"""Equality of a mission's flight with that of the same maneuvers, commanded live."""

import numpy as np
import pytest

from kittiwake.runtime.maneuvers import go_to, hold, land, take_off

TARGET_M = np.array([1.5, 1.0, 3.0])
# a command is applied one physics step after the estimate that it depends on
TOLERANCE_M = 0.005
BLOCK_S = 0.02

MISSION = """
name: tour
time: {rate_hz: 500, duration_s: 40}
vehicles:
  drone:
    model: hummingbird
    start: {position_world_m: [0, 0, 0.1]}
    controller: position
    guidance:
      type: mission
      rate_hz: 50
      steps:
        - {do: idle, for_s: 1}
        - {do: {type: takeoff, height_m: 2}}
        - {do: {type: goto, position_world_m: [1.5, 1, 3], yaw_deg: 0, speed_mps: 2}}
        - {do: hold, for_s: 3}
        - {do: land}
        - {do: idle}
"""
STEPS = ("takeoff", "goto", "hold", "land", "idle-2")
COLUMNS = ("time_s", "x_m", "y_m", "z_m", "guidance.phase")


@pytest.fixture(scope="module")
def flights(make_flight):
    """Rows of both flights, and the time at which each step of the mission begins."""
    flight = make_flight(MISSION)
    flight.settle()
    scripted = flight.flown(30.0, "drone", *COLUMNS)
    texts = flight.executor.layout.phases["drone"]
    names = [texts[int(phase)].removeprefix("began ").split(":")[0] for phase in scripted[:, -1]]
    begins_s = {step: scripted[names.index(step), 0] for step in STEPS}
    flight.begin()
    rows = []
    for block in range(round(30.0 / BLOCK_S)):
        for step, begin_s in begins_s.items():
            if block == round(begin_s / BLOCK_S):
                command(flight, step)
        rows.append(flight.flown(BLOCK_S, "drone", *COLUMNS))
    commanded = [text for _, text in flight.executor.notices() if "commanded" in text]
    assert len(commanded) == len(STEPS) - 1
    return scripted, np.concatenate(rows), begins_s


def command(flight, step):
    """Command the maneuver of a step."""
    now = flight.executor.estimate("drone")
    vehicle, world = flight.scenario.vehicles["drone"], flight.scenario.world
    maneuvers = {
        "takeoff": lambda: take_off(2.0),
        "goto": lambda: go_to(TARGET_M, 0.0),
        "hold": lambda: hold(now.position_m, now.yaw_rad),
        "land": lambda: land(vehicle, world, now),
    }
    if step in maneuvers:
        flight.executor.command("drone", maneuvers[step]())


@pytest.mark.slow  # compiles two flights
@pytest.mark.parametrize("step", STEPS)
def test_a_live_maneuver_flies_like_the_step_of_a_mission(flights, step):
    scripted, live, begins_s = flights
    ends_s = [*begins_s.values(), 30.0][STEPS.index(step) + 1]
    window = (scripted[:, 0] >= begins_s[step]) & (scripted[:, 0] < ends_s)
    assert window.sum() > 500
    np.testing.assert_allclose(live[window, 1:4], scripted[window, 1:4], atol=TOLERANCE_M)
