"""Linear-quadratic regulator against an independent linearization, and in flight."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, logm

import kittiwake as kw
from kittiwake.control.lqr import Deviations, Lqr
from kittiwake.core.commands import PositionYaw, RotorSpeeds, ThrustTorque
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.surroundings import Air, Surroundings

KEY = jax.random.key(0)
MASS, G = 1.5, 9.81
INERTIA = Inertia(0.02, 0.03, 0.04, xy=0.002, xz=-0.001)
LAW = Lqr(MASS, INERTIA, 60.0)


def hat(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def moved(x, u, h=1e-4):
    """Return the errors of a Newton-Euler body after a short time, by the matrix exponential."""
    p, theta, v, omega = x.reshape(4, 3)
    j = INERTIA.matrix
    r = expm(hat(theta))
    acceleration = r[:, 2] * (G + u[0] / MASS) - [0.0, 0.0, G]
    spin = np.linalg.solve(j, u[1:] - np.cross(omega, j @ omega))
    turned = r @ expm(hat(omega) * h + hat(spin) * h**2 / 2)
    later = np.array([turned[2, 1], turned[0, 2], turned[1, 0]])
    later = (later - [turned[1, 2], turned[2, 0], turned[0, 1]]) / 2
    return np.concatenate([p + v * h, later, v + acceleration * h, omega + spin * h])


def linearized(h=1e-4, e=1e-5):
    """Return A and B by central differences."""
    x, u = np.zeros(12), np.zeros(4)
    a = [(moved(x + e * d, u) - moved(x - e * d, u)) / (2 * e) for d in np.eye(12)]
    b = [(moved(x, u + e * d) - moved(x, u - e * d)) / (2 * e) for d in np.eye(4)]
    return (np.array(a).T - np.eye(12)) / h, np.array(b).T / h


def weights():
    q = 1.0 / LAW.acceptable.largest_state() ** 2
    r = 1.0 / LAW.acceptable.largest_input(MASS, INERTIA) ** 2
    return np.diag(q), np.diag(r)


def test_gains_are_those_of_the_stable_half_of_the_hamiltonian():
    (a, b), (q, r) = linearized(), weights()
    hamiltonian = np.block([[a, -b @ np.linalg.solve(r, b.T)], [-q, -a.T]])
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, values.real < 0.0]
    cost = np.real(stable[12:] @ np.linalg.inv(stable[:12]))
    # the differences of the numerical linearization over 0.1 ms
    expected = np.linalg.solve(r, b.T @ cost)
    scale = np.abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(LAW.gains / scale, expected / scale, atol=1e-3)


def test_the_closed_loop_is_stable_and_well_damped():
    a, b = linearized()
    poles = np.linalg.eigvals(a - b @ np.array(LAW.gains))
    assert poles.real.max() < -0.3
    assert (-poles.real / np.abs(poles)).min() > 0.5


def test_a_larger_acceptable_deviation_has_a_smaller_gain():
    lax = Lqr(MASS, INERTIA, 60.0, acceptable=Deviations(horizontal_position_m=5.0))
    assert abs(lax.gains[2][0]) < 0.5 * abs(LAW.gains[2][0])


AIR = Air(288.15, 101325.0, 1.225)
AROUND = Surroundings(G, AIR, Vec3(0.0, 0.0, 0.0), 1e3, 1e3)
DRAGGED = {
    "vehicles.rigid-body.parameters.forces": [
        {"type": "linear-drag", "damping_body_kgps": [0.3, 0.5, 0.8]}
    ],
    "vehicles.rigid-body.parameters.inertia_kgm2": {"xx": 4e-3, "yy": 5e-3, "zz": 6e-3, "xy": 3e-4},
}


def flown_by_lqr(scenario, vehicle, more=None):
    """Return the dynamics and the regulator of a scenario."""
    given = {f"vehicles.{vehicle}.controller": "lqr"} | (more or {})
    (found,) = kw.load(scenario, given).scenario.vehicles.values()
    return found.dynamics, next(
        level.component for level in found.cascade if isinstance(level.component, Lqr)
    )


def stepped(dynamics, command, dt_s):
    """Return a function from errors and inputs to the errors a step later."""

    def step(x, u):
        start = Start(Vec3.of(x[:3]), x[3], x[4], x[5], Vec3.of(x[6:9]), Vec3.of(x[9:]))
        state = dynamics.init(start.kinematics(), AROUND)
        state = dynamics.step(state, command(dynamics, u), AROUND, dt_s, KEY)
        now = dynamics.kinematics(state)
        angles = now.euler_world_from_body
        turned = Vec3(angles.roll_rad, angles.pitch_rad, angles.yaw_rad)
        parts = (now.position_world_m, turned, now.velocity_world_mps)
        return jnp.concatenate([v.array for v in (*parts, now.angular_velocity_body_radps)])

    return jax.jit(jax.vmap(step))


def differences(dynamics, command, dt_s=0.01, e=1e-4):
    """Return A and B of a vehicle's steps: the matrix logarithm of their response to deviations."""
    step = stepped(dynamics, command, dt_s)
    deviations = e * np.concatenate([np.eye(16), -np.eye(16)])
    after = np.asarray(step(jnp.asarray(deviations[:, :12]), jnp.asarray(deviations[:, 12:])))
    slopes = (after[:16] - after[16:]).T / (2.0 * e)
    whole = np.block([[slopes], [np.zeros((4, 12)), np.eye(4)]])
    rates = np.real(logm(whole)) / dt_s
    return rates[:12, :12], rates[:12, 12:]


