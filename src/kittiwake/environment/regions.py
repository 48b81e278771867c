"""Box regions with a force or a wind.

Source: Micklisch et al. (2021), the ForceObject, equations 1-8, corrected. A vehicle with sides s
has in world axes a box of the half sides h_i = sum_j |R_ij| s_j / 2 (the source multiplies them by
sines, so that they vanish for a level vehicle). A force acts at the center of the part that is
inside, with a lever of (2 h - o) / 2 for an overlap o (the source's lever jumps to h once all is
inside). That part, phi = prod o_i / (2 h_i), is the share of the force that acts, so that force and
torque change continuously while entering and leaving.

A region may be rotated: then all this holds in its own axes.

Wind inside a box acts with the same share, and over a vehicle that is partly inside it varies with
the slope 3 phi lever_i / h_i^2 along each axis: of all linear fields the one that has the mean and
the first moments of the true one over the vehicle's box, which is also the nearest to it by least
squares. On a vehicle that is half inside, rotors at two thirds of its half side are in all of it or
none of it. A vehicle without a size is in a uniform wind.
"""

import itertools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.core.kinematics import Kinematics
from kittiwake.environment.obstacles.placed import q_world_from_own
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import AbstractVar
from kittiwake.world.environment import AbstractRegion
from kittiwake.world.surroundings import ExternalWrench, Shear, Surroundings

# smallest half side of a vehicle, so that one without a size crosses an edge within a millimeter
MIN_HALF_M = 5e-4


class Overlap(NamedTuple):
    """Overlap of a vehicle's bounding box with a region.

    Attributes:
        share: share of the vehicle that is inside, phi.
        lever_world_m: from the vehicle's center to the center of the part that is inside.
        slope_world_pm: gradient of the linear field over the vehicle.
    """

    share: Real
    lever_world_m: Vec3
    slope_world_pm: Vec3


class AbstractBox(AbstractRegion):
    """Box region between two opposite corners, rotated about its center by three angles.

    Without angles it is aligned with the world's axes. With angles the corners are those before the
    rotation: yaw, pitch and roll rotate it like a vehicle.

    Attributes:
        from_world_m: corner of the box.
        to_world_m: opposite corner of the box.
        yaw_rad: yaw of the box about its center.
        pitch_rad: pitch of the box about its center.
        roll_rad: roll of the box about its center.
    """

    from_world_m: AbstractVar[Vec3]
    to_world_m: AbstractVar[Vec3]
    yaw_rad: AbstractVar[Real]
    pitch_rad: AbstractVar[Real]
    roll_rad: AbstractVar[Real]

    def __post_init__(self) -> None:
        """Raise ValueError if the box is empty."""
        for axis in "xyz":
            low, high = getattr(self.from_world_m, axis), getattr(self.to_world_m, axis)
            plain = isinstance(low, int | float) and isinstance(high, int | float)
            if plain and not low < high:
                message = (
                    f"from_world_m: got {axis} = {low:g}; must be below that of to_world_m, "
                    f"{high:g}. Write the corner with the smaller coordinates first"
                )
                raise ValueError(message)

    def overlap(self, kinematics: Kinematics, size_body_m: Vec3) -> Overlap:
        """Return the overlap with a vehicle of this size."""
        position, low, high = kinematics.position_world_m, self.from_world_m, self.to_world_m
        q_world_from_body = kinematics.q_world_from_body
        if self.is_upright:
            return self._overlap(position, q_world_from_body, size_body_m)
        rotation = q_world_from_own(self.yaw_rad, self.pitch_rad, self.roll_rad)
        q_own_from_world, middle = rotation.inverse(), (low + high) * 0.5
        own_position = middle + q_own_from_world.rotate(position - middle)
        own = self._overlap(own_position, q_own_from_world * q_world_from_body, size_body_m)
        lever, slope = rotation.rotate(own.lever_world_m), rotation.rotate(own.slope_world_pm)
        return Overlap(own.share, lever, slope)

    @property
    def is_upright(self) -> bool:
        """True if it is known to be aligned with the world's axes."""
        return all(is_zero(angle) for angle in (self.yaw_rad, self.pitch_rad, self.roll_rad))

    def corners_world_m(self) -> Float[np.ndarray, "8 3"]:
        """Return its corners as plain numbers; x changes slowest, z fastest."""
        rotation = q_world_from_own(*map(float, (self.yaw_rad, self.pitch_rad, self.roll_rad)))
        low, high = (np.asarray(end.array, float) for end in (self.from_world_m, self.to_world_m))
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        signs = np.array([*itertools.product((-1.0, 1.0), repeat=3)])
        rotated = [np.asarray(rotation.rotate(Vec3.of(corner)).array) for corner in signs * half]
        return middle + np.array(rotated, float)

    def _overlap(self, position: Vec3, q_own_from_body: Quaternion, size_body_m: Vec3) -> Overlap:
        """Return the overlap in the region's own axes."""
        low, high = self.from_world_m, self.to_world_m
        half = _half_sides(q_own_from_body, size_body_m)
        x = _along(position.x, half.x, low.x, high.x)
        y = _along(position.y, half.y, low.y, high.y)
        z = _along(position.z, half.z, low.z, high.z)
        share = x.share * y.share * z.share
        return Overlap(
            share=share,
            lever_world_m=Vec3(x.lever_m, y.lever_m, z.lever_m),
            slope_world_pm=Vec3(x.slope_pm, y.slope_pm, z.slope_pm) * share,
        )


