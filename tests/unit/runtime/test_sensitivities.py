"""Derivatives along flights: quotients of differences of flights with other numbers."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.sensitivities import fly_with_derivatives
from kittiwake.sim.structure import Numbers

STEPS, DIRECTIONS = 150, 11
PLACE = ("x_m", "y_m", "z_m")


def columns_of(program):
    names = program.functions.columns[0]
    own = tuple(names.index(name) for name in PLACE)
    return (own, *[()] * (len(program.functions.columns) - 1))


def flown(program, packed, columns):
    numbers = program.numbers
    program.numbers = Numbers(packed, numbers.large)
    block = program.compile_block(STEPS)
    _, rows, _ = block(FlightState.of(program.start(3)))
    program.numbers = numbers
    return rows[0][:, :, list(columns[0])].reshape(STEPS, -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "eight-ar-drone",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("downwash", "otter-in-waves")),
    ],
)
def test_derivatives_are_quotients_of_differences(name):
    program = kw.load(name).program
    columns, packed = columns_of(program), program.numbers.packed
    directions = np.random.default_rng(1).normal(size=(DIRECTIONS, packed.size)) * np.abs(packed)
    values, slopes = fly_with_derivatives(program, directions, 3, STEPS, columns)
    # the flight itself has the bits of a flight without derivatives
    np.testing.assert_array_equal(values, flown(program, packed, columns))
    step = 1e-6
    for index in (0, DIRECTIONS - 1):
        change = step * directions[index]
        ends = [flown(program, packed + side * change, columns) for side in (-1.0, 1.0)]
        quotient = (ends[1] - ends[0]) / (2.0 * step)
        largest = np.abs(quotient).max()
        np.testing.assert_allclose(slopes[index], quotient, rtol=1e-5, atol=1e-6 * largest)


class Mine:
    def update(self, t_s, setpoint, estimate):
        return kw.ThrustTorque(7.0, kw.Vec3(0.0, 0.0, 0.0))


def test_a_controller_in_plain_python_is_refused():
    vehicles = {"h": kw.Vehicle(model="hummingbird", controllers=[Mine()])}
    program = kw.Simulation(kw.Scenario(vehicles=vehicles, duration_s=1)).program
    with pytest.raises(ScenarioError, match="controllers in plain Python"):
        fly_with_derivatives(program, np.ones((1, program.numbers.packed.size)), 0, 3, ((0,),))
