"""Obstacles against what is written down by hand: distances, normals, derivatives, refusals."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.selection import slow_besides

from kittiwake.core.errors import ScenarioError
from kittiwake.environment import OBSTACLES
from kittiwake.environment.obstacles.boxes import Box, Platform, Slab
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import build_component
from kittiwake.world.ray import MAX_UNROLLED, NOTHING, Ray, cast_ray

INFINITE = math.inf
LONGEST_M = 20.0
# sums and roots of numbers of a few meters in double precision
EXACT_M = 1e-9
MANY = 200

ORIGIN = Vec3(0.0, 0.0, 0.0)
UPWARDS, DOWN = Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, -1.0)
EAST, WEST, NORTH = Vec3(1.0, 0.0, 0.0), Vec3(-1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)
DIAGONAL = Vec3(math.sqrt(0.5), 0.0, math.sqrt(0.5))
PYRAMID = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    ]
)
STRAIGHT = (Vec3(0.0, 0.0, 0.0), Vec3(6.0, 0.0, 0.0))

EXAMPLES = {
    "box": Box(ORIGIN, Vec3(2.0, 4.0, 6.0)),
    "platform": Platform(ORIGIN, 2.0, 3.0),
    "slab": Slab(ORIGIN, Vec3(400.0, 1.0, 400.0), math.pi / 3),
    "sphere": Sphere(ORIGIN, 2.0),
    "cylinder": Cylinder(ORIGIN, 1.0, 4.0),
    "lying cylinder": Cylinder(ORIGIN, 1.0, 4.0, pitch_rad=math.pi / 2),
    "capsule": Capsule(ORIGIN, 1.0, 4.0),
    "plane": Plane(ORIGIN),
    "parabolic sheet": ParabolicSheet(ORIGIN, 0.5, 4.0, 4.0),
    "hallway": Hallway(STRAIGHT, 2.0, 3.0, floor=True),
    "mesh": Mesh(TriangleMesh.of(PYRAMID, "pyramid")),
}
each_shape = pytest.mark.parametrize("shape", EXAMPLES)
some_shapes = pytest.mark.parametrize("shape", slow_besides(("box", "cylinder", "mesh"), EXAMPLES))


def towards(origin, point):
    """The ray from one point to another."""
    way = Vec3(*point) - Vec3(*origin)
    return Ray(Vec3(*origin), way / way.norm())


def hits(obstacles, rays):
    """Of several rays at once, as sensors compute them."""
    rows = np.array([[float(n) for n in jax.tree.leaves(ray)] for ray in rays])
    # tests of one obstacle share a program, whatever the number of their rays
    many = np.resize(rows, (max(len(rows), MANY), 6))
    return jax.tree.map(lambda found: np.asarray(found)[: len(rows)], _hits(obstacles, many))


@eqx.filter_jit
def _hits(obstacles, rows):
    def one(row):
        ray = Ray(Vec3.of(row[:3]), Vec3.of(row[3:]))
        hit = cast_ray(obstacles, ray)
        return hit, hit.range_m(LONGEST_M), hit.incidence_cosine(ray)

    return jax.vmap(one)(rows)


def normals(hit):
    return np.stack([hit.normal_world.x, hit.normal_world.y, hit.normal_world.z], axis=1)


def random_rays(count, seed):
    """From all around to somewhere in the middle."""
    draw = np.random.default_rng(seed)
    origins, points = draw.uniform(-9.0, 9.0, (count, 3)), draw.uniform(-2.0, 2.0, (count, 3))
    return [towards(*pair) for pair in zip(origins.tolist(), points.tolist(), strict=True)]


def sphere_slant(height):
    """Of a ball of two meters, from a distance of five, at a height beside its middle."""
    return 5.0 - math.sqrt(4.0 - height * height)


RANGES = [
    ("box", (5.0, 0.5, 0.5), WEST, 4.0),
    ("box", (5.0, 2.5, 0.5), WEST, INFINITE),
    ("box", (0.2, 0.0, 0.0), EAST, 0.8),
    ("box", (-3.0, 0.0, -1.0), DIAGONAL, 2.0 * math.sqrt(2.0)),
    ("platform", (0.3, 0.3, 2.5), DOWN, 2.5),
    ("platform", (0.3, 0.3, -2.5), UPWARDS, 2.4),
    # the slab of the surface that a drone follows: y = tan(60 deg) z -+ 1/2
    ("slab", (1.0, -5.0, -1.0), NORTH, 4.5 - math.sqrt(3.0)),
    ("slab", (1.0, -5.0, 1.0), NORTH, 4.5 + math.sqrt(3.0)),
    ("slab", (1.0, 0.0, 3.0), DOWN, 3.0 - 0.5 / math.sqrt(3.0)),
    ("sphere", (-5.0, 0.0, 0.0), EAST, 3.0),
    ("sphere", (-5.0, 0.7, 1.1), EAST, sphere_slant(math.hypot(0.7, 1.1))),
    ("sphere", (-5.0, 0.0, 2.1), EAST, INFINITE),
    ("sphere", (5.0, 0.0, 0.0), EAST, INFINITE),
    ("sphere", (0.0, 0.0, 0.0), EAST, 2.0),
    ("cylinder", (-5.0, 0.6, 1.9), EAST, 4.2),
    ("cylinder", (-5.0, 0.6, 2.1), EAST, INFINITE),
    ("cylinder", (0.5, 0.5, 7.0), DOWN, 5.0),
    ("cylinder", (-3.2, 0.0, 0.0), DIAGONAL, INFINITE),
    ("cylinder", (-3.0, 0.0, -1.0), DIAGONAL, 2.0 * math.sqrt(2.0)),
    ("lying cylinder", (-5.0, 0.6, 0.0), EAST, 3.0),
    ("lying cylinder", (0.0, 0.6, 5.0), DOWN, 4.2),
    ("capsule", (0.0, 0.0, 7.0), DOWN, 4.0),
    ("capsule", (0.6, 0.0, 7.0), DOWN, 4.2),
    ("capsule", (-5.0, 0.6, 1.0), EAST, 4.2),
    ("capsule", (0.0, 0.0, 0.0), UPWARDS, 3.0),
    ("plane", (3.0, 4.0, 5.0), DOWN, 5.0),
    ("plane", (3.0, 4.0, -5.0), DIAGONAL, 5.0 * math.sqrt(2.0)),
    ("plane", (3.0, 4.0, 5.0), EAST, INFINITE),
    ("plane", (3.0, 4.0, 5.0), UPWARDS, INFINITE),
    # z = y^2 / 2: from below, from the side at z = 0.98, over the rim
    ("parabolic sheet", (1.0, 1.2, -3.0), UPWARDS, 3.72),
    ("parabolic sheet", (1.0, -5.0, 0.98), NORTH, 5.0 - 1.4),
    ("parabolic sheet", (1.0, 0.0, 0.98), NORTH, 1.4),
    ("parabolic sheet", (1.0, -5.0, 2.1), NORTH, INFINITE),
    ("parabolic sheet", (2.1, -5.0, 0.98), NORTH, INFINITE),
    ("hallway", (3.0, 0.4, 1.0), NORTH, 0.6),
    ("hallway", (3.0, 0.4, 3.1), NORTH, INFINITE),
    ("hallway", (3.0, 0.4, 2.0), DOWN, 2.0),
    ("hallway", (3.0, 0.4, 2.0), UPWARDS, INFINITE),
    ("mesh", (0.2, 0.2, 3.0), DOWN, 2.4),
    ("mesh", (-3.0, 0.1, 0.3), EAST, 2.4),
]


@pytest.mark.slow
@each_shape
def test_ranges_are_those_of_geometry(shape):
    mine = [(origin, way, range_m) for name, origin, way, range_m in RANGES if name == shape]
    origins, ways, expected = zip(*mine, strict=True)
    rays = [Ray(Vec3(*origin), way) for origin, way in zip(origins, ways, strict=True)]
    hit, _, _ = hits([EXAMPLES[shape]], rays)
    np.testing.assert_allclose(hit.distance_m, expected, rtol=0.0, atol=EXACT_M)


@pytest.mark.parametrize("incidence_deg", [27.4, 27.6])
def test_incidence_is_accurate_to_a_hundredth_of_a_degree(incidence_deg):
    slope = math.radians(incidence_deg)
    ray = Ray(Vec3(0.0, 0.0, 3.0), Vec3(math.sin(slope), 0.0, -math.cos(slope)))
    hit = cast_ray([Plane(ORIGIN)], ray)
    assert abs(math.degrees(math.acos(hit.incidence_cosine(ray))) - incidence_deg) < 1e-9
    assert abs(hit.distance_m - 3.0 / math.cos(slope)) < EXACT_M


@pytest.mark.slow
@each_shape
def test_normals_are_of_unit_length_and_face_the_ray(shape):
    hit, _, cosine = hits([EXAMPLES[shape]], random_rays(200, seed=3))
    met = np.isfinite(hit.distance_m)
    assert met.sum() > 20
    np.testing.assert_allclose(np.linalg.norm(normals(hit)[met], axis=1), 1.0, rtol=1e-12)
    assert (np.asarray(cosine)[met] >= 0.0).all()


@pytest.mark.slow
def test_thin_walls_show_their_faces_in_single_precision(single_precision):
    wall = Box(ORIGIN, Vec3(0.002, 200.0, 50.0))
    for y in (0.0, 60.0, 99.9):
        hit = cast_ray([wall], Ray(Vec3(*map(jnp.float32, (-30.0, y, 1.0))), EAST))
        assert float(hit.normal_world.x) == -1.0


@pytest.mark.slow
def test_first_of_several_obstacles_is_met_and_numbered():
    near, far = Sphere(Vec3(4.0, 0.0, 0.0), 1.0), Box(Vec3(8.0, 0.0, 0.0), Vec3(1.0, 1.0, 1.0))
    for obstacles, number in (([near, far], 0), ([far, near], 1)):
        hit = cast_ray(obstacles, Ray(ORIGIN, EAST))
        assert hit.obstacle_index == number
        assert abs(hit.distance_m - 3.0) < EXACT_M


@pytest.mark.parametrize("obstacles", [[], [EXAMPLES["sphere"]]])
def test_nothing_met_is_the_longest_range_without_a_normal(obstacles):
    hit = cast_ray(obstacles, Ray(Vec3(9.0, 0.0, 0.0), EAST))
    assert not hit.exists
    assert hit.obstacle_index == NOTHING
    assert hit.range_m(LONGEST_M) == LONGEST_M
    assert hit.incidence_cosine(Ray(ORIGIN, EAST)) == 0.0


@pytest.mark.slow
def test_many_of_a_kind_are_met_as_each_on_its_own():
    draw = np.random.default_rng(5)
    many = [
        Box(Vec3(*place), Vec3(*sides), *angles)
        for place, sides, angles in zip(
            draw.uniform(-8.0, 8.0, (MAX_UNROLLED + 3, 3)).tolist(),
            draw.uniform(0.5, 3.0, (MAX_UNROLLED + 3, 3)).tolist(),
            draw.uniform(-3.0, 3.0, (MAX_UNROLLED + 3, 3)).tolist(),
            strict=True,
        )
    ]
    mixed = [EXAMPLES["sphere"], *many, EXAMPLES["capsule"]]
    rays = random_rays(200, seed=6)
    hit, _, _ = hits(mixed, rays)
    # fewer than many are each compiled on their own
    apart = [hits(mixed[i : i + MAX_UNROLLED], rays)[0] for i in range(0, len(mixed), MAX_UNROLLED)]
    distances = np.stack([one.distance_m for one in apart])
    nearest = np.argmin(distances, axis=0)
    met = np.isfinite(distances.min(axis=0))
    assert 50 < met.sum() < 200
    # the loop's products may be contracted
    np.testing.assert_allclose(hit.distance_m, distances.min(axis=0), rtol=1e-12)
    indices = (
        np.stack([one.obstacle_index for one in apart])[nearest, np.arange(200)]
        + MAX_UNROLLED * nearest
    )
    np.testing.assert_array_equal(np.asarray(hit.obstacle_index)[met], indices[met])
    across = np.stack([normals(one) for one in apart])[nearest, np.arange(200)]
    np.testing.assert_allclose(normals(hit)[met], across[met], atol=1e-12)


# misses, along an axis, along faces and edges, through the middle, tangents to the round ones
DELICATE = [
    Ray(Vec3(9.0, 0.0, 0.0), EAST),
    Ray(Vec3(-5.0, 0.0, 0.0), EAST),
    Ray(Vec3(-5.0, 1.0, 0.0), EAST),
    Ray(Vec3(-5.0, 2.0, 0.0), EAST),
    Ray(Vec3(-5.0, 2.0, 3.0), EAST),
    Ray(Vec3(-5.0, 0.0, 2.0), EAST),
    Ray(Vec3(1.0, -5.0, 0.0), NORTH),
    Ray(Vec3(0.0, 0.0, 5.0), DOWN),
    Ray(Vec3(1.0, 0.0, 5.0), DOWN),
    Ray(Vec3(1.0, 1.0, 5.0), DOWN),
    Ray(ORIGIN, UPWARDS),
    Ray(ORIGIN, DIAGONAL),
    Ray(Vec3(-5.0, 0.3, 0.4), Vec3(1.0, 1e-9, -1e-14)),
    Ray(Vec3(-5.0, 0.3, 0.4), Vec3(1.0, 1e-20, 1e-30)),
]


def assert_finite_derivatives(shape):
    moving, rest = eqx.partition(EXAMPLES[shape], lambda leaf: isinstance(leaf, float))
    moving = jax.tree.map(jnp.asarray, moving)

    @jax.jit
    @jax.vmap
    def slopes(ray):
        def told(ray, numbers):
            hit = cast_ray([eqx.combine(numbers, rest)], ray)
            return hit.range_m(LONGEST_M) + hit.incidence_cosine(ray)

        return jax.grad(told, argnums=(0, 1))(ray, moving)

    rays = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(n) for n in leaves]), *DELICATE)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes(rays)))


@pytest.mark.slow
@each_shape
def test_derivatives_of_a_range_are_finite_everywhere(shape):
    assert_finite_derivatives(shape)


@pytest.mark.slow
@some_shapes
def test_derivatives_of_a_range_are_finite_in_single_precision(shape, single_precision):
    assert_finite_derivatives(shape)


@pytest.mark.slow
def test_derivatives_through_many_of_a_kind_are_those_of_differences():
    spheres = [Sphere(Vec3(3.0 * i, 0.5, 0.0), 1.0) for i in range(3 * MAX_UNROLLED)]

    def range_m(height):
        ray = Ray(Vec3(-4.0, 0.0, height), Vec3(jnp.cos(0.1), jnp.sin(0.1), jnp.asarray(0.0)))
        return cast_ray(spheres, ray).range_m(LONGEST_M)

    height, step = jnp.asarray(0.3), 1e-6
    difference = (range_m(height + step) - range_m(height - step)) / (2.0 * step)
    assert abs(jax.grad(range_m)(height) - difference) < 1e-7


@pytest.mark.slow
def test_derivatives_by_sizes_are_those_of_geometry():
    ray = Ray(Vec3(-5.0, 0.0, 0.0), EAST)
    by_radius = jax.grad(lambda r: cast_ray([Sphere(ORIGIN, r)], ray).range_m(LONGEST_M))
    assert abs(by_radius(jnp.asarray(2.0)) + 1.0) < 1e-12
    mesh = TriangleMesh.of(PYRAMID, "pyramid")
    by_scale = jax.grad(lambda s: cast_ray([Mesh(mesh, scale=s)], ray).range_m(LONGEST_M))
    assert abs(by_scale(jnp.asarray(2.0)) + 1.0) < 1e-12
    across = Ray(Vec3(3.0, 0.0, 1.0), NORTH)
    by_width = jax.grad(lambda w: cast_ray([Hallway(STRAIGHT, w, 3.0)], across).range_m(LONGEST_M))
    assert abs(by_width(jnp.asarray(2.0)) - 0.5) < 1e-12


@pytest.mark.slow
@each_shape
def test_mapped_and_compiled_rays_give_what_single_ones_give(shape):
    rays = random_rays(3, seed=8)
    mapped, ranges, cosines = hits([EXAMPLES[shape]], rays)
    for i, ray in enumerate(rays):
        hit = cast_ray([EXAMPLES[shape]], ray)
        # compiled products may be contracted
        np.testing.assert_allclose(mapped.distance_m[i], hit.distance_m, rtol=1e-12)
        np.testing.assert_allclose(ranges[i], hit.range_m(LONGEST_M), rtol=1e-12)
        np.testing.assert_allclose(cosines[i], hit.incidence_cosine(ray), atol=1e-12)


# zero at the surface of the example of that name, for its outline's points by row
SURFACES = {
    "box": lambda x, y, z: np.maximum(np.maximum(abs(x) - 1, abs(y) - 2), abs(z) - 3),
    "platform": lambda x, y, z: np.maximum(np.maximum(abs(x) - 1, abs(y) - 1.5), z * (z + 0.1)),
    "slab": lambda x, y, z: abs(y - math.sqrt(3.0) * z) - 0.5,
    "sphere": lambda x, y, z: np.sqrt(x * x + y * y + z * z) - 2,
    "cylinder": lambda x, y, z: np.hypot(x, y) - 1,
    "lying cylinder": lambda x, y, z: np.hypot(y, z) - 1,
    "capsule": lambda x, y, z: np.sqrt(x * x + y * y + np.maximum(abs(z) - 2, 0) ** 2) - 1,
    "parabolic sheet": lambda x, y, z: z - 0.5 * y * y,
    "hallway": lambda x, y, z: abs(y) - 1,
    "mesh": lambda x, y, z: np.maximum(np.maximum(abs(x), abs(y)) - 1, z * (z - 1)),
}


@pytest.mark.parametrize("shape", SURFACES)
def test_outlines_lie_on_the_surface(shape):
    points = np.concatenate(EXAMPLES[shape].outline_world())
    # the box around a mesh stands off by a hundred-thousandth
    off_m = 3e-5 if shape == "mesh" else 1e-9
    assert np.abs(SURFACES[shape](*points.T)).max() < off_m


def test_outlines_turn_and_move_with_the_obstacle():
    angles = {"yaw_rad": 0.7, "pitch_rad": -0.4, "roll_rad": 1.1}
    there = Vec3(3.0, -2.0, 1.0)
    q = Quaternion.from_euler(EulerZYX(1.1, -0.4, 0.7))
    plain = np.concatenate(EXAMPLES["box"].outline_world())
    expected = [(q.rotate(Vec3(*point)) + there).array for point in plain.tolist()]
    moved = Box(there, Vec3(2.0, 4.0, 6.0), **angles).outline_world()
    np.testing.assert_allclose(np.concatenate(moved), expected, atol=1e-12)
    plain = np.concatenate(EXAMPLES["mesh"].outline_world())
    expected = [(q.rotate(Vec3(*point)) * 2.0 + there).array for point in plain.tolist()]
    moved = Mesh(EXAMPLES["mesh"].file, there, scale=2.0, **angles).outline_world()
    np.testing.assert_allclose(np.concatenate(moved), expected, atol=1e-12)


def test_plane_has_no_outline():
    assert EXAMPLES["plane"].outline_world() == []


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        ("box", {"center_world_m": [0, 0, 0], "sides_m": [1, 0, 1]}, "sides_m"),
        ("sphere", {"center_world_m": [0, 0, 0], "radius_m": -1}, "must be above 0"),
        ("cylinder", {"center_world_m": [0, 0, 0], "radius_m": 1, "height_m": 0}, "above 0"),
        ("capsule", {"center_world_m": [0, 0, 0], "radius_m": 0, "height_m": 1}, "above 0"),
        ("platform", {"position_world_m": [0, 0, 0], "length_m": 0, "width_m": 1}, "above 0"),
        (
            "slab",
            {"center_world_m": [0, 0, 0], "sides_m": [1, 1, 1], "lean_deg": 90},
            "lean_deg",
        ),
        (
            "parabolic-sheet",
            {"center_world_m": [0, 0, 0], "curvature_pm": 1, "length_m": 1, "width_m": 0},
            "above 0",
        ),
        ("plane", {"point_world_m": [0, 0, 0], "facing_world": [0, 0, 0]}, "is no direction"),
        (
            "hallway",
            {"points_world_m": [[0, 0, 0]], "width_m": 1, "height_m": 1},
            "fewer than two points",
        ),
        (
            "hallway",
            {"points_world_m": [[0, 0, 0], [0, 0, 1]], "width_m": 1, "height_m": 1},
            "points 1 and 2 have the same horizontal position",
        ),
        (
            "hallway",
            {"points_world_m": [[0, 0, 0], [9, 0, 0], [0, 1, 0]], "width_m": 1, "height_m": 1},
            "at point 2 the hallway turns by 174 degrees",
        ),
        (
            "hallway",
            {"points_world_m": [[0, 0, 0], [1, 0, 0], [1, 9, 0]], "width_m": 4, "height_m": 1},
            "points 1 and 2 are 1 m apart, too close for a turn with a width of 4 m",
        ),
    ],
)
def test_invalid_obstacles_are_refused(kind, parameters, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        build_component(OBSTACLES.find(kind), parameters, str)


def test_angles_of_obstacles_may_be_given_in_degrees():
    data = {"center_world_m": [0, 0, 0], "radius_m": 1, "height_m": 4, "pitch_deg": 90}
    lying = build_component(OBSTACLES.find("cylinder"), data, str)
    assert abs(cast_ray([lying], Ray(Vec3(-5.0, 0.0, 0.0), EAST)).distance_m - 3.0) < EXACT_M


def test_walls_of_a_bent_hallway_are_closed():
    line = (Vec3(0.0, 0.0, 0.0), Vec3(6.0, 0.0, 0.0), Vec3(6.0, 8.0, 1.0), Vec3(12.0, 8.0, 0.0))
    hallway = Hallway(line, 2.0, 3.0, floor=True, ceiling=True)
    angles = np.linspace(0.01, 2.0 * np.pi, 90)
    ways = [Vec3(float(np.cos(a)), float(np.sin(a)), 0.0) for a in angles]
    hit, _, _ = hits([hallway], [Ray(Vec3(6.0, 0.0, 1.0), way) for way in ways])
    open_end = abs(angles - np.pi) < math.atan2(1.0, 6.0)
    np.testing.assert_array_equal(np.isfinite(hit.distance_m), ~open_end)


@pytest.mark.slow
def test_registered_obstacles_are_those_that_are_tested():
    # waves have tests of their own
    kinds = {OBSTACLES.find(name) for name in OBSTACLES.names() if name != "wavy-sheet"}
    assert {type(example) for example in EXAMPLES.values()} == kinds
    assert {name for name, *_ in RANGES} == set(EXAMPLES)
