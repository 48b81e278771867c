"""Ten thousand random rays at each obstacle against MuJoCo's own ray casting."""

import itertools
import math

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from kittiwake.environment.obstacles.boxes import Box, Platform, Slab
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.ray import Ray, cast_ray

RAYS = 10_000
YAW, PITCH, ROLL = 0.7, -0.4, 1.1
ANGLES = {"yaw_rad": YAW, "pitch_rad": PITCH, "roll_rad": ROLL}
PLACE = (0.3, -0.5, 0.8)
CENTER = Vec3(*PLACE)
POSE = f'pos="0.3 -0.5 0.8" euler="{YAW} {PITCH} {ROLL}"'
# MuJoCo turns by these in the same order: about z, then the new y, then the new x
SCENE = """<mujoco><compiler angle="radian" eulerseq="zyx"/>
<asset>{asset}</asset><worldbody>{geoms}</worldbody></mujoco>"""
# what MuJoCo computes in double precision, and meshes, which it keeps in single precision
EXACT_M, SINGLE_M = 1e-9, 3e-6


def scene(geoms, asset=""):
    return mujoco.MjModel.from_xml_string(SCENE.format(asset=asset, geoms=geoms))


def mesh_scene(corners, pose=POSE):
    """Triangles, open or closed, as MuJoCo takes them."""
    vertices = " ".join(f"{number:.17g}" for number in np.ravel(corners))
    faces = " ".join(str(i) for i in range(3 * len(corners)))
    asset = f'<mesh name="m" inertia="shell" vertex="{vertices}" face="{faces}"/>'
    return scene(f'<geom type="mesh" mesh="m" {pose}/>', asset)


def quads(*faces):
    """Faces of four corners each as triangles."""
    return [half for a, b, c, d in faces for half in ((a, b, c), (a, c, d))]


def hexahedron(corner):
    """The six faces between the eight corners that a function gives for signs along each axis."""
    faces = []
    for axis, sign in itertools.product(range(3), (-1, 1)):
        around = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        faces.append([corner(*np.insert(np.array(pair), axis, sign)) for pair in around])
    return quads(*faces)


def leaning(x, y, z):
    """Corners of the slab below: each layer is shifted along y by tan(lean) z."""
    return (1.5 * x, 0.4 * y + math.tan(0.6) * 0.9 * z, 0.9 * z)


def sheet_strips(count=4_000):
    """The parabola as flat strips, less than a micrometre off."""
    y = np.linspace(-1.5, 1.5, count + 1)
    z = 0.4 * y * y
    near, far = (np.column_stack([np.full_like(y, x), y, z]) for x in (-1.0, 1.0))
    return quads(*zip(near[:-1], far[:-1], far[1:], near[1:], strict=True))


def bent_hallway():
    """Written down by hand: two meters wide, from west to east, then to the north."""
    foot = {"left": [(-4, 1), (-1, 1), (-1, 3)], "right": [(-4, -1), (1, -1), (1, 3)]}
    walls = [
        [(*one, 0), (*other, 0), (*other, 1.5), (*one, 1.5)]
        for line in foot.values()
        for one, other in itertools.pairwise(line)
    ]
    levels = [
        [
            (*foot["left"][i], z),
            (*foot["left"][i + 1], z),
            (*foot["right"][i + 1], z),
            (*foot["right"][i], z),
        ]
        for i, z in itertools.product((0, 1), (0, 1.5))
    ]
    return quads(*walls, *levels)


