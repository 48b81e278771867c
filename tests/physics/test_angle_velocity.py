"""The angle-velocity drone: its source's figures, its equations, and what physics asks of it."""

import dataclasses
import math
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.pelican_dynamics import ALOFT, about_z, around, rows_of

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.position import Position
from kittiwake.core.commands import PositionYaw, ThrustAttitude
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.angle_velocity import AngleVelocity
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES

DT_S = 0.005
TAU_S = 0.0474561
HOVER_N = 1.5 * 9.81
DEGREE = math.pi / 180.0


@cache
def drone(**parameters):
    """The drone of the data file, with parameters changed."""
    return build_component(
        AngleVelocity, {**VEHICLES.find("angle-velocity").parameters(), **parameters}, str
    )


@eqx.filter_jit
def _flown(model, state, rows, wind, dt_s):
    def step(state, row):
        command = ThrustAttitude(row[0], Quaternion.from_euler(EulerZYX(*row[1:])))
        later = model.step(state, command, around(wind), dt_s, jax.random.key(0))
        return later, model.kinematics(later)

    first, rest = model.kinematics(state), jax.lax.scan(step, state, rows)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.atleast_1d(a), b]), first, rest)


def commands(steps, **given):
    """Rows of thrust and angles, level at hover unless given."""
    values = {"thrust_n": HOVER_N, "roll_rad": 0.0, "pitch_rad": 0.0, "yaw_rad": 0.0, **given}
    return np.column_stack([np.broadcast_to(np.asarray(v, float), steps) for v in values.values()])


def fly(rows, start=None, wind=None, dt_s=DT_S, model=None):
    """The motion at the start and after each row's step."""
    model = drone() if model is None else model
    state = model.init((start or Start(ALOFT)).kinematics(), around())
    state, wind = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), (state, wind or Vec3.zero()))
    return _flown(model, state, jnp.asarray(rows), wind, dt_s)


# what the source's figures show


@pytest.mark.parametrize("angle", ["roll_rad", "pitch_rad"])
def test_an_angle_answers_a_step_of_35_degrees_as_in_figure_5_4(angle):
    # FRD pitches up by positive angles, FLU down; the lag is the same
    motion = fly(commands(500, **{angle: -35.0 * DEGREE}), dt_s=0.001)
    share = getattr(motion.euler_world_from_body, angle) / (-35.0 * DEGREE)
    time_s = 0.001 * np.arange(501)
    assert np.interp(0.63, share, time_s) == pytest.approx(0.0475, abs=0.005)
    assert 0.18 < np.interp(0.98, share, time_s) < 0.25
    assert (share[time_s >= 0.19] >= 0.98).all()
    assert (share <= 1.0).all()


def test_a_step_of_5_ms_closes_a_tenth_of_the_gap():
    pitch = fly(commands(40, pitch_rad=0.3)).euler_world_from_body.pitch_rad
    np.testing.assert_allclose(pitch, 0.3 * (1.0 - 0.9 ** np.arange(41)), rtol=0, atol=1e-14)


def test_speed_after_a_step_of_pitch_is_that_of_the_source():
    # -24.6 deg in FRD is nose down, in FLU a positive pitch
    motion = fly(commands(6000, pitch_rad=24.6 * DEGREE))
    speed = motion.velocity_body_mps.x
    end = 9.81 * math.sin(24.6 * DEGREE) / 0.28
    # the lag of the angle costs g sin(theta) tau = 0.19 m/s at first, little of it is left
    assert float(speed[1740]) == pytest.approx(13.3, rel=0.01)
    assert float(speed[-1]) == pytest.approx(end, rel=1e-3)
    assert (np.diff(speed) > 0.0).all()


def test_level_drone_in_a_wind_ends_with_the_speed_of_the_air():
    wind = Vec3(4.0, -3.0, 0.0)
    motion = fly(commands(4000, yaw_rad=0.7), Start(ALOFT, yaw_rad=0.7), wind)
    velocity = rows_of(motion.velocity_world_mps)
    t = DT_S * np.arange(4001)
    # the two drags act along the body's axes: each component decays by its own rate
    to_body = about_z(-0.7)
    expected = (to_body @ wind.array)[:, None] * (
        1.0 - np.exp(-np.array([0.28, 0.35, 1.0])[:, None] * t)
    )
    # Heun's rule leaves (C dt)^2 / 6 of 5 m/s
    np.testing.assert_allclose(velocity @ to_body.T, expected.T, rtol=0, atol=1e-6)
    assert np.linalg.norm(velocity[-1] - wind.array) < 0.02


