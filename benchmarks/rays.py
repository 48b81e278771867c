"""Rate of ray casting: rays per second to the nearest of some obstacles.

Cases: ten shapes of seven types, a hundred boxes, and meshes of 10,000 and more triangles; the
distance alone and with normals; float32 and float64. Prints the compilation time and the best of
ten runs, in which distance and normals alternate. Run: ``python benchmarks/rays.py``.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.environment.obstacles.boxes import Box, Slab
from kittiwake.environment.obstacles.intersections import first, triangle
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.ray import AbstractObstacle, Ray, cast_ray, nearest_of

TEN_SHAPES = (
    Box(Vec3(3.0, 0.0, 0.0), Vec3(2.0, 2.0, 1.0), yaw_rad=0.4, pitch_rad=0.2),
    Sphere(Vec3(-3.0, 0.0, 0.0), 1.0),
    Cylinder(Vec3(0.0, 4.0, 0.0), 0.5, 4.0),
    Capsule(Vec3(0.0, -4.0, 0.0), 0.5, 2.0, roll_rad=0.5),
    Slab(Vec3(5.0, 5.0, 0.0), Vec3(4.0, 1.0, 4.0), 0.5),
    ParabolicSheet(Vec3(-5.0, 5.0, 0.0), 0.3, 4.0, 4.0),
    Box(Vec3(6.0, 0.0, 0.0), Vec3(2.0, 4.0, 1.0)),
    Sphere(Vec3(-3.0, -9.0, 0.0), 2.0),
    Cylinder(Vec3(9.0, 4.0, 0.0), 1.0, 4.0, pitch_rad=1.57),
    Plane(Vec3(0.0, 0.0, -3.0)),
)


def boxes(count: int) -> list[AbstractObstacle]:
    """Return boxes of random sizes and positions around the origin."""
    keys = jax.random.split(jax.random.key(1), 3)
    places = (8.0 * jax.random.normal(keys[0], (count, 3))).tolist()
    sides = jax.random.uniform(keys[1], (count, 3), minval=0.5, maxval=2.0).tolist()
    angles = jax.random.uniform(keys[2], (count, 3), minval=-3.0, maxval=3.0).tolist()
    rows = zip(places, sides, angles, strict=True)
    return [Box(Vec3(*place), Vec3(*side), *turn) for place, side, turn in rows]


def ball(rings: int) -> np.ndarray[Any, Any]:
    """Return the ``4 rings**2`` triangles of a sphere."""
    polar, around = np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1)
    p, r = np.meshgrid(polar, around, indexing="ij")
    grid = 2.0 * np.stack([np.sin(p) * np.cos(r), np.sin(p) * np.sin(r), np.cos(p)], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    halves = [np.stack([a, b, c], axis=-2), np.stack([a, c, d], axis=-2)]
    return np.concatenate(halves).reshape(-1, 3, 3)


def both(obstacles: Sequence[AbstractObstacle]) -> dict[str, Callable[..., Any]]:
    """Return two functions of a ray: the distance alone, and with normal and index."""
    return {
        "distance": lambda ray: cast_ray(obstacles, ray).distance_m,
        "with normals": lambda ray: cast_ray(obstacles, ray),
    }


def every_triangle(corners: np.ndarray[Any, Any]) -> Callable[..., Any]:
    """Return a function of the distance to the nearest triangle, which tests all triangles."""

    def distance_m(ray: Ray) -> Any:
        def one(three: jax.Array) -> Any:
            return first([triangle(ray, *map(Vec3.of, three))])

        return nearest_of(jnp.asarray(corners, ray.origin_m.x.dtype), one).distance_m

    return distance_m


def measure(name: str, functions: dict[str, Callable[..., Any]], count: int) -> None:
    """Print one line of the table for each function."""
    origins_key, ways_key = jax.random.split(jax.random.key(2))
    origins = 4.0 * jax.random.normal(origins_key, (3, count))
    ways = jax.random.normal(ways_key, (3, count)) - 0.5 * origins
    rays = Ray(Vec3(*origins), Vec3(*(ways / jnp.linalg.norm(ways, axis=0))))
    compiled: dict[str, Callable[..., Any]] = {}
    compile_s: dict[str, float] = {}
    for what, function in functions.items():
        began = time.perf_counter()
        compiled[what] = jax.jit(jax.vmap(function)).lower(rays).compile()
        compile_s[what] = time.perf_counter() - began
    times: dict[str, list[float]] = {what: [] for what in functions}
    for _ in range(10):
        for what, run in compiled.items():
            began = time.perf_counter()
            jax.block_until_ready(run(rays))
            times[what].append(time.perf_counter() - began)
    for what, took in times.items():
        speed = f"{count / min(took) / 1e6:6.2f} M/s, compiled {compile_s[what]:.1f} s"
        print(f"{name + ', ' + what:36s} {count:8,d} rays: {speed}", flush=True)


def main() -> None:
    """Measure all cases in both precisions."""
    for precision, double in (("float32", False), ("float64", True)):
        with jax.enable_x64(double):
            print(precision)
            # for more rays in float64 the temporary memory exceeds the 32 MiB that glibc keeps
            for count in (1_000, 100_000, 200_000):
                measure("ten shapes", both(TEN_SHAPES), count)
            for count in (1_000, 100_000):
                measure("100 boxes", both(boxes(100)), count)
            for rings in (50, 200):
                corners = ball(rings)
                mesh = [Mesh(TriangleMesh.of(corners, "ball"))]
                measure(f"{len(corners):,} triangles", both(mesh), 20_000)
            measure("10,000 triangles", {"each one tested": every_triangle(ball(50))}, 1_000)


if __name__ == "__main__":
    main()
