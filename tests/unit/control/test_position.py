"""Position, velocity and acceleration controllers: their laws, and flights with them."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.control.acceleration import Acceleration
from kittiwake.control.position import Position
from kittiwake.control.velocity import Velocity
from kittiwake.core.commands import AccelerationYaw, PositionYaw, VelocityYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)


def output_of(controller, signal, start=None):
    """Return a controller's output at its first step."""
    motion = (start or Start()).kinematics()
    return controller.step(controller.init(KEY), (signal, motion), 0.01, KEY)[1]


def acceleration(controller, signal, start=None):
    return output_of(controller, signal, start).acceleration_world_mps2.array


# the laws


def test_position_law_is_that_of_an_oscillator_near_the_goal():
    law = Position(natural_frequency_radps=1.2, damping_ratio=0.8)
    start = Start(Vec3(1.0, 2.0, 3.0), velocity_world_mps=Vec3(0.1, -0.2, 0.3))
    found = acceleration(law, PositionYaw(Vec3(1.5, 1.6, 3.3), 0.7), start)
    expected = 1.44 * np.array([0.5, -0.4, 0.3]) - 1.92 * np.array([0.1, -0.2, 0.3])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_velocity_law_closes_the_error_within_its_time_constant():
    start = Start(velocity_world_mps=Vec3(1.0, 0.0, -0.5))
    found = acceleration(Velocity(0.5), VelocityYaw(Vec3(1.5, -1.0, 0.0), 0.7), start)
    np.testing.assert_allclose(found, [1.0, -2.0, 1.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("controller", "signal"),
    [
        (Position(), PositionYaw(Vec3(30.0, -40.0, 90.0), 0.7)),
        (Velocity(), VelocityYaw(Vec3(30.0, -40.0, 90.0), 0.7)),
    ],
)
def test_a_distant_setpoint_is_limited_in_length_not_in_direction(controller, signal):
    found = acceleration(controller, signal)
    across = np.linalg.norm(found[:2])
    assert across == pytest.approx(4.0, abs=1e-12) or across < 4.0
    np.testing.assert_allclose(found[:2] / across, [0.6, -0.8], rtol=0, atol=1e-12)
    assert 0.0 < found[2] <= 4.0
    assert float(output_of(controller, signal).yaw_rad) == 0.7


def test_integral_sums_the_velocity_error_and_stands_still_where_the_command_is_cut():
    law = Position(integral_gain_per_s2=0.5)
    state = law.init(KEY)
    far = (PositionYaw(Vec3(100.0, 0.0, 0.0), 0.0), Start().kinematics())
    near = (PositionYaw(Vec3(0.2, 0.0, 0.0), 0.0), Start().kinematics())
    cut, _ = law.step(state, far, 0.01, KEY)
    np.testing.assert_array_equal(cut.integral_world_mps2.array, 0.0)
    grown, _ = law.step(state, near, 0.01, KEY)
    # 0.75 per second of 0.2 m
    expected = [0.5 * 0.75 * 0.2 * 0.01, 0.0, 0.0]
    np.testing.assert_allclose(grown.integral_world_mps2.array, expected, rtol=0, atol=1e-16)


def test_integral_never_exceeds_the_limits():
    law = Position(integral_gain_per_s2=1e3)
    inputs = (PositionYaw(Vec3(0.5, -0.5, 0.5), 0.0), Start().kinematics())
    state = law.init(KEY)
    for _ in range(5):
        state, found = law.step(state, inputs, 1.0, KEY)
        kept = state.integral_world_mps2.array
        assert np.linalg.norm(kept[:2]) <= 4.0 + 1e-12
        assert abs(kept[2]) <= 4.0
        assert jnp.isfinite(found.acceleration_world_mps2.array).all()


def push(thrust_attitude):
    """Return the world force of thrust along the body's z axis."""
    z_body = thrust_attitude.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
    return (z_body * thrust_attitude.thrust_n).array


@pytest.mark.parametrize("yaw", [-math.pi, -2.0, 0.0, 0.7, 3.0, math.pi])
@pytest.mark.parametrize("wanted", [(0.0, 0.0, 0.0), (2.0, -1.5, 3.0), (-2.0, 2.0, -4.0)])
def test_thrust_and_attitude_give_the_acceleration_and_the_yaw(wanted, yaw):
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0)
    found = output_of(law, AccelerationYaw(Vec3(*wanted), yaw))
    expected = 1.5 * (np.array(wanted) + np.array([0.0, 0.0, 9.81]))
    np.testing.assert_allclose(push(found), expected, rtol=0, atol=1e-13)
    x_body = found.q_world_from_body.rotate(Vec3(1.0, 0.0, 0.0))
    turned = math.atan2(x_body.y, x_body.x) - yaw
    assert math.remainder(turned, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-13)


def test_tilt_is_limited_and_the_vertical_force_kept():
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0, max_tilt_rad=0.4)
    force = push(output_of(law, AccelerationYaw(Vec3(30.0, 40.0, 1.0), 0.3)))
    assert force[2] == pytest.approx(1.5 * 10.81, abs=1e-12)
    assert math.hypot(*force[:2]) / force[2] == pytest.approx(math.tan(0.4), abs=1e-12)
    assert force[1] / force[0] == pytest.approx(4.0 / 3.0, abs=1e-12)