def test_thrust_of_the_weight_keeps_the_height():
    motion = fly(commands(2000))
    np.testing.assert_allclose(motion.position_world_m.z, 500.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        rows_of(motion.specific_force_body_mps2)[-1], [0.0, 0.0, 9.81], rtol=0, atol=1e-12
    )


def test_more_thrust_climbs_towards_the_speed_of_linear_drag():
    speed = fly(commands(2000, thrust_n=HOVER_N + 3.0)).velocity_world_mps.z
    expected = 3.0 / 1.5 * (1.0 - np.exp(-DT_S * np.arange(2001)))
    # Heun's rule leaves (C dt)^2 / 6 of 2 m/s
    np.testing.assert_allclose(speed, expected, rtol=0, atol=1e-5)


# the equations


ANYHOW = Start(ALOFT, 0.3, -0.25, 0.8, Vec3(3.0, -2.0, 1.5), Vec3(0.1, 0.2, 0.3))


def test_velocity_in_body_axes_obeys_the_equations_of_the_source():
    dt_s, thrust_n, wind = 1e-5, 17.0, Vec3(1.0, 2.0, -0.5)
    motion = fly(
        commands(2, thrust_n=thrust_n, roll_rad=-0.2, pitch_rad=0.3, yaw_rad=1.2),
        *(ANYHOW, wind, dt_s),
    )
    frd = rows_of(motion.velocity_body_mps) * np.array([1.0, -1.0, -1.0])
    derivative = (frd[2] - frd[0]) / (2.0 * dt_s)
    now = jax.tree.map(lambda leaf: float(leaf[1]), motion)
    u, v, w = frd[1]
    p, q, r = dataclasses.astuple(swap_flu_frd(now.angular_velocity_body_radps))
    phi, theta = now.euler_world_from_body.roll_rad, -now.euler_world_from_body.pitch_rad
    air = swap_flu_frd(now.q_world_from_body.inverse().rotate(wind))
    deviation = thrust_n - HOVER_N
    expected = [
        -9.81 * math.sin(theta) - 0.28 * (u - air.x) + r * v - q * w,
        9.81 * math.sin(phi) * math.cos(theta) - 0.35 * (v - air.y) + p * w - r * u,
        -deviation / 1.5 - (w - air.z) + q * u - p * v,
    ]
    # central differences over 1e-5 s of a motion that changes within 0.05 s
    np.testing.assert_allclose(derivative, expected, rtol=0, atol=1e-3)


def test_the_rates_are_those_at_which_the_attitude_turns():
    dt_s = 1e-5
    motion = fly(commands(2, roll_rad=-0.2, pitch_rad=0.3, yaw_rad=1.2), ANYHOW, dt_s=dt_s)
    before, now, after = (
        jax.tree.map(lambda leaf, i=i: leaf[i], motion.q_world_from_body) for i in range(3)
    )
    turned = before.inverse() * after
    found = turned.vector * (2.0 / (2.0 * dt_s))
    expected = jax.tree.map(lambda leaf: leaf[1], motion.angular_velocity_body_radps)
    assert float(now.norm()) == pytest.approx(1.0, abs=1e-14)
    # rates near 10 rad/s that change within 0.05 s, and rounding of 1e-16 / 1e-5
    np.testing.assert_allclose(found.array, expected.array, rtol=0, atol=1e-5)


def test_the_specific_force_is_the_acceleration_less_gravity():
    dt_s = 1e-5
    motion = fly(commands(1, thrust_n=17.0, roll_rad=0.2), ANYHOW, Vec3(1.0, 2.0, -0.5), dt_s)
    velocity = rows_of(motion.velocity_world_mps)
    force = Vec3.of((velocity[1] - velocity[0]) / dt_s) + Vec3(0.0, 0.0, 9.81)
    q = jax.tree.map(lambda leaf: leaf[0], motion.q_world_from_body)
    # the axes turn by 1e-4 rad in the step, on 10 m/s^2
    found = rows_of(motion.specific_force_body_mps2)[1]
    np.testing.assert_allclose(found, q.inverse().rotate(force).array, rtol=0, atol=2e-3)


@pytest.mark.parametrize(
    ("yaw", "wanted", "turn"), [(3.0, -3.0, 0.28318530718), (-3.0, 3.0, -0.28318530718)]
)
def test_yaw_turns_the_short_way(yaw, wanted, turn):
    found = fly(commands(200, yaw_rad=wanted), Start(ALOFT, yaw_rad=yaw))
    angles = found.euler_world_from_body.yaw_rad - yaw
    assert float(angles[-1]) == pytest.approx(turn, abs=1e-8)
    assert float(jnp.abs(angles).max()) <= abs(turn) + 1e-10


