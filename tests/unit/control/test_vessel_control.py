"""Vessel controllers: signs, limits, wrapped headings, and station keeping."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kittiwake as kw
from kittiwake.control.vessel_heading_speed import VesselHeadingSpeed
from kittiwake.control.vessel_position import VesselPosition
from kittiwake.core.commands import HeadingSpeed, PositionYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
DT_S = 0.01
angles = st.floats(-math.pi, math.pi)


def afloat(x=0.0, y=0.0, yaw=0.0, surge=0.0):
    velocity = Vec3(surge * math.cos(yaw), surge * math.sin(yaw), 0.0)
    return Start(Vec3(x, y, 0.0), yaw_rad=yaw, velocity_world_mps=velocity).kinematics()


def helm(errors, speed_error=0.0, dt_s=DT_S, **parameters):
    """Return the commands for a sequence of heading errors."""
    controller = VesselHeadingSpeed(**parameters)
    state, given = controller.init(KEY), []
    for error in errors:
        wanted = HeadingSpeed(error, 1.0 + speed_error)
        state, order = controller.step(state, (wanted, afloat(surge=1.0)), dt_s, KEY)
        given.append(order)
    return given


def course(goal, motion, **parameters):
    """Return the heading and speed towards a position."""
    wanted = PositionYaw(Vec3(*goal, 0.0), 0.0)
    return VesselPosition(**parameters).step((), (wanted, motion), DT_S, KEY)[1]


@pytest.mark.parametrize("error", [0.3, -0.3])
def test_rudder_is_put_to_the_side_of_the_wanted_heading(error):
    # no rate is known at the first error
    assert float(helm([error])[0].rudder_rad) == pytest.approx(0.5 * error, rel=1e-12)


@pytest.mark.parametrize("error", [0.01, -0.02])
def test_thrust_answers_the_speed_error(error):
    assert float(helm([0.0], error)[0].thrust_n) == pytest.approx(82.65 * error, rel=1e-9)


def test_commands_stay_within_the_actuators():
    first, second = (helm([e], s)[0] for e, s in ((3.0, 1.0), (-3.0, -1.0)))
    for order, sign in ((first, 1.0), (second, -1.0)):
        assert float(order.rudder_rad) == sign * math.radians(35.0)
        assert float(order.thrust_n) == sign * 3.0


@pytest.mark.slow
def test_changing_error_is_damped_by_the_filtered_rate():
    rate = 0.2
    orders = helm(rate * DT_S * np.arange(200), heading_gain=0.0)
    rudders = np.array([float(order.rudder_rad) for order in orders])
    # after many time constants of 47 ms the filter lags by its own; the exact filter of a staircase
    # sees the rate as x / (1 - e^-x), x = N dt
    x = 21.42 * DT_S
    assert rudders[-1] == pytest.approx(0.6 * rate * x / (1.0 - math.exp(-x)), rel=1e-9)
    assert (np.diff(rudders) > -1e-12).all()


def test_filter_is_stable_at_steps_longer_than_its_time():
    orders = helm([0.1, *[0.0] * 50], dt_s=1.0)
    assert abs(float(orders[-1].rudder_rad)) < 1e-12


def test_heading_error_that_passes_half_a_turn_gives_no_kick():
    errors = math.pi + 0.001 * np.arange(-5, 6)
    rudders = np.array([float(o.rudder_rad) for o in helm(errors, heading_gain=0.0)])
    # the rate of 0.1 rad/s goes on; a jump of a whole turn would give 80 rad
    assert (np.abs(rudders) < 0.6 * 0.11).all()


@pytest.mark.slow
@given(angles, angles)
def test_vessel_turns_the_short_way(heading, yaw):
    with jax.enable_x64(True):
        controller = VesselHeadingSpeed()
        inputs = HeadingSpeed(heading, 1.0), afloat(yaw=yaw)
        rudder = float(controller.step(controller.init(KEY), inputs, DT_S, KEY)[1].rudder_rad)
        shortest = math.remainder(heading - yaw, 2.0 * math.pi)
        if abs(abs(shortest) - math.pi) > 1e-9:
            assert rudder * shortest >= 0.0


@given(angles, st.floats(2.0, 100.0), angles)
def test_vessel_heads_for_a_distant_place_at_cruise_speed(bearing, distance, yaw):
    with jax.enable_x64(True):
        goal = 1.0 + distance * math.cos(bearing), 2.0 + distance * math.sin(bearing)
        wanted = course(goal, afloat(1.0, 2.0, yaw), cruise_speed_mps=0.8)
        off = math.remainder(float(wanted.heading_rad) - bearing, 2.0 * math.pi)
        assert off == pytest.approx(0.0, abs=1e-12)
        assert float(wanted.speed_mps) == 0.8


@pytest.mark.parametrize(("forward", "speed"), [(1.0, 0.7), (-1.0, -0.7), (0.0, 0.0)])
def test_vessel_runs_along_its_axis_to_a_near_place(forward, speed):
    yaw = 0.6
    beside = np.array([-math.sin(yaw), math.cos(yaw)])
    goal = forward * np.array([math.cos(yaw), math.sin(yaw)]) + 0.4 * beside
    wanted = course(tuple(goal), afloat(yaw=yaw))
    assert float(wanted.heading_rad) == yaw
    assert float(wanted.speed_mps) == pytest.approx(speed, abs=1e-12)


def test_speed_has_no_jump_where_holding_begins():
    inside, outside = (course((d, 0.0), afloat()).speed_mps for d in (1.4999, 1.5001))
    assert float(inside) == float(outside) == 1.0


def test_vessel_without_a_hold_radius_never_slows_down():
    for distance in (1.0, 1e-3, 0.0):
        assert float(course((distance, 0.0), afloat(), hold_radius_m=0.0).speed_mps) == 1.0


@pytest.mark.parametrize("radius", [0.0, 1.5])
def test_course_has_finite_slopes_in_the_goal(radius):
    def sums(numbers):
        start = Start(Vec3(numbers[0], numbers[1], 0.0), yaw_rad=numbers[2]).kinematics()
        wanted = course((3.0, 4.0), start, hold_radius_m=radius)
        return wanted.heading_rad + wanted.speed_mps

    for at in ([3.0, 4.0, 0.5], [3.0 + 1e-9, 4.0, 0.5]):
        assert jnp.isfinite(jax.grad(sums)(jnp.array(at))).all()


@pytest.mark.slow
@pytest.mark.parametrize("goal", [[6.0, 2.0, 0.0], [-5.0, 0.0, 0.0], [0.0, -2.0, 0.0]])
def test_strider_arrives_at_a_position_and_stops(goal):
    changes = {
        "vehicles.strider.controller": "vessel-position",
        "vehicles.strider.guidance": {"type": "hold", "position_world_m": goal},
    }
    frame = kw.load("cruise-strider", changes).run(60.0).frame("strider")
    away = np.hypot(frame["x_m"] - goal[0], frame["y_m"] - goal[1]).to_numpy()
    speed = np.hypot(frame["vx_mps"], frame["vy_mps"]).to_numpy()
    assert (away[-1000:] < 1.5).all()
    assert speed[-1000:].max() < 1e-3


@pytest.mark.slow
def test_strider_comes_back_to_its_place_in_a_current():
    changes = {
        "vehicles.strider.controller": "vessel-position",
        "vehicles.strider.guidance": {"type": "hold", "position_world_m": [4.0, 4.0, 0.0]},
        "world.current": {"type": "uniform", "speed_mps": 0.1, "towards_deg": 0},
    }
    frame = kw.load("cruise-strider", changes).run(300.0).frame("strider")
    away = np.hypot(frame["x_m"] - 4.0, frame["y_m"] - 4.0).to_numpy()[3000:]
    # it drifts out sideways with 0.1 m/s, then comes back in a loop of its turning circle's width
    assert away.max() < 1.5 + 2.0 * 1.31
    assert (away < 1.5).mean() > 0.7
