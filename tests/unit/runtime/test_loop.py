"""A flight from start to end: its rows, its events, and the ways in which it can end."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kittiwake.runtime import flight_executor
from kittiwake.runtime.flight_executor import CompiledExecutor
from kittiwake.runtime.flight_record import Memory
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.size import steps_in

# the tern's tour is short: places half a meter and a meter away, each reached within seconds; the
# gull climbs. Their structure is equal, so that there is one group to compile.
SCENARIO = """
name: pair
seed: 2
time: {rate_hz: 50, duration_s: 12}
world:
  area: {x_m: [-100, 100], y_m: [-100, 100], z_m: [0, 80]}
vehicles:
  tern:
    model: pelican
    start: {position_world_m: [0, 20, 10], yaw_deg: 90}
    guidance:
      type: waypoints
      positions_world_m: [[0.5, 20, 10], [1.0, 20, 10]]
      acceptance_radius_m: 0.3
      yaw_deg: 90
  gull:
    model: pelican
    start: {position_world_m: [0, 0, 10], yaw_deg: 90}
    guidance:
      type: waypoints
      positions_world_m: [[0, 0, 40], [0, 0, 40]]
      acceptance_radius_m: 0.3
      yaw_deg: 90
"""
# a ceiling 2 m above the gull, which climbs at 8 m/s
TOO_HIGH = [
    "vehicles.gull.start.velocity_world_mps=[0, 0, 8]",
    "world.area.z_m=[0, 12]",
    "vehicles.gull.guidance.positions_world_m=[[5, 0, 12], [5, 0, 12]]",
    "time.duration_s=4",
]
# what a flight is told, and its program does not know
NOT_COMPILED = ("time.duration_s=", "time.log_rate_hz=", "lost_vehicle=")


def simulation(*overrides):
    document = apply_overrides(parse_document(SCENARIO, "pair.yaml"), overrides)
    return Simulation(build(document, Path()))


@cache
def program(*overrides):
    """The program of a scenario, shared by its flights."""
    return simulation(*overrides).program


def flown(*overrides, progress=lambda _: None, stopped=lambda: False):
    """A flight into memory: by vehicle its rows, the outcome, and the layout."""
    compiled = program(*(each for each in overrides if not each.startswith(NOT_COMPILED)))
    flight = simulation(*overrides).flight(executor=CompiledExecutor(compiled))
    memory = Memory()
    outcome = flight.fly(memory, progress, stopped)
    return {name: memory.values(name) for name in flight.layout.columns}, outcome, flight.layout


@pytest.fixture(scope="module")
def heard():
    """The progress of the usual flight."""
    return []


@pytest.fixture(scope="module")
def usual(heard):
    return flown(progress=heard.append)


def column(flight, vehicle, name):
    rows, _, layout = flight
    return rows[vehicle][:, layout.columns[vehicle].index(name)]


# rows


@pytest.mark.slow
def test_rows_are_from_tick_zero_to_the_last_tick(usual):
    rows, outcome, _ = usual
    # 12 s are more than one block of 500 steps
    for name in ("tern", "gull"):
        np.testing.assert_array_equal(rows[name][:, 0], np.arange(601) / 50.0)
    assert outcome.steps == 600


def test_vehicles_come_in_the_order_of_the_scenario(usual):
    rows, _, layout = usual
    assert list(rows) == ["tern", "gull"]
    assert list(layout.columns) == ["tern", "gull"]


def test_the_outcome_of_a_whole_flight_is_completed(usual):
    _, outcome, _ = usual
    assert (outcome.status, outcome.reason) == ("completed", None)
    assert outcome.wall_s > 0.0
    assert outcome.compile_s > 0.0


def test_the_size_of_a_block_changes_no_bit(usual, monkeypatch):
    # a request to stop that comes during the last block comes too late
    asked = iter([*7 * [False], True])
    monkeypatch.setattr(flight_executor, "BLOCK_STEPS", 7)
    rows, outcome, _ = flown("time.duration_s=1", stopped=lambda: next(asked))
    for name, values in rows.items():
        assert values.tobytes() == usual[0][name][:51].tobytes()
    assert (outcome.status, outcome.steps) == ("completed", 50)


def test_a_slower_log_keeps_each_nth_row_to_the_bit(usual, monkeypatch):
    # every second block of the flight has no row at all
    monkeypatch.setattr(flight_executor, "BLOCK_STEPS", 5)
    rows, outcome, _ = flown("time.log_rate_hz=5", "time.duration_s=1")
    for name, values in rows.items():
        assert values.tobytes() == usual[0][name][:51:10].tobytes()
    assert outcome.steps == 50


def test_a_slow_log_keeps_the_rows_of_events_and_of_the_end():
    (rows, outcome, _), whole = (
        flown(*TOO_HIGH, "lost_vehicle=continue", "time.duration_s=3.5", f"time.log_rate_hz={rate}")
        for rate in (0.5, 50)
    )
    events = {name: [e.time_s for e in outcome.events if e.vehicle == name] for name in rows}
    assert len(events["gull"]) == 1
    assert len(events["tern"]) == 2
    for name, values in rows.items():
        assert values[:, 0].tolist() == sorted({0.0, 2.0, 3.5, *events[name]})
    for name, values in rows.items():
        kept = np.isin(whole[0][name][:, 0], values[:, 0])
        assert values.tobytes() == whole[0][name][kept].tobytes()


@pytest.mark.parametrize(("duration_s", "steps"), [(0.03, 2), (0.05, 3), (0.07, 4), (0.3, 15)])
def test_a_flight_lasts_at_least_as_long_as_requested(duration_s, steps):
    assert steps_in(duration_s, 50.0) == steps


@pytest.mark.usefixtures("usual")
def test_progress_is_called_with_the_simulated_time_after_each_block(heard):
    assert heard == [499 / 50, 12.0]


# events


def test_a_reached_waypoint_is_an_event_at_that_time(usual):
    _, outcome, _ = usual
    legs = column(usual, "tern", "guidance.legs")
    reached = [event for event in outcome.events if event.vehicle == "tern"]
    assert [event.event.split()[0] for event in reached] == ["reached", "reached"]
    assert [event.event.split()[-1] for event in reached] == ["1", "2"]
    for number, event in enumerate(reached, 1):
        assert event.time_s == np.flatnonzero(legs == number)[0] / 50.0


def test_the_waypoint_is_near_when_it_is_reached(usual):
    _, outcome, _ = usual
    reached = [event for event in outcome.events if event.vehicle == "tern"]
    for event, place in zip(reached, (0.5, 1.0), strict=True):
        row = round(event.time_s * 50)
        offset = column(usual, "tern", "x_m")[row] - place
        assert abs(offset) < 0.3


# endings


def test_a_lost_vehicle_ends_the_flight_if_that_is_a_failure():
    flight = flown(*TOO_HIGH)
    rows, outcome, _ = flight
    assert outcome.status == "failed"
    heights = column(flight, "gull", "z_m")
    left = f"lost: z_m = {heights[-1]:.6g} is not from 0 to 12 (world.area.z_m)"
    assert outcome.reason == f"gull {left} at {rows['gull'][-1, 0]:g} s"
    assert heights[-1] > 12.0 >= heights[-2]
    assert [event.time_s for event in outcome.events] == [rows["gull"][-1, 0]]
    # what others did until then is kept, and no more
    assert rows["tern"][-1, 0] == rows["gull"][-1, 0] < 4.0
    assert outcome.steps == len(rows["gull"]) - 1


def test_a_lost_vehicle_is_noted_and_others_fly_on_if_that_is_no_failure():
    flight = flown(*TOO_HIGH, "lost_vehicle=continue")
    rows, outcome, _ = flight
    assert (outcome.status, outcome.reason, outcome.steps) == ("completed", None, 200)
    assert [event.vehicle for event in outcome.events if "lost" in event.event] == ["gull"]
    heights = column(flight, "gull", "z_m")
    assert heights[-1] > 12.0
    assert len(set(heights[-50:])) == 1
    assert len(set(column(flight, "tern", "z_m")[-50:])) == 50
    assert len(rows["gull"]) == 201


def test_a_vehicle_whose_state_is_no_number_has_diverged():
    # next to no mass: the first thrust above weight accelerates it past all numbers
    _, outcome, _ = flown("vehicles.gull.parameters.mass_kg=1e-320", "lost_vehicle=continue")
    assert outcome.status == "diverged"
    assert "gull" in outcome.reason
    assert "non-finite" in outcome.reason
    assert outcome.reason.endswith(" s")
    assert outcome.steps < 10


def test_a_request_to_stop_ends_the_flight_after_the_block(monkeypatch):
    monkeypatch.setattr(flight_executor, "BLOCK_STEPS", 20)
    rows, outcome, _ = flown("time.duration_s=1", stopped=lambda: "the day was over")
    assert outcome.status == "failed"
    assert outcome.reason == "the day was over at 0.38 s"
    assert (len(rows["gull"]), outcome.steps) == (20, 19)