def wrench(dynamics, u):
    return ThrustTorque(dynamics.mass_kg * G + u[0], Vec3.of(u[1:]))


def hover_speeds(dynamics, u):
    del u
    weight_n = dynamics.mass_kg * G
    speed = jnp.asarray(math.sqrt(weight_n / (4.0 * dynamics.rotor.thrust_factor_ns2)))
    return RotorSpeeds((speed, speed, speed, speed))


@pytest.mark.slow
def test_motion_near_hover_is_that_of_the_steps_of_a_body_with_drag():
    dynamics, law = flown_by_lqr("hover-rigid-body", "rigid-body", DRAGGED)
    a, b = differences(dynamics, wrench)
    np.testing.assert_allclose(law.motion_rows, a, atol=1e-4)
    np.testing.assert_allclose(law.input_rows, b, rtol=1e-4, atol=1e-4)
    expected = np.array([-0.3, -0.5, -0.8]) / dynamics.mass_kg
    np.testing.assert_allclose(np.diag(law.motion_rows)[6:9], expected, rtol=1e-12)


@pytest.mark.parametrize("vehicle", ["hummingbird", "os4"])
@pytest.mark.slow
def test_motion_near_hover_is_that_of_the_steps_of_rotors_at_the_speed_of_hover(vehicle):
    dynamics, law = flown_by_lqr(f"hover-{vehicle}", vehicle)
    a, _ = differences(dynamics, hover_speeds)
    np.testing.assert_allclose(law.motion_rows, a, atol=1e-4)
    # rotors that move through the air are dragged, and inflow damps climbing and tilting
    assert np.diag(law.motion_rows)[6:11].max() < -0.1
    poles = np.linalg.eigvals(np.array(law.motion_rows) - law.input_rows @ np.array(law.gains))
    assert poles.real.max() < -0.3


@pytest.mark.slow
def test_the_design_is_the_same_in_either_precision():
    dynamics, law = flown_by_lqr("hover-hummingbird", "hummingbird")
    with jax.enable_x64(False):
        fitted = Lqr.with_vehicle_defaults(dynamics, G)
    assert fitted["motion_rows"] == law.motion_rows
    assert fitted["input_rows"] == law.input_rows


@pytest.mark.slow
def test_new_weights_give_new_gains_of_the_same_vehicle():
    simulation = kw.load("hover-hummingbird", {"vehicles.hummingbird.controller": "lqr"})
    law = simulation.scenario.vehicles["hummingbird"].cascade[0].component
    simulation.set_gains("hummingbird", "lqr", acceptable={"height_m": 0.1})
    tuned = simulation.scenario.vehicles["hummingbird"].cascade[0].component
    expected = dataclasses.replace(law, acceptable=Deviations(height_m=0.1), gains=None)
    assert tuned.gains == expected.gains
    assert tuned.gains[0][2] == pytest.approx(10.0 * law.gains[0][2])


def test_rows_of_another_shape_are_rejected():
    rows = ((1.0, 2.0),) * 12
    with pytest.raises(ValueError, match="input_rows: 12 rows of 2 numbers.*write 12 rows of 4"):
        Lqr(MASS, INERTIA, 60.0, input_rows=rows)


