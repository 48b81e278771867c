"""Flight with a server of MAVLink, and the messages of a client."""

from math import nan

import numpy as np
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_client import SENDER, RecordedLink, received
from tests.unit.runtime.stepped_flight import SteppedFlight

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.server import MavlinkServer

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
        self.server.use(self.flight.executor)
        self.flight.executor.on_block = self.server.publish_block

    def fly(self, seconds):
        self.flight.fly(seconds)

    def send(self, message):
        """Return the answers to a message."""
        self.link.take()
        self.server.answer(SENDER, received(message))
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


def velocity_target(vx, vy, vz, kind=d.MAV_FRAME_LOCAL_NED, mask=0b010111000111, yaw_rate=0.0):
    return d.MAVLink_set_position_target_local_ned_message(
        *(0, 1, 1, kind, mask), *(0, 0, 0, vx, vy, vz, 0, 0, 0, 0.0, yaw_rate)
    )


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
