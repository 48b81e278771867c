"""Messages of a flight, against numbers that are computed independently."""

import math
from pathlib import Path

import numpy as np
import pytest
from pyproj import Transformer
from scipy.spatial.transform import Rotation

from kittiwake.adapters.ros.messages.plain import clock, legal_names
from kittiwake.adapters.ros.messages.scene import obstacles
from kittiwake.adapters.ros.messages.telemetry import Telemetry, static_transforms
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.interfaces.head import HeadAngles
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.sim.record import ERRORS

FLIGHT = """\
name: for-ros
time: {rate_hz: 200, duration_s: 5}
world:
  satellites: nominal
  obstacles:
    crate: {type: box, center_world_m: [6, 0, 2], sides_m: [1, 2, 4], yaw_deg: 30}
    ball: {type: sphere, center_world_m: [0, 8, 2], radius_m: 1.5}
    mast: {type: cylinder, center_world_m: [0, -8, 3], radius_m: 0.2, height_m: 6}
    ramp: {type: plane, point_world_m: [20, 0, 0], facing_world: [-1, 0, 0]}
  platforms:
    roof: {type: fixed, position_world_m: [0, 30, 5], length_m: 4, width_m: 2}
vehicles:
  hummingbird:
    model: hummingbird
    partner: roof
    start: {position_world_m: [0, 0, 2]}
    sensors:
      imu: {type: imu, mount: {position_body_m: [0.01, 0, 0.02], pitch_deg: 90}}
      attitude: orientation
      gnss: gnss
      air: barometer
      compass: magnetometer
      lidar: {type: lidar-2d, beams: 5, field_of_view_deg: 180, mount: {yaw_deg: 90}}
      round: {type: lidar-2d, beams: 8}
      down: {type: ultrasonic, position_body_m: [0, 0, -0.1], direction_body: [0, 0, -2]}
      cone: {type: sonar-cone, half_angle_deg: 10}
      turns: {type: ultrasonic-array, scheme: front, rate_hz: 5}
      head: {type: ultrasonic-head, rate_hz: 20}
      depth: {type: range-camera, width: 4, height: 2, mount: {pitch_deg: 90}}
      slanted: {type: range-camera, width: 4, height: 2, along: ray}
      marker: {type: marker, rendered: false, gimbal: stabilised}
      deck: {type: beacon, rate_hz: 20}
      odometry: {type: barometer, rate_hz: 20}
      heights: altimeter
"""
NAME = "hummingbird"
TURNED = (0.5, -0.1, 0.7, 0.5)


@pytest.fixture(scope="module")
def scenario():
    return build(parse_document(FLIGHT, "test.yaml"), Path())


@pytest.fixture(scope="module")
def columns(scenario):
    return Simulation(scenario).program.layout.columns[NAME]


@pytest.fixture
def published(scenario, columns):
    """Return the messages, by topic, of a row with given values and new samples of all sensors."""

    def publish(settings=scenario.ros, time_s=0.0, **numbers):
        common = scenario.vehicles[NAME], columns, scenario.world, settings, 200.0
        row = made(columns, {"time_s": time_s, "qw": 1.0, "estimate.qw": 1.0, **numbers})
        row[[i for i, column in enumerate(columns) if column.endswith(".fresh")]] = 1.0
        return dict(Telemetry(NAME, *common).messages(row[None]))

    return publish


def made(columns, numbers):
    row = np.zeros(len(columns))
    for column, number in numbers.items():
        row[columns.index(column)] = number
    return row


def motion(prefix=""):
    """Return the columns of a motion whose values all differ."""
    numbers = [1.0, -2.0, 3.0, *(np.array(TURNED) / np.linalg.norm(TURNED)), 4.0, 5.0, -6.0]
    names = [prefix + name for name in STATE_COLUMNS[1:]]
    return dict(zip(names, [*numbers, 0.1, 0.2, -0.3], strict=True))


