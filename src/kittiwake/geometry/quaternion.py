"""Unit quaternions: Hamilton product, scalar first (w, x, y, z).

``q_a_from_b`` turns a vector's components in frame b into its components in frame a, so that inner
names cancel: ``q_a_from_c = q_a_from_b * q_b_from_c``. Source of the formulas: Sola (2017),
"Quaternion kinematics for the error-state Kalman filter", sections 1 and 4.
"""

from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float
from numpy.typing import DTypeLike

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.scalar import Real, namespace, require_components, require_scalar
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

SMALL_ANGLE_RAD = 1e-4
# error of orthogonality up to which a matrix is a rotation; of four decimals it is at most 1.8e-4
MATRIX_TOLERANCE = 2e-4
OF_ARRAYS = "Write Quaternion.of(array), or for rows of w, x, y, z jax.vmap(kw.Quaternion.of)(rows)"


class Quaternion(Module):
    """Unit quaternion (w, x, y, z), also as four numbers: ``np.asarray(q)``, ``q[0]``."""

    w: Real
    x: Real
    y: Real
    z: Real

    def __post_init__(self) -> None:
        """Refuse arrays; those of a batch enter by ``vmap`` and trees, which check nothing."""
        for part in "wxyz":
            require_scalar(getattr(self, part), f"Quaternion.{part}", OF_ARRAYS)

    @classmethod
    def of(
        cls, components: "Quaternion | Sequence[Real] | Float[Array | np.ndarray, '4']"
    ) -> "Quaternion":
        """Return the quaternion with these four components (w, x, y, z)."""
        require_components(components, 4, "Quaternion")
        w, x, y, z = components.tolist() if isinstance(components, np.ndarray) else components
        return cls(w, x, y, z)

    @classmethod
    def unchecked(cls, w: Real, x: Real, y: Real, z: Real) -> "Quaternion":
        """Return a quaternion whose components may also be those of a batch."""
        quaternion = object.__new__(cls)
        # frozen, but not yet seen by anyone
        for name, part in zip("wxyz", (w, x, y, z), strict=True):
            object.__setattr__(quaternion, name, part)
        return quaternion

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
        return cls.unchecked(
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
        return cls.unchecked(half_cosine, vector.x, vector.y, vector.z)

    @classmethod
    def from_matrix(
        cls, matrix: Sequence[Sequence[Real]] | Float[Array | np.ndarray, "3 3"]
    ) -> "Quaternion":
        """Return the rotation of a rotation matrix, with w not negative.

        Four times the products of its components are sums of the matrix's entries. The row of the
        largest component is divided by its length (Shepperd's method). Traced matrices are not
        checked.

        Args:
            matrix: entries by row; the product with its transpose may differ from the identity by
                2e-4 in an entry, as rounding to four decimals causes.

        Raises:
            ValueError: if the matrix is no rotation.
        """
        m = matrix if isinstance(matrix, jax.Array) else np.asarray(matrix, dtype=float)
        if not isinstance(m, Tracer):
            _require_rotation(np.asarray(m, dtype=float))
        numerics = jnp if isinstance(m, jax.Array) else np
        u, v, w = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
        a, b, c = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
        diagonal = m[0, 0], m[1, 1], m[2, 2]
        p, q, r = diagonal
        products = numerics.asarray(
            [
                [1.0 + p + q + r, u, v, w],
                [u, 1.0 + p - q - r, a, b],
                [v, a, 1.0 - p + q - r, c],
                [w, b, c, 1.0 - p - q + r],
            ]
        )
        row = products[numerics.argmax(numerics.diagonal(products))]
        unit = row / numerics.linalg.norm(row) * numerics.where(row[0] < 0.0, -1.0, 1.0)
        return cls.of(unit)

    @property
    def matrix(self) -> Float[Array | np.ndarray, "3 3"]:
        """The rotation matrix, whose columns are the inner frame's axes in the outer frame."""
        w, x, y, z = self
        numerics = namespace(w, x, y, z)
        return numerics.asarray(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )

    @property
    def array(self) -> Float[Array | np.ndarray, "4"]:
        """Components (w, x, y, z) as one array."""
        parts = (self.w, self.x, self.y, self.z)
        numerics = namespace(*parts)
        return numerics.stack([numerics.asarray(part) for part in parts])

    def __array__(self, dtype: DTypeLike | None = None, *, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            message = "a quaternion has no array of its own; it can only be copied into one"
            raise ValueError(message)
        return np.asarray([self.w, self.x, self.y, self.z], dtype=dtype)

    def __len__(self) -> int:
        return 4

    def __iter__(self) -> Iterator[Real]:
        yield self.w
        yield self.x
        yield self.y
        yield self.z

    def __getitem__(self, index: int) -> Real:
        return (self.w, self.x, self.y, self.z)[index]

    @property
    def vector(self) -> Vec3:
        """The imaginary part."""
        return Vec3.unchecked(self.x, self.y, self.z)

    def __mul__(self, other: "Quaternion") -> "Quaternion":
        scalar = self.w * other.w - self.vector.dot(other.vector)
        vector = other.vector * self.w + self.vector * other.w + self.vector.cross(other.vector)
        return Quaternion.unchecked(scalar, vector.x, vector.y, vector.z)

    def inverse(self) -> "Quaternion":
        """Return the inverse rotation (of a unit quaternion)."""
        return Quaternion.unchecked(self.w, -self.x, -self.y, -self.z)

    def norm(self) -> Real:
        """Return the length; one for a rotation."""
        square = self.w * self.w + self.vector.dot(self.vector)
        return namespace(square).sqrt(square)

    def normalized(self) -> "Quaternion":
        """Return the quaternion scaled to unit length."""
        scale = 1.0 / self.norm()
        return Quaternion.unchecked(self.w * scale, self.x * scale, self.y * scale, self.z * scale)

    def to_rotation_vector(self) -> Vec3:
        """Return the rotation as a vector of length up to pi (inverse of the exponential map)."""
        half_sine = self.vector.norm()
        numerics = namespace(self.w, half_sine)
        small = half_sine < 0.5 * SMALL_ANGLE_RAD
        # of q and -q, which are the same rotation, that of the smaller angle
        sign = numerics.where(self.w < 0.0, -1.0, 1.0)[()]
        divisor = numerics.where(small, 1.0, half_sine)[()]
        half_angle = numerics.arctan2(half_sine, sign * self.w)
        ratio = numerics.where(small, 1.0 + half_sine * half_sine / 6.0, half_angle / divisor)[()]
        return self.vector * (2.0 * sign * ratio)

    def slerp(self, other: "Quaternion", t: Real) -> "Quaternion":
        """Return the rotation at a fraction of the shortest way to another one.

        Args:
            other: the rotation at ``t`` = 1.
            t: the fraction; 0 is this rotation.
        """
        way = (self.inverse() * other).to_rotation_vector()
        return self * Quaternion.from_rotation_vector(way * t)

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


def _require_rotation(matrix: np.ndarray) -> None:
    if matrix.shape != (3, 3):
        message = (
            f"`matrix`: got an array of shape {matrix.shape}; must be (3, 3). For a batch write "
            "jax.vmap(Quaternion.from_matrix)(matrices)"
        )
        raise ValueError(message)
    if not np.isfinite(matrix).all():
        message = f"`matrix`: got {matrix.tolist()}; must be finite numbers"
        raise ValueError(message)
    error = float(np.max(np.abs(matrix @ matrix.T - np.eye(3))))
    determinant = float(np.linalg.det(matrix))
    if error > MATRIX_TOLERANCE or determinant < 0.0:
        message = (
            f"`matrix`: got determinant {determinant:.6g} and an orthogonality error of "
            f"{error:.3g}; must be a rotation, with determinant 1 and R R^T = I within "
            f"{MATRIX_TOLERANCE:g}. Divide by its scale; a reflection is no rotation"
        )
        raise ValueError(message)
