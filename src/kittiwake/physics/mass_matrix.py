"""The mass of a body and of the water that moves along, about any point of the body.

With the velocity v of that point and the angular velocity omega in body axes, the momenta are::

    p = A v + C^T omega,    l = C v + J omega

Each part has a mass along each axis, for water resists differently along each, at a place r, and an
inertia I about that place. It adds ``diag(m)`` to A, ``S(r) diag(m)`` to C and
``I + S(r) diag(m) S(r)^T`` to J, where S(r) is the matrix of the vector product. Fossen (2021),
"Handbook of Marine Craft Hydrodynamics and Motion Control", 2nd edition, sections 3.3 and 6.3.

A is diagonal, so that what is left to solve is J - C A^-1 C^T: three equations.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add

import equinox as eqx

from kittiwake.core.wrench import Wrench
from kittiwake.geometry.vec3 import Vec3


class Rows(eqx.Module):
    """A matrix of three rows."""

    x: Vec3
    y: Vec3
    z: Vec3

    @classmethod
    def diagonal(cls, entries: Vec3) -> "Rows":
        """With these entries and zeros."""
        return cls(Vec3(entries.x, 0.0, 0.0), Vec3(0.0, entries.y, 0.0), Vec3(0.0, 0.0, entries.z))

    @classmethod
    def crossing(cls, r: Vec3) -> "Rows":
        """S(r), the matrix of the vector product with r."""
        return cls(Vec3(0.0, -r.z, r.y), Vec3(r.z, 0.0, -r.x), Vec3(-r.y, r.x, 0.0))

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Rows") -> "Rows":
        return Rows(self.x - other.x, self.y - other.y, self.z - other.z)

    def scaled(self, columns: Vec3) -> "Rows":
        """Each column by its own factor."""
        return Rows(self.x.scaled(columns), self.y.scaled(columns), self.z.scaled(columns))

    def times(self, v: Vec3) -> Vec3:
        """The matrix times a vector."""
        return Vec3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def transposed_times(self, v: Vec3) -> Vec3:
        """The transposed matrix times a vector."""
        return self.x * v.x + self.y * v.y + self.z * v.z

    def times_transposed(self, other: "Rows") -> "Rows":
        """The matrix times another one transposed."""
        return Rows(other.times(self.x), other.times(self.y), other.times(self.z))

    def solve_symmetric(self, v: Vec3) -> Vec3:
        """What this matrix, which must be symmetric, turns into ``v``, by Cramer's rule."""
        across, over, under = self.y.cross(self.z), self.z.cross(self.x), self.x.cross(self.y)
        return Rows(across, over, under).times(v) / self.x.dot(across)


class MovedMass(eqx.Module):
    """Mass along each axis, where it is, and the inertia about that place."""

    masses_kg: Vec3
    place_body_m: Vec3
    inertia_kgm2: Rows

    def momenta(self, velocity_body_mps: Vec3, omega: Vec3) -> tuple[Vec3, Vec3]:
        """Of translation and of turning, about the point that moves with the velocity."""
        here = velocity_body_mps + omega.cross(self.place_body_m)
        p = here.scaled(self.masses_kg)
        return p, self.inertia_kgm2.times(omega) + self.place_body_m.cross(p)

    def reaction(self, velocity_body_mps: Vec3, omega: Vec3) -> Wrench:
        """What it takes from the body to turn its momenta along: -C(nu) nu; it does no work."""
        p, angular = self.momenta(velocity_body_mps, omega)
        return Wrench(p.cross(omega), angular.cross(omega) + p.cross(velocity_body_mps))


class MassMatrix(eqx.Module):
    """A, C and J of all parts together."""

    masses_kg: Vec3
    coupling_kgm: Rows
    inertia_kgm2: Rows

    @classmethod
    def of(cls, parts: Sequence[MovedMass]) -> "MassMatrix":
        """The sum of some parts."""
        levers = [Rows.crossing(part.place_body_m) for part in parts]
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
        """The rates of v and omega under a wrench about the same point."""
        force, masses = wrench.force_body_n, self.masses_kg
        inverse = Vec3(1.0 / masses.x, 1.0 / masses.y, 1.0 / masses.z)
        light = self.coupling_kgm.scaled(inverse)
        left = self.inertia_kgm2 - light.times_transposed(self.coupling_kgm)
        turning = left.solve_symmetric(wrench.torque_body_nm - light.times(force))
        return (force - self.coupling_kgm.transposed_times(turning)).scaled(inverse), turning
