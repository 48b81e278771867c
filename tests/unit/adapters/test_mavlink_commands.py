"""Commands of MAVLink clients, and what they are answered."""

from math import cos, inf, nan, sin

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_flight import ACCEPTED, DENIED, UNSUPPORTED

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.places import UNSET_E7

ARM, REPOSITION = d.MAV_CMD_COMPONENT_ARM_DISARM, d.MAV_CMD_DO_REPOSITION


def hover_share(served):
    """Return the thrust that carries the drone, as a share of the largest one."""
    able = served.flight.executor.capabilities(served.vehicle.name)
    return able.weight_n / able.max_thrust_n


def attitude_target(mask, thrust, q=(1.0, 0.0, 0.0, 0.0), rates=(0.0, 0.0, 0.0)):
    return d.MAVLink_set_attitude_target_message(0, 1, 1, mask, q, *rates, thrust)


def test_a_quadrotor_flies_attitudes_and_rates(served):
    served.take_off()
    thrust = hover_share(served)
    pitched = attitude_target(7, thrust, (cos(0.05), 0.0, sin(0.05), 0.0))
    assert served.send(pitched) == []
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 6) == (ACCEPTED, "")
    served.fly(0.8)
    attitude = served.server._systems[1].message("ATTITUDE")
    assert attitude.pitch == pytest.approx(0.1, abs=0.01)
    target = served.server._systems[1].message("ATTITUDE_TARGET")
    np.testing.assert_allclose(target.q, [cos(0.05), 0.0, sin(0.05), 0.0], atol=1e-6)
    assert target.thrust == pytest.approx(thrust)
    assert served.server._systems[1].message("VFR_HUD").throttle == pytest.approx(10, abs=1)
    start_rad = attitude.yaw
    for _ in range(20):
        served.send(attitude_target(128, thrust, rates=(0.0, 0.0, 0.5)))
        served.fly(0.1)
    turned = served.server._systems[1].message("ATTITUDE")
    assert turned.yawspeed == pytest.approx(0.5, abs=0.05)
    # beside the time in which the rate builds up
    assert turned.yaw - start_rad == pytest.approx(1.0, abs=0.15)
    version = served.server._systems[1].message("AUTOPILOT_VERSION")
    assert version.capabilities & d.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET


def test_arming_is_answered_as_it_was_done(served):
    for given, words in ((2.0, "got 2; must be 1 to arm"), (nan, "got nan"), (-1.0, "got -1")):
        result, text = served.command(ARM, given)
        assert result == DENIED
        assert words in text
        assert served.heartbeat() == (FlightMode.HOLD, False)
    # a setpoint that has stopped before the drone is armed
    served.send(
        d.MAVLink_set_position_target_local_ned_message(0, 1, 1, 1, 0b110111111000, *[0.0] * 11)
    )
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 6) == (ACCEPTED, "")
    served.fly(1.2)
    assert served.command(ARM, 1.0)[0] == DENIED
    assert served.heartbeat() == (FlightMode.OFFBOARD, False)
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 4, 3) == (ACCEPTED, "")
    assert served.command(ARM, 1.0) == (ACCEPTED, "")
    assert served.heartbeat() == (FlightMode.HOLD, True)


def test_home_is_where_the_drone_was_armed_or_is_set(served):
    served.fly(0.5)
    served.command(ARM, 1.0)
    served.link.take()
    served.fly(0.02)
    home = served.latest("HOME_POSITION")
    assert home.time_usec == pytest.approx(0.7e6, abs=0.05e6)
    here = served.server._systems[1].message("GLOBAL_POSITION_INT")
    assert abs(here.relative_alt) < 20
    given = (0.0, 0.0, 0.0, 0.0, here.lat / 1e7 + 1e-4, here.lon / 1e7, 490.0)
    assert served.command(d.MAV_CMD_DO_SET_HOME, *given) == (ACCEPTED, "")
    moved = served.server._systems[1].message("HOME_POSITION")
    assert (moved.x, moved.y, moved.z) == pytest.approx((11.1, 0.0, -2.0), abs=0.5)


def reposition(served, frame, x, y, z):
    numbers = (frame, REPOSITION, 0, 0, -1.0, 1.0, 0.0, nan)
    ack, *texts = served.send(d.MAVLink_command_int_message(1, 1, *numbers, x, y, z))
    return ack.result, "".join(one.text for one in texts)


