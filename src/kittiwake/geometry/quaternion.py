"""Unit quaternions: Hamilton product, scalar first (w, x, y, z).

``q_a_from_b`` turns a vector's components in frame b into its components in frame a, so that inner
names cancel: ``q_a_from_c = q_a_from_b * q_b_from_c``. Source of the formulas: Sola (2017),
"Quaternion kinematics for the error-state Kalman filter", sections 1 and 4.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.scalar import Real, namespace
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3

SMALL_ANGLE_RAD = 1e-4


class Quaternion(eqx.Module):
    """Unit quaternion (w, x, y, z)."""

    w: Real
    x: Real
    y: Real
    z: Real

    @classmethod
    def identity(cls) -> "Quaternion":
        """Return the identity rotation."""
        return cls(1.0, 0.0, 0.0, 0.0)

    @classmethod
    def from_euler(cls, angles: EulerZYX) -> "Quaternion":
        """Return the reference-from-body rotation of ZYX angles."""
        sr, cr = sin_cos(angles.roll_rad * 0.5)
        sp, cp = sin_cos(angles.pitch_rad * 0.5)
        sy, cy = sin_cos(angles.yaw_rad * 0.5)
        return cls(
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )

    @classmethod
    def from_rotation_vector(cls, rotation_rad: Vec3) -> "Quaternion":
        """Return the rotation about a vector by its length (exponential map)."""
        angle = rotation_rad.norm()
        half_sine, half_cosine = sin_cos(angle * 0.5)
        small = angle < SMALL_ANGLE_RAD
        near_zero = 0.5 - angle * angle / 48.0
        if namespace(angle) is np:
            scale = near_zero if small else half_sine / angle
        else:
            scale = jnp.where(small, near_zero, half_sine / jnp.where(small, 1.0, angle))
        vector = rotation_rad * scale
        return cls(half_cosine, vector.x, vector.y, vector.z)

    @property
    def array(self) -> Float[Array | np.ndarray, "4"]:
        """Components (w, x, y, z) as one array."""
        parts = (self.w, self.x, self.y, self.z)
        numerics = namespace(*parts)
        return numerics.stack([numerics.asarray(part) for part in parts])

    @property
    def vector(self) -> Vec3:
        """The imaginary part."""
        return Vec3(self.x, self.y, self.z)

    def __mul__(self, other: "Quaternion") -> "Quaternion":
        scalar = self.w * other.w - self.vector.dot(other.vector)
        vector = other.vector * self.w + self.vector * other.w + self.vector.cross(other.vector)
        return Quaternion(scalar, vector.x, vector.y, vector.z)

    def inverse(self) -> "Quaternion":
        """Return the inverse rotation (of a unit quaternion)."""
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def norm(self) -> Real:
        """Return the length; one for a rotation."""
        square = self.w * self.w + self.vector.dot(self.vector)
        return namespace(square).sqrt(square)

    def normalized(self) -> "Quaternion":
        """Return the quaternion scaled to unit length."""
        scale = 1.0 / self.norm()
        return Quaternion(self.w * scale, self.x * scale, self.y * scale, self.z * scale)

    def rotate(self, v: Vec3) -> Vec3:
        """Return a vector's components in the outer frame, given those in the inner one."""
        twice_cross = self.vector.cross(v) * 2.0
        return v + twice_cross * self.w + self.vector.cross(twice_cross)

    def to_euler(self) -> EulerZYX:
        """Return ZYX angles, yaw and roll in [-pi, pi], pitch in [-pi/2, pi/2]."""
        w, x, y, z = self.w, self.x, self.y, self.z
        numerics = namespace(w, x, y, z)
        sine_pitch = 2.0 * (w * y - z * x)
        # straight up or down the arcsine has no derivative; there the pitch is constant
        steep = abs(sine_pitch) >= 1.0
        right_angle = numerics.sign(sine_pitch) * (numerics.pi / 2)
        return EulerZYX(
            roll_rad=numerics.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            pitch_rad=numerics.where(
                steep, right_angle, numerics.arcsin(numerics.where(steep, 0.0, sine_pitch))
            )[()],
            yaw_rad=numerics.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        )