class WindRegion(AbstractBox):
    """Wind inside a box, added to the world's wind.

    Attributes:
        wind_world_mps: velocity of the air in the box, in addition to the wind.
    """

    from_world_m: Vec3
    to_world_m: Vec3
    wind_world_mps: Vec3
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def apply(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        overlap = self.overlap(kinematics, size_body_m)
        shear = Shear(self.wind_world_mps, overlap.slope_world_pm)
        return surroundings.with_gust(self.wind_world_mps * overlap.share).with_shear(shear)

    @classmethod
    @override
    def examples(cls) -> dict[str, "WindRegion"]:
        return {
            "at the edge": cls(
                from_world_m=Vec3(1.1, -5.0, -5.0),
                to_world_m=Vec3(9.0, 5.0, 50.0),
                wind_world_mps=Vec3(1.0, 2.0, 3.0),
            )
        }


class ForceRegion(AbstractBox):
    """Force on vehicles inside a box.

    Attributes:
        force_world_n: force on a body that is completely inside.
    """

    from_world_m: Vec3
    to_world_m: Vec3
    force_world_n: Vec3
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def apply(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        overlap = self.overlap(kinematics, size_body_m)
        force = self.force_world_n * overlap.share
        return surroundings.with_external_wrench(
            ExternalWrench(force, overlap.lever_world_m.cross(force))
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "ForceRegion"]:
        return {
            "at the edge": cls(
                from_world_m=Vec3(1.1, -5.0, -5.0),
                to_world_m=Vec3(9.0, 5.0, 50.0),
                force_world_n=Vec3(1.0, 2.0, 3.0),
            )
        }


class _Interval(NamedTuple):
    share: Real
    lever_m: Real
    slope_pm: Real


def _along(center: Real, half: Real, low: Real, high: Real) -> _Interval:
    """Return the overlap along one axis of an interval about a center with another interval."""
    # a thinner vehicle has no gradient of the wind
    thick = half > MIN_HALF_M
    half = jnp.where(thick, half, MIN_HALF_M)
    bottom = jnp.maximum(center - half, low)
    top = jnp.minimum(center + half, high)
    inside = jnp.maximum(top - bottom, 0.0)
    lever = jnp.where(inside > 0.0, 0.5 * (bottom + top) - center, 0.0)
    slope = jnp.where(thick, 3.0 * lever / (half * half), 0.0)
    return _Interval(inside / (2.0 * half), lever, slope)


def _half_sides(q_world_from_body: Quaternion, size_body_m: Vec3) -> Vec3:
    """Return the half sides of the world-aligned box around a body-aligned box."""
    sides = (
        q_world_from_body.rotate(Vec3(size_body_m.x, 0.0, 0.0)),
        q_world_from_body.rotate(Vec3(0.0, size_body_m.y, 0.0)),
        q_world_from_body.rotate(Vec3(0.0, 0.0, size_body_m.z)),
    )

    def half(axis: str) -> Real:
        return 0.5 * sum(jnp.abs(getattr(side, axis)) for side in sides)

    return Vec3(half("x"), half("y"), half("z"))
