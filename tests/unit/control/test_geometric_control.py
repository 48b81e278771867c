"""Geometric tracking: laws against direct ports of the equations, and published flights."""

import dataclasses
import math

import jax
import numpy as np
import pytest
from scipy.linalg import expm

import kittiwake as kw
from kittiwake.control.lee import Lee
from kittiwake.control.mellinger import Mellinger
from kittiwake.core.commands import PositionYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
J = np.diag([0.0820, 0.0845, 0.1377])
MASS, G = 4.34, 9.81
K_X, K_V, K_R, K_OMEGA = 16.0 * MASS, 5.6 * MASS, 8.81, 2.54
# between our axes and those of the source, whose third one points down: half a turn about x
DOWN = np.diag([1.0, -1.0, -1.0])
UNLIMITED = {"max_speed_mps": 1e6, "max_feedback_mps2": 1e6}
PAPER = Lee(
    *(MASS, Inertia(*np.diag(J).tolist()), 1e6, G, 16.0, 5.6),
    Vec3.of((K_R / np.diag(J)).tolist()),
    Vec3.of((K_OMEGA / np.diag(J)).tolist()),
    **UNLIMITED,
)


def hat(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def vee(m):
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def unit(v):
    return v / np.linalg.norm(v)


class PaperLaw:
    """Equations 8 to 16 of the source in its own axes, the attitude's rates by differences."""

    def __init__(self, place, yaw, x, v, r, omega):
        self.place, self.yaw = place, yaw
        self.x, self.v, self.r, self.omega = x, v, r, omega

    def wanted(self, t):
        """Return position, velocity and acceleration at a time, with constant jerk."""
        p, v, a, j = self.place
        return p + v * t + a * t**2 / 2 + j * t**3 / 6, v + a * t + j * t**2 / 2, a + j * t

    def pull(self, t, x, v):
        p, v_d, a_d = self.wanted(t)
        return -K_X * (x - p) - K_V * (v - v_d) - MASS * G * np.array([0, 0, 1]) + MASS * a_d

    def thrust(self, t, x, v):
        return -self.pull(t, x, v) @ (self.r @ expm(hat(self.omega) * t))[:, 2]

    def moved(self, t, steps=20):
        """Return position and velocity after a short time with constant rates (Runge-Kutta)."""
        h, y = t / steps, np.concatenate([self.x, self.v])

        def rate(t, y):
            push = self.thrust(t, y[:3], y[3:]) * (self.r @ expm(hat(self.omega) * t))[:, 2]
            return np.concatenate([y[3:], np.array([0, 0, G]) - push / MASS])

        for i in range(steps):
            s = i * h
            k1 = rate(s, y)
            k2 = rate(s + h / 2, y + h / 2 * k1)
            k3 = rate(s + h / 2, y + h / 2 * k2)
            k4 = rate(s + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y[:3], y[3:]

    def attitude(self, t):
        b3 = unit(-self.pull(t, *self.moved(t)))
        angle = self.yaw[0] + self.yaw[1] * t
        b2 = unit(np.cross(b3, [math.cos(angle), math.sin(angle), 0.0]))
        return np.column_stack([np.cross(b2, b3), b2, b3])

    def answer(self, h=1e-3):
        before, now, after = self.attitude(-h), self.attitude(0.0), self.attitude(h)
        rate = vee(now.T @ (after - before)) / (2 * h)
        # of the rotation vectors to both sides
        to, back = vee(now.T @ after - after.T @ now) / 2, vee(now.T @ before - before.T @ now) / 2
        onward = (to + back) / h**2
        turn = self.r.T @ now
        e_r = vee(now.T @ self.r - self.r.T @ now) / 2
        e_omega = self.omega - turn @ rate
        torque = -K_R * e_r - K_OMEGA * e_omega + np.cross(self.omega, J @ self.omega)
        torque -= J @ (hat(self.omega) @ turn @ rate - turn @ onward)
        return self.thrust(0.0, self.x, self.v), torque


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_lees_thrust_and_torque_are_those_of_the_papers_equations(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    start = Start(
        Vec3.of(rng.normal(size=3) * 0.3),
        *(rng.normal(size=3) * 0.3).tolist(),
        Vec3.of(rng.normal(size=3) * 0.5),
        Vec3.of(rng.normal(size=3) * 0.5),
    )
    place = rng.normal(size=(4, 3)) * np.array([[0.3], [0.5], [1.0], [2.0]])
    yaw, yaw_rate = rng.normal(size=2)
    p, v, a, j = (Vec3.of(row.tolist()) for row in place)
    motion = start.kinematics()
    _, found = PAPER.step((), (PositionYaw(p, yaw, v, a, j, yaw_rate), motion), 0.01, KEY)
    columns = [motion.q_world_from_body.rotate(Vec3.of(e)).array for e in np.eye(3).tolist()]
    law = PaperLaw(
        place @ DOWN,
        (-yaw, -yaw_rate),
        DOWN @ start.position_world_m.array,
        DOWN @ start.velocity_world_mps.array,
        DOWN @ np.column_stack(columns) @ DOWN,
        DOWN @ start.angular_velocity_body_radps.array,
    )
    thrust, torque = law.answer()
    assert float(found.thrust_n) == pytest.approx(thrust, rel=1e-12)
    # differences over 1 ms of what changes within 0.1 s; the torques are of some N m
    np.testing.assert_allclose(found.torque_body_nm.array, DOWN @ torque, atol=2e-3)


def attitudes(frame):
    """The rotation matrices of a log."""
    w, x, y, z = frame[["qw", "qx", "qy", "qz"]].to_numpy().T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


@pytest.mark.slow
def test_a_quadrotor_upside_down_has_righted_itself_after_six_seconds():
    frame = kw.load("upside-down").run().frame("lee-2010")
    place = frame[["x_m", "y_m", "z_m"]].to_numpy() - [0.0, 0.0, 40.0]
    velocity = frame[["vx_mps", "vy_mps", "vz_mps"]].to_numpy()
    pull = -16.0 * place - 5.6 * velocity + [0.0, 0.0, G]
    up = pull / np.linalg.norm(pull, axis=1)[:, None]
    left = np.cross(up, [1.0, 0.0, 0.0])
    left /= np.linalg.norm(left, axis=1)[:, None]
    wanted = np.stack([np.cross(left, up), left, up], axis=-1)
    error = 0.5 * (3.0 - np.einsum("nij,nij->n", wanted, attitudes(frame)))
    assert error[0] == pytest.approx(1.9995, abs=1e-4)
    assert error[frame.time_s >= 6.0].max() < 0.01
    assert np.abs(place[-1]).max() < 1e-6


HELIX = {
    "type": "curve",
    "center_world_m": [0, 0, 40],
    "drift_world_mps": [0.4, 0, 0],
    "amplitude_world_m": [0, -0.4, -0.6],
    "angular_rates_radps": [0, math.pi, math.pi],
    "phases_rad": [0, 0, math.pi / 2],
    "yaw_rate_radps": -math.pi,
}
LOOP = {
    "type": "curve",
    "center_world_m": [0, 0, 40],
    "amplitude_world_m": [1.5, 0, 1.5],
    "angular_rates_radps": [5, 0, 5],
    "phases_rad": [0, 0, -math.pi / 2],
}
LOOP_START = {
    "position_world_m": [0, 0, 38.5],
    "velocity_world_mps": [7.5, 0, 0],
    # the jerk of 187.5 m/s^3 turns a force of 47.31 m/s^2
    "angular_velocity_body_radps": [0, -187.5 / 47.31, 0],
}


def errors(controller, guidance, start):
    """Return the distance of a flight from its setpoint in each row, and its log."""
    key = "vehicles.lee-2010"
    given = {f"{key}.controller": controller, f"{key}.guidance": guidance, f"{key}.start": start}
    # forty meters above the ground feet change nothing but the time to compile
    given[f"{key}.parameters"] = {"landing_gear": None}
    frame = kw.load("upside-down", given).run(7.0).frame("lee-2010")
    apart = [frame[f"{axis}_m"] - frame[f"setpoint.position_{axis}_world_m"] for axis in "xyz"]
    assert frame.time_s.iloc[-1] == 7.0
    return np.linalg.norm(apart, axis=0), frame


@pytest.mark.slow
def test_the_elliptic_helix_is_followed_within_what_the_missing_snap_leaves():
    error, frame = errors("lee", HELIX, {"position_world_m": [0, 0, 40]})
    assert error[0] == pytest.approx(0.6)
    # a snap of at most .6 pi^4 m/s^4 tilts by it over g k_R / J, which k_x / m turns into meters
    left = 0.6 * math.pi**4 / (K_R / 0.0820) / 16.0
    assert error[frame.time_s >= 5.0].max() < left


@pytest.mark.slow
def test_a_loop_is_flown_through_the_vertical_without_turning_round():
    error, frame = errors("mellinger", LOOP, LOOP_START)
    # a snap of 1.5 5^4 m/s^4 is not fed forward: the position lags by a fifth of the radius
    assert error.max() < 0.3
    # the left side stays the left side
    assert attitudes(frame)[:, 1, 1].min() > 0.99
    upside_down = attitudes(frame)[:, 2, 2]
    assert upside_down.min() < -0.95


@pytest.mark.slow
def test_a_descent_of_three_meters_arrives_without_turning_over():
    guidance = {"type": "hold", "position_world_m": [0, 0, 40]}
    # beside the vertical, since on it nothing says to which side to turn
    error, frame = errors("lee", guidance, {"position_world_m": [0.3, -0.1, 43]})
    assert error[frame.time_s >= 6.0].max() < 1e-3
    assert attitudes(frame)[:, 2, 2].min() > math.cos(math.radians(60.0))


@pytest.mark.slow
@pytest.mark.parametrize("beside_m", [0.0, 0.001, 0.3])
@pytest.mark.parametrize("speed_mps", [0.0, 3.0])
def test_near_free_fall_the_torque_is_bounded(beside_m, speed_mps):
    law = dataclasses.replace(PAPER, max_speed_mps=5.0, max_feedback_mps2=6.0)
    found = []
    for above_m in np.linspace(0.0, 3.0, 61):
        start = Start(Vec3(beside_m, 0.0, float(above_m)), 0.05, -0.05)
        motion = dataclasses.replace(
            start, velocity_world_mps=Vec3(0.0, 0.5, -speed_mps)
        ).kinematics()
        out = law.step((), (PositionYaw(Vec3.zero(), 0.0), motion), 0.01, KEY)[1]
        found.append(np.abs(out.torque_body_nm.array).max())
    # k_R for an error of one, and as much again for rates
    assert max(found) < 4.0 * K_R


def tilted(pitch_rad, yaw_error_rad=0.0):
    """Return a body whose thrust has the commanded direction, also beyond the vertical."""
    half, turn = 0.5 * pitch_rad, 0.5 * yaw_error_rad
    q = Quaternion(math.cos(half), 0.0, math.sin(half), 0.0)
    q = q * Quaternion(math.cos(turn), 0.0, 0.0, math.sin(turn))
    motion = Start().kinematics()
    motion = dataclasses.replace(motion, q_world_from_body=q)
    force = Vec3(math.sin(pitch_rad), 0.0, math.cos(pitch_rad)) * 15.0
    return PositionYaw(Vec3.zero(), 0.0, Vec3.zero(), force - Vec3(0.0, 0.0, G)), motion


@pytest.mark.parametrize("pitch_rad", [0.0, 1.4, 1.56, math.pi / 2, 1.58, 1.7, 3.1, 4.6, 4.8])
def test_at_the_commanded_attitude_the_torque_is_zero_for_any_pitch(pitch_rad):
    law = Mellinger(MASS, Inertia(*np.diag(J).tolist()), 1e6)
    thrust_torque = law.step((), tilted(pitch_rad), 0.01, KEY)[1]
    np.testing.assert_allclose(thrust_torque.torque_body_nm.array, 0.0, atol=1e-12)
    assert float(thrust_torque.thrust_n) == pytest.approx(MASS * 15.0)
    if abs(math.cos(pitch_rad)) > 0.1:  # closer to the vertical the heading is not controlled
        back = law.step((), tilted(pitch_rad, 0.1), 0.01, KEY)[1].torque_body_nm.z
        assert float(back) == pytest.approx(-16.0 * 0.1377 * math.sin(0.1))


def test_a_heading_that_is_off_by_more_than_a_quarter_turn_is_turned_back_all_the_way():
    law = Mellinger(MASS, Inertia(*np.diag(J).tolist()), 1e6)
    found = law.step((), tilted(0.0, 2.5), 0.01, KEY)[1].torque_body_nm.z
    assert float(found) == pytest.approx(-16.0 * 0.1377 * math.sin(2.5))