def rotation():
    w, x, y, z = TURNED
    return Rotation.from_quat([x, y, z, w])


def numbers_of(vector):
    return [vector[axis] for axis in "xyz"]


def quaternion(message):
    return Rotation.from_quat([message[part] for part in "xyzw"])


# motion


@pytest.mark.slow
def test_odometry_holds_the_estimate_in_world_axes(published):
    message = published(time_s=1.5, **motion("estimate."))["odometry"]
    assert message["header"] == {"stamp": 1_500_000_000, "frame_id": "world"}
    assert message["child_frame_id"] == NAME
    pose, twist = message["pose"]["pose"], message["twist"]["twist"]
    assert numbers_of(pose["position"]) == [1.0, -2.0, 3.0]
    assert np.allclose(quaternion(pose["orientation"]).as_matrix(), rotation().as_matrix())
    # uav_gazebo writes the upward velocity into x, and nothing into z
    assert numbers_of(twist["linear"]) == [4.0, 5.0, -6.0]
    assert np.allclose(numbers_of(twist["angular"]), rotation().apply([0.1, 0.2, -0.3]))


@pytest.mark.slow
def test_twist_can_be_in_body_axes(published):
    message = published(settings=RosSettings(twist_in="body"), **motion("estimate."))["odometry"]
    twist = message["twist"]["twist"]
    assert np.allclose(numbers_of(twist["linear"]), rotation().inv().apply([4.0, 5.0, -6.0]))
    assert numbers_of(twist["angular"]) == [0.1, 0.2, -0.3]


def test_ground_truth_differs_from_the_estimate(published):
    message = published(**motion(), **{"estimate.x_m": 9.0})["ground_truth/odometry"]
    assert numbers_of(message["pose"]["pose"]["position"]) == [1.0, -2.0, 3.0]
    assert message["child_frame_id"] == f"{NAME}/ground_truth"


def test_covariance_is_zero_without_an_estimators_covariance(published):
    message = published()["odometry"]
    assert message["pose"]["covariance"] == [0.0] * 36
    assert message["twist"]["covariance"] == [0.0] * 36


@pytest.mark.parametrize("twist_in", ["world", "body"])
def test_covariances_are_in_the_order_of_ros(scenario, columns, twist_in):
    square = np.sin(np.arange(81.0)).reshape(9, 9)
    covariance = square @ square.T
    pairs = {
        f"estimate.cov_{ERRORS[i]}_{ERRORS[j]}": covariance[i, j]
        for i in range(9)
        for j in range(i, 9)
    }
    wider = (*columns, *pairs)
    common = scenario.vehicles[NAME], wider, scenario.world, RosSettings(twist_in=twist_in), 200.0
    row = made(wider, {**motion("estimate."), **pairs})
    message = dict(Telemetry(NAME, *common).messages(row[None]))["odometry"]
    pose = np.reshape(message["pose"]["covariance"], (6, 6))
    assert np.array_equal(pose, covariance[np.ix_([0, 1, 2, 6, 7, 8], [0, 1, 2, 6, 7, 8])])
    twist = np.reshape(message["twist"]["covariance"], (6, 6))
    turn = np.eye(3) if twist_in == "world" else rotation().inv().as_matrix()
    assert np.allclose(twist[:3, :3], turn @ covariance[3:6, 3:6] @ turn.T)
    assert not twist[3:].any()
    assert not twist[:, 3:].any()


def test_vehicle_frame_follows_the_estimate(scenario, columns):
    settings = RosSettings(world_frame="map", vehicle_frame="{name}/base_link")
    common = scenario.vehicles[NAME], columns, scenario.world, settings, 200.0
    row = made(columns, motion("estimate.") | motion() | {"x_m": 7.0})
    first = Telemetry(NAME, *common).transforms(row)[0]
    assert first["header"]["frame_id"] == "map"
    assert first["child_frame_id"] == f"{NAME}/base_link"
    assert numbers_of(first["transform"]["translation"]) == [1.0, -2.0, 3.0]
    turn = quaternion(first["transform"]["rotation"])
    assert np.allclose(turn.as_matrix(), rotation().as_matrix())


