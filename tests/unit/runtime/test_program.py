"""Numbers and commands as arguments of compiled functions."""

import numpy as np
import pytest

from kittiwake.core.commands import PositionYaw, RotorSpeeds
from kittiwake.core.errors import CascadeError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.command_inputs import CommandSlots, FixedCommands
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.program import Program
from kittiwake.scenario.load import load_scenario

STIFF = "vehicles.drone.controller={type: position, natural_frequency_radps: 2.5}"
HIGH = "vehicles.drone.start.position_world_m=[0, 0, 20]"
GRAVITY = "world.gravity_mps2=9.7"
SENSOR = "vehicles.drone.sensors={below: ultrasonic}"


def program(*overrides):
    scenario = load_scenario("hover-angle-velocity", overrides)
    return Program(scenario.fleet(), scenario.vehicles)


def start_of(one):
    return FlightState.of(one.start(0))


def test_a_fleet_fits_a_program_if_only_its_numbers_differ():
    one = program()
    assert all(one.fits(program(change).fleet) for change in (STIFF, HIGH, GRAVITY))
    assert not one.fits(program(SENSOR).fleet)


def test_fleets_of_one_structure_share_their_functions():
    one = program()
    assert program(STIFF, HIGH).functions is one.functions
    assert program(SENSOR).functions is not one.functions


@pytest.mark.parametrize("change", [STIFF, HIGH, GRAVITY])
def test_shared_functions_fly_with_the_numbers_of_each_program(change):
    steps = 20
    changed = program(change)
    alone, _, _ = changed.compile_block(steps)(start_of(changed))
    one = program()
    former, _, _ = one.compile_block(steps)(start_of(one))
    again = program(change)
    later, _, _ = again.compile_block(steps)(start_of(again))
    heights = [
        float(state.fleet.groups[0].dynamics.position_world_m.z[0])
        for state in (alone, former, later)
    ]
    assert heights[0] == heights[2] != heights[1]


def test_fixed_commands_are_numbers_in_order():
    inputs = FixedCommands((("one", PositionYaw), ("two", PositionYaw)))
    commands = {
        "two": PositionYaw(Vec3(5.0, 6.0, 7.0), 8.0),
        "one": PositionYaw(Vec3(1.0, 2.0, 3.0), 4.0),
    }
    values = np.reshape(inputs.values(commands, {}), (2, -1))
    # the others are feed-forward
    np.testing.assert_array_equal(values[:, :4], [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    assert inputs.zeros().shape == (values.size,)


def test_slots_flag_the_commands_in_use():
    one = program()
    slots = CommandSlots(one.fleet, one.vehicles)
    given = slots.values({"drone": PositionYaw(Vec3(1.0, 2.0, 3.0), 4.0)}, one.vehicles)
    (used,) = [rows for rows in given[0] if rows.addressed.any()]
    np.testing.assert_array_equal(used.numbers[:, :4], [[1.0, 2.0, 3.0, 4.0]])
    assert not any(rows.addressed.any() for rows in slots.values({}, one.vehicles)[0])
    with pytest.raises(CascadeError, match="no controller leads from RotorSpeeds"):
        slots.check("drone", RotorSpeeds((1.0, 1.0, 1.0, 1.0)), one.vehicles)
