"""Vehicles of a live flight as a client of MAVLink sees and commands them."""

import socket
from math import degrees, inf, nan, pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_client import SENDER, RecordedLink, received
from tests.unit.runtime.stepped_flight import SteppedFlight

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.link import MAX_CLIENTS, MavlinkLink
from kittiwake.adapters.mavlink.offboard import PositionTargets, attitude_target, world_yaw_rad
from kittiwake.adapters.mavlink.server import MavlinkServer, ServedSystem
from kittiwake.adapters.mavlink.world_frame import GeodeticPosition, WorldFrame
from kittiwake.core.commands import (
    AccelerationYaw,
    BodyVelocityYawRate,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import Capabilities
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.scenario.load import load_scenario
from kittiwake.world.world import Origin

ORIGIN = Origin(0.8272459, 0.1491489, 488.0)
ACCEPTED, DENIED, UNSUPPORTED = (
    d.MAV_RESULT_ACCEPTED,
    d.MAV_RESULT_DENIED,
    d.MAV_RESULT_UNSUPPORTED,
)


class Served:
    """Stepped flight with a server whose link is recorded."""

    def __init__(self, scenario):
        self.flight = SteppedFlight(scenario)
        self.link = RecordedLink()
        self.server = MavlinkServer(self.link)
        frame = WorldFrame(scenario.world.origin)
        self.server._systems = {
            number: ServedSystem(self.link, self.flight.executor, name, frame)
            for number, name in enumerate(scenario.vehicles, 1)
        }
        self.flight.executor.on_block = self.server.publish_block

    def fly(self, seconds):
        self.flight.fly(seconds)

    def send(self, message):
        """Return the answers to a message."""
        self.link.take()
        self.server._answer(SENDER, received(message))
        return self.link.take()

    def command(self, number, *given, system=1):
        """Return the result of a command, and the words that came with it."""
        numbers = [*given, *[0.0] * (7 - len(given))]
        answers = self.send(d.MAVLink_command_long_message(system, 1, number, 0, *numbers))
        (ack,) = [one for one in answers if one.get_type() == "COMMAND_ACK"]
        assert ack.command == number
        return ack.result, "".join(one.text for one in answers if one.get_type() == "STATUSTEXT")

    def latest(self, kind):
        return self.link.take(kind)[-1]

    def place_ned(self):
        at = self.server._systems[1].message("LOCAL_POSITION_NED")
        return np.array([at.x, at.y, at.z])

    @property
    def vehicle(self):
        return self.server._systems[1].vehicle

    def heartbeat(self):
        (found,) = self.server._systems[1].heartbeat()
        armed = bool(found.base_mode & d.MAV_MODE_FLAG_SAFETY_ARMED)
        return FlightMode.of(found.custom_mode >> 16 & 0xFF, found.custom_mode >> 24), armed

    def take_off(self):
        """Arm, and climb to the default height."""
        assert self.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0) == (ACCEPTED, "")
        assert self.command(d.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, nan) == (ACCEPTED, "")
        self.fly(8.0)


@pytest.fixture(scope="module")
def flights():
    made = Served(load_scenario("mavlink-drone", ["time.rate_hz=200"]))
    yield made
    made.flight.executor.__exit__()


@pytest.fixture
def served(flights):
    """The drone on the ground, disarmed, at the beginning of the flight."""
    flights.flight.begin()
    name = flights.vehicle.name
    frame = WorldFrame(flights.flight.scenario.world.origin)
    flights.server._systems = {1: ServedSystem(flights.link, flights.flight.executor, name, frame)}
    flights.fly(0.2)
    return flights


def test_a_drone_waits_on_the_ground_and_flies_only_when_it_is_armed(served):
    assert served.heartbeat() == (FlightMode.HOLD, False)
    state = served.server._systems[1].message("EXTENDED_SYS_STATE")
    assert state.landed_state == d.MAV_LANDED_STATE_ON_GROUND
    for number in (d.MAV_CMD_NAV_TAKEOFF, d.MAV_CMD_NAV_LAND, d.MAV_CMD_DO_REPOSITION):
        result, words = served.command(number, *[nan] * 7)
        assert result == DENIED
        assert "arm it first" in words


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
    assert result == DENIED
    assert "below the vehicle" in words
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


