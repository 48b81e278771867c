"""Kemper's, Hoffmann's and Dikmen's attitude controllers: their laws, closed loops and flights."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

import kittiwake as kw
from kittiwake.control.attitude_error import AttitudeError
from kittiwake.control.dikmen import Dikmen
from kittiwake.control.hoffmann import Hoffmann
from kittiwake.control.kemper import Kemper
from kittiwake.core.commands import ThrustAttitude
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
DT_S = 0.002
INERTIA = Inertia(0.006, 0.008, 0.011, xy=0.001)
KINDS = [Kemper, Hoffmann, Dikmen]
LEVEL = Quaternion.identity()


def attitude(roll=0.0, pitch=0.0, yaw=0.0):
    return Quaternion.from_euler(EulerZYX(roll, pitch, yaw))


def started(controller):
    return controller.init(KEY)


def output_of(controller, wanted, start, state=None, dt_s=DT_S):
    """Return the next state and the torque."""
    state = started(controller) if state is None else state
    later, command = controller.step(state, (wanted, start.kinematics()), dt_s, KEY)
    return later, command.torque_body_nm.array


def angular_acceleration(torque, inertia=INERTIA):
    return np.linalg.solve(inertia.matrix, torque)


def turned(controller, angle_rad, duration_s, speed_mps=0.0, disturbance_radps2=0.0):
    """Return the pitch over time of a body that rotates about y only, from level to an angle."""
    wanted = ThrustAttitude(5.0, attitude(pitch=angle_rad))

    def once(carry, _):
        state, pitch, rate = carry
        start = Start(
            pitch_rad=pitch,
            velocity_world_mps=Vec3(speed_mps, 0.0, 0.0),
            angular_velocity_body_radps=Vec3(0.0, rate, 0.0),
        )
        later, command = controller.step(state, (wanted, start.kinematics()), DT_S, KEY)
        growth = command.torque_body_nm.y / controller.inertia_kgm2.yy + disturbance_radps2
        # leapfrog: of second order in the step
        new_rate = rate + growth * DT_S
        return (later, pitch + new_rate * DT_S, new_rate), pitch

    initial = (started(controller), jnp.asarray(0.0), jnp.asarray(0.0))
    steps = round(duration_s / DT_S)
    return np.asarray(jax.jit(lambda: jax.lax.scan(once, initial, None, steps)[1])())


def round_body():
    return Inertia(0.006, 0.006, 0.011)


# the error


def test_small_errors_are_those_of_the_angles():
    start = Start(roll_rad=1e-4, pitch_rad=-2e-4, yaw_rad=3e-4)
    wanted = ThrustAttitude(1.0, attitude(2e-4, 1e-4, -1e-4))
    found = AttitudeError.between(wanted, start.kinematics()).turn_body_rad.array
    # of second order in angles of 3e-4
    np.testing.assert_allclose(found, [1e-4, 3e-4, -4e-4], atol=2e-7)


@given(*[st.floats(-1.0, 1.0)] * 8)
def test_error_leads_the_short_way_from_any_attitude(a, b, c, d, e, f, g, h):
    present, wanted = np.array([a, b, c, d]), np.array([e, f, g, h])
    if min(np.linalg.norm(present), np.linalg.norm(wanted)) < 0.1:
        return
    with jax.enable_x64(True):
        q_present, q_wanted = (Quaternion(*(q / np.linalg.norm(q))) for q in (present, wanted))
        motion = dataclasses.replace(Start().kinematics(), q_world_from_body=q_present)
        turn = AttitudeError.between(ThrustAttitude(1.0, q_wanted), motion).turn_body_rad.array
        cosine = min(1.0, abs(float(q_present.array @ q_wanted.array)))
        # the half angle of the shorter way, never more than a quarter turn
        assert np.linalg.norm(turn) == pytest.approx(2.0 * math.sqrt(1.0 - cosine**2), abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_both_quaternions_of_an_attitude_give_the_same_output(kind):
    q = attitude(0.2, -0.3, 2.9)
    other = Quaternion(-q.w, -q.x, -q.y, -q.z)
    start = Start(yaw_rad=-2.9, angular_velocity_body_radps=Vec3(0.3, 0.1, -0.2))
    _, one = output_of(kind(INERTIA), ThrustAttitude(5.0, q), start)
    _, two = output_of(kind(INERTIA), ThrustAttitude(5.0, other), start)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_thrust_passes_through_and_zero_error_gives_no_torque(kind):
    q = attitude(0.4, -0.2, 1.0)
    controller = kind(INERTIA)
    motion = Start(roll_rad=0.4, pitch_rad=-0.2, yaw_rad=1.0).kinematics()
    command = controller.step(started(controller), (ThrustAttitude(5.5, q), motion), DT_S, KEY)[1]
    assert command.thrust_n == 5.5
    np.testing.assert_allclose(command.torque_body_nm.array, 0.0, atol=1e-15)


# the laws


def test_kemper_is_a_pid_about_each_axis():
    controller = Kemper(INERTIA, 7.0, 3.0, 0.8, 0.5, 0.2)
    wanted = ThrustAttitude(5.0, LEVEL)
    rates = np.array([0.2, 0.1, -0.3])
    start = Start(0.0 * Vec3.zero(), 0.05, 0.0, 0.0, angular_velocity_body_radps=Vec3.of(rates))
    state, _ = output_of(controller, wanted, start)
    _, torque = output_of(controller, wanted, start, state)
    error = np.array([-2.0 * math.sin(0.025), 0.0, 0.0])
    w, c = np.array([7.0, 7.0, 3.0]), np.array([0.5, 0.5, 0.2])
    # after two steps of the same error
    expected = w**2 * error * (1.0 + 2.0 * DT_S * c) - 2.0 * 0.8 * w * rates
    np.testing.assert_allclose(angular_acceleration(torque), expected, rtol=1e-9, atol=1e-12)


def test_kemper_answers_a_step_like_its_transfer_function():
    w, z, c = 8.0, 0.9, 0.3
    found = turned(Kemper(round_body()), 0.05, 2.0)
    numbers = [2.0 * z * w, w * w, c * w * w]
    # the wanted rate is zero: damping acts on the motion alone
    loop = signal.lti([w * w, c * w * w], [1.0, *numbers])
    time_s = np.arange(len(found)) * DT_S
    expected = 0.05 * signal.step(loop, T=time_s)[1]
    # of first order in 2 ms of a loop of 8 rad/s, and the sine of half the angle
    np.testing.assert_allclose(found, expected, atol=0.02 * 0.05)


def test_kemper_without_an_integral_is_a_pd():
    controller = Kemper(INERTIA, tilt_integral_per_s=0.0, yaw_integral_per_s=0.0)
    wanted = ThrustAttitude(5.0, attitude(0.1, 0.1, 0.1))
    state, torques = None, []
    for _ in range(5):
        state, torque = output_of(controller, wanted, Start(), state, dt_s=1.0)
        torques.append(torque)
    np.testing.assert_array_equal(torques, [torques[0]] * 5)


def test_kemper_learns_a_steady_torque_and_a_pd_does_not():
    pid, pd = (
        turned(Kemper(round_body(), tilt_integral_per_s=c), 0.0, 20.0, disturbance_radps2=2.0)
        for c in (1.0, 0.0)
    )
    assert abs(pid[-1]) < 1e-6
    # what the stiffness leaves; the sine of half the angle
    assert pd[-1] == pytest.approx(2.0 * math.asin(2.0 / 64.0 / 2.0), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Kemper, Hoffmann])
def test_angular_acceleration_is_limited_and_the_integral_waits(kind):
    controller = kind(INERTIA, max_tilt_acceleration_radps2=10.0, max_yaw_acceleration_radps2=3.0)
    wanted = ThrustAttitude(5.0, attitude(1.0, 1.0, 1.0))
    state = None
    for _ in range(50):
        state, torque = output_of(controller, wanted, Start(), state, dt_s=1.0)
    np.testing.assert_allclose(angular_acceleration(torque), [10.0, 10.0, 3.0], rtol=1e-9)
    _, torque = output_of(controller, ThrustAttitude(5.0, LEVEL), Start(), state, dt_s=1e-9)
    np.testing.assert_allclose(torque, 0.0, atol=1e-12)


def test_hoffmann_without_acceleration_is_kemper_when_slow():
    gains = {"tilt_frequency_radps": 8.0, "yaw_frequency_radps": 4.0, "damping": 0.9}
    hoffmann, kemper = Hoffmann(INERTIA, **gains, acceleration_gain=0.0), Kemper(INERTIA, **gains)
    wanted = ThrustAttitude(5.0, attitude(0.1, -0.2, 0.3), Vec3(0.1, 0.2, 0.3))
    states = None, None
    for _ in range(3):
        (one, torque), (two, expected) = (
            output_of(controller, wanted, Start(), state)
            for controller, state in zip((hoffmann, kemper), states, strict=True)
        )
        states = one, two
        np.testing.assert_allclose(torque, expected, rtol=1e-12)


def test_hoffmann_feeds_the_filtered_acceleration_back():
    pole, gain, w, z = 50.0, 0.2, 8.0, 0.9
    controller = Hoffmann(INERTIA, integral_per_s=0.0)
    rates = 0.1 * np.sin(np.arange(10) * 0.7)
    filtered, state = -rates[0], None
    for rate in rates:
        start = Start(angular_velocity_body_radps=Vec3(rate, 0.0, 0.0))
        state, torque = output_of(controller, ThrustAttitude(5.0, LEVEL), start, state)
        slope = pole * (-rate - filtered)
        filtered += (-rate - filtered) * (1.0 - math.exp(-pole * DT_S))
        expected = -(1.0 + gain) * 2.0 * z * w * rate + gain * slope
        assert angular_acceleration(torque)[0] == pytest.approx(expected, rel=1e-9)


def test_hoffmann_is_a_pid_when_slow_and_a_pd_when_fast():
    slow, fast = (
        turned(Hoffmann(round_body(), integral_per_s=1.0), 0.0, 20.0, speed, 2.0)
        for speed in (0.5, 3.0)
    )
    assert abs(slow[-1]) < 1e-6
    # the acceleration that is fed back makes the loop heavier by its gain
    assert fast[-1] == pytest.approx(2.0 * math.asin(2.0 / (1.2 * 64.0) / 2.0), rel=1e-6)


def test_hoffmann_switches_without_a_jump_and_keeps_its_integral():
    controller = Hoffmann(round_body(), integral_per_s=5.0)
    wanted = ThrustAttitude(5.0, attitude(roll=0.1))
    speeds = np.concatenate([np.zeros(500), np.linspace(0, 3, 300), np.linspace(3, 0, 300)])
    starts = jax.vmap(lambda v: Start(velocity_world_mps=Vec3(v, 0.0, 0.0)).kinematics())(
        jnp.asarray(speeds)
    )

    def once(state, motion):
        later, command = controller.step(state, (wanted, motion), DT_S, KEY)
        return later, command.torque_body_nm.x / 0.006

    found = np.asarray(jax.lax.scan(once, started(controller), starts)[1])
    learnt, proportional = found[499], 1.2 * 64.0 * 2.0 * math.sin(0.05)
    assert learnt - proportional > 0.3 * proportional
    # in the middle of the fast leg nothing of it is left, and on the way no step is a jump
    assert found[800] == pytest.approx(proportional, rel=1e-9)
    steepest = 1.5 * (3.0 / 300.0) * (found.max() - proportional)
    assert np.abs(np.diff(found)).max() < 1.1 * steepest + 5.0 * proportional * DT_S
    assert found[-1] >= learnt


def test_dikmen_equals_a_numpy_implementation():
    controller = Dikmen(INERTIA)
    rates = np.array([0.6, -0.02, 0.4])
    start = Start(roll_rad=0.03, angular_velocity_body_radps=Vec3.of(rates))
    _, torque = output_of(controller, ThrustAttitude(5.0, LEVEL), start)
    c, k = np.array([8.0, 8.0, 4.0]), np.array([15.0, 15.0, 8.0])
    s = -rates + c * np.array([-2.0 * math.sin(0.015), 0.0, 0.0])
    expected = -c * rates + k * np.clip(s / 0.2, -1.0, 1.0) + s
    inertia = INERTIA.matrix
    expected = inertia @ expected + np.cross(rates, inertia @ rates)
    np.testing.assert_allclose(torque, expected, rtol=1e-9, atol=1e-15)


def test_dikmen_slides_in_at_its_slope():
    # within the layer from the beginning: the poles are c and k / eps + eta
    found = turned(Dikmen(round_body()), 0.02, 1.0)
    c, fast = 8.0, 76.0
    time_s = np.arange(len(found)) * DT_S
    lacking = (fast * np.exp(-c * time_s) - c * np.exp(-fast * time_s)) / (fast - c)
    # 76 rad/s in steps of 2 ms
    np.testing.assert_allclose(found, 0.02 * (1.0 - lacking), atol=0.03 * 0.02)


def test_dikmen_holds_a_steady_torque_within_its_layer():
    found = turned(Dikmen(round_body()), 0.0, 3.0, disturbance_radps2=10.0)
    # s = eps d / (k + eta eps), and e = s / c
    expected = 0.2 * 10.0 / (15.0 + 0.2) / 8.0
    assert found[-1] == pytest.approx(2.0 * math.asin(0.5 * expected), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_slopes_by_every_gain_are_finite(kind):
    wanted = ThrustAttitude(5.0, attitude(0.4, 0.2, -3.0))

    def size(controller):
        start = Start(angular_velocity_body_radps=Vec3(0.1, 0.0, -30.0)).kinematics()
        state, _ = controller.step(started(controller), (wanted, start), DT_S, KEY)
        torque = controller.step(state, (wanted, start), DT_S, KEY)[1].torque_body_nm
        return torque.x + torque.y + torque.z

    traced = jax.tree.map(jnp.asarray, kind(Inertia(0.006, 0.008, 0.011)))
    assert all(np.isfinite(leaf) for leaf in jax.tree.leaves(jax.grad(size)(traced)))


# flights


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kemper", "hoffmann", "dikmen"])
def test_os4_reaches_its_place_and_stays_there(name):
    frame = kw.load(f"step-{name}").run().frame("os4")
    away = np.linalg.norm(frame[["x_m", "y_m", "z_m"]].to_numpy() - 1.0, axis=1)
    time_s = frame["time_s"].to_numpy()
    assert away[0] == pytest.approx(math.sqrt(3.0))
    # the rotors' damping of climbing makes the height the slowest: 1 / e in 3.5 s
    assert away[time_s > 11.0].max() < 0.05
    upright = 1.0 - 2.0 * (frame["qx"] ** 2 + frame["qy"] ** 2)
    assert np.degrees(np.arccos(upright.min())) < 20.0
    assert frame[["wx_radps", "wy_radps", "wz_radps"]].abs().to_numpy()[-50:].max() < 1e-3
