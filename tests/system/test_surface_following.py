"""Flights along surfaces by one ultrasonic sensor, against the analytic distances to them."""

import math

import numpy as np
import pytest

import kittiwake as kw

POSITION = ["x_m", "y_m", "z_m"]
HALF_SQRT_3 = math.sqrt(0.75)


def to_slope(places):
    """From the near face of the source's slab, y = tan(60 deg) z + 5/2, upwards."""
    return (2.5 - places[:, 1]) / 2.0 + HALF_SQRT_3 * places[:, 2]


def to_cylinder(places):
    return np.hypot(places[:, 1], places[:, 2] + 20.0) - 20.0


def to_ball(places):
    return np.linalg.norm(places - np.array([0.0, 0.0, -20.0]), axis=1) - 20.0


def to_parabola(places):
    # its radius of curvature is 25 m: points 1 mm apart are 2e-8 m farther at most
    y = np.linspace(0.0, 25.0, 25_001)
    square = (y - places[:, 1, None]) ** 2 + (0.02 * y * y - places[:, 2, None]) ** 2
    return np.sqrt(square.min(axis=1))


def to_waves(places):
    """From the sheet that rises by 30 deg to the north, with waves of 0.4 m and 16 m."""
    along = places[:, 1] * HALF_SQRT_3 + places[:, 2] * 0.5
    over = places[:, 2] * HALF_SQRT_3 - places[:, 1] * 0.5
    x = np.linspace(-30.0, 30.0, 30_001)
    z = 0.4 * np.sin(2.0 * np.pi / 16.0 * x)
    square = [np.min((x - a) ** 2 + (z - o) ** 2) for a, o in zip(along, over, strict=True)]
    # points 2 mm apart about a place 1 m away miss it by half the square of 1 mm
    return np.sqrt(square)


@pytest.fixture(scope="module")
def slope():
    log = kw.load("surface-following").run()
    return log, log.frame("drone")


@pytest.mark.slow
def test_the_sources_slope_is_followed_at_a_meter_with_half_a_meter_per_second(slope):
    log, frame = slope
    distance = to_slope(frame[POSITION].to_numpy())
    time_s = frame["time_s"].to_numpy()
    assert distance[0] == pytest.approx(4.11, abs=0.01)
    assert distance.min() > 0.9
    np.testing.assert_allclose(distance[time_s >= 16.0], 1.0, atol=0.02)
    uphill = frame["vy_mps"] * HALF_SQRT_3 + frame["vz_mps"] * 0.5
    assert uphill.iloc[-1] == pytest.approx(0.5, abs=0.005)
    assert np.abs(frame["vx_mps"]).max() < 1e-6
    assert [event.event for event in log.events] == ["following the surface"]