@pytest.mark.parametrize("down", [-9.81, -12.0, -1e6])
@pytest.mark.parametrize("across", [0.0, 1.0, 1e6])
def test_a_downward_force_gives_the_least_thrust_and_a_bounded_tilt(down, across):
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0, min_thrust_n=0.5)
    found = output_of(law, AccelerationYaw(Vec3(across, 0.0, down), 0.3))
    z_body = found.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
    assert float(found.thrust_n) == 0.5
    assert math.acos(min(1.0, float(z_body.z))) <= 0.6 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    "wanted", [(0.0, 0.0, 0.0), (0.0, 0.0, -9.81), (0.0, 0.0, -20.0), (50.0, 0.0, -9.0)]
)
def test_gradients_are_finite_where_the_direction_is_undefined(wanted):
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0)

    def numbers(a):
        found = output_of(law, AccelerationYaw(Vec3.of(a[:3]), a[3]))
        return jnp.append(found.q_world_from_body.array, found.thrust_n)

    assert jnp.isfinite(jax.jacrev(numbers)(jnp.array([*wanted, 0.3]))).all()


def test_attitude_is_continuous_where_yaw_wraps():
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0)
    start = Start(yaw_rad=3.1)
    one, other = (
        output_of(law, AccelerationYaw(Vec3(1.0, 2.0, 0.0), yaw), start).q_world_from_body
        for yaw in (math.pi - 1e-9, -math.pi + 1e-9)
    )
    np.testing.assert_allclose(one.array, other.array, rtol=0, atol=2e-9)


@pytest.mark.parametrize("yaw", np.linspace(-math.pi, math.pi, 9))
@pytest.mark.parametrize("present", [-9.0, -3.0, 0.0, 2.0, 7.0])
def test_the_commanded_quaternion_has_the_sign_of_the_present_one(yaw, present):
    law = Acceleration(mass_kg=1.5, max_thrust_n=40.0)
    start = Start(yaw_rad=present)
    found = output_of(
        law, AccelerationYaw(Vec3(1.0, 2.0, 0.0), float(yaw)), start
    ).q_world_from_body
    now = start.kinematics().q_world_from_body
    assert float(now.array @ found.array) >= 0.0


# flights of the angle-velocity drone


def flight(duration_s, **values):
    """Return a log of the drone with a row per step of 5 ms; two underscores are a dot."""
    wide = {"x_m": [-200, 200], "y_m": [-200, 200], "z_m": [-50, 200]}
    paths = {key.replace("__", "."): value for key, value in values.items()}
    overrides = {"world.area": wide, "time.log_rate_hz": 200, **paths}
    log = kw.load("hover-angle-velocity", overrides).run(duration_s)
    assert log.summary["vehicles"]["drone"]["valid"]
    return log.frame("drone")


def offset(frame):
    """Return the drone's position relative to its setpoint."""
    return np.column_stack(
        [frame[f"{axis}_m"] - frame[f"setpoint.position_{axis}_world_m"] for axis in "xyz"]
    )


START = "vehicles__drone__start__position_world_m"
GUIDANCE = "vehicles__drone__guidance"
CONTROLLER = "vehicles__drone__controller"
INTEGRAL = {"type": "position", "integral_gain_per_s2": 1.0}
# 5.5 m/s at a height of 10 m
WIND = {"world__wind": {"type": "shear", "speed_at_6m_mps": 5, "from_deg": 30}}


def damped(drag_per_s, time_s):
    """Return the ideal response from 1 m of w^2 e - (2 w + drag) v, for w = 1.5."""
    half = 1.5 + drag_per_s / 2.0
    root = math.sqrt(half**2 - 1.5**2)
    slow, fast = half - root, half + root
    return (fast * np.exp(-slow * time_s) - slow * np.exp(-fast * time_s)) / (fast - slow)


@pytest.mark.parametrize(("axis", "drag_per_s"), [(0, 0.28), (1, 0.35), (2, 1.0)])
def test_step_of_a_meter_is_answered_without_overshoot(axis, drag_per_s):
    start = [0.0, 0.0, 10.0]
    start[axis] += 1.0
    path = offset(flight(8.0, **{START: start}))[:, axis]
    assert path.min() > 0.0
    # the attitude lags 0.05 s behind, at speeds up to 0.55 m/s, and the damping makes up for half
    np.testing.assert_allclose(path, damped(drag_per_s, 0.005 * np.arange(1601)), atol=0.02)


@pytest.mark.slow
def test_step_of_a_meter_is_critically_damped_without_drag():
    free = {f"drag_{axis}_per_s": 0.0 for axis in ("forward", "sideways", "vertical")}
    path = offset(flight(8.0, vehicles__drone__parameters=free))[:, 0]
    assert path.min() > -0.01
    time_s = 0.005 * np.arange(1601)
    ideal = (1.0 + 1.5 * time_s) * np.exp(-1.5 * time_s)
    np.testing.assert_allclose(path, ideal, atol=0.03)


