"""Surface following and distance lock: laws, references, signs, and flights at planes."""

import dataclasses
import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.control.distance_lock import DistanceLock
from kittiwake.control.surface_following import SurfaceFollowing
from kittiwake.core.commands import SurfaceMotion
from kittiwake.core.component import Scheduled
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.sim.fleet_builder import build_fleet

KEY = jax.random.key(0)
# of the source's controller
DT_S = 0.063
GRAVITY, MASS, MAX_THRUST = 9.81, 1.5, 28.8
BETA = math.pi / 6.0
# to the vehicle, from a slope that rises to the north, from a floor and from a wall in the north
SLOPE = Vec3(0.0, -math.sin(BETA), math.cos(BETA))
FLOOR, WALL = Vec3(0.0, 0.0, 1.0), Vec3(0.0, -1.0, 0.0)
NORTH = math.pi / 2.0


def following(**gains):
    drag = {"drag_forward_per_s": 0.25, "drag_vertical_per_s": 1.0}
    return SurfaceFollowing(MASS, MAX_THRUST, **(drag | gains))


def lock(**gains):
    return DistanceLock(MASS, MAX_THRUST, **gains)


def commanded(controller, setpoint, starts):
    """Return the last command and its roll, pitch and yaw after a step for each start."""
    state = controller.init(KEY)
    for start in starts:
        state, command = controller.step(state, (setpoint, start.kinematics()), DT_S, KEY)
    return command, command.q_world_from_body.to_euler()


def moving(x=0.0, y=0.0, z=0.0, yaw=NORTH):
    return Start(yaw_rad=yaw, velocity_world_mps=Vec3(x, y, z))


# surface following


def test_second_command_equals_the_equations_by_hand():
    setpoint = SurfaceMotion(2.0, 1.0, SLOPE, 0.5)
    starts = [moving(), moving(y=0.1, z=0.05)]
    command, angles = commanded(following(), setpoint, starts)
    pole = 2.0 * math.pi * 0.1
    closed = 1.0 - math.exp(-pole * DT_S)
    cosine, sine = math.cos(BETA), math.sin(BETA)
    # at the first step both references are where the vehicle is
    distance, speed = 2.0 - closed, 0.5 * closed
    rate, gain = pole * (1.0 - distance), pole * (0.5 - speed)
    up = speed * sine + rate / cosine
    error = (distance - 2.0) / cosine
    integral = error * DT_S / 150.0
    beyond = 1.2950 * error + 4.2775 * (up - 0.05) + integral + 1.5 * (gain * sine + up)
    assert command.thrust_n == pytest.approx(MASS * GRAVITY + beyond, rel=1e-9)
    ahead = speed * cosine - 0.1
    pitch = 0.24 * ahead + ahead * DT_S / 10.0 + (gain * cosine + 0.25 * speed * cosine) / GRAVITY
    assert angles.pitch_rad == pytest.approx(pitch, rel=1e-9)
    assert angles.roll_rad == pytest.approx(0.0, abs=1e-12)
    assert angles.yaw_rad == pytest.approx(NORTH, rel=1e-9)


def test_references_begin_where_the_vehicle_is():
    # on a slope and on its way up it: neither thrust nor tilt but those of the feed-forward
    speed = 0.5
    start = moving(y=speed * math.cos(BETA), z=speed * math.sin(BETA))
    setpoint = SurfaceMotion(1.0, 1.0, SLOPE, speed)
    command, angles = commanded(following(), setpoint, [start])
    climbing = MASS * speed * math.sin(BETA)
    assert command.thrust_n == pytest.approx(MASS * GRAVITY + climbing, rel=1e-9)
    assert angles.pitch_rad == pytest.approx(0.25 * speed * math.cos(BETA) / GRAVITY, rel=1e-9)


@pytest.mark.parametrize("away", [0.4, -0.4])
def test_thrust_closes_the_distance(away):
    setpoint = SurfaceMotion(1.0 + away, 1.0, SLOPE, 0.0)
    command, _ = commanded(following(), setpoint, [moving()] * 5)
    assert (command.thrust_n - MASS * GRAVITY) * away < 0.0


def test_below_a_ceiling_thrust_closes_the_distance_too():
    setpoint = SurfaceMotion(1.4, 1.0, -SLOPE, 0.0)
    command, _ = commanded(following(), setpoint, [moving()] * 5)
    assert command.thrust_n > MASS * GRAVITY


