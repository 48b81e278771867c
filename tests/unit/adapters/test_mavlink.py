"""Vehicles of a live flight as a client of MAVLink sees and commands them."""

from math import inf, nan, pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_flight import (
    ACCEPTED,
    DENIED,
    UNSUPPORTED,
    Served,
    velocity_target,
)

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.vehicle_commands import VehicleCommands
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario


def test_a_drone_waits_on_the_ground_and_flies_only_when_it_is_armed(served):
    assert served.heartbeat() == (FlightMode.HOLD, False)
    state = served.server._systems[1].message("EXTENDED_SYS_STATE")
    assert state.landed_state == d.MAV_LANDED_STATE_ON_GROUND
    for number in (d.MAV_CMD_NAV_TAKEOFF, d.MAV_CMD_NAV_LAND, d.MAV_CMD_DO_REPOSITION):
        result, words = served.command(number, *[nan] * 7)
        assert result == DENIED
        assert "arm it first" in words


@pytest.mark.slow
def test_a_takeoff_ends_at_its_height_and_a_landing_disarmed(served):
    served.take_off()
    assert served.heartbeat() == (FlightMode.HOLD, True)
    np.testing.assert_allclose(served.place_ned(), [0.0, 0.0, -2.54], atol=0.1)
    state = served.server._systems[1].message("EXTENDED_SYS_STATE")
    assert state.landed_state == d.MAV_LANDED_STATE_IN_AIR
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 0.0)[0] == DENIED
    assert served.command(d.MAV_CMD_NAV_LAND) == (ACCEPTED, "")
    served.fly(12.0)
    assert served.heartbeat() == (FlightMode.HOLD, False)
    assert served.place_ned()[2] == pytest.approx(-0.042, abs=0.02)


@pytest.mark.slow
def test_an_altitude_of_a_takeoff_is_above_the_sea(served):
    served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
    result, words = served.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, 480.0)
    assert result == ACCEPTED
    assert "got 480 m; climbs to 490.5 m above the sea (MIS_TAKEOFF_ALT)" in words
    assert served.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, 492.0)[0] == ACCEPTED
    served.fly(9.0)
    assert served.place_ned()[2] == pytest.approx(-4.0, abs=0.15)
    above = served.server._systems[1].message("GLOBAL_POSITION_INT")
    assert above.alt / 1e3 == pytest.approx(492.0, abs=0.15)


@pytest.mark.slow
def test_motors_stop_in_flight_when_that_is_forced(served):
    served.take_off()
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 0.0, 21196.0)[0] == ACCEPTED
    served.fly(0.5)
    assert served.heartbeat() == (FlightMode.HOLD, False)
    assert served.server._systems[1].message("LOCAL_POSITION_NED").vz > 3.0


@pytest.mark.slow
def test_a_drone_flies_to_a_place_of_the_earth(served):
    served.take_off()
    frame = WorldFrame(served.flight.scenario.world.origin)
    goal = frame.geodetic(Vec3(6.0, -3.0, 5.0))
    numbers = (0, 0, 4.0, 0.0, 0.0, pi / 2.0)
    message = d.MAVLink_command_int_message(
        *(1, 1, d.MAV_FRAME_GLOBAL, d.MAV_CMD_DO_REPOSITION, *numbers),
        *(goal.latitude_e7, goal.longitude_e7, goal.altitude_m),
    )
    (ack, *_) = served.send(message)
    assert ack.result == ACCEPTED
    served.fly(9.0)
    # north, east and down
    np.testing.assert_allclose(served.place_ned(), [-3.0, 6.0, -5.0], atol=0.15)
    attitude = served.server._systems[1].message("ATTITUDE")
    assert attitude.yaw == pytest.approx(pi / 2.0, abs=0.02)


def test_offboard_needs_setpoints_and_holds_without_them(served):
    served.take_off()
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 6)[0] == DENIED
    assert served.send(velocity_target(1.0, 0.0, 0.0)) == []
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 6) == (ACCEPTED, "")
    for _ in range(30):
        served.send(velocity_target(1.0, 0.5, 0.0))
        served.fly(0.1)
    assert served.heartbeat() == (FlightMode.OFFBOARD, True)
    moving = served.server._systems[1].message("LOCAL_POSITION_NED")
    np.testing.assert_allclose([moving.vx, moving.vy, moving.vz], [1.0, 0.5, 0.0], atol=0.2)
    served.link.take()
    served.fly(1.5)
    assert [one.text for one in served.link.take("STATUSTEXT")] == ["no setpoints: hold"]
    assert served.heartbeat() == (FlightMode.HOLD, True)
    served.fly(3.0)
    assert abs(served.server._systems[1].message("LOCAL_POSITION_NED").vx) < 0.05