def test_first_stamp_is_not_zero():
    assert clock(0.0) == {"clock": 1}
    assert clock(0.07) == {"clock": 70_000_000}


# sensors


def test_imu_message_has_readings_and_noise_covariances(published):
    force = {f"sensor.imu.specific_force_{a}_body_mps2": n for n, a in enumerate("xyz", 1)}
    rate = {f"sensor.imu.angular_velocity_{a}_body_radps": n for n, a in enumerate("xyz", 3)}
    angles = {"sensor.attitude.roll_rad": 0.1, "sensor.attitude.yaw_rad": 2.0}
    message = published(**force, **rate, **angles)["imu"]
    assert message["header"]["frame_id"] == f"{NAME}/imu"
    assert numbers_of(message["linear_acceleration"]) == [1.0, 2.0, 3.0]
    assert numbers_of(message["angular_velocity"]) == [3.0, 4.0, 5.0]
    # data sheet: 400 ug and 0.005 deg/s over the root of a hertz; half of 200 Hz is the band
    of_force = np.diag([(400e-6 * 9.80665) ** 2 * 100.0] * 3)
    assert np.allclose(message["linear_acceleration_covariance"], of_force.ravel(), rtol=1e-3)
    of_rate = np.diag([math.radians(0.005) ** 2 * 100.0] * 3)
    assert np.allclose(message["angular_velocity_covariance"], of_rate.ravel(), rtol=1e-3)
    expected = Rotation.from_euler("ZYX", [2.0, 0.0, 0.1])
    assert np.allclose(quaternion(message["orientation"]).as_matrix(), expected.as_matrix())
    assert message["orientation_covariance"][0] == pytest.approx(0.0035355**2)


def test_orientation_message_marks_other_fields_as_not_measured(published):
    message = published()["attitude"]
    assert message["angular_velocity_covariance"][0] == -1.0
    assert message["linear_acceleration_covariance"][0] == -1.0


def fix_at(x, y, z, **more):
    numbers = {"position_x_world_m": x, "position_y_world_m": y, "position_z_world_m": z, **more}
    return {f"sensor.gnss.{name}": number for name, number in numbers.items()}


def test_fix_matches_pyproj(published):
    message = published(**fix_at(1200.0, -3400.0, 56.0, valid=1.0, hdop=1.1, vdop=2.0))["gnss"]
    plane = "+proj=topocentric +ellps=WGS84 +lat_0=49.397742 +lon_0=9.545594 +h_0=300"
    steps = f"+proj=pipeline +step +inv {plane} +step +inv +proj=cart +ellps=WGS84"
    away = Transformer.from_pipeline(f"{steps} +step +proj=unitconvert +xy_in=rad +xy_out=deg")
    longitude, latitude, height = away.transform(1200.0, -3400.0, 56.0)
    # 1e-9 deg are a tenth of a millimeter
    assert message["latitude"] == pytest.approx(latitude, abs=1e-9)
    assert message["longitude"] == pytest.approx(longitude, abs=1e-9)
    assert message["altitude"] == pytest.approx(height, abs=1e-4)
    assert message["status"]["status"] == 0
    variance = 0.5888**2 + 0.002**2
    across = 0.5 * 1.1**2 * variance
    expected = np.diag([across, across, 2.0**2 * variance])
    assert np.allclose(message["position_covariance"], expected.ravel())
    assert message["position_covariance_type"] == 1


def test_lost_fix_has_status_no_fix(published):
    message = published(**fix_at(1.0, 2.0, 3.0))["gnss"]
    assert message["status"]["status"] == -1
    assert message["position_covariance_type"] == 0


