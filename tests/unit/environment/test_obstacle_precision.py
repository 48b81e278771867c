"""Obstacles to the last digits: closed walls, round shapes far away, sizes far from a meter."""

import math
from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.environment import OBSTACLES
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.intersections import triangle
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors import SENSORS
from kittiwake.world.ray import Ray, cast_ray, unit

ORIGIN, EAST = Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0)
TURNED = {"yaw_rad": 0.7, "pitch_rad": -0.4, "roll_rad": 1.1}


@pytest.fixture(params=["double", "single"])
def dtype(request):
    """Tests of closed walls and of precision hold in both."""
    with jax.enable_x64(request.param == "double"):
        yield jnp.result_type(float)


def ball(times):
    """A closed surface of triangles: an octahedron whose faces are split in four so many times."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = signs[:, :, None] * np.eye(3)
    for _ in range(times):
        a, b, c = np.moveaxis(faces, 1, 0)
        ab, bc, ca = ((p + q) / 2.0 for p, q in ((a, b), (b, c), (c, a)))
        split = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = np.concatenate([np.stack(corners, axis=1) for corners in split])
    return faces / np.linalg.norm(faces, axis=2, keepdims=True)


def distances(obstacle, origins, points, dtype):
    """Of the first obstacle along rays from one place each to another."""
    ways = points - origins
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)

    def one(origin, way):
        return cast_ray([obstacle], Ray(Vec3.of(origin), Vec3.of(way))).distance_m

    rays = (jnp.asarray(numbers, dtype) for numbers in (origins, ways))
    return np.asarray(jax.jit(jax.vmap(one))(*rays), float)


@pytest.mark.slow
@pytest.mark.parametrize("angles", [{}, TURNED], ids=["along the axes", "turned"])
def test_no_ray_leaves_a_closed_mesh_by_its_edges_and_corners(dtype, angles):
    draw = np.random.default_rng(1)
    mesh = Mesh(TriangleMesh.of(ball(3), "ball"), Vec3(3.0, -2.0, 1.0), **angles)
    q = mesh._q_world_from_own()
    turn = np.array([q.rotate(Vec3.of(axis)).array for axis in np.eye(3).tolist()], float)
    corners = np.tile(ball(3), (8, 1, 1))
    share = draw.uniform(0.0, 1.0, (len(corners), 1))
    on_edges = share * corners[:, 0] + (1.0 - share) * corners[:, 1]
    place = np.array([3.0, -2.0, 1.0])
    points = np.concatenate([on_edges, corners[:, 0]]) @ turn + place
    origins = draw.uniform(-0.5, 0.5, points.shape) + place
    told = distances(mesh, origins, points, dtype)
    # coordinates of some meters, and edges met at half a right angle or less
    np.testing.assert_allclose(
        told, np.linalg.norm(points - origins, axis=1), atol=200.0 * jnp.finfo(dtype).eps
    )


@pytest.mark.slow
def test_no_ray_passes_between_boxes_of_a_mesh_far_away(dtype):
    draw, eps = np.random.default_rng(2), float(jnp.finfo(dtype).eps)
    corners = np.tile(ball(3), (4, 1, 1))
    points = 0.5 * (corners[:, 0] + corners[:, 1])
    # straight over each edge, where no other triangle is in the way
    origins = points * draw.uniform(900.0, 1100.0, (len(points), 1))
    told = distances(Mesh(TriangleMesh.of(ball(3), "ball")), origins, points, dtype)
    expected = np.linalg.norm(points - origins, axis=1)
    np.testing.assert_allclose(told, expected, rtol=20.0 * eps)


@pytest.mark.slow
def test_no_ray_passes_through_the_middle_of_a_turned_hallway(dtype):
    draw, count = np.random.default_rng(3), 4000
    turn = draw.uniform(-math.pi, math.pi, count)
    along = np.column_stack([np.cos(turn), np.sin(turn)])
    length, width, height = draw.uniform(1.0, [[30.0], [8.0], [5.0]], (3, count))
    begin = draw.uniform(-20.0, 20.0, (count, 2))
    middle = begin + 0.5 * length[:, None] * along

    def one(begin, end, width, height, middle, way):
        line = (Vec3(*begin, 0.0), Vec3(*end, 0.0))
        ray = Ray(Vec3(*middle, 0.5 * height), Vec3(*way, 0.0))
        return cast_ray([Hallway(line, width, height)], ray).distance_m

    rows = (begin, begin + length[:, None] * along, width, height, middle, along[:, ::-1] * [-1, 1])
    told = jax.jit(jax.vmap(one))(*(jnp.asarray(numbers, dtype) for numbers in rows))
    # coordinates up to 50 m
    np.testing.assert_allclose(told, 0.5 * width, atol=200.0 * jnp.finfo(dtype).eps)


def test_a_ray_in_the_plane_of_a_triangle_does_not_meet_it_from_aside(dtype):
    draw, count = np.random.default_rng(4), 4000
    axes = np.linalg.qr(draw.normal(size=(count, 3, 3)))[0]
    place = draw.uniform(-5.0, 5.0, (count, 3))
    angle = draw.uniform(0.0, 2.0 * math.pi, count)
    # lines in its plane, two meters beside its first corner, whose sides are of one meter
    flat = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    aside = np.column_stack([-np.sin(angle), np.cos(angle), 0.0 * angle])
    origins = np.einsum("nij,nj->ni", axes, 2.0 * aside - 3.0 * flat) + place
    ways = np.einsum("nij,nj->ni", axes, flat)
    sides = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    corners = sides @ np.moveaxis(axes, 1, 2)

    def one(origin, way, corners):
        return triangle(Ray(Vec3.of(origin), Vec3.of(way)), *map(Vec3.of, corners)).exists

    rows = (origins, ways, corners + place[:, None])
    assert not jax.jit(jax.vmap(one))(*(jnp.asarray(numbers, dtype) for numbers in rows)).any()


def ways_to_round(o, d, a, b, c):
    """The solutions of a t^2 + 2 b t + c = 0, to fifty digits, from coordinates as they are."""
    root = (b * b - a * c).sqrt()
    return [(-b - root) / a, (-b + root) / a]


def squared(*numbers):
    return sum(number * number for number in numbers)


def products(one, other):
    return sum(p * q for p, q in zip(one, other, strict=True))


# of a radius, or of the inverse of a curvature, the three numbers of the equation along a ray
EQUATIONS = {
    "sphere": lambda o, d, r: (squared(*d), products(o, d), squared(*o) - r * r),
    "cylinder": lambda o, d, r: (squared(*d[:2]), products(o[:2], d[:2]), squared(*o[:2]) - r * r),
    "sheet": lambda o, d, r: (d[1] * d[1] / r, o[1] * d[1] / r - d[2] / 2, o[1] * o[1] / r - o[2]),
}
ROUND = {
    "sphere": lambda size: Sphere(ORIGIN, size),
    "cylinder": lambda size: Cylinder(ORIGIN, size, 1e6),
    "capsule": lambda size: Capsule(ORIGIN, size, 1e6),
    "sheet": lambda size: ParabolicSheet(ORIGIN, 1.0 / size, 1e6, 1e6),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("away_m", [5.0, 100.0])
def test_distances_of_round_shapes_are_accurate_to_the_last_digits(dtype, shape, away_m):
    draw, size_m, count = np.random.default_rng(5), 0.1, 60
    origins = draw.normal(size=(count, 3)) * [1.0, 1.0, 0.3]
    origins *= away_m / np.linalg.norm(origins, axis=1, keepdims=True)
    # at most 0.7 radii beside the middle, where the surface is at 45 degrees to the ray
    points = draw.uniform(-0.4, 0.4, (count, 3)) * size_m
    points[:, 2] += size_m if shape == "sheet" else 0.0
    origins = np.asarray(jnp.asarray(origins, dtype), float)
    ways = points - origins
    ways = np.asarray(jnp.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True), dtype), float)
    obstacle = ROUND[shape](size_m)

    def one(origin, way):
        return cast_ray([obstacle], Ray(Vec3.of(origin), Vec3.of(way))).distance_m

    told = jax.jit(jax.vmap(one))(jnp.asarray(origins, dtype), jnp.asarray(ways, dtype))
    equation = EQUATIONS["cylinder" if shape == "capsule" else shape]
    with localcontext() as context:
        context.prec = 50
        for origin, way, range_m in zip(origins, ways, told, strict=True):
            o, d = [Decimal(float(n)) for n in origin], [Decimal(float(n)) for n in way]
            ends = ways_to_round(o, d, *equation(o, d, Decimal(size_m)))
            exact = min(float(end) for end in ends if end >= 0)
            # some roundings of coordinates as large as the distance
            assert abs(float(range_m) - exact) < 8.0 * jnp.finfo(dtype).eps * away_m


@pytest.mark.slow
def test_a_mesh_may_be_tiny_in_its_file(dtype):
    draw = np.random.default_rng(6)
    origins, points = draw.normal(0.0, 3.0, (50, 3)), draw.uniform(-0.6, 0.6, (50, 3))
    plain = distances(Mesh(TriangleMesh.of(ball(1), "ball")), origins, points, dtype)
    tiny = Mesh(TriangleMesh.of(1e-12 * ball(1), "ball"), scale=1e12)
    assert np.isfinite(plain).all()
    told = distances(tiny, origins, points, dtype)
    # what is scaled there and back is rounded a few times
    np.testing.assert_allclose(told, plain, atol=100.0 * jnp.finfo(dtype).eps)


@pytest.mark.slow
def test_a_box_may_be_tiny_and_far_away(dtype):
    box = Box(ORIGIN, Vec3(1e-10, 1e-10, 1e-10))
    ray = Ray(Vec3(*(jnp.asarray(n, dtype) for n in (-1000.0, 0.0, 0.0))), EAST)
    assert float(cast_ray([box], ray).distance_m) == pytest.approx(1000.0, rel=1e-6)


@pytest.mark.parametrize("length", [1e-30, 1e-20, 1.0, 1e20])
def test_directions_may_have_any_length(dtype, length):
    given = unit(Vec3(0.0, 3.0 * length, -4.0 * length))
    np.testing.assert_allclose(given.array, [0.0, 0.6, -0.8], rtol=1e-6)
    # as arrays, which is how many planes are held
    given = unit(Vec3(*(jnp.asarray(part * length, dtype) for part in (0.0, 3.0, -4.0))))
    np.testing.assert_allclose(given.array, [0.0, 0.6, -0.8], rtol=1e-6)
    plane = Plane(ORIGIN, Vec3(0.0, 0.0, length))
    down = Ray(Vec3(*(jnp.asarray(n, dtype) for n in (0.0, 0.0, 2.0))), Vec3(0.6, 0.0, -0.8))
    hit = cast_ray([plane], down)
    assert float(hit.distance_m) == pytest.approx(2.5, rel=1e-6)
    assert float(hit.incidence_cosine(down)) == pytest.approx(0.8, rel=1e-6)


@pytest.mark.parametrize(
    ("registry", "kind", "given"),
    [
        (SENSORS, "ultrasonic", {"direction_body": [0, 0, -1e-200]}),
        (SENSORS, "ultrasonic", {"direction_body": [0, 1e200, 0]}),
        (OBSTACLES, "plane", {"point_world_m": [0, 0, 0], "facing_world": [0, 0, 1e-300]}),
    ],
)
def test_directions_that_single_precision_cannot_hold_are_refused(registry, kind, given):
    with pytest.raises(
        ScenarioError, match="no direction; its largest component must be from 1e-30"
    ):
        build_component(registry.find(kind), given, str)
