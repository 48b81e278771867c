"""Missions of MAVLink clients."""

from math import inf, nan

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_flight import ACCEPTED, DENIED, item, speed, upload

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.adapters.mavlink.mission_check import ItemError, MissionCheck
from kittiwake.adapters.mavlink.places import Places
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.world.world import Origin


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


def place(number, **fields):
    """Return a waypoint above the home, some of whose fields are replaced."""
    values = {
        "frame": d.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT,
        "command": d.MAV_CMD_NAV_WAYPOINT,
        **{f"param{n}": 0.0 for n in (1, 2, 3, 4)},
        **{"x": 473977000, "y": 85456000, "z": 5.0},
        **fields,
    }
    kind, command, *parameters, x, y, z = values.values()
    return d.MAVLink_mission_item_int_message(
        1, 1, number, kind, command, 0, 1, *parameters, x, y, z
    )


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"z": nan}, d.MAV_MISSION_INVALID_PARAM7, "altitude: got nan"),
        ({"z": 1e9}, d.MAV_MISSION_INVALID_PARAM7, "altitude: got 1e+09 m"),
        ({"x": 990000000}, d.MAV_MISSION_INVALID_PARAM5_X, "latitude: got 99;"),
        ({"y": -1900000000}, d.MAV_MISSION_INVALID_PARAM6_Y, "longitude: got -190;"),
        ({"x": 0, "y": 0}, d.MAV_MISSION_INVALID_PARAM5_X, "km from the origin"),
        ({"frame": 1}, d.MAV_MISSION_INVALID_PARAM5_X, "48.16 km from the origin"),
        ({"frame": 8}, d.MAV_MISSION_UNSUPPORTED_FRAME, "frame 8: write 0 or 5"),
        ({"param1": nan}, d.MAV_MISSION_INVALID_PARAM1, "time (param1): got nan"),
        ({"param1": -2.0}, d.MAV_MISSION_INVALID_PARAM1, "must be at least 0 s"),
        ({"param4": inf}, d.MAV_MISSION_INVALID_PARAM4, "yaw: got inf"),
        (
            {"command": d.MAV_CMD_DO_CHANGE_SPEED, "param2": 1e6},
            d.MAV_MISSION_INVALID_PARAM2,
            "MPC_XY_CRUISE: got 1e+06",
        ),
        (
            {"command": d.MAV_CMD_NAV_SPLINE_WAYPOINT},
            d.MAV_MISSION_UNSUPPORTED,
            "NAV_SPLINE_WAYPOINT is not supported in missions",
        ),
    ],
)
def test_items_that_cannot_be_flown_are_refused_at_upload(served, fields, code, words):
    served.send(d.MAVLink_mission_count_message(1, 1, 1))
    ack, *texts = served.send(place(0, **fields))
    assert ack.type == code
    assert words in "".join(text.text for text in texts)
    assert served.vehicle.missions.items == ()


def test_a_vessel_is_not_given_a_mission_of_a_drone():
    frame = WorldFrame(Origin(0.8272459, 0.1491489, 488.0))
    check = MissionCheck(d, Places(d, frame, Vec3.zero()), is_vessel=True)
    for command in (d.MAV_CMD_NAV_TAKEOFF, d.MAV_CMD_NAV_LAND):
        with pytest.raises(ItemError, match="a vessel cannot fly NAV_"):
            check.check(place(0, command=command))
    check.check(place(0, command=d.MAV_CMD_NAV_RETURN_TO_LAUNCH))


def test_a_request_is_repeated_until_the_upload_is_given_up(served):
    now_s = [0.0]
    missions = served.vehicle.missions
    missions._clock = lambda: now_s[0]
    served.send(d.MAVLink_mission_count_message(1, 1, 2))
    served.send(item(0, d.MAV_CMD_NAV_WAYPOINT))
    sent = []
    for _ in range(70):
        now_s[0] += 0.1
        served.link.take()
        served.server.repeat_requests()
        sent += served.link.take()
    *requests, end = sent
    assert {one.seq for one in requests} == {1}
    assert len(requests) == pytest.approx(9, abs=1)
    assert end.type == d.MAV_MISSION_OPERATION_CANCELLED
    assert served.send(item(1, d.MAV_CMD_NAV_WAYPOINT))[0].type == d.MAV_MISSION_ERROR