def test_world_origin_takes_precedence_over_ros_origin():
    elsewhere = FLIGHT.replace("world:\n", "world:\n  origin: {latitude_deg: 47, altitude_m: 8}\n")
    flown = build(parse_document(elsewhere, "test.yaml"), Path())
    names = [f"sensor.gnss.{n}" for n in ("hdop", "vdop", "valid", "fresh")]
    names += [f"sensor.gnss.{q}_{a}_world_{u}" for q, u in (("position", "m"), ("velocity", "mps"))
              for a in "xyz"]  # fmt: skip
    motions = [p + c for p in ("", "estimate.") for c in STATE_COLUMNS[1:]]
    columns = ("time_s", *motions, *names)
    row = made(columns, {"qw": 1.0, "sensor.gnss.fresh": 1.0, "sensor.gnss.valid": 1.0})
    common = flown.vehicles[NAME], columns, flown.world, flown.ros, 200.0
    message = dict(Telemetry(NAME, *common).messages(row[None]))["gnss"]
    assert message["latitude"] == pytest.approx(47.0)
    assert message["longitude"] == pytest.approx(0.0)
    assert message["altitude"] == pytest.approx(8.0)


def test_pressure_and_magnetic_field_have_noise_variances(published):
    messages = published(
        **{"sensor.air.pressure_pa": 101300.0, "sensor.compass.magnetic_field_x_body_t": 3e-5}
    )
    assert messages["air"]["fluid_pressure"] == 101300.0
    assert messages["air"]["variance"] == pytest.approx(1.2**2)
    assert messages["compass"]["magnetic_field"]["x"] == 3e-5
    assert np.allclose(messages["compass"]["magnetic_field_covariance"], 4e-14 * np.eye(3).ravel())


def test_scan_starts_at_the_right_and_misses_are_infinite(published):
    ranges = {f"sensor.lidar.ranges_{i}_m": 1.0 + i for i in range(5)}
    valid = {f"sensor.lidar.valid_{i}": float(i != 2) for i in range(5)}
    messages = published(**ranges, **valid)
    scan = messages["lidar"]
    assert scan["ranges"] == [1.0, 2.0, math.inf, 4.0, 5.0]
    angles = scan["angle_min"] + scan["angle_increment"] * np.arange(5)
    assert np.allclose(np.degrees(angles), [-90.0, -45.0, 0.0, 45.0, 90.0], atol=1e-12)
    assert scan["angle_max"] == pytest.approx(angles[-1])
    assert (scan["range_min"], scan["range_max"], scan["scan_time"]) == (0.1, 12.0, 0.1)
    whole = messages["round"]
    assert np.degrees(whole["angle_increment"]) == pytest.approx(45.0)
    assert np.degrees(whole["angle_max"]) == pytest.approx(135.0)


@pytest.mark.slow
def test_single_ranges_are_along_the_x_axis_of_their_frame(published, scenario, columns):
    messages = published(
        **{"sensor.down.range_m": 2.0, "sensor.down.valid": 1.0, "sensor.cone.range_m": 5.0}
    )
    assert messages["down"]["range"] == 2.0
    assert messages["cone"]["range"] == math.inf
    assert np.degrees(messages["cone"]["field_of_view"]) == pytest.approx(20.0)
    frames = placements(scenario, columns)
    place, turn = frames[f"{NAME}/down"]
    assert np.allclose(place, [0.0, 0.0, -0.1])
    assert np.allclose(turn.apply([1.0, 0.0, 0.0]), [0.0, 0.0, -1.0])


def test_only_active_sensors_of_a_round_robin_publish(published):
    numbers = {"sensor.turns.active_0": 1.0, "sensor.turns.active_1": 1.0}
    messages = published(**numbers, **{"sensor.turns.ranges_1_m": 0.7, "sensor.turns.valid_1": 1.0})
    active = {topic for topic in messages if topic.startswith("turns/")}
    assert active == {"turns/front", "turns/bottom"}
    assert messages["turns/bottom"]["range"] == 0.7


