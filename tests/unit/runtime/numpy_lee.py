"""Geometric tracking on SE(3) in NumPy, after Lee, Leok and McClamroch (2010), equations 8 to 16.

Gains are per mass and per inertia, and speed and feedback are limited, as in ``kw.control.Lee``.
"""

import numpy as np

import kittiwake as kw

E_Z = np.array([0.0, 0.0, 1.0])


def unit(v, rate, second):
    """The direction of a vector with its first two derivatives."""
    length = np.linalg.norm(v)
    n = v / length
    growth = n @ rate
    n_rate = (rate - n * growth) / length
    bend = n_rate @ rate + n @ second
    return n, n_rate, (second - n * bend - 2.0 * growth * n_rate) / length


def cross(a, b):
    """The vector product of two vectors with their first two derivatives."""
    return (
        np.cross(a[0], b[0]),
        np.cross(a[1], b[0]) + np.cross(a[0], b[1]),
        np.cross(a[2], b[0]) + 2.0 * np.cross(a[1], b[1]) + np.cross(a[0], b[2]),
    )


def vee(m):
    """The vector of the antisymmetric part of a matrix."""
    return 0.5 * np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])


def rotation(q):
    """The matrix of a unit quaternion."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def clipped(v, longest):
    """A vector of at most this length."""
    length = np.linalg.norm(v)
    return v * (longest / length) if length > longest else v


class NumpyLee:
    """Position and yaw to thrust and torque."""

    def __init__(self, k_x=2.25, k_v=3.0, max_speed_mps=5.0, max_feedback_mps2=6.0):
        self.k_x, self.k_v = k_x, k_v
        self.max_speed, self.max_feedback = max_speed_mps, max_feedback_mps2
        self.k_r, self.k_omega = np.array([64.0, 64.0, 16.0]), np.array([16.0, 16.0, 8.0])

    def reset(self, vehicle):
        self.m, self.j = vehicle.mass_kg, vehicle.inertia_kgm2.matrix
        self.g, self.max_thrust = vehicle.gravity_mps2 * E_Z, vehicle.max_thrust_n

    def update(self, t_s, setpoint, estimate):
        del t_s
        r = rotation(estimate.q_world_from_body.array)
        omega = estimate.angular_velocity_body_radps.array
        force = self.force(setpoint, estimate, r, omega)
        psi, rate = setpoint.yaw_rad, setpoint.yaw_rate_radps
        along = np.array([np.cos(psi), np.sin(psi), 0.0])
        heading = (along, np.array([-np.sin(psi), np.cos(psi), 0.0]) * rate, -along * rate**2)
        b3 = unit(*force)
        b2 = unit(*cross(b3, heading))
        b1 = cross(b2, b3)
        r_d, r_d1, r_d2 = (np.column_stack(axes) for axes in zip(b1, b2, b3, strict=True))
        omega_d, alpha_d = vee(r_d.T @ r_d1), vee(r_d.T @ r_d2 + r_d1.T @ r_d1)
        e_r = vee(r_d.T @ r)
        back = r.T @ r_d
        e_omega = omega - back @ omega_d
        feedback = self.k_r * e_r + self.k_omega * e_omega
        acceleration = back @ alpha_d - np.cross(omega, back @ omega_d) - feedback
        torque = self.j @ acceleration + np.cross(omega, self.j @ omega)
        return kw.ThrustTorque(self.lift(force[0] @ r[:, 2]) * self.m, kw.Vec3.of(torque))

    def lift(self, demanded):
        return np.clip(demanded, 0.0, self.max_thrust / self.m)

    def force(self, setpoint, estimate, r, omega):
        """A, with its derivatives under the vehicle's own thrust."""
        e_x = setpoint.position_world_m.array - estimate.position_world_m.array
        e_v = setpoint.velocity_world_mps.array - estimate.velocity_world_mps.array
        a_0, jerk_0 = setpoint.acceleration_world_mps2.array, setpoint.jerk_world_mps3.array
        pull = e_x * self.k_x / self.k_v
        free = (clipped(pull, self.max_speed) + e_v) * self.k_v
        a = clipped(free, self.max_feedback) + a_0 + self.g
        limited = np.linalg.norm(pull) > self.max_speed or np.linalg.norm(free) > self.max_feedback
        k_x, k_v = (0.0, 0.0) if limited else (self.k_x, self.k_v)
        up, up_rate = r[:, 2], r @ np.cross(omega, E_Z)
        thrust = self.lift(a @ up)
        e_a = a_0 + self.g - up * thrust
        a_rate = jerk_0 + k_x * e_v + k_v * e_a
        thrust_rate = a_rate @ up + a @ up_rate if thrust == a @ up else 0.0
        e_jerk = jerk_0 - up * thrust_rate - up_rate * thrust
        return a, a_rate, k_x * e_a + k_v * e_jerk
