"""Attitude to rates with prioritized tilt, and incremental control of the rates."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.control.attitude_rates import AttitudeRates
from kittiwake.control.indi import Indi
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import ThrustAttitude, ThrustRates
from kittiwake.core.kinematics import Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
UP = Vec3(0.0, 0.0, 1.0)
FREE = AttitudeRates(max_tilt_rate_radps=1e6, max_yaw_rate_radps=1e6)


def about(x, y, z):
    return Quaternion.from_rotation_vector(Vec3(x, y, z))


def rates(law, present, wanted, known=None):
    motion = dataclasses.replace(Start().kinematics(), q_world_from_body=present)
    signal = ThrustAttitude(3.0, wanted, known or Vec3.zero())
    _, found = law.step((), (signal, motion), 0.01, KEY)
    assert found.thrust_n == 3.0
    return found.angular_velocity_body_radps.array


def test_small_errors_give_proportional_rates():
    present = about(0.3, -0.8, 1.2)
    found = rates(FREE, present, present * about(1e-4, -2e-4, 3e-4))
    # the two turns do not commute to second order
    np.testing.assert_allclose(found, [4e-4, -8e-4, 6e-4], atol=2e-7)


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.0, 3.0])
@pytest.mark.parametrize("tilt", [0.1, 1.0, 3.0])
def test_the_thrust_takes_the_shortest_way_whatever_the_yaw(tilt, yaw):
    present = about(0.2, 0.5, -0.4)
    wanted = present * about(tilt * math.cos(0.7), tilt * math.sin(0.7), 0.0) * about(0.0, 0.0, yaw)
    found = rates(FREE, present, wanted)
    axis = np.array([math.cos(0.7), math.sin(0.7)])
    np.testing.assert_allclose(found[:2], 4.0 * 2.0 * math.sin(0.5 * tilt) * axis, atol=1e-12)
    assert float(found[2]) == pytest.approx(2.0 * 2.0 * math.sin(0.5 * yaw), abs=1e-12)


def test_yaw_is_turned_the_short_way_round():
    assert rates(FREE, about(0, 0, 3.0), about(0, 0, -3.0))[2] > 0.0
    assert rates(FREE, about(0, 0, -3.0), about(0, 0, 3.0))[2] < 0.0


def test_rates_are_limited_in_length_and_what_is_known_is_turned_into_the_present_axes():
    law = AttitudeRates(max_tilt_rate_radps=1.0, max_yaw_rate_radps=0.5)
    found = rates(law, Quaternion.identity(), about(1.2, -0.9, 2.0))
    assert np.linalg.norm(found[:2]) == pytest.approx(1.0)
    assert found[2] == 0.5
    quarter = about(0.0, 0.0, 0.5 * math.pi)
    known = rates(dataclasses.replace(FREE, yaw_gain_per_s=0.0), quarter, about(0, 0, 0), UP + UP)
    np.testing.assert_allclose(known, [0.0, 0.0, 2.0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [(math.pi, 0.0, 0.0), (0.0, math.pi, 0.0), (0.0, 0.0, math.pi)])
def test_rates_and_derivatives_are_finite_at_half_a_turn(turn):
    def numbers(vector):
        return jnp.asarray(rates(FREE, Quaternion.identity(), about(*vector)))

    at = jnp.array(turn)
    assert np.linalg.norm(numbers(at)) > 3.9
    assert np.isfinite(jax.jacrev(numbers)(at)).all()


# increments

DT_S = 0.002
BODY = Inertia(0.02, 0.03, 0.04, xy=0.002)
REFERENCE = Vec3(0.5, -0.3, 0.8)
PUSH_NM = Vec3(0.05, -0.08, 0.06)


def flown(law, *, push, noise_radps=0.0, late=0, lag_s=0.0, steps=2000, increments=True):
    """Return the body rates under a law with torque held over steps; optionally a plain loop."""
    passed = 1.0 - math.exp(-DT_S / lag_s) if lag_s else 1.0

    def step(carried, key):
        state, omega, seen, acting = carried
        noise = noise_radps * jax.random.normal(key, (3,))
        measured = Vec3.of(seen[0] + noise)
        motion = dataclasses.replace(Start().kinematics(), angular_velocity_body_radps=measured)
        later, out = law.step(state, (ThrustRates(1.0, REFERENCE), motion), DT_S, key)
        acting = acting + (out.torque_body_nm.array - acting) * passed
        twist = Vec3.of(omega)
        free = Vec3.of(acting) + push - twist.cross(BODY.times(twist))
        omega = omega + DT_S * BODY.solve(free).array
        seen = jnp.concatenate([seen[1:], omega[None]])
        later = match_dtypes(later, state) if increments else state
        return (later, omega, seen, acting), omega

    zero = jnp.zeros(3)
    initial = (as_arrays(law.init(KEY)), zero, jnp.zeros((late + 1, 3)), zero)
    return np.asarray(
        jax.jit(lambda b, k: jax.lax.scan(step, b, k))(initial, jax.random.split(KEY, steps))[1]
    )


BELIEVED = Inertia(0.7 * 0.02, 0.7 * 0.03, 0.7 * 0.04)


@pytest.mark.slow
def test_an_unknown_torque_and_a_wrong_inertia_leave_no_offset_where_a_plain_loop_has_one():
    wanted = REFERENCE.array
    plain = flown(Indi(BELIEVED), push=PUSH_NM, increments=False)[-1] - wanted
    found = flown(Indi(BELIEVED), push=PUSH_NM)[-1] - wanted
    gains = np.array([12.0, 12.0, 6.0]) * BELIEVED.matrix.diagonal()
    # at rest the loop's torque is what it takes to hold the others
    np.testing.assert_allclose(plain, other_torques(plain + wanted) / gains, rtol=1e-6)
    assert np.abs(plain).min() > 0.2
    np.testing.assert_allclose(found, 0.0, atol=1e-9)


def other_torques(omega):
    """Return the sum of external and gyroscopic torque at these rates."""
    return PUSH_NM.array - np.cross(omega, BODY.matrix @ omega)


def test_with_the_right_inertia_the_rates_answer_with_their_gain_from_the_first_step():
    found = flown(Indi(BODY), push=Vec3.zero(), steps=200)
    # from rest, gains that differ by axis couple through the product of inertia no more than this
    t = DT_S * np.arange(1, 201)
    for axis, gain in enumerate((12.0, 12.0, 6.0)):
        expected = REFERENCE.array[axis] * (1.0 - (1.0 - gain * DT_S) ** (t / DT_S))
        np.testing.assert_allclose(found[:, axis], expected, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("lag_s", [0.0, 0.03])
def test_noise_and_a_step_of_delay_are_tolerated(lag_s):
    law = Indi(BELIEVED, actuator_lag_s=lag_s)
    found = flown(law, push=PUSH_NM, noise_radps=0.01, late=1, lag_s=lag_s)[1000:]
    np.testing.assert_allclose(found.mean(axis=0), REFERENCE.array, atol=0.01)
    assert found.std(axis=0).max() < 0.05


@pytest.mark.slow
def test_an_infeasible_torque_causes_no_windup():
    law = Indi(BODY, max_angular_acceleration_radps2=3.0)
    strong_push = Vec3(0.5, 0.0, 0.0)
    state = law.init(KEY)
    omega = Vec3.zero()
    for _ in range(200):
        motion = dataclasses.replace(Start().kinematics(), angular_velocity_body_radps=omega)
        state, out = law.step(state, (ThrustRates(1.0, Vec3.zero()), motion), DT_S, KEY)
        omega = omega + BODY.solve(out.torque_body_nm + strong_push) * DT_S
        assert abs(float(out.torque_body_nm.x)) <= 3.0 * BODY.xx + 1e-12
    # what it holds as a disturbance is the push and no more
    assert float(state.second_body_nm.x) == pytest.approx(-0.5, rel=0.01)


@pytest.mark.slow
def test_a_hummingbird_holds_its_place_through_rates_and_increments():
    cascade = [
        "position",
        "acceleration",
        "attitude-rates",
        {"type": "indi", "actuator_lag_s": 0.05},
    ]
    log = kw.load("hover-hummingbird", {"vehicles.hummingbird.controller": cascade}).run(10.0)
    frame = log.frame("hummingbird")
    apart = [frame[f"{axis}_m"] - frame[f"setpoint.position_{axis}_world_m"] for axis in "xyz"]
    assert np.linalg.norm(apart, axis=0)[frame.time_s >= 8.0].max() < 0.01