def placements(scenario, columns):
    """Return position and rotation in the vehicle's frame, by child frame."""
    found = {}
    common = scenario.vehicles[NAME], scenario.ros, columns, 200.0
    for message in static_transforms(NAME, *common):
        assert message["header"]["frame_id"] == NAME
        transform = message["transform"]
        found[message["child_frame_id"]] = (
            numbers_of(transform["translation"]),
            quaternion(transform["rotation"]),
        )
    return found


def test_sensor_frames_match_the_axes_of_readings(scenario, columns):
    frames = placements(scenario, columns)
    place, turn = frames[f"{NAME}/imu"]
    assert np.allclose(place, [0.01, 0.0, 0.02])
    assert np.allclose(turn.as_matrix(), np.eye(3))
    ahead = frames[f"{NAME}/lidar"][1].apply([1.0, 0.0, 0.0])
    assert np.allclose(ahead, [0.0, 1.0, 0.0])
    # a camera that looks down: its z axis down, its y axis backwards
    picture = frames[f"{NAME}/depth/optical"][1]
    assert np.allclose(picture.apply([0.0, 0.0, 1.0]), [0.0, 0.0, -1.0])
    assert np.allclose(picture.apply([0.0, 1.0, 0.0]), [-1.0, 0.0, 0.0])
    assert np.allclose(picture.apply([1.0, 0.0, 0.0]), [0.0, -1.0, 0.0])
    left = frames[f"{NAME}/turns/left"][1].apply([1.0, 0.0, 0.0])
    assert np.allclose(left, [math.sqrt(0.5), math.sqrt(0.5), 0.0])


def test_frame_of_a_head_follows_its_beam(scenario, columns):
    numbers = {"sensor.head.pitch_rad": 0.4, "sensor.head.yaw_rad": -0.3}
    row = made(columns, {"qw": 1.0, "estimate.qw": 1.0, **numbers})
    common = scenario.vehicles[NAME], columns, scenario.world, scenario.ros, 200.0
    frames = {m["child_frame_id"]: m for m in Telemetry(NAME, *common).transforms(row)}
    turn = quaternion(frames[f"{NAME}/head"]["transform"]["rotation"])
    looks = HeadAngles(0.4, -0.3).direction_body
    assert np.allclose(
        turn.apply([1.0, 0.0, 0.0]), [float(looks.x), float(looks.y), float(looks.z)]
    )
    assert f"{NAME}/head" not in placements(scenario, columns)


def test_frame_of_a_stabilized_camera_stays_level(scenario, columns):
    row = made(columns, motion() | motion("estimate."))
    common = scenario.vehicles[NAME], columns, scenario.world, scenario.ros, 200.0
    frames = {m["child_frame_id"]: m for m in Telemetry(NAME, *common).transforms(row)}
    turn = rotation() * quaternion(frames[f"{NAME}/marker"]["transform"]["rotation"])
    assert np.allclose(turn.apply([1.0, 0.0, 0.0]), [0.0, 0.0, -1.0])
    # up in its image is ahead of the vehicle
    yaw_rad = rotation().as_euler("ZYX")[0]
    above = turn.apply([0.0, 0.0, 1.0])
    assert np.allclose(above, [math.cos(yaw_rad), math.sin(yaw_rad), 0.0])


