"""Vehicles that are added to a loop of steps and removed from it."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CommandError, ScenarioError

ADDED, REMOVED, END = 10, 20, 30
# programs that are compiled without optimization differ by rounding where others are in them
ROUNDING = 1e-12


def tern(y_m, **others):
    return kw.Vehicle(
        model="angle-velocity",
        start={"position_world_m": [0, y_m, 5]},
        guidance={"type": "waypoints", "positions_world_m": [[9, y_m, 7]]},
        controllers="position",
        **others,
    )


VEHICLES = {
    "tern": tern(0),
    "auk": tern(20, sensors={"below": "ultrasonic"}),
    "gull": tern(40),
}


def simulation(*names):
    world = kw.World(turbulence={"type": "dryden", "speed_at_6m_mps": 3}, collision_distance_m=1.0)
    vehicles = {name: VEHICLES[name] for name in names}
    scenario = kw.Scenario(
        world, vehicles, rate_hz=100, duration_s=5, seed=7, lost_vehicle="continue"
    )
    return kw.Simulation(scenario)


def step(flight, steps):
    for _ in range(steps):
        flight.step()


def flown(*names):
    flight = simulation(*names)
    flight.reset()
    step(flight, END)
    return flight.log()


@pytest.fixture(scope="module")
def flight():
    """A flight of tern and auk to which the gull comes, and which the auk leaves."""
    one = simulation("tern", "auk")
    one.reset()
    step(one, ADDED)
    one.add_vehicle("gull", VEHICLES["gull"])
    step(one, REMOVED - ADDED)
    one.remove_vehicle("auk")
    step(one, END - REMOVED)
    return one


@pytest.fixture(scope="module")
def log(flight):
    return flight.log()


@pytest.fixture(scope="module")
def unchanged():
    return flown("tern", "auk")


@pytest.fixture(scope="module")
def alone():
    return flown("gull")


@pytest.mark.slow
def test_the_scenario_is_the_changed_one(flight):
    assert flight.names == ("tern", "gull")
    assert [*flight.observe()] == ["tern", "gull"]
    assert [*kw.load(flight.scenario.document.data).scenario.vehicles] == ["tern", "gull"]


@pytest.mark.slow
def test_the_log_has_each_vehicle_over_the_time_it_flew(log):
    assert log.names == ("tern", "auk", "gull")
    ticks = {name: np.rint(log.column(name, "time_s") * 100).astype(int) for name in log.names}
    np.testing.assert_array_equal(ticks["tern"], np.arange(END + 1))
    np.testing.assert_array_equal(ticks["auk"], np.arange(REMOVED))
    np.testing.assert_array_equal(ticks["gull"], np.arange(ADDED, END + 1))


def test_the_others_fly_as_without_the_change(log, unchanged):
    for name in ("tern", "auk"):
        rows = log.values(name)
        expected = unchanged.values(name)[: len(rows)]
        np.testing.assert_allclose(rows, expected, rtol=0, atol=ROUNDING)


@pytest.mark.bits
def test_the_others_fly_the_same_bits_as_without_the_change(log, unchanged):
    for name in ("tern", "auk"):
        rows = log.values(name)
        np.testing.assert_array_equal(rows, unchanged.values(name)[: len(rows)])


@pytest.mark.slow
def test_an_added_vehicle_flies_as_from_the_beginning(log, alone):
    rows = log.values("gull")
    np.testing.assert_allclose(
        rows[:, 1:], alone.values("gull")[: len(rows), 1:], rtol=0, atol=ROUNDING
    )


@pytest.mark.slow
def test_an_observation_can_be_read_after_a_change():
    one = simulation("tern", "auk")
    seen = one.reset()
    assert [*one.remove_vehicle("auk")] == ["tern"]
    assert seen["auk"].truth.position_world_m == kw.Vec3(0.0, 20.0, 5.0)


def test_events_say_when_vehicles_came_and_went(log):
    changes = [event for event in log.events if event.event in ("added", "removed")]
    assert [(event.vehicle, event.event, event.time_s) for event in changes] == [
        ("gull", "added", ADDED / 100),
        ("auk", "removed", (REMOVED - 1) / 100),
    ]


def test_tables_of_different_times_are_one_dataset(log):
    heights = log.dataset["position_world_m"].sel(axis="z")
    assert np.isnan(heights.sel(vehicle="gull")[:ADDED]).all()
    assert np.isfinite(heights.sel(vehicle="gull")[ADDED:]).all()
    assert np.isnan(heights.sel(vehicle="auk")[REMOVED:]).all()
    assert len(log.frame("gull")) == END - ADDED + 1


@pytest.mark.slow
def test_a_saved_log_has_all_vehicles(log, tmp_path):
    log.save(tmp_path / "run")
    read = kw.Log.read(tmp_path / "run")
    assert read.events == log.events
    for name in log.names:
        np.testing.assert_array_equal(read.values(name), log.values(name))
    assert [*kw.load(tmp_path / "run" / "scenario.yaml").names] == ["tern", "auk", "gull"]


@pytest.mark.parametrize(
    ("name", "vehicle", "error", "said"),
    [
        ("tern", tern(60), ScenarioError, "is the name of a vehicle of this flight"),
        ("auk", tern(60), ScenarioError, "is the name of a vehicle of this flight"),
        ("late", tern(60, sensors={"x": "gnus"}), ScenarioError, "Did you mean 'gnss'"),
        ("late", {"model": "crazyflie", "start": {"position_world_m": [0, 60, -1]}},
         CommandError, "cannot be added there: its feet start"),
    ],
)  # fmt: skip
def test_a_vehicle_that_is_not_allowed_is_refused(flight, name, vehicle, error, said):
    with pytest.raises(error, match=said):
        flight.add_vehicle(name, vehicle)
    assert flight.names == ("tern", "gull")


def test_a_vehicle_at_the_place_of_another_is_refused(flight):
    place = flight.observe()["tern"].truth.position_world_m
    there = [float(place.x) + 0.2, float(place.y), float(place.z)]
    late = {"model": "angle-velocity", "start": {"position_world_m": there}}
    with pytest.raises(CommandError, match="would be 0.2 m from 'tern'"):
        flight.add_vehicle("late", late)


@pytest.mark.slow
def test_a_vehicle_that_cannot_be_removed_is_refused(flight):
    with pytest.raises(ScenarioError, match="no vehicle 'gul'. Did you mean 'gull'"):
        flight.remove_vehicle("gul")
    with pytest.raises(ScenarioError, match="is the last vehicle"):
        simulation("tern").remove_vehicle("tern")


@pytest.mark.slow
def test_the_vehicles_of_a_task_are_fixed():
    with pytest.raises(ScenarioError, match="the vehicles of a task are fixed"):
        kw.load("keep-spot").add_vehicle("late", tern(60))
