"""Places and setpoints of MAVLink clients, in the axes of the world."""

from math import degrees, inf, nan, pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d
from tests.unit.adapters.mavlink_client import received

from kittiwake.adapters.mavlink.offboard import PositionTargets, world_yaw_rad
from kittiwake.adapters.mavlink.offboard_attitude import attitude_target
from kittiwake.adapters.mavlink.places import Places
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
from kittiwake.world.world import Origin

ORIGIN = Origin(0.8272459, 0.1491489, 488.0)


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
    places = Places(d, WorldFrame(ORIGIN), Vec3.zero())
    return PositionTargets(d, places).maneuver(received(message), NOW).held


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
        (d.MAV_FRAME_LOCAL_NED, 0b110111111000, {"x": (nan, 0.0, 0.0)}, "^x: got nan"),
        (d.MAV_FRAME_LOCAL_NED, 0b110111111000, {"x": (1e9, 0.0, 0.0)}, "^x: got 1e"),
        (d.MAV_FRAME_LOCAL_NED, 0b010111000111, {"v": (inf, 0.0, 0.0)}, "^vx: got inf"),
        (d.MAV_FRAME_LOCAL_NED, 0b100111000111, {"yaw": nan}, "yaw: got nan"),
        (d.MAV_FRAME_MISSION, 0b110111111000, {}, "coordinate_frame 2"),
        (d.MAV_FRAME_BODY_NED, 0b110111111000, {}, "only velocities"),
    ],
)
def test_targets_that_cannot_be_flown_are_refused(kind, mask, given, words):
    with pytest.raises(CommandError, match=words):
        target(kind, mask, **given)


def thrust_target(mask, q=(1.0, 0.0, 0.0, 0.0), thrust=0.5, accepted=(ThrustAttitude, ThrustRates)):
    message = d.MAVLink_set_attitude_target_message(0, 1, 1, mask, q, 0.1, 0.2, 0.3, thrust)
    return attitude_target(received(message), Capabilities(accepted, 5.0, 0.5, 0.0, 12.0))


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
        ({"mask": 0b1000000}, "thrust must not be ignored"),
        ({"mask": 0, "accepted": ()}, "no attitude controller"),
        ({"mask": 0, "thrust": nan}, "thrust: got nan"),
        ({"mask": 0, "q": (0.0, 0.0, 0.0, 0.0)}, "a quaternion of length 0"),
        ({"mask": 0, "q": (nan, 0.0, 0.0, 0.0)}, "a quaternion of length nan"),
    ):
        with pytest.raises(CommandError, match=words):
            thrust_target(**wrong)


def test_a_yaw_is_counted_from_the_north():
    assert world_yaw_rad(0.0) == pytest.approx(pi / 2.0)
    assert world_yaw_rad(pi / 2.0) == pytest.approx(0.0)