def blob(count=60):
    """A sphere of triangles with dents: neither convex nor even."""
    polar, round_ = np.linspace(0, np.pi, count // 2), np.linspace(0, 2 * np.pi, count)
    p, r = np.meshgrid(polar, round_, indexing="ij")
    size = 1.0 + 0.3 * np.sin(4 * p) * np.cos(3 * r)
    grid = np.stack([np.sin(p) * np.cos(r), np.sin(p) * np.sin(r), np.cos(p)], -1) * size[..., None]
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    corners = np.concatenate([np.stack([a, b, c], -2), np.stack([a, c, d], -2)]).reshape(-1, 3, 3)
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return corners[np.linalg.norm(sides, axis=1) > 1e-9]


BLOB = blob()
LINE = (Vec3(-4.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 3.0, 0.0))

CASES = {
    "box": (
        lambda: Box(CENTER, Vec3(1.0, 2.4, 0.6), **ANGLES),
        lambda: scene(f'<geom type="box" size="0.5 1.2 0.3" {POSE}/>'),
        EXACT_M,
    ),
    "platform": (
        lambda: Platform(CENTER, 2.0, 3.0, 0.2),
        lambda: scene('<geom type="box" size="1 1.5 0.1" pos="0.3 -0.5 0.7"/>'),
        EXACT_M,
    ),
    "slab": (
        lambda: Slab(CENTER, Vec3(3.0, 0.8, 1.8), 0.6, **ANGLES),
        lambda: mesh_scene(hexahedron(leaning)),
        SINGLE_M,
    ),
    "sphere": (
        lambda: Sphere(CENTER, 1.3),
        lambda: scene(f'<geom type="sphere" size="1.3" {POSE}/>'),
        EXACT_M,
    ),
    "cylinder": (
        lambda: Cylinder(CENTER, 0.7, 2.2, **ANGLES),
        lambda: scene(f'<geom type="cylinder" size="0.7 1.1" {POSE}/>'),
        EXACT_M,
    ),
    "lying cylinder": (
        lambda: Cylinder(CENTER, 0.7, 2.2, pitch_rad=math.pi / 2),
        lambda: scene('<geom type="cylinder" size="0.7" fromto="-0.8 -0.5 0.8 1.4 -0.5 0.8"/>'),
        EXACT_M,
    ),
    "capsule": (
        lambda: Capsule(CENTER, 0.6, 1.8, **ANGLES),
        lambda: scene(f'<geom type="capsule" size="0.6 0.9" {POSE}/>'),
        EXACT_M,
    ),
    "plane": (
        lambda: Plane(CENTER, Vec3(0.5, -0.3, 2.0)),
        # MuJoCo's planes are met from their front only
        lambda: scene(
            '<geom type="plane" size="0 0 1" pos="0.3 -0.5 0.8" zaxis="0.5 -0.3 2"/>'
            '<geom type="plane" size="0 0 1" pos="0.3 -0.5 0.8" zaxis="-0.5 0.3 -2"/>'
        ),
        EXACT_M,
    ),
    "parabolic sheet": (
        lambda: ParabolicSheet(CENTER, 0.4, 2.0, 3.0, **ANGLES),
        lambda: mesh_scene(sheet_strips()),
        SINGLE_M,
    ),
    "hallway": (
        lambda: Hallway(LINE, 2.0, 1.5, floor=True, ceiling=True),
        lambda: mesh_scene(bent_hallway(), pose=""),
        SINGLE_M,
    ),
    "mesh": (
        lambda: Mesh(TriangleMesh.of(BLOB, "blob"), CENTER, scale=1.5, **ANGLES),
        lambda: mesh_scene(1.5 * BLOB),
        SINGLE_M,
    ),
}


def random_rays(seed):
    """From all around and from within, most of them to somewhere near the middle."""
    draw = np.random.default_rng(seed)
    origins = draw.uniform(-4.0, 4.0, (RAYS, 3))
    ways = draw.normal(0.0, 1.2, (RAYS, 3)) + PLACE - origins
    return origins, ways / np.linalg.norm(ways, axis=1, keepdims=True)


def cast_at(obstacle, origins, directions):
    def one(origin, direction):
        return cast_ray([obstacle], Ray(Vec3.of(origin), Vec3.of(direction)))

    return jax.jit(jax.vmap(one))(jnp.asarray(origins), jnp.asarray(directions))


def mujoco_hits(model, origins, directions):
    data, number, normal = mujoco.MjData(model), np.zeros(1, np.int32), np.zeros(3)
    mujoco.mj_forward(model, data)
    hits = []
    for origin, direction in zip(origins, directions, strict=True):
        distance = mujoco.mj_ray(model, data, origin, direction, None, 1, -1, number, normal)
        hits.append((distance, *normal))
    distances, normals = np.split(np.array(hits), [1], axis=1)
    return distances[:, 0], normals


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_rays_hit_what_they_hit_in_mujoco(case):
    make, reference, tolerance_m = CASES[case]
    origins, directions = random_rays(sorted(CASES).index(case))
    hit = cast_at(make(), origins, directions)
    distances, normals = mujoco_hits(reference(), origins, directions)
    met = distances >= 0.0
    assert 0.1 * RAYS < met.sum() < RAYS
    np.testing.assert_array_equal(np.isfinite(hit.distance_m), met)
    own = np.stack([hit.normal_world.x, hit.normal_world.y, hit.normal_world.z], axis=1)
    # a surface that is off by so much is met further along by a ray that is flat to it
    slope = np.abs(np.sum(own * directions, axis=1))[met]
    off = np.abs(np.asarray(hit.distance_m)[met] - distances[met])
    assert np.max(off * np.minimum(slope, 1.0)) < tolerance_m
    assert np.max(off[slope > 0.01]) < tolerance_m
    along = np.abs(np.sum(own * normals, axis=1))[met]
    assert np.max(1.0 - along) < tolerance_m