@pytest.mark.slow
def test_a_vessel_sails_to_a_place_and_cannot_take_off():
    served = Served(load_scenario("survey-otter", ["time.rate_hz=50"]))
    served.fly(0.2)
    (heartbeat,) = served.server._systems[1].heartbeat()
    assert heartbeat.type == d.MAV_TYPE_SURFACE_BOAT
    assert served.command(d.MAV_CMD_NAV_TAKEOFF) == (DENIED, "a vessel cannot take off")
    goal = WorldFrame(served.flight.scenario.world.origin).geodetic(Vec3(0.0, 10.0, 0.0))
    numbers = (-1.0, 0.0, 0.0, nan, goal.latitude_e7 / 1e7, goal.longitude_e7 / 1e7, 0.0)
    assert served.command(d.MAV_CMD_DO_REPOSITION, *numbers)[0] == ACCEPTED
    served.fly(20.0)
    assert abs(served.place_ned()[0] - 10.0) < 3.0
    # as boats of PX4, it is in the air while it is armed
    state = served.server._systems[1].message("EXTENDED_SYS_STATE")
    assert state.landed_state == d.MAV_LANDED_STATE_IN_AIR
    served.send(velocity_target(0.0, 1.0, 0.0))
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 6) == (ACCEPTED, "")
    for _ in range(30):
        served.send(velocity_target(0.0, 1.0, 0.0))
        served.fly(0.5)
    moving = served.server._systems[1].message("LOCAL_POSITION_NED")
    # the current of 0.2 m/s is not steered against
    np.testing.assert_allclose([moving.vx, moving.vy], [0.0, 1.0], atol=0.25)
    text = "".join(
        one.text for one in served.send(velocity_target(0, 1.0, 0, yaw_rate=0.3, kind=8))
    )
    assert "vy: got 1; must be 0 for a vessel" in text
    text = "".join(
        one.text
        for one in served.send(
            d.MAVLink_set_attitude_target_message(0, 1, 1, 7, (1.0, 0.0, 0.0, 0.0), 0, 0, 0, 0.5)
        )
    )
    assert text == "attitude setpoint: the vehicle has no attitude controller; send positions"
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 0.0) == (ACCEPTED, "")
    state = served.server._systems[1].message("EXTENDED_SYS_STATE")
    assert state.landed_state == d.MAV_LANDED_STATE_ON_GROUND
    served.flight.executor.__exit__()


@pytest.mark.slow
def test_a_drone_returns_over_its_start_and_lands(served):
    served.take_off()
    served.send(velocity_target(2.0, 0.0, 0.0))
    served.command(d.MAV_CMD_DO_SET_MODE, 1, 6)
    served.fly(1.0)
    assert served.command(d.MAV_CMD_NAV_RETURN_TO_LAUNCH)[0] == ACCEPTED
    highest = 0.0
    for _ in range(60):
        served.fly(0.5)
        highest = min(highest, served.place_ned()[2])
    assert highest == pytest.approx(-5.1, abs=0.3)
    assert served.heartbeat() == (FlightMode.HOLD, False)


@pytest.mark.slow
def test_parameters_are_listed_set_and_used(served):
    listed = served.send(d.MAVLink_param_request_list_message(1, 1))
    assert [one.param_index for one in listed] == list(range(len(listed)))
    kind = d.MAV_PARAM_TYPE_REAL32
    (one,) = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF_ALT", 4.0, kind))
    assert (one.param_id, one.param_value) == ("MIS_TAKEOFF_ALT", 4.0)
    for value in (nan, -1.0, inf):
        own, text = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF_ALT", value, kind))
        assert own.param_value == 4.0
        assert "must be from 0.1" in text.text
    own, text = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF_ALT", 5.0, 6))
    assert own.param_value == 4.0
    assert "got type 6; must be 9" in text.text
    refusal, *texts = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF", 4.0, kind))
    assert refusal.error == d.MAV_PARAM_ERROR_DOES_NOT_EXIST
    assert [text.chunk_seq for text in texts] == list(range(len(texts)))
    assert "Did you mean 'MIS_TAKEOFF_ALT'" in "".join(text.text for text in texts)
    served.take_off()
    assert served.place_ned()[2] == pytest.approx(-4.04, abs=0.15)