def test_depth_of_a_plane_gives_points_on_it(published):
    far = {f"sensor.depth.depth_{v}_{u}_m": 3.0 for v in range(2) for u in range(4)}
    seen = {
        f"sensor.depth.valid_{v}_{u}": float((v, u) != (1, 2)) for v in range(2) for u in range(4)
    }
    messages = published(**far, **seen)
    image, cloud = messages["depth/depth"], messages["depth/points"]
    pixels = np.frombuffer(image["data"], "<f4").reshape(image["height"], image["width"])
    assert image["step"] == 16
    assert np.isinf(pixels[1, 2])
    assert np.count_nonzero(pixels == 3.0) == 7
    points = np.frombuffer(cloud["data"], "<f4").reshape(2, 4, 3)
    assert np.isnan(points[1, 2]).all()
    # centers of the outermost pixels are at 3/4 of half the field of view of 60 degrees
    side = 3.0 * math.tan(math.radians(30.0)) * 0.75
    assert np.allclose(points[0, 0], [3.0, side, 0.25 / 0.75 * side], rtol=1e-6)
    assert np.allclose(points[0, 3], [3.0, -side, 0.25 / 0.75 * side], rtol=1e-6)


def test_camera_info_projects_points_to_their_pixels(published):
    ahead_m = {f"sensor.depth.depth_{v}_{u}_m": 3.0 for v in range(2) for u in range(4)}
    seen = {f"sensor.depth.valid_{v}_{u}": 1.0 for v in range(2) for u in range(4)}
    messages = published(**ahead_m, **seen)
    info = messages["depth/camera_info"]
    assert info["header"] == messages["depth/depth"]["header"]
    assert (info["height"], info["width"]) == (2, 4)
    points = np.frombuffer(messages["depth/points"]["data"], "<f4").reshape(2, 4, 3)
    # to the axes of the image: x to the right, y down, z ahead
    optical = np.stack([-points[..., 1], -points[..., 2], points[..., 0]], axis=-1)
    u, v, w = np.moveaxis(optical @ np.reshape(info["k"], (3, 3)).T, -1, 0)
    np.testing.assert_allclose(u / w, np.tile(np.arange(4.0), (2, 1)), atol=1e-6)
    np.testing.assert_allclose(v / w, np.tile(np.arange(2.0)[:, None], (1, 4)), atol=1e-6)
    np.testing.assert_array_equal(np.reshape(info["p"], (3, 4))[:, :3].ravel(), info["k"])


def test_ranges_along_rays_become_depths(published):
    u, v, focal = 0, 0, 2.0 / math.tan(math.radians(30.0))
    ray = np.array([1.0, (2.0 - u - 0.5) / focal, (1.0 - v - 0.5) / focal])
    numbers = {"sensor.slanted.depth_0_0_m": 3.0 * np.linalg.norm(ray)}
    messages = published(**numbers, **{"sensor.slanted.valid_0_0": 1.0})
    points = np.frombuffer(messages["slanted/points"]["data"], "<f4").reshape(-1, 3)
    assert np.allclose(points[0], 3.0 * ray, rtol=1e-6)
    assert np.frombuffer(messages["slanted/depth"]["data"], "<f4")[0] == pytest.approx(3.0)


def test_marker_pose_is_published_only_while_seen(published):
    seen = {"sensor.marker.position_x_body_m": 1.0, "sensor.marker.yaw_body_rad": 0.5}
    assert "marker" not in published(**seen)
    message = published(**seen, **{"sensor.marker.valid": 1.0})["marker"]
    assert message["header"]["frame_id"] == NAME
    assert message["pose"]["pose"]["position"]["x"] == 1.0
    turn = quaternion(message["pose"]["pose"]["orientation"])
    assert turn.as_euler("ZYX")[0] == pytest.approx(0.5)


def test_sensor_with_a_reserved_name_gets_a_suffix(published):
    messages = published()
    assert "pose" in messages["odometry"]
    assert "fluid_pressure" in messages["odometry_sensor"]


# rates


def rows_of(columns, rate_hz, count, **numbers):
    rows = np.tile(made(columns, {"qw": 1.0, "estimate.qw": 1.0, **numbers}), (count, 1))
    rows[:, 0] = np.arange(count) / rate_hz
    return rows


