"""Control laws of uav_gazebo against NumPy, in world axes as in the source."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.control.euler_attitude import EulerAttitude, XyzAngles
from kittiwake.control.rates import Rates
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.commands import ThrustAttitude, ThrustRates, VelocityYawRate
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
INERTIA = Inertia(3e-3, 4e-3, 6e-3, 2e-4, -1e-4, 3e-4)
BODY = Inertia(3e-3, 3e-3, 6e-3)
G = 9.81


# the equations of the source, in world axes


def matrix(rho):
    """R = R_x(phi) R_y(theta) R_z(psi)."""
    (a, b, c), (s, t, u) = np.cos(rho), np.sin(rho)
    about_x = np.array([[1, 0, 0], [0, a, -s], [0, s, a]])
    about_y = np.array([[b, 0, t], [0, 1, 0], [-t, 0, b]])
    about_z = np.array([[c, -u, 0], [u, c, 0], [0, 0, 1]])
    return about_x @ about_y @ about_z


def rate_matrix(rho):
    """D, of omega = D rho' in the world."""
    phi, theta, _ = rho
    return np.array(
        [
            [1, 0, np.sin(theta)],
            [0, np.cos(phi), -np.sin(phi) * np.cos(theta)],
            [0, np.sin(phi), np.cos(phi) * np.cos(theta)],
        ]
    )


def rate_matrix_rate(rho, rho_dot):
    """D', by a central difference along the motion."""
    step = 1e-6
    ahead, behind = rate_matrix(rho + step * rho_dot), rate_matrix(rho - step * rho_dot)
    return (ahead - behind) / (2.0 * step)


def torque_world(rho, omega, rho_dot_dot):
    """Equation 2 for an acceleration of the angles."""
    rotation = matrix(rho)
    inertia = rotation @ INERTIA.matrix @ rotation.T
    rho_dot = np.linalg.solve(rate_matrix(rho), omega)
    omega_dot = rate_matrix(rho) @ rho_dot_dot + rate_matrix_rate(rho, rho_dot) @ rho_dot
    return inertia @ omega_dot + np.cross(omega, inertia @ omega)


def quaternion(rotation):
    """Return the quaternion of a rotation matrix; w is not near zero in these tests."""
    w = math.sqrt(1.0 + np.trace(rotation)) / 2.0
    differences = rotation - rotation.T
    x, y, z = differences[2, 1], differences[0, 2], differences[1, 0]
    return Quaternion(w, float(x / (4 * w)), float(y / (4 * w)), float(z / (4 * w)))


def motion(rho, omega_body, velocity=(0.0, 0.0, 0.0)):
    """Kinematics at these X-Y-Z angles."""
    e = quaternion(matrix(rho)).to_euler()
    angles = map(float, (e.roll_rad, e.pitch_rad, e.yaw_rad))
    start = Start(Vec3.zero(), *angles, Vec3(*velocity), Vec3(*omega_body))
    return start.kinematics()


def torque(controller, signal, estimate):
    return controller.step((), (signal, estimate), 0.01, KEY)[1].torque_body_nm.array


RHO, OMEGA = np.array([0.4, -0.7, 1.1]), np.array([0.5, -0.8, 1.2])
GOAL, GOAL_OMEGA = np.array([-0.2, 0.3, 0.6]), np.array([0.2, 0.1, -0.4])


@pytest.mark.parametrize("rho", [RHO, GOAL, np.array([-2.5, 1.2, -0.3]), np.zeros(3)])
def test_angles_and_rates_are_those_of_the_matrices(rho):
    found = XyzAngles.of(quaternion(matrix(rho)), Vec3(*OMEGA.tolist()))
    np.testing.assert_allclose(found.angles_rad.array, rho, rtol=0, atol=1e-12)
    expected = np.linalg.solve(rate_matrix(rho), matrix(rho) @ OMEGA)
    np.testing.assert_allclose(found.rates_radps.array, expected, rtol=0, atol=1e-12)


def test_torque_is_that_of_the_source_turned_into_body_axes():
    law = EulerAttitude(INERTIA, 5.0, 0.8, 1.5, 0.9)
    wanted = ThrustAttitude(9.0, quaternion(matrix(GOAL)), Vec3(*GOAL_OMEGA.tolist()))
    omega = matrix(RHO) @ OMEGA
    rho_dot = np.linalg.solve(rate_matrix(RHO), omega)
    goal_dot = np.linalg.solve(rate_matrix(GOAL), matrix(GOAL) @ GOAL_OMEGA)
    stiffness, damping = np.array([25.0, 25.0, 2.25]), np.array([8.0, 8.0, 2.7])
    rho_dot_dot = damping * (goal_dot - rho_dot) + stiffness * (GOAL - RHO)
    expected = matrix(RHO).T @ torque_world(RHO, omega, rho_dot_dot)
    found = torque(law, wanted, motion(RHO, OMEGA.tolist()))
    # the central difference of D is good to 1e-10 of these torques
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