def goal(served):
    return served.vehicle._flown.present.place_world_m.array


def test_a_place_that_is_not_given_is_the_present_one(served):
    served.command(ARM, 1.0)
    here = [0.0, 0.0]
    above_sea, relative = d.MAV_FRAME_GLOBAL, d.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT
    assert served.command(REPOSITION, -1, 1, 0, nan, nan, nan, 495.0) == (ACCEPTED, "")
    np.testing.assert_allclose(goal(served), [*here, 7.0], atol=0.05)
    assert reposition(served, relative, UNSET_E7, UNSET_E7, 4.0) == (ACCEPTED, "")
    np.testing.assert_allclose(goal(served), [*here, 4.04], atol=0.05)
    assert served.command(REPOSITION, -1, 1, 0, nan, 47.3978, 8.5456, nan) == (ACCEPTED, "")
    np.testing.assert_allclose(goal(served), [0.0, 11.1, 0.04], atol=0.1)
    for given, words in (
        ((above_sea, 990000000, 85456000, 495.0), "latitude: got 99; must be from -90 to 90"),
        ((above_sea, 0, 0, 495.0), "km from the origin of the world"),
        ((above_sea, 473977000, 85456000, inf), "altitude: got inf"),
        ((d.MAV_FRAME_BODY_FRD, 0, 0, 5.0), "frame 12: write 0 or 5 (above the sea)"),
    ):
        result, text = reposition(served, *given)
        assert result == DENIED
        assert words in text
    assert served.command(REPOSITION, -1, 1, 0, nan, inf, 8.5, 495.0)[0] == DENIED


def test_a_low_takeoff_is_raised_and_said_so(served):
    served.command(ARM, 1.0)
    result, words = served.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, 2.5)
    assert result == ACCEPTED
    assert words.startswith("takeoff: got 2.5 m; climbs to 490.")
    assert served.vehicle._flown.present.height_m == pytest.approx(2.55, abs=0.1)
    assert served.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, 495.0) == (ACCEPTED, "")
    assert served.vehicle._flown.present.height_m == pytest.approx(7.0)
    assert served.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, inf)[0] == DENIED


def test_intervals_are_told_and_what_is_no_number_is_denied(served):
    number = d.MAVLINK_MSG_ID_ATTITUDE
    _, interval = served.send(
        d.MAVLink_command_long_message(1, 1, d.MAV_CMD_GET_MESSAGE_INTERVAL, 0, number, *[0.0] * 6)
    )
    assert (interval.message_id, interval.interval_us) == (number, 20000)
    served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, number, -1)
    message = d.MAV_CMD_REQUEST_MESSAGE, 0, d.MAVLINK_MSG_ID_MESSAGE_INTERVAL, number
    _, interval = served.send(d.MAVLink_command_long_message(1, 1, *message, *[0.0] * 5))
    assert interval.interval_us == -1
    result, words = served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, nan, 1e5)
    assert (result, words) == (DENIED, "message (param1): got nan; must be a whole number")
    assert served.command(d.MAV_CMD_REQUEST_MESSAGE, 9999)[0] == UNSUPPORTED


def test_modes_are_named_as_users_of_px4_know_them(served):
    result, words = served.command(d.MAV_CMD_DO_SET_MODE, 1, 3)
    assert result == DENIED
    assert words.startswith("mode 3/0 is not supported: write offboard (6), takeoff (4/2), hold")


def test_altitude_time_and_setpoints_are_sent(served):
    served.take_off()
    sent = {one.get_type(): one for one in served.link.take()}
    assert sent["ALTITUDE"].altitude_amsl == pytest.approx(490.5, abs=0.1)
    assert sent["ALTITUDE"].altitude_relative == pytest.approx(2.5, abs=0.1)
    assert sent["SYSTEM_TIME"].time_boot_ms == pytest.approx(8200, abs=1100)
    assert sent["POSITION_TARGET_LOCAL_NED"].z == pytest.approx(-2.54, abs=0.1)
    assert "ATTITUDE_TARGET" not in sent
    assert sent["GPS_RAW_INT"].satellites_visible > 5
    assert sent["GPS_RAW_INT"].eph != 80
