"""Triangle mesh from a file."""

import math
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import Solid, sheet
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.intersections import triangle
from kittiwake.environment.obstacles.nearest import facet
from kittiwake.environment.obstacles.outlines import box_edges
from kittiwake.environment.obstacles.placed import q_world_from_own
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body
from kittiwake.world.ray import AbstractObstacle, Ray

# triangles, each of which becomes a separate solid
MAX_CONTACT_TRIANGLES = 2000


class Mesh(AbstractObstacle):
    """Triangles from a file, scaled by ``scale``; ``position_world_m`` is the file's origin.

    Derivatives are those of the triangle that is hit.

    Attributes:
        file: STL or OBJ file.
        position_world_m: position of the file's origin.
        yaw_rad: yaw, the first rotation.
        pitch_rad: pitch, the second rotation.
        roll_rad: roll, the third rotation.
        scale: meters per unit of the file.
    """

    file: TriangleMesh
    position_world_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0
    scale: Annotated[Real, POSITIVE] = 1.0

    @override
    def distance_m(self, ray: Ray) -> Real:
        own = self._own_ray(ray)
        hit = self.file.first(own, 0.0, jnp.inf)
        # the search loop cannot be differentiated in reverse mode
        t, _ = triangle(own, *self.file.triangle(hit.index, jnp.result_type(ray.origin_m.x)))
        return jnp.where(jnp.isfinite(hit.distance_m), t * self._unit_m(), jnp.inf)

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        own, along = self._own_ray(ray), distance_m / self._unit_m()
        dtype = jnp.result_type(ray.origin_m.x)
        margin = math.sqrt(jnp.finfo(dtype).eps) * (1.0 + along)
        hit = self.file.first(own, along - margin, along + margin)
        one, two, three = self.file.triangle(hit.index, dtype)
        return self._q_world_from_own().rotate((two - one).cross(three - one))

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        q_own_from_world, unit_m = self._q_world_from_own().inverse(), self._unit_m()
        point = q_own_from_world.rotate(point_world_m - self.position_world_m) / unit_m
        rotated = body.rotated(q_own_from_world)
        scaled = Body(rotated.q_world_from_body, rotated.size_body_m / unit_m)
        near = self.file.nearest(point, scaled)
        corners = self.file.triangle(near.index, jnp.result_type(point.x))
        return facet(point, *corners).gap_m(scaled) * unit_m

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        low, high = np.split(np.asarray(self.file.boxes[1], float), 2)
        q, position = self._q_world_from_own(), np.asarray(self.position_world_m.array)
        axes = np.stack([q.rotate(Vec3.of(axis)).array for axis in np.eye(3).tolist()])
        edges = [edge + 0.5 * (low + high) for edge in box_edges(high - low)]
        return [edge * float(self._unit_m()) @ axes + position for edge in edges]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        corners = np.asarray(self.file.corners, float).reshape(-1, 3, 3)
        if len(corners) > MAX_CONTACT_TRIANGLES:
            message = (
                f"{self.file.source}: got {len(corners)} triangles; contact allows at most "
                f"{MAX_CONTACT_TRIANGLES}. Write a coarser file, boxes, or physics: compliant"
            )
            raise ScenarioError(message)
        q, position = self._q_world_from_own(), np.asarray(self.position_world_m.array)
        axes = np.stack([q.rotate(Vec3.of(axis)).array for axis in np.eye(3).tolist()])
        placed = np.unique(corners * float(self._unit_m()) @ axes + position, axis=0)
        return tuple(solid for one in placed if (solid := sheet(one)) is not None)

    def _q_world_from_own(self) -> Quaternion:
        return q_world_from_own(self.yaw_rad, self.pitch_rad, self.roll_rad)

    def _unit_m(self) -> Real:
        return self.scale * self.file.unit_m

    def _own_ray(self, ray: Ray) -> Ray:
        """Return the ray in the axes and the unit of the triangles."""
        q_own_from_world = self._q_world_from_own().inverse()
        origin = q_own_from_world.rotate(ray.origin_m - self.position_world_m)
        return Ray(origin / self._unit_m(), q_own_from_world.rotate(ray.direction))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Mesh"]:
        corners = [[[0, 0, 2], [2, 0, -1], [-1, 2, -1]], [[0, 0, 2], [-1, 2, -1], [-1, -2, -1]]]
        mesh = TriangleMesh.of(np.array(corners, float), "a.stl")
        return {"tetrahedron": cls(mesh, Vec3(4.0, 2.0, 10.0))}