@pytest.mark.slow
def test_position_is_held_in_wind_with_the_integral():
    path = offset(flight(20.0, **WIND, **{CONTROLLER: INTEGRAL}))
    assert np.linalg.norm(path[-200:], axis=1).max() < 0.005


def test_wind_leaves_an_offset_without_the_integral():
    away = np.linalg.norm(offset(flight(20.0, **WIND))[-1, :2])
    # drag of 0.28 to 0.35 of 5.5 m/s against w^2 = 2.25 of the offset; the tilt adds a tenth
    assert 0.28 * 5.5 / 2.25 < away < 1.1 * 0.35 * 5.6 / 2.25


@pytest.mark.parametrize(("controller", "overshoot_m"), [("position", 0.01), (INTEGRAL, 0.3)])
def test_a_far_goal_is_reached_at_the_speed_limit_with_little_overshoot(controller, overshoot_m):
    frame = flight(40.0, **{START: [80.0, 60.0, 60.0], CONTROLLER: controller})
    path = offset(frame)
    speed = np.linalg.norm(frame[["vx_mps", "vy_mps", "vz_mps"]], axis=1)
    assert np.isfinite(frame.to_numpy()).all()
    # drag reduces the speed by a few tenths unless the integral compensates it; and then it must be
    # forgotten while braking
    assert 4.0 < speed.max() < 5.05
    assert path.min() > -overshoot_m
    assert np.linalg.norm(path[-1]) < 0.01


@pytest.mark.parametrize("controller", ["position", INTEGRAL], ids=["plain", "integral"])
def test_excessive_wind_saturates_without_nan(controller):
    gale = {"world__wind": {"type": "shear", "speed_at_6m_mps": 25, "from_deg": 30}}
    frame = flight(6.0, **gale, **{CONTROLLER: controller})
    assert np.isfinite(frame.to_numpy()).all()
    tilt = np.arccos(1.0 - 2.0 * (frame["qx"] ** 2 + frame["qy"] ** 2))
    assert 0.3 < tilt.max() <= 0.6 + 1e-9


@pytest.mark.slow
def test_velocity_is_followed_within_its_time_constant():
    hold = {"type": "hold", "velocity_world_mps": [1.0, 0.5, 0.2]}
    frame = flight(4.0, **{GUIDANCE: hold, CONTROLLER: "velocity"})
    velocity = frame[["vx_mps", "vy_mps", "vz_mps"]].to_numpy()
    # drag of C per second leaves T C / (1 + T C): 10 % forwards, 12 % sideways, 29 % upwards
    left = 0.4 * np.array([0.28, 0.35, 1.0])
    # a tilt of 2 deg leaves less than 0.01 m/s
    np.testing.assert_allclose(velocity[-1], [1.0, 0.5, 0.2] / (1.0 + left), rtol=0, atol=0.01)
    reached_s = 0.005 * np.flatnonzero(velocity[:, 0] > 0.63 * velocity[-1, 0])[0]
    # the attitude's lag comes on top of the time constant, drag shortens it
    assert reached_s == pytest.approx(0.4 / (1.0 + left[0]) + 0.047, abs=0.05)


@pytest.mark.parametrize("gravity_mps2", [1.62, pytest.param(3.71, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_hover_keeps_its_height_under_any_gravity(gravity_mps2):
    vehicles = {"crazyflie": 500, "rigid-body": 500, "angle-velocity": 200}
    for name, rate_hz in vehicles.items():
        changes = {
            "world.gravity_mps2": gravity_mps2,
            "time": {"rate_hz": rate_hz, "duration_s": 4},
            f"vehicles.{'drone' if name == 'angle-velocity' else name}": {
                "model": name,
                "start": {"position_world_m": [0, 0, 10]},
                "guidance": {"type": "hold"},
                **({"parameters": {"landing_gear": None}} if name == "crazyflie" else {}),
            },
        }
        log = kw.load(f"hover-{name}", changes).run()
        # what believes in 9.81 m/s^2 rises out of the flight area
        assert np.abs(log.frame(log.names[0])["z_m"] - 10.0).max() < 0.01, name


@pytest.mark.slow
def test_uav_gazebo_goes_to_its_place_without_swinging():
    hold = {"type": "hold", "position_world_m": [1.0, 0.0, 10.0]}
    changes = {
        "vehicles.uav-gazebo.guidance": hold,
        "vehicles.uav-gazebo.parameters.landing_gear": None,
    }
    frame = kw.load("hover-uav-gazebo", changes).run(15).frame("uav-gazebo")
    time_s, x, speed = (frame[name].to_numpy() for name in ("time_s", "x_m", "vx_mps"))
    assert x.max() < 1.0
    fastest = int(speed.argmax())
    assert (np.diff(speed[: fastest + 1]) >= 0.0).all()
    assert (np.diff(speed[fastest:]) <= 0.0).all()
    # docs/uav-gazebo.md says 7.7 s
    assert time_s[np.abs(x - 1.0) > 0.02].max() == pytest.approx(7.7, abs=0.05)
