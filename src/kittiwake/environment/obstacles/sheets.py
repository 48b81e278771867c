"""Sheets without thickness: planes and parabolas."""

from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import LEAST_M, Solid, strips
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.intersections import Intersection, first, roots
from kittiwake.environment.obstacles.nearest import parabola
from kittiwake.environment.obstacles.outlines import STEPS
from kittiwake.environment.obstacles.placed import AbstractPlaced
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import EAST, Clearance, between, prism
from kittiwake.world.plane import AbstractPlane
from kittiwake.world.ray import Ray, unit, validate_direction


class Plane(AbstractPlane):
    """Infinite plane through a point, normal to a direction of any length.

    Attributes:
        point_world_m: a point of it.
        facing_world: normal of any length.
    """

    point_world_m: Vec3
    facing_world: Vec3 = Vec3(0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Raise ValueError if ``facing_world`` is no direction."""
        validate_direction(self.facing_world, "facing_world", "[0, 0, 1] for a horizontal plane")

    @property
    @override
    def normal(self) -> Vec3:
        return unit(self.facing_world)

    @override
    def height_over_m(self, point_world_m: Vec3) -> Real:
        return self.normal.dot(point_world_m - self.point_world_m)

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        normal, up = self.normal, Vec3(0.0, 0.0, 1.0)
        axis, cosine = up.cross(normal), up.dot(normal)
        sine = axis.norm()
        # from straight up to straight down about any horizontal axis
        level = axis / sine if sine > LEAST_M else Vec3(1.0, 0.0, 0.0)
        turn = Quaternion.from_rotation_vector(level * jnp.arctan2(sine, cosine))
        return (Solid.at("plane", (), self.point_world_m, turn),)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Plane"]:
        return {"wall": cls(Vec3(4.0, 2.0, 10.0), Vec3(-1.0, 0.2, 0.3))}


class ParabolicSheet(AbstractPlaced):
    """Sheet z = curvature y^2 over a rectangle of x and y, about ``center_world_m``.

    Attributes:
        curvature_pm: z over y².
        length_m: side along its x axis.
        width_m: side along its y axis.
    """

    center_world_m: Vec3
    curvature_pm: Real
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        o, d, a = ray_own.origin_m, ray_own.direction, self.curvature_pm
        discriminant = 0.25 * d.z * d.z + a * d.y * (d.y * o.z - d.z * o.y)
        solutions = roots(
            a * d.y * d.y, a * o.y * d.y - 0.5 * d.z, a * o.y * o.y - o.z, discriminant
        )
        return first(
            [Intersection(t, exists & self._within(ray_own.at(t))) for t, exists in solutions]
        )

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        return Vec3(0.0, -2.0 * self.curvature_pm * point_own_m.y, 1.0)

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        section = Vec3(0.0, point_own_m.y, point_own_m.z)
        ends = between(point_own_m.x, 0.5 * self.length_m, EAST)
        arms = parabola(section, self.curvature_pm, 0.5 * self.width_m)
        return [prism(arm, ends) for arm in arms]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        one, other = (self.to_world(bow) for bow in self.outline()[:2])
        return strips(one, other)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        half = 0.5 * float(self.length_m)
        y = np.linspace(-0.5, 0.5, STEPS + 1) * float(self.width_m)
        z = float(self.curvature_pm) * y * y
        bows = [np.column_stack([np.full_like(y, x), y, z]) for x in (-half, half)]
        return [*bows, *(np.stack([bows[0][i], bows[1][i]]) for i in (0, STEPS // 2, STEPS))]

    def _within(self, point: Vec3) -> Flag:
        over_length = jnp.abs(point.x) <= 0.5 * self.length_m
        return over_length & (jnp.abs(point.y) <= 0.5 * self.width_m)

    @classmethod
    @override
    def examples(cls) -> dict[str, "ParabolicSheet"]:
        return {
            "bowl": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0), curvature_pm=0.3, length_m=4.0, width_m=4.0
            )
        }
