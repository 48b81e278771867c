"""Messages with the state of a vehicle."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.system_report import (
    CHARGE,
    CURRENT,
    VOLTAGE,
    MissionProgress,
    NedMotion,
    SystemReport,
    ThrottleMeter,
)
from kittiwake.adapters.mavlink.system_status import SystemStatus
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_euler
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario

BATTERY = {CHARGE: 0.6, VOLTAGE: 11.1, CURRENT: 4.2}


def report(measured, *, armed=True):
    motion = NedMotion.of(Start().kinematics())
    home, progress = Vec3.zero(), MissionProgress(0, 0, 0)
    state = FlightMode.HOLD, armed, True, home, 0.0, progress, None
    return SystemReport(1.0, home, motion, *state, measured)


@pytest.mark.parametrize("angles", [(0.2, -0.3, 1.1), (-0.4, 0.1, -2.9), (0.0, 0.0, 0.0)])
def test_an_attitude_is_that_of_axes_north_and_forward(angles):
    given = EulerZYX(*angles)
    kinematics = Start(Vec3(1.0, 2.0, 3.0)).kinematics()
    found = NedMotion.of(replace(kinematics, q_world_from_body=Quaternion.from_euler(given)))
    wanted = swap_euler(given)
    expected = [wanted.roll_rad, wanted.pitch_rad, wanted.yaw_rad]
    turn = np.array([found.roll_rad, found.pitch_rad, found.yaw_rad]) - expected
    np.testing.assert_allclose(turn - 2.0 * pi * np.round(turn / (2.0 * pi)), 0.0, atol=1e-6)
    same = Quaternion.from_euler(wanted)
    dot = np.dot(found.q_ned_from_frd, [same.w, same.x, same.y, same.z])
    assert abs(float(dot)) == pytest.approx(1.0, abs=1e-6)
    assert found.q_ned_from_frd[0] >= 0.0
    assert found.position_ned_m == (2.0, 1.0, -3.0)


def test_a_battery_is_reported_with_its_current():
    status = SystemStatus(d, is_vessel=False)
    whole = status.system_status(report(BATTERY))
    assert (whole.voltage_battery, whole.current_battery) == (11100, 420)
    assert whole.battery_remaining == 60
    assert status.battery_status(report(BATTERY)).current_battery == 420
    # a charger's current is not the -1 of an unknown one
    assert status.battery_status(report({CURRENT: -0.01})).current_battery == 0
    assert status.battery_status(report({})).current_battery == -1


def test_a_boat_is_on_the_ground_only_while_it_is_disarmed():
    status = SystemStatus(d, is_vessel=True)
    found = [status.landed_state(report({}, armed=armed)).landed_state for armed in (True, False)]
    assert found == [d.MAV_LANDED_STATE_IN_AIR, d.MAV_LANDED_STATE_ON_GROUND]


def test_the_throttle_is_the_share_of_the_largest_thrust():
    dynamics = load_scenario("mavlink-drone").vehicles["hummingbird"].dynamics
    columns = ("time_s", *(f"act_rotor_{n}_radps" for n in range(4)))
    most = dynamics.command_bounds["speeds_0_radps"][1]
    meter = ThrottleMeter(columns, dynamics, 50.0)
    assert meter.throttle(np.array([0.0, *[most / 2.0] * 4])) == pytest.approx(0.25)
    row = np.array([10.0])
    assert ThrottleMeter(("act_thrust_n",), dynamics, 50.0).throttle(row) == pytest.approx(0.2)
    assert ThrottleMeter(("time_s",), dynamics, 50.0).throttle(row) is None
