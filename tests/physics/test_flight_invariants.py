"""What physics asks of any flight, tried on the Pelican: symmetry, energy, gradients, noise."""

import dataclasses
import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.pelican_dynamics import (
    ALOFT,
    DT_S,
    HOVER,
    about_z,
    around,
    fly,
    pelican,
    rows_of,
    sticks,
)

import kittiwake as kw
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.attitude_response import AttitudeResponseVelocities, Disturbance, EulerPose
from kittiwake.physics.integrators import MechanicalState


def chirps(steps=500):
    """Rising frequencies on all sticks."""
    t = DT_S * np.arange(steps)
    return sticks(
        steps,
        pitch_rad=0.25 * np.sin(2.0 * np.pi * (0.1 * t + 0.1 * t**2)),
        roll_rad=0.25 * np.cos(2.0 * np.pi * (0.15 * t + 0.08 * t**2)),
        throttle=HOVER + 0.12 * np.sin(2.0 * np.pi * (0.2 * t + 0.06 * t**2)),
        yaw_rate_radps=1.5 * np.sin(2.0 * np.pi * 0.2 * t),
    )


@pytest.mark.parametrize("angle", [0.5, 2.0, -3.0])
def test_flight_turns_with_the_world(angle):
    position, velocity, wind = Vec3(3.0, -1.0, 500.0), Vec3(2.0, 1.0, -0.5), Vec3(1.0, 2.0, 0.3)
    rates = Vec3(0.1, -0.2, 0.3)
    plain, thrust, _ = fly(chirps(), Start(position, 0.1, -0.2, 0.4, velocity, rates), wind)
    turn = about_z(angle)
    position, velocity, wind = (Vec3.of(turn @ v.array) for v in (position, velocity, wind))
    start = Start(position, 0.1, -0.2, 0.4 + angle, velocity, rates)
    other, other_thrust, _ = fly(chirps(), start, wind)
    # rounding over 500 steps of a stable flight
    for name in ("position_world_m", "velocity_world_mps"):
        expected = rows_of(getattr(plain, name)) @ turn.T
        np.testing.assert_allclose(rows_of(getattr(other, name)), expected, rtol=0, atol=1e-9)
    yaws = other.euler_world_from_body.yaw_rad - plain.euler_world_from_body.yaw_rad
    np.testing.assert_allclose(yaws, angle, rtol=0, atol=1e-9)
    in_body = (rows_of(motion.velocity_body_mps) for motion in (other, plain))
    np.testing.assert_allclose(*in_body, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(other_thrust, thrust)


def test_both_forms_of_attitude_and_velocity_agree():
    motion, _, _ = fly(chirps())
    rotated = jax.vmap(lambda q, v: q.rotate(v))(motion.q_world_from_body, motion.velocity_body_mps)
    expected = rows_of(motion.velocity_world_mps)
    # a product of rotations at 5 m/s
    np.testing.assert_allclose(rows_of(rotated), expected, rtol=0, atol=1e-14 * 5.0)


PARAMETERS = ("mass_kg", "drag_horizontal_per_s", "drag_vertical_per_s")


def end_of_flight(numbers):
    """Where 2 s of flight end, by three parameters and the start's position, velocity and yaw."""
    model = dataclasses.replace(pelican(), **dict(zip(PARAMETERS, numbers[:3], strict=True)))
    start = Start(Vec3.of(numbers[3:6]), 0.0, 0.0, numbers[9], Vec3.of(numbers[6:9]))
    state = model.init(start.kinematics(), around())
    command = AttitudeThrottle(0.1, -0.05, 0.6, 0.3, 11.0)
    wind = around(Vec3(1.0, -0.5, 0.2))

    def step(state, _):
        return model.step(state, command, wind, DT_S, jax.random.key(0)), None

    state = jax.tree.map(jnp.asarray, state)
    return jax.lax.scan(step, state, None, length=100)[
        0
    ].mechanical_state.configuration.position_world_m.array


def test_gradients_of_a_flight_are_those_of_finite_differences():
    numbers = jnp.array([1.68, 0.497391, 1.35341, 1.0, 2.0, 500.0, 1.0, -0.5, 0.2, 0.4])
    found = jax.jit(jax.jacrev(end_of_flight))(numbers)
    assert jnp.isfinite(found).all()
    steps = 1e-5 * jnp.eye(len(numbers))
    ends = jax.jit(jax.vmap(end_of_flight))
    differences = (ends(numbers[None] + steps) - ends(numbers[None] - steps)).T / 2e-5
    # 500 m / 1e-5 in double precision leaves 1e-8 of rounding in each difference
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-7)
    # each of them matters: no column of zeros
    assert (jnp.abs(found).max(axis=0) > 1e-3).all()


