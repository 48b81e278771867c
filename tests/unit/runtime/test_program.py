"""Parameters and commands as arguments of compiled functions."""

import numpy as np
import pytest

from kittiwake.core.commands import PositionYaw, RotorSpeeds
from kittiwake.core.errors import CascadeError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.command_inputs import CommandSlots, FixedCommands
from kittiwake.runtime.live_parameters import cascade_parameters, live_parameters
from kittiwake.runtime.program import Program
from kittiwake.scenario.load import load_scenario

STIFF = "vehicles.drone.controller={type: position, natural_frequency_radps: 2.5}"
HIGH = "vehicles.drone.start.position_world_m=[0, 0, 20]"


def program(*overrides, live=live_parameters):
    scenario = load_scenario("hover-angle-velocity", overrides)
    fleet = scenario.fleet(live_parameters=live is live_parameters)
    return Program(fleet, scenario.vehicles, live=live)


def test_a_fleet_fits_a_program_if_only_its_live_part_differs():
    one = program()
    assert one.fits(program(STIFF).fleet)
    assert one.fits(program(HIGH).fleet)
    assert not one.fits(program("world.gravity_mps2=9.7").fleet)
    assert not one.fits(program("vehicles.drone.sensors={below: ultrasonic}").fleet)


def test_without_a_live_part_only_an_equal_fleet_fits():
    one = program(live=None)
    assert one.fits(program(live=None).fleet)
    assert not one.fits(program(STIFF, live=None).fleet)


def test_cascades_may_be_the_live_part():
    one = program(live=cascade_parameters)
    stiff = program(STIFF, live=cascade_parameters)
    assert one.fits(stiff.fleet)
    assert not one.fits(program(HIGH, live=cascade_parameters).fleet)
    (first, *_), *_ = cascade_parameters(one.with_parameters(stiff.parameters))
    assert float(first.component.natural_frequency_radps) == 2.5


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
