"""Boxes in which something pushes or blows.

Source: Micklisch et al. (2021), the ForceObject, equations 1-8, corrected. A vehicle with sides s
has in the world's axes a box of the half sides h_i = sum_j |R_ij| s_j / 2 (the source multiplies
them by sines, so that they vanish for a level vehicle). A force acts at the middle of the part that
is inside, with a lever of (2 h - o) / 2 for an overlap o (the source's jumps to h once all is
inside). That part, phi = prod o_i / (2 h_i), is the share of the force that is felt, so that force
and torque change continuously on the way in and out.

Wind inside a box is felt by the same share. How it grows over a vehicle that is partly inside is
phi's slope, so that rotors on the one side feel all of it and those on the other none.
"""

from typing import NamedTuple

import jax.numpy as jnp

from kittiwake.core.component import AbstractRegion
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.surroundings import Push, Shear, Surroundings
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# the least half side of a vehicle, so that one without a size crosses an edge within a millimetre
LEAST_HALF_M = 5e-4


class Overlap(NamedTuple):
    """Of a vehicle's box with a region.

    Attributes:
        share: how much of the vehicle is inside, phi.
        slope_world_pm: how the share grows with the vehicle's position.
        lever_world_m: from the vehicle's centre to the middle of what is inside.
    """

    share: Real
    slope_world_pm: Vec3
    lever_world_m: Vec3


class WindRegion(AbstractRegion):
    """A wind that blows inside a box, on top of the world's."""

    from_world_m: Vec3
    to_world_m: Vec3
    wind_world_mps: Vec3

    def __check_init__(self) -> None:
        """Refuses a box without inside."""
        _check(self.from_world_m, self.to_world_m)

    def felt(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        """The wind at the centre, and how it differs around it."""
        overlap = overlapping(kinematics, size_body_m, self.from_world_m, self.to_world_m)
        shear = Shear(self.wind_world_mps, overlap.slope_world_pm)
        return surroundings.blown(self.wind_world_mps * overlap.share).sheared(shear)


class ForceRegion(AbstractRegion):
    """A force that acts on whatever is inside a box."""

    from_world_m: Vec3
    to_world_m: Vec3
    force_world_n: Vec3

    def __check_init__(self) -> None:
        """Refuses a box without inside."""
        _check(self.from_world_m, self.to_world_m)

    def felt(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        """The force's share, where it acts."""
        overlap = overlapping(kinematics, size_body_m, self.from_world_m, self.to_world_m)
        force = self.force_world_n * overlap.share
        return surroundings.pushed(Push(force, overlap.lever_world_m.cross(force)))


def overlapping(
    kinematics: Kinematics, size_body_m: Vec3, from_world_m: Vec3, to_world_m: Vec3
) -> Overlap:
    """A vehicle's box and a region from one corner to the opposite one."""
    half = _half_sides(kinematics.q_world_from_body, size_body_m)
    position = kinematics.position_world_m
    x = _along(position.x, half.x, from_world_m.x, to_world_m.x)
    y = _along(position.y, half.y, from_world_m.y, to_world_m.y)
    z = _along(position.z, half.z, from_world_m.z, to_world_m.z)
    return Overlap(
        share=x.share * y.share * z.share,
        slope_world_pm=Vec3(
            x.slope_pm * y.share * z.share,
            y.slope_pm * x.share * z.share,
            z.slope_pm * x.share * y.share,
        ),
        lever_world_m=Vec3(x.lever_m, y.lever_m, z.lever_m),
    )


class _Interval(NamedTuple):
    share: Real
    slope_pm: Real
    lever_m: Real


def _along(centre: Real, half: Real, low: Real, high: Real) -> _Interval:
    """One axis: what of an interval about a centre lies between two ends."""
    bottom = jnp.maximum(centre - half, low)
    top = jnp.minimum(centre + half, high)
    inside = jnp.maximum(top - bottom, 0.0)
    # an end that cuts the interval moves through it as the centre moves
    enters = jnp.where((centre - half < low) & (inside > 0.0), 1.0, 0.0)
    leaves = jnp.where((centre + half > high) & (inside > 0.0), 1.0, 0.0)
    lever = jnp.where(inside > 0.0, 0.5 * (bottom + top) - centre, 0.0)
    return _Interval(inside / (2.0 * half), (enters - leaves) / (2.0 * half), lever)


def _half_sides(q_world_from_body: Quaternion, size_body_m: Vec3) -> Vec3:
    """Of the box along the world's axes around a box along the body's."""
    sides = (
        q_world_from_body.rotate(Vec3(size_body_m.x, 0.0, 0.0)),
        q_world_from_body.rotate(Vec3(0.0, size_body_m.y, 0.0)),
        q_world_from_body.rotate(Vec3(0.0, 0.0, size_body_m.z)),
    )

    def half(axis: str) -> Real:
        whole = sum(jnp.abs(getattr(side, axis)) for side in sides)
        return jnp.maximum(0.5 * whole, LEAST_HALF_M)

    return Vec3(half("x"), half("y"), half("z"))


def _check(from_world_m: Vec3, to_world_m: Vec3) -> None:
    for axis in "xyz":
        low, high = getattr(from_world_m, axis), getattr(to_world_m, axis)
        plain = isinstance(low, int | float) and isinstance(high, int | float)
        if plain and not low < high:
            message = (
                f"from_world_m: its {axis}, {low:g}, is not below that of to_world_m, {high:g}; "
                "write the corner with the smaller coordinates first"
            )
            raise ValueError(message)