def velocity_target(vx, vy, vz, kind=d.MAV_FRAME_LOCAL_NED, mask=0b010111000111, yaw_rate=0.0):
    return d.MAVLink_set_position_target_local_ned_message(
        *(0, 1, 1, kind, mask), *(0, 0, 0, vx, vy, vz, 0, 0, 0, 0.0, yaw_rate)
    )


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


def item(number, command, x=0.0, y=0.0, z=0.0, wait_s=0.0):
    return d.MAVLink_mission_item_int_message(
        *(1, 1, number, d.MAV_FRAME_LOCAL_NED, command, 0, 1),
        *(wait_s, 0.0, 0.0, nan, round(x * 1e4), round(y * 1e4), z),
    )


def speed(number, speed_mps):
    return d.MAVLink_mission_item_int_message(
        1, 1, number, 2, d.MAV_CMD_DO_CHANGE_SPEED, 0, 1, 1.0, speed_mps, -1.0, 0.0, 0, 0, 0.0
    )


def upload(served, items):
    (request,) = served.send(d.MAVLink_mission_count_message(1, 1, len(items)))
    for one in items:
        assert request.get_type() == "MISSION_REQUEST_INT"
        assert request.seq == one.seq
        (request,) = served.send(one)
    return request


def test_a_mission_is_uploaded_downloaded_flown_and_ends_with_a_landing(served):
    items = [
        item(0, d.MAV_CMD_NAV_TAKEOFF, z=-2.0),
        speed(1, 1.5),
        item(2, d.MAV_CMD_NAV_WAYPOINT, x=4.0, z=-2.0),
        item(3, d.MAV_CMD_NAV_WAYPOINT, x=4.0, y=4.0, z=-3.0, wait_s=1.0),
        item(4, d.MAV_CMD_NAV_RETURN_TO_LAUNCH),
    ]
    assert upload(served, items).type == d.MAV_MISSION_ACCEPTED
    (count,) = served.send(d.MAVLink_mission_request_list_message(1, 1))
    assert count.count == 5
    (second,) = served.send(d.MAVLink_mission_request_int_message(1, 1, 2))
    assert (second.x, second.y, second.z) == (40000, 0, -2.0)
    assert served.command(d.MAV_CMD_MISSION_START) == (ACCEPTED, "")
    served.fly(1.0)
    # it waits to be armed
    assert served.heartbeat() == (FlightMode.MISSION, False)
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)[0] == ACCEPTED
    served.link.take()
    while served.vehicle.armed:
        served.fly(0.5)
    reached = [one.seq for one in served.link.take("MISSION_ITEM_REACHED")]
    assert reached == [0, 2, 3, 4, 4]
    assert served.vehicle.parameters["MPC_XY_CRUISE"] == 2.0
    assert served.heartbeat() == (FlightMode.HOLD, False)
    np.testing.assert_allclose(served.place_ned(), [0.0, 0.0, -0.042], atol=0.1)


def test_items_out_of_turn_are_requested_again_and_unknown_ones_refused(served):
    served.send(d.MAVLink_mission_count_message(1, 1, 2))
    (again,) = served.send(item(1, d.MAV_CMD_NAV_WAYPOINT))
    assert again.seq == 0
    (ack,) = served.send(item(0, d.MAV_CMD_DO_DIGICAM_CONTROL))
    assert ack.type == d.MAV_MISSION_UNSUPPORTED
    (ack,) = served.send(d.MAVLink_mission_count_message(1, 1, 60000))
    assert ack.type == d.MAV_MISSION_NO_SPACE
    assert served.vehicle.missions.items == ()
    result, words = served.command(d.MAV_CMD_MISSION_START)
    assert result == ACCEPTED  # a mode of a drone that is not armed
    result, words = served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
    assert "upload one" in words


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
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 0.0) == (ACCEPTED, "")
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


def test_parameters_are_listed_set_and_used(served):
    listed = served.send(d.MAVLink_param_request_list_message(1, 1))
    assert [one.param_index for one in listed] == list(range(len(listed)))
    kind = d.MAV_PARAM_TYPE_REAL32
    (one,) = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF_ALT", 4.0, kind))
    assert (one.param_id, one.param_value) == ("MIS_TAKEOFF_ALT", 4.0)
    for value in (nan, -1.0, inf):
        (text,) = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF_ALT", value, kind))
        assert "must be from 0.1" in text.text
    texts = served.send(d.MAVLink_param_set_message(1, 1, b"MIS_TAKEOFF", 4.0, kind))
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
    if kind.fieldtypes[place] != "float":
        return int(rng.choice(choices.get(name, (0, 1, 100))))
    length = kind.array_lengths[kind.ordered_fieldnames.index(name)]
    return rng.choice(NUMBERS, length).tolist() if length else float(rng.choice(NUMBERS))