@pytest.mark.parametrize("rate_hz", [200.0, 60.0])
def test_odometry_rate_is_independent_of_block_sizes(scenario, columns, rate_hz):
    settings = RosSettings(odometry_hz=rate_hz)
    common = scenario.vehicles[NAME], columns, scenario.world, settings, 1000.0
    telemetry, rows = Telemetry(NAME, *common), rows_of(columns, 1000.0, 1000)
    published = [
        one for begin in range(0, 1000, 7) for one in telemetry.messages(rows[begin : begin + 7])
    ]
    stamps = [m["header"]["stamp"] for topic, m in published if topic == "odometry"]
    assert len(stamps) == rate_hz
    assert set(np.diff(stamps).round(-6)) <= {5_000_000, 16_000_000, 17_000_000}
    assert [m["header"]["stamp"] for _, m in published] == sorted(
        m["header"]["stamp"] for _, m in published
    )


def test_each_sample_is_published_once(scenario, columns):
    rows = rows_of(columns, 1000.0, 100)
    rows[::20, columns.index("sensor.air.fresh")] = 1.0
    common = scenario.vehicles[NAME], columns, scenario.world, scenario.ros, 1000.0
    published = Telemetry(NAME, *common).messages(rows)
    stamps = [m["header"]["stamp"] for topic, m in published if topic == "air"]
    assert stamps == [1, 20_000_000, 40_000_000, 60_000_000, 80_000_000]


def test_telemetry_resets_when_time_goes_back(scenario, columns):
    common = scenario.vehicles[NAME], columns, scenario.world, RosSettings(path_hz=10.0), 1000.0
    telemetry, rows = Telemetry(NAME, *common), rows_of(columns, 1000.0, 2000)
    telemetry.messages(rows)
    published = telemetry.messages(rows[:500])
    assert next(m["header"]["stamp"] for topic, m in published if topic == "odometry") == 1
    assert max(len(m["poses"]) for topic, m in published if topic == "path") == 3


def test_path_covers_the_flight_within_its_point_limit(scenario, columns):
    settings = RosSettings(path_points=20, path_hz=1.0)
    common = scenario.vehicles[NAME], columns, scenario.world, settings, 100.0
    rows = rows_of(columns, 100.0, 10_000)
    rows[:, columns.index("x_m")] = rows[:, 0]
    published = Telemetry(NAME, *common).messages(rows)
    paths = [m["poses"] for topic, m in published if topic == "path"]
    assert max(map(len, paths)) == 20
    along = [pose["pose"]["position"]["x"] for pose in paths[-1]]
    assert along[0] == 0.0
    assert along[-1] > 90.0
    assert max(np.diff(along)) < 100.0 / 9.0


# topics and scene


def test_topics_lists_every_published_topic(scenario, columns, published):
    common = scenario.vehicles[NAME], columns, scenario.world, RosSettings(path_hz=200.0), 200.0
    telemetry = Telemetry(NAME, *common)
    rows = rows_of(columns, 200.0, 300, **{"sensor.marker.valid": 1.0})
    for place, column in enumerate(columns):
        if column.endswith(".fresh") or ".active" in column:
            rows[:, place] = 1.0
    assert {topic for topic, _ in telemetry.messages(rows)} == set(telemetry.topics)
    assert telemetry.topics["heights"] == "std_msgs/Float64MultiArray"


def test_measurements_without_a_standard_message_are_arrays_with_the_names_of_their_numbers(
    scenario, columns
):
    common = scenario.vehicles[NAME], columns, scenario.world, RosSettings(path_hz=200.0), 200.0
    rows = rows_of(columns, 200.0, 2, **{"sensor.heights.height_world_m": 5.0})
    rows[:, columns.index("sensor.heights.fresh")] = 1.0
    message = dict(Telemetry(NAME, *common).messages(rows))["heights"]
    (dimension,) = message["layout"]["dim"]
    assert dimension["label"] == "height_world_m,height_rate_world_mps"
    assert dimension["size"] == dimension["stride"] == len(message["data"]) == 2
    assert message["data"][0] == 5.0