def test_yaw_turns_the_short_way():
    law = EulerAttitude(INERTIA)
    wanted = ThrustAttitude(9.81, Quaternion.from_euler(EulerZYX(0.0, 0.0, -3.0)))
    assert torque(law, wanted, motion(np.array([0.0, 0.0, 3.0]), (0.0, 0.0, 0.0)))[2] > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9])
def test_torque_is_finite_where_the_angles_are_singular(pitch):
    law = EulerAttitude(BODY)

    def loss(pitch_rad, rate):
        estimate = Start(pitch_rad=pitch_rad, angular_velocity_body_radps=Vec3(rate, rate, rate))
        wanted = ThrustAttitude(9.81, Quaternion.identity(), Vec3(0.1, 0.2, 0.3))
        _, found = law.step((), (wanted, estimate.kinematics()), 0.01, KEY)
        return jnp.sum(found.torque_body_nm.array)

    value, slopes = jax.value_and_grad(loss, argnums=(0, 1))(jnp.asarray(pitch), jnp.asarray(0.5))
    # 1 / LEAST_COSINE of rates of 1 rad/s, by the inertia and the gains
    assert abs(value) < 1e3
    assert np.isfinite(slopes).all()


def test_rates_are_answered_by_the_inverted_inertia():
    signal = ThrustRates(7.0, Vec3(0.2, -0.3, 0.4), Vec3(1.0, 2.0, 3.0))
    state, found = Rates(INERTIA, 3.5).step((), (signal, motion(RHO, OMEGA.tolist())), 0.01, KEY)
    assert state == ()
    assert found.thrust_n == 7.0
    acceleration = np.array([1.0, 2.0, 3.0]) + 3.5 * (np.array([0.2, -0.3, 0.4]) - OMEGA)
    expected = INERTIA.matrix @ acceleration + np.cross(OMEGA, INERTIA.matrix @ OMEGA)
    np.testing.assert_allclose(found.torque_body_nm.array, expected, rtol=1e-12)


def velocity_law(**gains):
    return UavGazeboVelocity(1.2, EulerAttitude(INERTIA), **gains)


def test_velocity_asks_for_the_source_s_thrust_and_torque():
    velocity, wanted = np.array([1.0, 0.5, -0.2]), np.array([0.0, 2.0, 0.4])
    ahead = np.array([0.3, -0.1, 0.2])
    signal = VelocityYawRate(Vec3(*wanted.tolist()), 0.7, Vec3(*ahead.tolist()))
    estimate = motion(RHO, OMEGA.tolist(), velocity.tolist())
    _, found = velocity_law(velocity_gain_per_s=1.3).step((), (signal, estimate), 0.01, KEY)
    force = 1.2 * (ahead + 1.3 * (wanted - velocity) + np.array([0.0, 0.0, G]))
    assert float(found.thrust_n) == pytest.approx(np.linalg.norm(force), rel=1e-14)
    tilt = np.array([np.arctan2(-force[1], force[2]), np.arcsin(force[0] / np.linalg.norm(force))])
    omega = matrix(RHO) @ OMEGA
    rho_dot = np.linalg.solve(rate_matrix(RHO), omega)
    rho_dot_dot = np.append(25.0 * (tilt - RHO[:2]) - 10.0 * rho_dot[:2], 2.0 * (0.7 - rho_dot[2]))
    expected = matrix(RHO).T @ torque_world(RHO, omega, rho_dot_dot)
    np.testing.assert_allclose(found.torque_body_nm.array, expected, rtol=1e-8, atol=1e-11)


def test_a_force_that_points_down_keeps_the_least_lift():
    signal = VelocityYawRate(Vec3(0.0, 0.0, -1e3), 0.0)
    _, found = velocity_law().step((), (signal, motion(np.zeros(3), (0.0, 0.0, 0.0))), 0.01, KEY)
    assert float(found.thrust_n) == pytest.approx(0.01, rel=1e-12)


@pytest.mark.slow
def test_gains_have_the_slopes_of_differences():
    signal = VelocityYawRate(Vec3(0.5, 2.0, 0.4), 0.7)
    estimate = motion(RHO, OMEGA.tolist())

    def loss(gains):
        tilt, damping, velocity, turn = gains
        law = UavGazeboVelocity(1.2, EulerAttitude(INERTIA, tilt, damping), velocity, turn)
        _, found = law.step((), (signal, estimate), 0.01, KEY)
        return found.thrust_n + found.torque_body_nm.dot(Vec3(3.0, 5.0, 7.0))

    gains = jnp.asarray([5.0, 1.0, 1.0, 2.0])
    found, step = jax.grad(loss)(gains), 1e-5
    for i in range(4):
        moved = gains.at[i].add(step), gains.at[i].add(-step)
        difference = (loss(moved[0]) - loss(moved[1])) / (2.0 * step)
        # second-order differences of smooth functions of order one
        assert float(found[i]) == pytest.approx(float(difference), rel=1e-6, abs=1e-9)
        assert float(found[i]) != 0.0
