"""Actuator faults: their effect on commands, from when they begin."""

import math

import pytest

from kittiwake.actuators.motor_fault import MotorFault
from kittiwake.actuators.propeller_fault import PropellerFault
from kittiwake.actuators.rudder_fault import RudderFault
from kittiwake.actuators.shaft_fault import ShaftFault
from kittiwake.core.columns import to_columns
from kittiwake.core.commands import PropellerSpeeds, RotorSpeeds, RudderThrust

SPEEDS = RotorSpeeds((100.0, 200.0, 300.0, 400.0, 500.0, 600.0))
STEERED = RudderThrust(0.2, 5.0)
SHAFTS = PropellerSpeeds(60.0, -40.0)


@pytest.mark.parametrize("rotor", range(6))
def test_a_motor_fault_slows_its_own_rotor_alone(rotor):
    broken = MotorFault(2.0, rotor, 0.25).apply(SPEEDS, 2.0)
    expected = [
        speed * (0.25 if i == rotor else 1.0) for i, speed in enumerate(SPEEDS.speeds_radps)
    ]
    assert [float(speed) for speed in broken.speeds_radps] == expected


def test_a_motor_fault_stops_the_rotor_by_default():
    assert float(MotorFault(2.0, 1).apply(SPEEDS, 9.0).speeds_radps[1]) == 0.0


def test_a_propeller_keeps_its_share_of_the_thrust_and_the_rudder_its_angle():
    broken = PropellerFault(2.0, 0.4).apply(STEERED, 2.0)
    assert (float(broken.rudder_rad), float(broken.thrust_n)) == (0.2, 2.0)


def test_a_rudder_jams_at_its_angle_and_the_thrust_stays():
    broken = RudderFault(2.0, -0.3).apply(STEERED, 2.0)
    assert (float(broken.rudder_rad), float(broken.thrust_n)) == (-0.3, 5.0)


@pytest.mark.parametrize(("side", "expected"), [("left", (15.0, -40.0)), ("right", (60.0, -10.0))])
def test_a_shaft_fault_slows_its_own_shaft_alone(side, expected):
    broken = ShaftFault(2.0, side, 0.25).apply(SHAFTS, 2.0)
    assert (float(broken.left_radps), float(broken.right_radps)) == expected


@pytest.mark.parametrize(
    ("fault", "command"),
    [
        (MotorFault(2.0, 0, 0.5), SPEEDS),
        (PropellerFault(2.0, 0.5), STEERED),
        (RudderFault(2.0, 0.5), STEERED),
        (ShaftFault(2.0, "left", 0.5), SHAFTS),
    ],
)
def test_a_fault_has_no_effect_before_its_time(fault, command):
    given, before, after = (
        [float(number) for number in to_columns(signal).values()]
        for signal in (
            command,
            fault.apply(command, math.nextafter(2.0, 0.0)),
            fault.apply(command, 2.0),
        )
    )
    assert before == given
    assert after != given


def test_events_name_the_part_and_the_remaining_output():
    assert MotorFault(5.0, 2, 0.75).event() == "motor 2 fails: it keeps 75% of its speed"
    assert PropellerFault(5.0).event() == "propeller fails: it keeps 0% of its thrust"
    assert RudderFault(5.0, 0.1).event() == "rudder jams at 0.1 rad"
    assert ShaftFault(5.0, "left").event() == "left shaft fails: it keeps 0% of its speed"
