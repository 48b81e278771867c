"""Operations on arrays of quaternions (w, x, y, z) in NumPy, one quaternion per row."""

import numpy as np
from jaxtyping import Float

Quaternions = Float[np.ndarray, "n 4"]
Vectors = Float[np.ndarray, "n 3"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def rotated(q: Quaternions, vectors: Vectors) -> Vectors:
    """Return each vector rotated by its quaternion: v + 2 w (u x v) + 2 u x (u x v)."""
    ux, uy, uz = q[:, 1], q[:, 2], q[:, 3]
    vx, vy, vz = vectors[:, 0], vectors[:, 1], vectors[:, 2]
    # np.cross is several times slower
    tx, ty, tz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    twice = 2.0 * q[:, 0]
    turned = np.empty_like(vectors)
    turned[:, 0] = vx + twice * tx + 2.0 * (uy * tz - uz * ty)
    turned[:, 1] = vy + twice * ty + 2.0 * (uz * tx - ux * tz)
    turned[:, 2] = vz + twice * tz + 2.0 * (ux * ty - uy * tx)
    return turned


def composed(one: Quaternions, other: Quaternions) -> Quaternions:
    """Return the products of quaternions: the second rotation is applied first."""
    aw, ax, ay, az = one.T
    bw, bx, by, bz = other.T
    product = np.empty_like(one)
    product[:, 0] = aw * bw - ax * bx - ay * by - az * bz
    product[:, 1] = aw * bx + ax * bw + ay * bz - az * by
    product[:, 2] = aw * by - ax * bz + ay * bw + az * bx
    product[:, 3] = aw * bz + ax * by - ay * bx + az * bw
    return product


def about(axis: int, angles_rad: Float[np.ndarray, " n"]) -> Quaternions:
    """Return rotations about the axis x, y or z, given by its index."""
    q = np.zeros((len(angles_rad), 4))
    q[:, 0] = np.cos(0.5 * angles_rad)
    q[:, 1 + axis] = np.sin(0.5 * angles_rad)
    return q


def from_x_to(directions: Vectors) -> Quaternions:
    """Return the shortest rotations of the x axis to unit vectors."""
    q = np.zeros((len(directions), 4))
    q[:, 0] = 1.0 + directions[:, 0]
    q[:, 2], q[:, 3] = -directions[:, 2], directions[:, 1]
    # the shortest rotation to -x is not unique
    q[q[:, 0] < 1e-9] = (0.0, 0.0, 0.0, 1.0)
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def yaws_rad(q: Quaternions) -> Float[np.ndarray, " n"]:
    """Return the yaw of ZYX Euler angles."""
    w, x, y, z = q.T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