def test_yaw_turns_at_its_limit_until_the_gap_is_short():
    yaw = fly(commands(200, yaw_rad=2.0)).euler_world_from_body.yaw_rad
    t, limit = DT_S * np.arange(201), 500.0 * DEGREE
    bend_s = 2.0 / limit - TAU_S
    left = np.where(t < bend_s, 2.0 - limit * t, limit * TAU_S * np.exp(-(t - bend_s) / TAU_S))
    # the time constant is rounded to 1e-7
    np.testing.assert_allclose(yaw, 2.0 - left, rtol=0, atol=1e-6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rate_limit_of_roll_and_pitch_holds_both_ways_where_it_is_given(sign):
    slow = drone(max_tilt_rate_radps=100.0 * DEGREE)
    motion = fly(commands(200, pitch_rad=sign * 35.0 * DEGREE), model=slow)
    pitch = motion.euler_world_from_body.pitch_rad
    peak = np.abs(np.diff(pitch)).max() / DT_S
    assert peak == pytest.approx(100.0 * DEGREE, abs=1e-9)
    # 30.3 deg straight, then 2.9 time constants: not the 0.2 s of figure 5-4
    assert 0.38 < np.interp(0.98, sign * pitch / (35.0 * DEGREE), DT_S * np.arange(201)) < 0.41


# what physics asks


def gusty(steps):
    """Commands on all four channels."""
    t = np.linspace(0.0, 4.0, steps, endpoint=False)
    return commands(
        steps,
        thrust_n=HOVER_N + 3.0 * np.sin(4.0 * t),
        roll_rad=0.4 * np.sin(3.0 * t),
        pitch_rad=0.4 * np.cos(2.0 * t),
        yaw_rad=2.0 * np.sin(1.5 * t),
    )


@pytest.mark.parametrize("angle", [0.5, 2.0, -3.0])
def test_flight_turns_with_the_world(angle):
    position, velocity, wind = Vec3(3.0, -1.0, 500.0), Vec3(2.0, 1.0, -0.5), Vec3(1.0, 2.0, 0.3)
    rows = gusty(800)
    plain = fly(rows, Start(position, 0.1, -0.2, 0.4, velocity), wind)
    turn = about_z(angle)
    position, velocity, wind = (Vec3.of(turn @ v.array) for v in (position, velocity, wind))
    turned = rows + np.array([0.0, 0.0, 0.0, angle])
    other = fly(turned, Start(position, 0.1, -0.2, 0.4 + angle, velocity), wind)
    # rounding over 800 steps of a stable flight
    for name in ("position_world_m", "velocity_world_mps"):
        expected = rows_of(getattr(plain, name)) @ turn.T
        np.testing.assert_allclose(rows_of(getattr(other, name)), expected, rtol=0, atol=1e-9)
    for name in ("velocity_body_mps", "angular_velocity_body_radps", "specific_force_body_mps2"):
        pair = (rows_of(getattr(motion, name)) for motion in (other, plain))
        np.testing.assert_allclose(*pair, rtol=0, atol=1e-9)


def test_drag_never_adds_energy_in_still_air():
    draws = np.random.default_rng(2).uniform(-1.0, 1.0, (400, 6))
    numbers = draws * np.array([1.5, 1.5, 3.0, 15.0, 15.0, 15.0])

    def power_per_mass(row):
        start = Start(ALOFT, *row[:3], Vec3.of(row[3:]))
        model = drone()
        free = dataclasses.replace(
            model, drag_forward_per_s=0.0, drag_sideways_per_s=0.0, drag_vertical_per_s=0.0
        )
        force, dragless = (
            m.init(start.kinematics(), around()).specific_force_body_mps2 for m in (model, free)
        )
        return start.kinematics().velocity_body_mps.dot(force - dragless)

    power = jax.jit(jax.vmap(power_per_mass))(numbers)
    square = (numbers[:, 3:] ** 2).sum(axis=1)
    # between the shares of the weakest and of the strongest drag
    assert (power <= -0.28 * square * (1.0 - 1e-12)).all()
    assert (power >= -1.0 * square * (1.0 + 1e-12)).all()


def test_turning_does_no_work():
    free = drone(drag_forward_per_s=0.0, drag_sideways_per_s=0.0, drag_vertical_per_s=0.0)
    level = commands(400, yaw_rad=np.linspace(0.0, 4.0, 400))
    start = Start(ALOFT, velocity_world_mps=Vec3(5.0, 2.0, 0.0))
    velocity = rows_of(fly(level, start, model=free).velocity_world_mps)
    np.testing.assert_allclose(velocity, velocity[[0]].repeat(401, 0), rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("integrator", "order"), [("euler", 1), ("semi-implicit-euler", 1), ("heun", 2), ("rk4", 4)]
)
def test_shorter_steps_converge_to_one_flight(integrator, order):
    def end(steps, kind):
        # constant commands that keep clear of the yaw limit's bend, whose place no step hits
        rows = commands(steps, thrust_n=16.0, roll_rad=0.3, pitch_rad=-0.2, yaw_rad=0.3)
        motion = fly(rows, None, Vec3(2.0, -1.0, 0.3), 1.0 / steps, drone(integrator=kind))
        return np.concatenate(
            [rows_of(motion.position_world_m)[-1], rows_of(motion.velocity_world_mps)[-1]]
        )

    exact = end(3200, "rk4")
    errors = [np.abs(end(steps, integrator) - exact).max() for steps in (100, 200)]
    # halving the step divides the error by two to the order
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert errors[1] < {1: 0.02, 2: 2e-4, 4: 1e-6}[order]


def test_angles_do_not_depend_on_the_step():
    ends = [
        fly(commands(steps, roll_rad=0.3, yaw_rad=2.5), dt_s=0.4 / steps).euler_world_from_body
        for steps in (4, 80, 1000)
    ]
    for name in ("roll_rad", "yaw_rad"):
        last = [float(getattr(euler, name)[-1]) for euler in ends]
        np.testing.assert_allclose(last, last[0], rtol=0, atol=1e-13)


def end_of_flight(numbers):
    """Where 2 s of flight end: by mass, the lag, two gains, and the start's place and velocity."""
    mass, lag, frequency, damping = numbers[:4]
    model = dataclasses.replace(drone(), mass_kg=mass, angle_time_constant_s=lag)
    # the controllers believe in 1.5 kg, so that the mass matters
    upper = Position(frequency, damping, integral_gain_per_s2=0.3)
    lower = Acceleration(mass_kg=1.5, max_thrust_n=28.8)
    start = Start(Vec3.of(numbers[4:7]), 0.05, -0.1, numbers[10], Vec3.of(numbers[7:10]))
    wind, key = around(Vec3(1.0, -0.5, 0.2)), jax.random.key(0)
    goal = PositionYaw(Vec3(0.5, -0.5, 10.0), 0.2)

    def step(states, _):
        moving, remembered = states
        motion = model.kinematics(moving)
        remembered, wanted = upper.step(remembered, (goal, motion), 0.01, key)
        _, command = lower.step((), (wanted, motion), 0.01, key)
        later = model.step(moving, model.limit_command(command), wind, 0.01, key)
        return (later, remembered), None

    began = model.init(start.kinematics(), around()), upper.init(key)
    began = jax.tree.map(jnp.asarray, began)
    (ended, _), _ = jax.lax.scan(step, began, None, length=200)
    return ended.position_world_m.array


@pytest.mark.slow
def test_gradients_of_a_flight_are_those_of_finite_differences():
    numbers = jnp.array([1.5, 0.0475, 1.5, 1.0, 0.0, 0.2, 10.2, 0.3, -0.5, 0.2, 0.4])
    found = jax.jit(jax.jacrev(end_of_flight))(numbers)
    assert jnp.isfinite(found).all()
    steps = 1e-5 * jnp.eye(len(numbers))
    ends = jax.jit(jax.vmap(end_of_flight))
    differences = (ends(numbers[None] + steps) - ends(numbers[None] - steps)).T / 2e-5
    # 10 m in double precision over 1e-5 leaves 1e-10 of rounding
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-8)
    # each of them matters: no column of zeros
    assert (jnp.abs(found).max(axis=0) > 1e-4).all()


def test_gradient_with_no_gap_at_all_is_that_of_the_lag():
    def pitch_later(wanted):
        model = drone(max_tilt_rate_radps=1.0)
        level = EulerZYX(0.0, 0.0, 0.0)
        return model.angles_after(level, EulerZYX(0.0, wanted, 0.0), DT_S).pitch_rad

    assert float(jax.grad(pitch_later)(0.0)) == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize(
    ("quantity", "start"),
    [
        ("roll_rad", Start(ALOFT, roll_rad=1.6)),
        ("pitch_rad", Start(ALOFT, pitch_rad=-1.6)),
        ("speed_mps", Start(ALOFT, velocity_world_mps=Vec3(0.0, -30.1, 0.0))),
    ],
)
def test_each_limit_is_watched(quantity, start):
    limits = drone().limits(drone().init(start.kinematics(), around()))
    assert {limit.name for limit in limits if not limit.is_satisfied} == {quantity}


def test_thrust_is_cut_to_what_the_rotors_give():
    level = Quaternion.identity()
    found = [
        float(drone().limit_command(ThrustAttitude(f, level)).thrust_n) for f in (-1.0, 20.0, 99.0)
    ]
    assert found == [0.0, 20.0, 28.8]
