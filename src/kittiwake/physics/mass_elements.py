"""Inertia of a body composed of simple solids.

    cuboid:    I_x = m (b^2 + c^2) / 12 for edges b, c across x; likewise for y and z
    cylinder:  m r^2 / 2 along its axis, m (3 r^2 + l^2) / 12 across it
    moved:     I' = I + m (d.d E - d d^T)                       (Steiner, parallel axes)

A quadrotor as Kemper describes it, after Micklisch, Hilliard and ElAarag (2021), "Modeling and
simulation of autonomous quadrotor systems and their onboard sensors", equations 21 to 23: a cuboid,
and two rods that cross in its center. The source takes the rods as thin; here they have a radius.
Solids are homogeneous; where they overlap, both masses count.
"""

from typing import Annotated, Literal

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field

Axis = Literal["x", "y", "z"]
# bounds of solids in scenarios: wide, but without overflow in the inertia
MASS_KG, SIZE_M, PLACE_M = Bounds(1e-9, 1e9), Bounds(1e-6, 1e6), Bounds(-1e6, 1e6)


class MassElement(Module):
    """Mass, its center, and the inertia about that center."""

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    center_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)


class CuboidMass(Module):
    """Homogeneous cuboid with its edges along the body's axes."""

    mass_kg: Annotated[Real, MASS_KG]
    edges_body_m: Annotated[Vec3, SIZE_M]
    center_body_m: Annotated[Vec3, PLACE_M] = Vec3(0.0, 0.0, 0.0)

    def solid(self) -> MassElement:
        """Return the mass and the inertia."""
        inertia = cuboid(self.mass_kg, self.edges_body_m)
        return MassElement(self.mass_kg, inertia, self.center_body_m)


class CylinderMass(Module):
    """Homogeneous cylinder along one of the body's axes."""

    mass_kg: Annotated[Real, MASS_KG]
    radius_m: Annotated[Real, SIZE_M]
    length_m: Annotated[Real, SIZE_M]
    axis: Axis = field(static=True, default="z")
    center_body_m: Annotated[Vec3, PLACE_M] = Vec3(0.0, 0.0, 0.0)

    def solid(self) -> MassElement:
        """Return the mass and the inertia."""
        inertia = cylinder(self.mass_kg, self.radius_m, self.length_m, self.axis)
        return MassElement(self.mass_kg, inertia, self.center_body_m)


class MassShape(Module):
    """One of the solids in ``inertia_kgm2: {from: [...]}``: a cuboid or a cylinder."""

    cuboid: CuboidMass | None = None
    cylinder: CylinderMass | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one solid is given."""
        if (self.cuboid is None) == (self.cylinder is None):
            message = (
                "write one solid per entry: "
                "{cuboid: {mass_kg: 0.5, edges_body_m: [0.1, 0.1, 0.04]}} or "
                "{cylinder: {mass_kg: 0.05, radius_m: 0.01, length_m: 0.4, axis: x}}"
            )
            raise ValueError(message)

    def solid(self) -> MassElement:
        """Return the mass and the inertia."""
        own = self.cuboid or self.cylinder
        assert own is not None
        return own.solid()


def cuboid(mass_kg: Real, edges_body_m: Vec3) -> Inertia:
    """Return the inertia of a cuboid about its center, with edges along the axes."""
    xx, yy, zz = (edge * edge * mass_kg / 12.0 for edge in _components(edges_body_m))
    return Inertia(yy + zz, xx + zz, xx + yy)


def cylinder(mass_kg: Real, radius_m: Real, length_m: Real, axis: Axis) -> Inertia:
    """Return the inertia of a cylinder about its center."""
    along = mass_kg * radius_m**2 / 2.0
    across = mass_kg * (3.0 * radius_m**2 + length_m**2) / 12.0
    return Inertia(*(along if axis == name else across for name in ("x", "y", "z")))


def combine_masses(*solids: MassElement) -> MassElement:
    """Return several elements as one, about their common center of mass."""
    mass = sum(solid.mass_kg for solid in solids)
    moment = sum((solid.center_body_m * solid.mass_kg for solid in solids), start=Vec3.zero())
    center = moment / mass
    moved = [_about(solid, solid.center_body_m - center) for solid in solids]
    return MassElement(
        mass, Inertia(*(sum(entries) for entries in zip(*moved, strict=True))), center
    )


def crossed_quadrotor(
    hull_mass_kg: Real,
    hull_edges_body_m: Vec3,
    arms_mass_kg: Real,
    arm_radius_m: Real,
    span_m: Real,
) -> MassElement:
    """Return a cuboid with two crossed rods along x and y, which share ``arms_mass_kg``."""
    arm_mass_kg = arms_mass_kg / 2.0
    return combine_masses(
        MassElement(hull_mass_kg, cuboid(hull_mass_kg, hull_edges_body_m)),
        MassElement(arm_mass_kg, cylinder(arm_mass_kg, arm_radius_m, span_m, "x")),
        MassElement(arm_mass_kg, cylinder(arm_mass_kg, arm_radius_m, span_m, "y")),
    )


def _about(solid: MassElement, offset_m: Vec3) -> tuple[Real, Real, Real, Real, Real, Real]:
    """Return the entries xx, yy, zz, xy, xz, yz about a point at ``-offset_m`` from the center."""
    x, y, z = _components(offset_m)
    own, mass = solid.inertia_kgm2, solid.mass_kg
    return (
        own.xx + mass * (y * y + z * z),
        own.yy + mass * (x * x + z * z),
        own.zz + mass * (x * x + y * y),
        own.xy - mass * x * y,
        own.xz - mass * x * z,
        own.yz - mass * y * z,
    )


def _components(v: Vec3) -> tuple[Real, Real, Real]:
    return v.x, v.y, v.z