def test_clients_without_integers_are_served(served):
    degrees = 47.3977, 8.5456
    served.send(d.MAVLink_mission_count_message(1, 1, 1))
    (ack,) = served.send(
        d.MAVLink_mission_item_message(1, 1, 0, 3, 16, 0, 1, 0, 0, 0, nan, *degrees, 5.0)
    )
    assert ack.type == d.MAV_MISSION_ACCEPTED
    (found,) = served.send(d.MAVLink_mission_request_message(1, 1, 0))
    assert found.get_type() == "MISSION_ITEM"
    assert (found.x, found.y, found.z) == pytest.approx((*degrees, 5.0), abs=1e-5)


def test_a_mission_goes_on_at_the_item_that_is_set(served):
    (current, *texts) = served.send(d.MAVLink_mission_set_current_message(1, 1, 3))
    assert (current.seq, current.total) == (0, 0)
    assert current.mission_state == d.MISSION_STATE_NO_MISSION
    assert "the mission has 0 items" in "".join(one.text for one in texts)
    upload(served, [item(n, d.MAV_CMD_NAV_WAYPOINT, x=4.0 * n, z=-3.0) for n in range(3)])
    (current,) = served.send(d.MAVLink_mission_set_current_message(1, 1, 2))
    assert (current.seq, current.total) == (2, 3)
    assert served.command(d.MAV_CMD_DO_SET_MISSION_CURRENT, 9)[0] == DENIED
    assert served.command(d.MAV_CMD_DO_SET_MISSION_CURRENT, 1)[0] == ACCEPTED
    served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)
    assert served.command(d.MAV_CMD_MISSION_START) == (ACCEPTED, "")
    assert served.vehicle._flown.present.item == 1
    served.fly(1.1)
    assert served.latest("MISSION_CURRENT").mission_state == d.MISSION_STATE_ACTIVE
    # in flight a mission that is cleared ends in a hold
    ack, text = served.send(d.MAVLink_mission_clear_all_message(1, 1))
    assert ack.type == d.MAV_MISSION_ACCEPTED
    assert text.text == "mission cleared: hold"
    assert served.heartbeat() == (FlightMode.HOLD, True)


def test_a_mission_can_wait_at_a_place(served):
    items = [item(0, d.MAV_CMD_NAV_LOITER_TIME, wait_s=7.0), item(1, d.MAV_CMD_NAV_LOITER_UNLIM)]
    assert upload(served, items).type == d.MAV_MISSION_ACCEPTED
    now = served.flight.executor.estimate(served.vehicle.name)
    legs = [build(now) for build in served.vehicle.planner.mission(items)]
    assert [leg.wait_s for leg in legs] == [7.0, inf]


def test_a_return_goes_up_before_it_goes_back(served):
    up, over, _ = served.vehicle.planner.way_back()
    now = VehicleEstimate(0.0, Start(Vec3(8.0, 3.0, 1.0)).kinematics())
    np.testing.assert_allclose(up(now).place_world_m.array, [8.0, 3.0, 5.1], atol=1e-6)
    higher = VehicleEstimate(0.0, Start(Vec3(8.0, 3.0, 9.0)).kinematics())
    np.testing.assert_allclose(up(higher).place_world_m.array, [8.0, 3.0, 9.0])
    np.testing.assert_allclose(over(higher).place_world_m.array, [0.0, 0.0, 9.0])


def test_a_landing_of_a_mission_is_at_its_place(served):
    items = [place(0, command=d.MAV_CMD_NAV_LAND, y=85457000), item(1, d.MAV_CMD_NAV_LAND)]
    assert upload(served, items).type == d.MAV_MISSION_ACCEPTED
    now = VehicleEstimate(0.0, Start(Vec3(8.0, 3.0, 6.0)).kinematics())
    over, _, _ = served.vehicle.planner.mission(items)
    np.testing.assert_allclose(over(now).place_world_m.array, [7.54, 0.0, 6.0], atol=0.01)
    served.send(d.MAVLink_mission_count_message(1, 1, 1))
    ack, *_ = served.send(place(0, command=d.MAV_CMD_NAV_LAND, x=990000000))
    assert ack.type == d.MAV_MISSION_INVALID_PARAM5_X