def test_gains_of_other_weights_are_rejected():
    with pytest.raises(ValueError, match="leave gains out, and write the weights in acceptable"):
        dataclasses.replace(LAW, acceptable=Deviations(height_m=0.1))
    assert dataclasses.replace(LAW, max_step_m=1.0).gains == LAW.gains


def test_an_uncontrollable_vehicle_is_rejected():
    rows = ((0.0,) * 4,) * 12
    with pytest.raises(ValueError, match="no feedback stabilizes such a vehicle"):
        Lqr(MASS, INERTIA, 60.0, input_rows=rows)


def turned(v, angle):
    c, s = math.cos(angle), math.sin(angle)
    return Vec3(c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])


def output_of(angle, yaw_error=0.1, place=(0.3, -0.2, 0.4)):
    start = Start(
        turned((1.0, 2.0, 3.0), angle),
        0.1,
        -0.05,
        angle,
        turned((0.2, 0.1, -0.1), angle),
        Vec3(0.1, 0.2, -0.1),
    )
    goal = PositionYaw(
        turned((1.0 + place[0], 2.0 + place[1], 3.0 + place[2]), angle),
        angle + yaw_error,
        turned((0.1, 0.0, 0.2), angle),
        turned((0.5, -0.4, 0.3), angle),
        turned((0.2, 0.1, 0.0), angle),
        0.3,
    )
    _, out = LAW.step((), (goal, start.kinematics()), 0.01, KEY)
    return np.array([out.thrust_n, *out.torque_body_nm.array])


@pytest.mark.parametrize("angle", [-3.1, -1.0, 0.7, 3.1, 9.0])
def test_the_answer_is_the_same_at_any_heading(angle):
    np.testing.assert_allclose(output_of(angle), output_of(0.0), atol=1e-11)


def test_the_yaw_error_goes_the_short_way_round():
    np.testing.assert_allclose(output_of(3.0, 0.2), output_of(3.0, 0.2 - 2.0 * math.pi), atol=1e-11)


def test_a_distant_setpoint_equals_one_at_the_largest_step():
    far, near = output_of(0.0, 3.0, (3e5, -2e5, 4e5)), output_of(0.0, 0.8, (3e5, -2e5, 4e5))
    np.testing.assert_allclose(far, near, atol=1e-9)
    one = np.array([0.3, -0.2, 0.4]) / np.linalg.norm([0.3, -0.2, 0.4])
    np.testing.assert_allclose(
        output_of(0.0, 0.1, 2.0 * one), output_of(0.0, 0.1, 9.0 * one), atol=1e-9
    )


def test_exact_tracking_leaves_only_the_feed_forward():
    # as level as the acceleration is small
    goal = PositionYaw(Vec3(1.0, 2.0, 3.0), 0.0, Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.5))
    start = Start(goal.position_world_m, velocity_world_mps=goal.velocity_world_mps)
    _, out = LAW.step((), (goal, start.kinematics()), 0.01, KEY)
    assert float(out.thrust_n) == pytest.approx(MASS * (G + 0.5))
    np.testing.assert_allclose(out.torque_body_nm.array, 0.0, atol=1e-12)


def test_a_vehicle_that_is_no_rigid_body_is_rejected():
    with pytest.raises(ScenarioError, match="AttitudeResponse. is not; use a rigid body"):
        kw.load("hover-pelican", {"vehicles.pelican.controller": "lqr"})


@pytest.mark.slow
def test_a_hummingbird_goes_to_its_place_within_the_linear_range():
    name = "vehicles.hummingbird"
    given = {f"{name}.controller": "lqr", f"{name}.guidance.yaw_deg": 150}
    # in the air feet change nothing but the time to compile
    given[f"{name}.parameters"] = {"landing_gear": None}
    frame = kw.load("hover-hummingbird", given).run(10.0).frame("hummingbird")
    apart = [frame[f"{axis}_m"] - frame[f"setpoint.position_{axis}_world_m"] for axis in "xyz"]
    assert np.linalg.norm(apart, axis=0)[frame.time_s >= 8.0].max() < 0.01
    z_z = 1.0 - 2.0 * (frame.qx**2 + frame.qy**2)
    assert np.arccos(z_z.min()) < 0.5


def test_deviations_give_vectors_of_twelve_and_four():
    states = dataclasses.replace(Deviations(), yaw_rad=0.7).largest_state()
    assert states[5] == 0.7
    np.testing.assert_allclose(
        Deviations().largest_input(2.0, INERTIA), [6.0, 0.4, 0.6, 0.16], rtol=1e-12
    )