def test_too_fast_ahead_raises_the_nose_and_to_the_left_lowers_the_right_side():
    setpoint = SurfaceMotion(1.0, 1.0, FLOOR, 0.0)
    # ahead is north; the first step takes the present speed as its reference
    _, angles = commanded(following(), setpoint, [moving(), moving(x=-0.3, y=0.2)])
    assert angles.pitch_rad < -0.03
    assert angles.roll_rad > 0.03


def test_without_sideways_gains_there_is_no_roll():
    still = dataclasses.replace(following().sideways, proportional=0.0, integral_per_s=0.0)
    setpoint = SurfaceMotion(1.0, 1.0, FLOOR, 0.0)
    _, angles = commanded(following(sideways=still), setpoint, [moving(), moving(x=-0.3)])
    assert angles.roll_rad == pytest.approx(0.0, abs=1e-12)


def test_tilt_stays_within_fifteen_degrees():
    setpoint = SurfaceMotion(1.0, 1.0, FLOOR, 0.0)
    _, angles = commanded(following(), setpoint, [moving(), moving(x=30.0, y=-30.0)])
    np.testing.assert_allclose(
        [angles.pitch_rad, angles.roll_rad], [math.pi / 12.0, -math.pi / 12.0], rtol=1e-9
    )


@pytest.mark.parametrize("make", [following, lock])
def test_thrust_stays_what_the_rotors_can_give(make):
    for distance, limit in ((1e3, 0.0), (-1e3, MAX_THRUST)):
        setpoint = SurfaceMotion(distance, 1.0, FLOOR, 0.0)
        plain = make()
        # at once, without its low pass
        quick = (
            dataclasses.replace(plain, reference_filter_radps=100.0) if make is following else plain
        )
        command, _ = commanded(quick, setpoint, [moving()] * 3)
        assert command.thrust_n == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("make", [following, lock])
def test_yaw_goes_from_the_present_one_to_the_surface_the_short_way(make):
    setpoint = SurfaceMotion(1.0, 1.0, Vec3(1.0, 0.0, 0.0), 0.0)
    # looks west at last, which is a little more to the left than this
    _, angles = commanded(make(), setpoint, [moving(yaw=3.0)])
    assert angles.yaw_rad == pytest.approx(3.0 + (math.pi - 3.0) * DT_S, rel=1e-9)
    _, angles = commanded(make(), setpoint, [moving(yaw=-3.0)])
    assert angles.yaw_rad == pytest.approx(-3.0 - (math.pi - 3.0) * DT_S, rel=1e-9)


@pytest.mark.parametrize("make", [following, lock])
def test_heading_is_kept_over_a_level_floor(make):
    setpoint = SurfaceMotion(1.0, 1.0, FLOOR, 0.0)
    _, angles = commanded(make(), setpoint, [moving(yaw=0.7)] * 4)
    assert angles.yaw_rad == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize("make", [following, lock])
def test_thrust_is_in_proportion_to_mass(make):
    setpoint = SurfaceMotion(1.3, 1.0, SLOPE, 0.5)
    starts = [moving(), moving(z=0.2)]
    light, heavy = make(), dataclasses.replace(make(), mass_kg=3.0, max_thrust_n=60.0)
    (one, _), (other, _) = (commanded(c, setpoint, starts) for c in (light, heavy))
    assert other.thrust_n == pytest.approx(2.0 * float(one.thrust_n), rel=1e-9)


# distance lock


def test_lock_distributes_the_error_along_its_direction():
    controller = lock(direction_world=Vec3(1.0, 15.0, 2.0))
    yaw = math.atan2(15.0, 1.0)
    start = moving(x=0.1 * math.cos(yaw), y=0.1 * math.sin(yaw), z=0.02, yaw=yaw)
    setpoint = SurfaceMotion(1.5, 1.0, SLOPE, 0.0)
    command, angles = commanded(controller, setpoint, [moving(yaw=yaw), start])
    length = math.sqrt(1.0 + 225.0 + 4.0)
    # too far from a slope below: ahead and down
    up, ahead = -0.5 * 2.0 / length, 0.5 * math.sqrt(226.0) / length
    beyond = 3.0 * 1.4987 * up - 4.4987 * 0.02 + 2.0 * up * DT_S / 150.0
    assert command.thrust_n == pytest.approx(MASS * GRAVITY + beyond, rel=1e-9)
    # the high-pass filter of a speed starts with a gain of one
    pitch = 0.024 * ahead - (1.0 + 0.24) * 0.1 + 2.0 * ahead * DT_S / 1500.0
    assert angles.pitch_rad == pytest.approx(pitch, rel=1e-9)
    assert angles.yaw_rad == pytest.approx(yaw, rel=1e-9)


