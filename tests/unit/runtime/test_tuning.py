"""Changing gains: before a flight, in the middle of one, and in what is written of it."""

import dataclasses

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError

# in the air feet change nothing but the time to compile
SCENARIO = """
name: pair
time: {rate_hz: 100, duration_s: 1}
vehicles:
  tern:
    model: rigid-body
    parameters: {landing_gear: null}
    count: 2
    spacing_m: [5, 0, 0]
    start: {position_world_m: [0, 0, 5]}
    guidance: {type: hold, position_world_m: [0.5, 0, 5.5]}
  gull:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 9, 5]}
    guidance: {type: hold, position_world_m: [0, 9, 5.5]}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO)
    return path


def places(simulation, steps):
    for _ in range(steps):
        simulation.step()
    return {name: seen.truth.position_world_m.array for name, seen in simulation.observe().items()}


def test_gains_set_before_a_flight_are_those_of_the_file(file):
    controller = {"type": "position", "natural_frequency_radps": 3.0}
    given = kw.load(file, {"vehicles.tern.controller": controller})
    changed = kw.load(file)
    changed.set_gains("tern", "position", natural_frequency_radps=3.0)
    # one fleet flies like another that has the same structure and numbers
    assert jax.tree.structure(changed.fleet) == jax.tree.structure(given.fleet)
    for found, expected in zip(*map(jax.tree.leaves, (changed.fleet, given.fleet)), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_gains_set_in_flight_do_not_change_the_past(file):
    changed = kw.load(file)
    changed.reset()
    usual = places(changed, 50)
    changed.reset()
    places(changed, 20)
    before = changed.observe()["tern-1"].truth.position_world_m.array
    for frequency_radps in (2.0, 4.0):
        changed.set_gains("tern", "position", natural_frequency_radps=frequency_radps)
        changed.set_gains("tern", "attitude", tilt_frequency_radps=12.0)
    at_once = changed.observe()["tern-1"].truth.position_world_m.array
    np.testing.assert_allclose(at_once, before, rtol=0, atol=1e-12)
    faster = places(changed, 30)
    for name in ("tern-1", "tern-2"):
        assert faster[name][2] > usual[name][2] + 0.01
    np.testing.assert_allclose(faster["gull"], usual["gull"], rtol=0, atol=1e-9)


def test_gains_may_be_given_in_other_units_and_stay_in_the_scenario(file):
    simulation = kw.load(file)
    simulation.set_gains("gull", "attitude", tilt_frequency_degps=360.0)
    simulation.set_gains("gull", "position", max_speed_mps=2.0)
    written = simulation.scenario.document.data["vehicles"]["gull"]["controller"]
    assert {"type": "attitude", "tilt_frequency_degps": 360.0} in written
    assert {"type": "position", "max_speed_mps": 2.0} in written
    attitude = simulation.scenario.vehicles["gull"].cascade[2].component
    assert attitude.tilt_frequency_radps == pytest.approx(2.0 * np.pi)


@pytest.mark.parametrize(
    ("vehicle", "controller", "gains", "said"),
    [
        ("tren", "position", {"damping_ratio": 1.0}, "Did you mean 'tern'?"),
        ("tern", "positio", {"damping_ratio": 1.0}, "Did you mean 'position'?"),
        ("tern", "velocity", {"time_constant_s": 1.0}, "has no controller velocity"),
        ("tern", "position", {}, "no gain of 'position' is given"),
        ("tern", "position", {"natural_frequency_radps": -1.0}, "must be above 0"),
        ("tern", "position", {"frequency_radps": 1.0}, "there is no such key"),
    ],
)
def test_invalid_gains_are_refused_and_nothing_changes(vehicle, controller, gains, said, file):
    simulation = kw.load(file)
    before = simulation.scenario
    with pytest.raises(ScenarioError) as refused:
        simulation.set_gains(vehicle, controller, **gains)
    assert said in str(refused.value)
    assert simulation.scenario is before


def test_messages_speak_of_gains_and_not_of_the_command_line(file):
    with pytest.raises(ScenarioError, match=r"^gains of 'position' for 'tern': damping_ratio: "):
        kw.load(file).set_gains("tern", "position", damping_ratio=float("nan"))


@pytest.mark.slow
def test_controller_states_cannot_change_in_flight(file):
    simulation = kw.load(file)
    simulation.reset()
    for gains in ({"jerk_filter_radps": 20.0}, {"rate_hz": 50}):
        with pytest.raises(ScenarioError, match=r"set it before reset\(\)"):
            simulation.set_gains("gull", "position", **gains)
    simulation.step()
    # before a flight it can
    fresh = kw.load(file)
    fresh.set_gains("gull", "position", rate_hz=50)
    assert fresh.scenario.vehicles["gull"].cascade[0].every == 2


def test_an_entry_does_not_include_a_vehicle_with_a_longer_name(file):
    text = SCENARIO.replace("  gull:", "  tern-b:").replace("count: 2", "count: 1")
    file.write_text(text)
    simulation = kw.load(file)
    simulation.set_gains("tern-b", "position", damping_ratio=1.2)
    simulation.set_gains("tern", "position", damping_ratio=0.9)
    damping = {
        name: vehicle.cascade[0].component.damping_ratio
        for name, vehicle in simulation.scenario.vehicles.items()
    }
    assert damping == {"tern-1": 0.9, "tern-b": 1.2}


def test_a_nested_gain_keeps_its_neighbors():
    simulation = kw.load("step-ar-drone")
    before = simulation.scenario.vehicles["ar-drone"].cascade[0].component.height
    simulation.set_gains("ar-drone", "uav-usv-cascade", height={"proportional": 200.0})
    after = simulation.scenario.vehicles["ar-drone"].cascade[0].component.height
    assert after == dataclasses.replace(before, proportional=200.0)