def test_its_only_range_is_new_sixteen_times_a_second_and_across_the_slope(slope):
    _, frame = slope
    assert [name for name in frame if name.startswith("sensor.") and "range" in name] == [
        "sensor.head.range_m"
    ]
    # logged at 16 Hz
    assert (frame["sensor.head.fresh"] == 1.0).all()
    assert (frame["sensor.head.valid"] == 1.0).all()
    settled = frame["time_s"] > 3.0
    # the sensor is 0.116 m nearer on a level vehicle, which flies with a pitch of 0.7 deg
    nearer = frame["setpoint.distance_m"] - frame["sensor.head.range_m"]
    np.testing.assert_allclose(nearer[settled], 0.215 * 0.5 + 0.01 * HALF_SQRT_3, atol=0.005)
    told = frame["setpoint.distance_m"][settled]
    true = to_slope(frame[POSITION].to_numpy())[settled]
    np.testing.assert_allclose(told, true, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "distance_to"),
    [
        ("surface-cylinder", to_cylinder),
        ("surface-sphere", to_ball),
        pytest.param("surface-waves", to_waves, marks=pytest.mark.slow),
        pytest.param("surface-parabola", to_parabola, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_a_curved_surface_is_followed_within_a_decimetre(name, distance_to):
    log = kw.load(name).run()
    frame = log.frame("drone")
    places, time_s = frame[POSITION].to_numpy(), frame["time_s"].to_numpy()
    distance = distance_to(places)
    assert distance[0] > 1.4
    np.testing.assert_allclose(distance[time_s >= 3.0], 1.0, atol=0.1)
    # along the surface, and at no other speed
    speed = np.linalg.norm(frame[["vx_mps", "vy_mps", "vz_mps"]], axis=1)
    events = {event.event: event.time_s for event in log.events}
    rest_s = events.get("at rest before the surface", np.inf)
    on_way = (time_s > 12.0) & (time_s < rest_s)
    np.testing.assert_allclose(speed[on_way], 0.5, atol=0.025)
    assert (frame["sensor.head.valid"] == 1.0).all()


LOCK = """
name: lock
time: {rate_hz: 160, duration_s: 90, log_rate_hz: 16}
world:
  area: {x_m: [-10, 10], y_m: [-10, 10], z_m: [0, 10]}
  obstacles:
    wall: {type: box, center_world_m: [0, 3, 5], sides_m: [20, 1, 10]}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 1.2, 5], yaw_deg: 90}
    sensors: {head: ultrasonic-head}
    controller: [{type: distance-lock, rate_hz: 16}, position]
    guidance: {type: follow-surface, sensor: head, speed_mps: 0}
"""


@pytest.mark.slow
def test_before_a_wall_the_lock_holds_a_meter(tmp_path):
    path = tmp_path / "lock.yaml"
    path.write_text(LOCK)
    frame = kw.load(path).run().frame("drone")
    distance, time_s = 2.5 - frame["y_m"].to_numpy(), frame["time_s"].to_numpy()
    # the loop's own figure is 69 s; its period is 80 s
    np.testing.assert_allclose(distance[time_s >= 75.0], 1.0, atol=0.02)
    assert (frame["sensor.head.valid"] == 1.0).all()


ERRAND = """
name: errand
time: {rate_hz: 160, duration_s: 22, log_rate_hz: 16}
world:
  area: {x_m: [-10, 10], y_m: [-10, 30], z_m: [-10, 30]}
  ground_z_m: -20
  obstacles:
    slope: {type: slab, center_world_m: [0, 3, 0], sides_m: [400, 1, 10], lean_deg: 60}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, -3, 6], yaw_deg: 90}
    sensors: {head: {type: ultrasonic-head, start_pitch_deg: 60}}
    controller: [{type: surface-following, rate_hz: 16}, position]
    guidance:
      type: mission
      steps:
        - {do: {type: goto, position_world_m: [0, 6, 3.5], speed_mps: 2}}
        - {do: {type: follow-surface, sensor: head, speed_mps: 1, give_up_s: 2}, name: along}
        - {do: hold, name: away}
      rules:
        - {when: {quantity: sensor.head.valid, below: 0.5, for_s: 4}, go_to: away, during: [along]}
"""


@pytest.mark.slow
def test_after_another_task_it_follows_the_slope_to_its_edge_and_stays_there(tmp_path):
    path = tmp_path / "errand.yaml"
    path.write_text(ERRAND)
    log = kw.load(path).run()
    frame, said = log.frame("drone"), {event.event: event.time_s for event in log.events}
    assert list(said) == [
        "began goto",
        "along: looking for the surface",
        "along: following the surface",
        "along: stays, the surface is out of sight",
        "along: lost the surface",
        "began away, because head valid is below 0.5",
        "not finished: began away, because head valid is below 0.5",
    ]
    time_s, places = frame["time_s"].to_numpy(), frame[POSITION].to_numpy()
    # the slope ends at z = 5; at a meter from it the vehicle is higher by cos(30 deg)
    on_slope = (time_s > said["along: following the surface"] + 3.0) & (places[:, 2] < 5.8)
    assert on_slope.sum() > 50
    np.testing.assert_allclose(to_slope(places)[on_slope], 1.0, atol=0.1)
    # beyond its upper edge it stays where it counted on the last reading, to within its braking
    after = places[time_s >= said["along: stays, the surface is out of sight"]]
    assert np.linalg.norm(after - after[0], axis=1).max() < 0.4
    assert np.linalg.norm(after[-1] - after[0]) < 0.05