def test_a_slanting_lock_goes_up_to_a_ceiling():
    setpoint = SurfaceMotion(1.5, 1.0, -SLOPE, 0.0)
    command, _ = commanded(lock(direction_world=Vec3(1.0, 15.0, 2.0)), setpoint, [moving()])
    assert command.thrust_n > MASS * GRAVITY


def test_without_a_direction_the_lock_goes_straight_to_the_surface():
    straight, setpoint = lock(direction_world=-SLOPE), SurfaceMotion(1.5, 1.0, SLOPE, 0.0)
    (one, _), (other, _) = (commanded(c, setpoint, [moving()] * 2) for c in (lock(), straight))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a == pytest.approx(float(b), abs=1e-12)


def test_a_zero_direction_is_rejected():
    with pytest.raises(ValueError, match=r"is no direction.*Write \[1, 15, 2\]"):
        lock(direction_world=Vec3.zero())


# flights of the angle-velocity drone


class Measured(AbstractGuidance):
    """Guidance that gives the true distance from a plane, with a setpoint of 1 m."""

    point_world_m: Vec3
    normal_world: Vec3
    speed_along_mps: float

    def command_types(self):
        return (SurfaceMotion,)

    def step(self, state, inputs, dt_s, key):
        del dt_s, key
        away = inputs.estimate.position_world_m - self.point_world_m
        distance = away.dot(self.normal_world)
        return state, SurfaceMotion(distance, 1.0, self.normal_world, self.speed_along_mps)


def flown(controller, plane, place, duration_s, rate_hz=1000.0 / 9.0, every=7):
    """Return times and the errors of distance and velocity; seven steps of 9 ms are 63 ms."""
    text = f"""
name: slope
time: {{rate_hz: 100, duration_s: {duration_s}}}
vehicles:
  one:
    model: angle-velocity
    start: {{position_world_m: {place}, yaw_deg: 90}}
    controller: position
    guidance: hold
"""
    scenario = build(parse_document(text, "slope.yaml"), Path())
    plain = scenario.vehicles["one"]
    flying = dataclasses.replace(
        plain, guidance=Scheduled(plane), cascade=(Scheduled(controller, every),)
    )
    fleet = build_fleet(scenario.world, {"one": flying}, rate_hz)

    def seen(groups):
        truth = groups[0].truth
        one = jax.tree.map(lambda leaf: leaf[0], truth)
        distance = (one.position_world_m - plane.point_world_m).dot(plane.normal_world)
        return distance, one.velocity_world_mps, groups[0].status[0]

    steps = round(duration_s * rate_hz)
    run = eqx.filter_jit(lambda key: fleet.rollout(fleet.init(key), steps, seen)[1])
    distance, velocity, status = run(KEY)
    assert not np.asarray(status).any()
    return np.arange(1, steps + 1) / rate_hz, np.asarray(distance), velocity


@pytest.mark.slow
def test_follows_the_sources_slope_at_a_meter_with_half_a_meter_per_second():
    # the slab of 1 m across y leans by 60 deg; its near face
    plane = Measured(Vec3(0.0, 2.5, 0.0), SLOPE, 0.5)
    time_s, distance_m, velocity = flown(following(), plane, [0, -1.59, 2.39], 60.0)
    assert distance_m[0] == pytest.approx(4.11, abs=0.01)
    assert distance_m.min() > 0.65
    settled = time_s >= 50.0
    np.testing.assert_allclose(distance_m[settled], 1.0, atol=0.02)
    uphill = velocity.y * math.cos(BETA) + velocity.z * math.sin(BETA)
    assert float(uphill[-1]) == pytest.approx(0.5, abs=0.005)
    assert float(jnp.abs(velocity.x).max()) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gains", "normal", "place"),
    [
        pytest.param({}, SLOPE, [0, 0, 0.134], id="slope"),
        pytest.param({"direction_world": Vec3(1.0, 15.0, 2.0)}, WALL, [0, 1.2, 5], id="wall"),
    ],
)
def test_lock_comes_to_a_meter_from_a_plane_and_holds_it(gains, normal, place):
    plane = Measured(Vec3(0.0, 2.5, 0.0), normal, 0.0)
    time_s, distance_m, _ = flown(lock(**gains), plane, place, 110.0)
    assert distance_m[0] > 1.2
    # a wall's loop has a period of 80 s
    np.testing.assert_allclose(distance_m[time_s >= 75.0], 1.0, atol=0.02)