@pytest.mark.slow
@pytest.mark.parametrize("ros", [1, 2])
def test_every_message_has_the_fields_of_its_type(scenario, columns, ros):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    from kittiwake.adapters.ros.messages.encoding import Encoding
    from kittiwake.adapters.ros.messages.plain import CLOCK, TRANSFORMS
    from kittiwake.adapters.ros.messages.scene import OBSTACLES

    encoding, rows = Encoding(ros), rows_of(columns, 200.0, 300, **{"sensor.marker.valid": 1.0})
    rows[:, [i for i, c in enumerate(columns) if c.endswith(".fresh") or ".active" in c]] = 1.0
    common = scenario.vehicles[NAME], columns, scenario.world, RosSettings(path_hz=200.0), 200.0
    telemetry = Telemetry(NAME, *common)
    published = dict(telemetry.messages(rows))
    assert published.keys() == telemetry.topics.keys()
    for topic, message in published.items():
        assert len(encoding.encoder(telemetry.topics[topic])(message)) > 8
    frames = {"transforms": telemetry.transforms(rows[0])}
    scene = obstacles(scenario.world, scenario.ros)
    for type_name, message in ((TRANSFORMS, frames), (CLOCK, clock(1.0)), (OBSTACLES, scene)):
        assert len(encoding.encoder(type_name)(message)) >= 8


def test_battery_current_is_negative_while_discharging():
    powered = """\
name: powered
time: {duration_s: 5}
vehicles:
  drone:
    model: crazyflie
    parameters: {battery: {type: lithium-polymer, cells: 1, capacity_mah: 250, resistance_ohm: 0.1}}
"""
    flown = build(parse_document(powered, "test.yaml"), Path())
    battery = {"v": 3.9, "a": 2.0, "charge": 0.5, "empty": 0.0}
    motions = [p + c for p in ("", "estimate.") for c in STATE_COLUMNS[1:]]
    columns = ("time_s", *motions, *(f"act_battery_{name}" for name in battery))
    row = made(columns, {"qw": 1.0} | {f"act_battery_{n}": value for n, value in battery.items()})
    common = flown.vehicles["drone"], columns, flown.world, flown.ros, 200.0
    message = dict(Telemetry("drone", *common).messages(row[None]))["battery"]
    assert (message["voltage"], message["current"], message["percentage"]) == (3.9, -2.0, 0.5)
    assert message["capacity"] == pytest.approx(0.25)
    assert message["charge"] == pytest.approx(0.125)
    assert math.isnan(message["temperature"])


def test_obstacles_are_markers_at_their_poses(scenario):
    markers = {m["ns"]: m for m in obstacles(scenario.world, scenario.ros)["markers"]}
    crate = markers["crate"]
    assert crate["type"] == 1
    assert numbers_of(crate["pose"]["position"]) == [6.0, 0.0, 2.0]
    assert numbers_of(crate["scale"]) == [1.0, 2.0, 4.0]
    yaw = quaternion(crate["pose"]["orientation"]).as_euler("ZYX", degrees=True)[0]
    assert yaw == pytest.approx(30.0)
    assert (markers["ball"]["type"], markers["ball"]["scale"]["x"]) == (2, 3.0)
    assert (markers["mast"]["type"], numbers_of(markers["mast"]["scale"])) == (3, [0.4, 0.4, 6.0])
    assert numbers_of(markers["roof"]["scale"])[:2] == [4.0, 2.0]
    top = markers["roof"]["pose"]["position"]["z"] + 0.5 * markers["roof"]["scale"]["z"]
    assert top == pytest.approx(5.0)
    assert len(markers["ramp"]["points"]) % 3 == 0
    assert all(m["header"]["frame_id"] == "world" for m in markers.values())


def test_legal_names_are_unique():
    assert legal_names(["uav-1", "uav_1", "gull"]) == {
        "uav-1": "uav_1",
        "uav_1": "uav_1_2",
        "gull": "gull",
    }