def tumbling(numbers):
    """A state of nine numbers: angles, velocity and rates."""
    pose = EulerPose(ALOFT, EulerZYX(*numbers[:3]))
    thrust = jnp.asarray(10.0)
    velocities = AttitudeResponseVelocities(
        Vec3.of(numbers[3:6]), Vec3.of(numbers[6:]), thrust, Vec3.zero()
    )
    return MechanicalState(pose, velocities)


@pytest.fixture
def anywhere():
    """Numbers of 400 phases spread over the valid range."""
    draws = np.random.default_rng(5).uniform(-1.0, 1.0, (400, 9))
    return draws * np.array([3.0, 1.4, 3.0, 10.0, 10.0, 10.0, 3.0, 3.0, 3.0])


def power_per_mass(model, numbers):
    """What all but gravity and thrust do to the kinetic energy, in still air."""
    state = tumbling(numbers)
    command = AttitudeThrottle(0.3, -0.2, 0.5, 0.7, 11.0)
    noise = Disturbance(Vec3.zero(), Vec3.zero())
    rates = model.derivative(state, command, Vec3.zero(), 9.81, noise, DT_S).velocities
    body_from_world = Quaternion.from_euler(state.configuration.euler_world_from_body).inverse()
    gravity = body_from_world.rotate(Vec3(0.0, 0.0, -9.81))
    thrust = Vec3(0.0, 0.0, (state.velocities.thrust_n + rates.thrust_n * DT_S) / model.mass_kg)
    return state.velocities.velocity_body_mps.dot(rates.velocity_body_mps - gravity - thrust)


def test_drag_never_adds_energy_in_still_air(anywhere):
    power = jax.jit(jax.vmap(partial(power_per_mass, pelican())))(anywhere)
    square = (anywhere[:, 3:6] ** 2).sum(axis=1)
    # between the shares of the weaker and of the stronger drag
    assert (power <= -0.4973 * square).all()
    assert (power >= -1.3535 * square).all()


def test_turning_does_no_work(anywhere):
    # without drag only gravity and thrust are left, however fast the body turns
    free = pelican(drag_horizontal_per_s=0.0, drag_vertical_per_s=0.0)
    power = jax.jit(jax.vmap(partial(power_per_mass, free)))(anywhere)
    np.testing.assert_allclose(power, 0.0, rtol=0, atol=1e-11)


def test_process_noise_changes_velocities_as_declared():
    noisy = pelican(linear_noise_mps2=0.2, angular_noise_radps2=0.3)
    state = noisy.init(Start(ALOFT).kinematics(), around())
    hover = AttitudeThrottle(0.0, 0.0, HOVER, 0.0, 11.0)
    draws = 4000

    def kicks(key):
        velocities = noisy.step(state, hover, around(), DT_S, key).mechanical_state.velocities
        v, omega = velocities.velocity_body_mps, velocities.angular_velocity_body_radps
        return jnp.concatenate([v.array, omega.array])

    found = jax.jit(jax.vmap(kicks))(jax.random.split(jax.random.key(1), draws))
    # held over the step, so dt times the deviation; damping within it takes the factor beside it
    damping = np.array([0.497391, 0.497391, 1.35341, 24.3536, 24.3536, 5.08944])
    expected = DT_S * np.array([0.2] * 3 + [0.3] * 3) * (1.0 - damping * DT_S / 2.0)
    # the deviation of a deviation is 1 / sqrt(2 n); of a correlation 1 / sqrt(n)
    np.testing.assert_allclose(found.std(axis=0), expected, rtol=4.0 / math.sqrt(2 * draws))
    correlations = np.corrcoef(found.T) - np.eye(6)
    assert np.abs(correlations).max() < 4.5 / math.sqrt(draws)


def test_flight_without_noise_does_not_depend_on_the_key():
    model = pelican()
    state = model.init(Start(ALOFT).kinematics(), around())
    command = AttitudeThrottle(0.1, 0.1, 0.6, 0.1, 11.0)
    first, second = (
        model.step(state, command, around(), DT_S, jax.random.key(seed)) for seed in (0, 1)
    )
    assert eqx.tree_equal(first, second)


@pytest.mark.slow
def test_batch_in_single_precision_agrees_with_double():
    overrides = {
        "time.duration_s": 20,
        "world.area": {},
        "vehicles.pelican.count": 10,
        "vehicles.pelican.spacing_m": [3.0, -5.0, 2.0],
        "vehicles.pelican.parameters": {"linear_noise_mps2": 0, "angular_noise_radps2": 0},
        # each precision has draws of its own
        "vehicles.pelican.estimator": "truth",
        "vehicles.pelican.sensors": {},
    }
    double = kw.load("goto-waypoint", overrides).run()
    single = kw.load("goto-waypoint", overrides, precision="float32").run()
    compared = ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps"]
    for name in double.names:
        places = [double.columns(name).index(column) for column in compared]
        difference = np.abs(single.values(name)[:, places] - double.values(name)[:, places])
        # float32 at 70 m is 8e-6 m wide; a thousand such roundings walk 2.4e-4 m
        assert difference.max() < 1e-3
