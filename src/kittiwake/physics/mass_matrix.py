"""Mass matrix of a body with added mass, about any point of the body.

With the velocity v of that point and the angular velocity omega in body axes, the momenta are::

    p = A v + C^T omega,    l = C v + J omega

Each part has a mass along each axis, as added mass differs by direction, at a point r, and an
inertia I about that point. It adds ``diag(m)`` to A, ``S(r) diag(m)`` to C and
``I + S(r) diag(m) S(r)^T`` to J, where S(r) is the matrix of the vector product. Fossen (2021),
"Handbook of Marine Craft Hydrodynamics and Motion Control", 2nd edition, sections 3.3 and 6.3.

A is diagonal, so that only the three equations of J - C A^-1 C^T remain to be solved.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add

from kittiwake.core.wrench import Wrench
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Matrix3(Module):
    """3x3 matrix of three rows."""

    x: Vec3
    y: Vec3
    z: Vec3

    @classmethod
    def diagonal(cls, entries: Vec3) -> "Matrix3":
        """Return a diagonal matrix."""
        return cls(Vec3(entries.x, 0.0, 0.0), Vec3(0.0, entries.y, 0.0), Vec3(0.0, 0.0, entries.z))

    @classmethod
    def cross_product(cls, r: Vec3) -> "Matrix3":
        """Return S(r), the matrix of the vector product with r."""
        return cls(Vec3(0.0, -r.z, r.y), Vec3(r.z, 0.0, -r.x), Vec3(-r.y, r.x, 0.0))

    def __add__(self, other: "Matrix3") -> "Matrix3":
        return Matrix3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Matrix3") -> "Matrix3":
        return Matrix3(self.x - other.x, self.y - other.y, self.z - other.z)

    def scaled(self, columns: Vec3) -> "Matrix3":
        """Return the matrix with each column multiplied by its own factor."""
        return Matrix3(self.x.scaled(columns), self.y.scaled(columns), self.z.scaled(columns))

    def times(self, v: Vec3) -> Vec3:
        """Return the matrix times a vector."""
        return Vec3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def transposed_times(self, v: Vec3) -> Vec3:
        """Return the transposed matrix times a vector."""
        return self.x * v.x + self.y * v.y + self.z * v.z

    def times_transposed(self, other: "Matrix3") -> "Matrix3":
        """Return the matrix times the transpose of another one."""
        return Matrix3(other.times(self.x), other.times(self.y), other.times(self.z))

    def solve_symmetric(self, v: Vec3) -> Vec3:
        """Return the solution x of A x = v for this matrix A, which must be symmetric."""
        across, over, under = self.y.cross(self.z), self.z.cross(self.x), self.x.cross(self.y)
        return Matrix3(across, over, under).times(v) / self.x.dot(across)


class OffsetMass(Module):
    """Mass along each axis, its position, and the inertia about that position."""

    masses_kg: Vec3
    position_body_m: Vec3
    inertia_kgm2: Matrix3

    def momenta(self, velocity_body_mps: Vec3, omega: Vec3) -> tuple[Vec3, Vec3]:
        """Return linear and angular momentum about the point that moves with the velocity."""
        here = velocity_body_mps + omega.cross(self.position_body_m)
        p = here.scaled(self.masses_kg)
        return p, self.inertia_kgm2.times(omega) + self.position_body_m.cross(p)

    def reaction(self, velocity_body_mps: Vec3, omega: Vec3) -> Wrench:
        """Return the Coriolis and centripetal wrench -C(nu) nu, which does no work."""
        p, angular = self.momenta(velocity_body_mps, omega)
        return Wrench(p.cross(omega), angular.cross(omega) + p.cross(velocity_body_mps))


class MassMatrix(Module):
    """Blocks A, C and J of the mass matrix of all parts."""

    masses_kg: Vec3
    coupling_kgm: Matrix3
    inertia_kgm2: Matrix3

    @classmethod
    def of(cls, parts: Sequence[OffsetMass]) -> "MassMatrix":
        """Return the mass matrix of the sum of several parts."""
        levers = [Matrix3.cross_product(part.position_body_m) for part in parts]
        couplings = [
            lever.scaled(part.masses_kg) for lever, part in zip(levers, parts, strict=True)
        ]
        moved = [c.times_transposed(lever) for c, lever in zip(couplings, levers, strict=True)]
        return cls(
            reduce(add, [part.masses_kg for part in parts]),
            reduce(add, couplings),
            reduce(add, [*moved, *(part.inertia_kgm2 for part in parts)]),
        )

    def rates(self, wrench: Wrench) -> tuple[Vec3, Vec3]:
        """Return the rates of v and omega under a wrench about the same point."""
        force, masses = wrench.force_body_n, self.masses_kg
        inverse = Vec3(1.0 / masses.x, 1.0 / masses.y, 1.0 / masses.z)
        ratio = self.coupling_kgm.scaled(inverse)
        reduced = self.inertia_kgm2 - ratio.times_transposed(self.coupling_kgm)
        turning = reduced.solve_symmetric(wrench.torque_body_nm - ratio.times(force))
        return (force - self.coupling_kgm.transposed_times(turning)).scaled(inverse), turning