def test_no_numbers_of_a_message_end_the_flight(served):
    rng = np.random.default_rng(0)
    commands = [*served.vehicle._commands, d.MAV_CMD_SET_MESSAGE_INTERVAL, d.MAV_CMD_NAV_WAYPOINT]
    for number in range(1500):
        kind = HANDLED[rng.integers(len(HANDLED))]
        served.send(kind(*(drawn(kind, name, commands, rng) for name in kind.fieldnames)))
        if number % 100 == 0:
            served.fly(0.05)
    assert np.isfinite(served.place_ned()).all()


def test_a_position_of_the_world_is_where_pyproj_says():
    pyproj = pytest.importorskip("pyproj")
    origin = (degrees(float(ORIGIN.latitude_rad)), degrees(float(ORIGIN.longitude_rad)))
    text = f"+proj=topocentric +lat_0={origin[0]} +lon_0={origin[1]} +h_0=488 +ellps=WGS84"
    pipeline = f"+proj=pipeline +step +proj=cart +ellps=WGS84 +step {text}"
    east, north, up = 120.0, -340.0, 55.0
    longitude, latitude, height = pyproj.Transformer.from_pipeline(pipeline).transform(
        east, north, up, direction="INVERSE"
    )
    found = WorldFrame(ORIGIN).geodetic(Vec3(east, north, up))
    assert found.latitude_e7 == pytest.approx(latitude * 1e7, abs=1)
    assert found.longitude_e7 == pytest.approx(longitude * 1e7, abs=1)
    assert found.altitude_m == pytest.approx(height, abs=1e-3)
    back = WorldFrame(ORIGIN).world_m(GeodeticPosition(*found))
    np.testing.assert_allclose(back.array, [east, north, up], atol=0.02)


NOW = VehicleEstimate(0.0, Start(Vec3(1.0, 2.0, 3.0), yaw_rad=0.4).kinematics())


def target(kind, mask, yaw=0.0, yaw_rate=0.0, x=(1.0, 2.0, -3.0), v=(0.1, 0.2, 0.3)):
    message = d.MAVLink_set_position_target_local_ned_message(
        *(0, 1, 1, kind, mask), *x, *v, *(0.5, 0.6, -0.7), yaw, yaw_rate
    )
    return PositionTargets(d, WorldFrame(ORIGIN)).maneuver(received(message), NOW).held


def test_targets_are_turned_into_the_axes_of_the_world():
    local, offset = d.MAV_FRAME_LOCAL_NED, d.MAV_FRAME_LOCAL_OFFSET_NED
    whole = target(local, 0, yaw=0.3, yaw_rate=0.1)
    assert isinstance(whole, PositionYaw)
    np.testing.assert_allclose(whole.position_world_m.array, [2.0, 1.0, 3.0], rtol=1e-6)
    np.testing.assert_allclose(whole.velocity_world_mps.array, [0.2, 0.1, -0.3], rtol=1e-6)
    np.testing.assert_allclose(whole.acceleration_world_mps2.array, [0.6, 0.5, 0.7], rtol=1e-6)
    assert float(whole.yaw_rad) == pytest.approx(pi / 2.0 - 0.3, abs=1e-6)
    assert float(whole.yaw_rate_radps) == pytest.approx(-0.1)
    # without a yaw the present one
    moved = target(offset, 0b110111111000)
    np.testing.assert_allclose(moved.position_world_m.array, [3.0, 3.0, 6.0], rtol=1e-6)
    assert float(moved.yaw_rad) == pytest.approx(0.4)
    assert isinstance(target(local, 0b010111000111), VelocityYawRate)
    assert isinstance(target(local, 0b100111000111), VelocityYaw)
    assert isinstance(target(local, 0b100000111111), AccelerationYaw)
    body = target(d.MAV_FRAME_BODY_NED, 0b010111000111, yaw_rate=0.2)
    assert isinstance(body, BodyVelocityYawRate)
    np.testing.assert_allclose(body.velocity_body_mps.array, [0.1, -0.2, -0.3], rtol=1e-6)
    assert float(body.yaw_rate_radps) == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("kind", "mask", "given", "words"),
    [
        (d.MAV_FRAME_LOCAL_NED, 0b110111111011, {}, "write a whole position"),
        (d.MAV_FRAME_LOCAL_NED, 0b110111111000, {"x": (nan, 0.0, 0.0)}, "position.y: got nan"),
        (d.MAV_FRAME_LOCAL_NED, 0b110111111000, {"x": (1e9, 0.0, 0.0)}, "position.y: got 1e"),
        (d.MAV_FRAME_LOCAL_NED, 0b010111000111, {"v": (inf, 0.0, 0.0)}, "velocity.y: got inf"),
        (d.MAV_FRAME_LOCAL_NED, 0b100111000111, {"yaw": nan}, "yaw: got nan"),
        (d.MAV_FRAME_MISSION, 0b110111111000, {}, "coordinate_frame 2"),
        (d.MAV_FRAME_BODY_NED, 0b110111111000, {}, "only velocities"),
    ],
)
def test_targets_that_cannot_be_flown_are_refused(kind, mask, given, words):
    with pytest.raises(CommandError, match=words):
        target(kind, mask, **given)


