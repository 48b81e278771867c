"""Dormant wind and faults, which change only numbers of a scenario."""

from pathlib import Path

import jax
import numpy as np
import pytest

from kittiwake.environment.turbulence import Dryden
from kittiwake.environment.wind import ShearWind
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.dormant_faults import NEVER_S, fallible_parts, with_dormant_faults

FLEET = """
name: fleet
time: {rate_hz: 100, duration_s: 5}
world:
  origin: {latitude_deg: 47.4, longitude_deg: 8.5}
  satellites: nominal
vehicles:
  gull:
    model: hummingbird
    start: {position_world_m: [0, 0, 5]}
    sensors: {gnss: gnss, height: barometer}
    guidance: {type: hold}
    faults: [{type: motor, at_s: 2, rotor: 1, keeps: 0.9}]
  strider:
    model: strider
    start: {position_world_m: [20, 0, 0]}
    guidance: {type: hold}
  otter:
    model: otter
    start: {position_world_m: [40, 0, 0]}
    guidance: {type: hold}
"""


@pytest.fixture(scope="module")
def scenario():
    return build(parse_document(FLEET, "fleet.yaml"), Path())


def test_the_parts_of_a_vehicle_are_its_drives_and_its_sensors(scenario):
    parts = {name: fallible_parts(vehicle) for name, vehicle in scenario.vehicles.items()}
    assert parts["gull"] == ("motor 0", "motor 1", "motor 2", "motor 3", "gnss", "height")
    assert parts["strider"] == ("propeller", "rudder")
    assert parts["otter"] == ("left shaft", "right shaft")


@pytest.mark.parametrize(
    "failing",
    [
        {"gull": {"motor 3": 1.0}},
        {"gull": {"gnss": 1.0, "height": 2.0}},
        {"strider": {"rudder": 1.0}},
        # the second of two that differ in their structure
        {"otter": {"right shaft": 1.0}},
        {"otter": {"right shaft": 1.0, "left shaft": 2.0}},
    ],
)
def test_failure_changes_only_numbers(scenario, failing):
    ready, broken = with_dormant_faults(scenario, {}), with_dormant_faults(scenario, failing)
    assert jax.tree.structure(broken.vehicles) == jax.tree.structure(ready.vehicles)
    leaves = zip(*(jax.tree.leaves(one.vehicles) for one in (ready, broken)), strict=True)
    assert any(not np.array_equal(a, b) for a, b in leaves)


def test_still_air_can_move_and_does_not(scenario):
    ready = with_dormant_faults(scenario, {})
    assert isinstance(ready.world.wind, ShearWind)
    assert float(ready.world.wind.speed_at_6m_mps) == 0.0
    for vehicle in ready.vehicles.values():
        assert isinstance(vehicle.turbulence.component, Dryden)
        assert float(vehicle.turbulence.component.speed_at_6m_mps) == 0.0


def test_faults_of_the_scenario_stay_and_others_never_come(scenario):
    faults = with_dormant_faults(scenario, {}).vehicles["gull"].faults
    assert [float(fault.at_s) for fault in faults] == [2.0, *[NEVER_S] * 4]


def test_part_fails_at_the_given_time(scenario):
    faults = with_dormant_faults(scenario, {"gull": {"motor 2": 1.5}}).vehicles["gull"].faults
    begun = [fault.part() for fault in faults if float(fault.at_s) == 1.5]
    assert begun == ["motor 2"]


def test_a_scenario_is_left_as_it_was(scenario):
    before = jax.tree.leaves(scenario.vehicles)
    with_dormant_faults(scenario, {"gull": {"motor 2": 1.5, "gnss": 1.0}})
    after = jax.tree.leaves(scenario.vehicles)
    assert all(a is b for a, b in zip(before, after, strict=True))