def test_messages_have_their_rates_and_others_on_request(served):
    served.link.take()
    served.fly(2.0)
    sent = [one.get_type() for one in served.link.take()]
    assert sent.count("ATTITUDE") == pytest.approx(100, abs=2)
    assert sent.count("GLOBAL_POSITION_INT") == pytest.approx(20, abs=1)
    number = d.MAVLINK_MSG_ID_ATTITUDE
    assert served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, number, 1e5)[0] == ACCEPTED
    served.fly(2.0)
    assert len(served.link.take("ATTITUDE")) == pytest.approx(20, abs=1)
    assert served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, number, -1)[0] == ACCEPTED
    served.fly(1.0)
    assert served.link.take("ATTITUDE") == []
    assert served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, 12345)[0] == UNSUPPORTED
    result, words = served.command(d.MAV_CMD_SET_MESSAGE_INTERVAL, number, nan)
    assert (result, words) == (DENIED, "interval: got nan; must be a number of microseconds")
    numbers = [d.MAVLINK_MSG_ID_AUTOPILOT_VERSION, *[0.0] * 6]
    message = d.MAVLink_command_long_message(1, 1, d.MAV_CMD_REQUEST_MESSAGE, 0, *numbers)
    _, version = served.send(message)
    assert version.capabilities & d.MAV_PROTOCOL_CAPABILITY_MISSION_INT


def test_commands_that_are_not_supported_are_said_to_be_so(served):
    assert served.command(d.MAV_CMD_DO_FLIGHTTERMINATION, 1.0) == (UNSUPPORTED, "")
    assert served.command(d.MAV_CMD_DO_SET_MODE, 1, 99)[0] == DENIED
    assert served.command(d.MAV_CMD_DO_SET_MODE, nan, nan)[0] == DENIED
    # for another system
    message = d.MAVLink_command_long_message(7, 1, d.MAV_CMD_NAV_LAND, 0, *[0.0] * 7)
    assert served.send(message) == []


HANDLED = (
    d.MAVLink_command_long_message,
    d.MAVLink_command_int_message,
    d.MAVLink_set_mode_message,
    d.MAVLink_set_position_target_local_ned_message,
    d.MAVLink_set_position_target_global_int_message,
    d.MAVLink_set_attitude_target_message,
    d.MAVLink_param_set_message,
    d.MAVLink_param_request_read_message,
    d.MAVLink_mission_count_message,
    d.MAVLink_mission_item_int_message,
    d.MAVLink_mission_request_int_message,
    d.MAVLink_mission_item_message,
    d.MAVLink_mission_request_message,
    d.MAVLink_mission_set_current_message,
    d.MAVLink_mission_clear_all_message,
    d.MAVLink_ping_message,
    d.MAVLink_timesync_message,
    d.MAVLink_file_transfer_protocol_message,
)
NUMBERS = (0.0, 1.0, -1.0, 2.0, 4.0, 6.0, 500.0, nan, inf, -inf, 1e30)


FIXED = {"target_system": 1, "target_component": 1, "mission_type": 0}


def drawn(kind, name, commands, rng):
    """Return a random value of a field."""
    place = kind.fieldnames.index(name)
    choices = {"command": commands, **dict.fromkeys(("seq", "count"), range(4))}
    choices |= dict.fromkeys(("frame", "coordinate_frame"), range(9))
    if name in FIXED:
        return FIXED[name]
    if kind.fieldtypes[place] == "char":
        return rng.choice([b"MIS_TAKEOFF_ALT", b"X", b"\xff"])
    length = kind.array_lengths[kind.ordered_fieldnames.index(name)]
    if kind.fieldtypes[place] != "float":
        options = choices.get(name, (0, 1, 100))
        return rng.choice(options, length).tolist() if length else int(rng.choice(options))
    return rng.choice(NUMBERS, length).tolist() if length else float(rng.choice(NUMBERS))


def test_no_numbers_of_a_message_end_the_flight(served):
    rng = np.random.default_rng(0)
    commands = [
        *VehicleCommands(d, served.vehicle).known,
        d.MAV_CMD_SET_MESSAGE_INTERVAL,
        d.MAV_CMD_NAV_WAYPOINT,
    ]
    for number in range(1500):
        kind = HANDLED[rng.integers(len(HANDLED))]
        served.send(kind(*(drawn(kind, name, commands, rng) for name in kind.fieldnames)))
        # errors that were not foreseen
        assert served.flight.executor.take_problems() == []
        if number % 100 == 0:
            served.fly(0.05)
    assert np.isfinite(served.place_ned()).all()