def thrust_target(mask, q=(1.0, 0.0, 0.0, 0.0), thrust=0.5):
    message = d.MAVLink_set_attitude_target_message(0, 1, 1, mask, q, 0.1, 0.2, 0.3, thrust)
    return attitude_target(received(message), Capabilities((), 5.0, 0.5, 0.0, 12.0))


def test_attitudes_are_turned_and_thrusts_are_shares_of_the_largest():
    level = thrust_target(0b111).held
    assert isinstance(level, ThrustAttitude)
    assert float(level.thrust_n) == pytest.approx(6.0)
    # a nose to the north
    assert float(level.q_world_from_body.to_euler().yaw_rad) == pytest.approx(pi / 2.0)
    rates = thrust_target(0b10000000).held
    assert isinstance(rates, ThrustRates)
    given = rates.angular_velocity_body_radps.array
    np.testing.assert_allclose(given, [0.1, -0.2, -0.3], rtol=1e-6)
    for wrong, words in (
        ({"mask": 0b10000111}, "write an attitude or all rates"),
        ({"mask": 0b1000000}, "needs a thrust"),
        ({"mask": 0, "thrust": nan}, "thrust: got nan"),
        ({"mask": 0, "q": (0.0, 0.0, 0.0, 0.0)}, "a quaternion of length 0"),
        ({"mask": 0, "q": (nan, 0.0, 0.0, 0.0)}, "a quaternion of length nan"),
    ):
        with pytest.raises(CommandError, match=words):
            thrust_target(**wrong)


def test_a_yaw_is_counted_from_the_north():
    assert world_yaw_rad(0.0) == pytest.approx(pi / 2.0)
    assert world_yaw_rad(pi / 2.0) == pytest.approx(0.0)


def test_a_link_ignores_what_is_no_message_and_forgets_old_clients():
    link = MavlinkLink([])
    address = ("127.0.0.1", link.port)
    rng = np.random.default_rng(0)
    clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MAX_CLIENTS + 3)]
    try:
        for size in (0, 1, 12, 280, 1500):
            clients[0].sendto(rng.bytes(size), address)
            assert link.receive(1.0) == []
        assert link._parsers == {}
        packet = d.MAVLink_param_request_list_message(1, 1).pack(d.MAVLink(None, srcSystem=255))
        clients[0].sendto(packet[:-1] + bytes([packet[-1] ^ 1]), address)
        assert link.receive(1.0) == []
        for client in clients:
            client.sendto(packet, address)
            ((_, message),) = link.receive(1.0)
            assert message.get_type() == "PARAM_REQUEST_LIST"
        assert len(link._parsers) == MAX_CLIENTS
        link.send(1, [d.MAVLink_statustext_message(6, b"to all")])
        clients[-1].settimeout(1.0)
        assert clients[-1].recv(500)
        clients[0].settimeout(0.05)
        with pytest.raises(TimeoutError):
            clients[0].recv(500)
        with pytest.raises(CommandError, match=f"port {link.port} of 127.0.0.1 cannot be opened"):
            MavlinkLink([], link.port)
    finally:
        for client in clients:
            client.close()
        link.close()
