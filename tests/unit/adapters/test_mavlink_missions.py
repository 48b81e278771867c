"""Missions of MAVLink clients."""

import numpy as np
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_flight import ACCEPTED, DENIED, item, speed, upload

from kittiwake.adapters.mavlink.dialect import FlightMode


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
    assert reached == [0, 2, 3, 4]
    assert served.vehicle.parameters["MPC_XY_CRUISE"] == 2.0
    assert served.heartbeat() == (FlightMode.HOLD, False)
    np.testing.assert_allclose(served.place_ned(), [0.0, 0.0, -0.042], atol=0.1)


def test_items_out_of_turn_are_requested_again_and_unknown_ones_refused(served):
    served.send(d.MAVLink_mission_count_message(1, 1, 2))
    (again,) = served.send(item(1, d.MAV_CMD_NAV_WAYPOINT))
    assert again.seq == 0
    ack, *_ = served.send(item(0, d.MAV_CMD_DO_DIGICAM_CONTROL))
    assert ack.type == d.MAV_MISSION_UNSUPPORTED
    (ack,) = served.send(d.MAVLink_mission_count_message(1, 1, 60000))
    assert ack.type == d.MAV_MISSION_NO_SPACE
    assert served.vehicle.missions.items == ()
    for command in ((d.MAV_CMD_MISSION_START,), (d.MAV_CMD_DO_SET_MODE, 1, 4, 4)):
        result, words = served.command(*command)
        assert result == DENIED
        assert "upload one" in words
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0) == (ACCEPTED, "")
    assert served.heartbeat() == (FlightMode.HOLD, True)
