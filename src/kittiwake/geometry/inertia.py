"""Inertia matrix of a rigid body.

Symmetric, in body axes, about the center of mass; the products are entries of the matrix, so
``xy = -integral of x y dm``.
"""

import numpy as np

from kittiwake.geometry.scalar import Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Inertia(Module):
    """Inertia matrix with moments xx, yy, zz and products xy, xz, yz in kg m^2."""

    xx: Real
    yy: Real
    zz: Real
    xy: Real = 0.0
    xz: Real = 0.0
    yz: Real = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for a physically impossible matrix, if the entries are plain numbers."""
        entries = (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz)
        if not all(isinstance(entry, int | float) for entry in entries):
            return
        moments = np.linalg.eigvalsh(self.matrix)
        if not moments[0] > 0.0:
            message = (
                f"an inertia with the principal moments {_listed(moments)} kg m^2 is not positive "
                "definite; all must be above 0"
            )
            raise ValueError(message)
        if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
            message = (
                f"no body has the principal moments {_listed(moments)} kg m^2: the largest may not "
                "exceed the sum of the other two"
            )
            raise ValueError(message)

    @property
    def matrix(self) -> np.ndarray:
        """The matrix as a NumPy array; the entries must be plain numbers."""
        xx, yy, zz, xy, xz, yz = (
            float(entry) for entry in (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz)
        )
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def is_diagonal(self) -> bool:
        """True if the body's axes are known to be its principal axes."""
        return all(is_zero(entry) for entry in (self.xy, self.xz, self.yz))

    def gyroscopic(self, angular_velocity: Vec3) -> Vec3:
        """Return the gyroscopic torque omega x (J omega)."""
        return angular_velocity.cross(self.times(angular_velocity))

    def times(self, v: Vec3) -> Vec3:
        """Return the matrix times a vector, such as the angular momentum of the rates ``v``."""
        if self.is_diagonal:
            return Vec3(self.xx * v.x, self.yy * v.y, self.zz * v.z)
        return Vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def solve(self, v: Vec3) -> Vec3:
        """Return the solution x of J x = v, by Cramer's rule."""
        if self.is_diagonal:
            return Vec3(v.x / self.xx, v.y / self.yy, v.z / self.zz)
        a = self.yy * self.zz - self.yz * self.yz
        b = self.xz * self.yz - self.xy * self.zz
        c = self.xy * self.yz - self.xz * self.yy
        d = self.xx * self.zz - self.xz * self.xz
        e = self.xy * self.xz - self.xx * self.yz
        f = self.xx * self.yy - self.xy * self.xy
        determinant = self.xx * a + self.xy * b + self.xz * c
        return Vec3(
            (a * v.x + b * v.y + c * v.z) / determinant,
            (b * v.x + d * v.y + e * v.z) / determinant,
            (c * v.x + e * v.y + f * v.z) / determinant,
        )


def _listed(moments: np.ndarray) -> str:
    return ", ".join(f"{moment:.4g}" for moment in moments)
