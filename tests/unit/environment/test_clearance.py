"""How near obstacles are: against trimesh, MuJoCo and sampled curves, alone and with a body."""

import math

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import trimesh

from kittiwake.contact.deck import DeckState
from kittiwake.environment.obstacles.boxes import Box, Platform, Slab
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body
from kittiwake.world.moving_obstacles import DeckSurface, VehicleObstacle
from kittiwake.world.ray import MAX_UNROLLED, NOTHING, nearest_obstacle

# sums and roots of numbers of a few meters in double precision
EXACT_M = 1e-9
ORIGIN = Vec3(0.0, 0.0, 0.0)
TURNED = {"yaw_rad": 0.4, "pitch_rad": -0.3, "roll_rad": 0.7}
PLACE = Vec3(0.3, -0.2, 0.5)
BENDS = (Vec3(-3.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.2), Vec3(2.0, 2.0, 0.0))
FLAT = Vec3(0.5, 0.5, 0.1)


def scattered(count=400, reach_m=4.0):
    return np.random.default_rng(5).uniform(-reach_m, reach_m, (count, 3))


def clearances(obstacle, points_m, body=POINT):
    measure = jax.jit(jax.vmap(lambda row: obstacle.clearance_m(Vec3.of(row), body)))
    return np.asarray(measure(jnp.asarray(points_m)))


def ball_mesh():
    return trimesh.creation.icosphere(subdivisions=2, radius=1.5).triangles


def own_axes(points_m):
    """Points in the axes of a shape at ``PLACE``, turned by ``TURNED``."""
    angles = EulerZYX(TURNED["roll_rad"], TURNED["pitch_rad"], TURNED["yaw_rad"])
    q = Quaternion.from_euler(angles).inverse()
    return np.array([q.rotate(Vec3.of(p.tolist()) - PLACE).array for p in points_m])


def corners_of(shape):
    """Closed or open triangles that the shape is, by trimesh, in its own axes."""
    if shape == "slab":
        box = trimesh.creation.box((2.0, 1.0, 3.0))
        box.vertices[:, 1] += math.tan(0.5) * box.vertices[:, 2]
        return box
    if shape == "platform":
        box = trimesh.creation.box((2.0, 3.0, 0.4))
        box.vertices[:, 2] -= 0.2
        return box
    return trimesh.creation.box((2.0, 1.0, 3.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "obstacle"),
    [
        ("box", Box(PLACE, Vec3(2.0, 1.0, 3.0), **TURNED)),
        ("slab", Slab(PLACE, Vec3(2.0, 1.0, 3.0), 0.5, **TURNED)),
        ("platform", Platform(PLACE, 2.0, 3.0, 0.4, **TURNED)),
    ],
)
def test_flat_faced_solids_are_as_near_as_their_triangles_and_negative_inside(shape, obstacle):
    points = scattered(reach_m=2.0)
    solid, own = corners_of(shape), own_axes(points)
    away = trimesh.proximity.closest_point_naive(solid, own)[1]
    inside = ((own[:, None] - solid.triangles_center) * solid.face_normals).sum(axis=2) < 0.0
    expected = np.where(inside.all(axis=1), -away, away)
    assert (expected < 0.0).sum() > 5
    np.testing.assert_allclose(clearances(obstacle, points), expected, rtol=0.0, atol=EXACT_M)


@pytest.mark.parametrize(
    ("kind", "size", "obstacle"),
    [
        ("sphere", [1.2], Sphere(PLACE, 1.2)),
        ("capsule", [0.7, 1.0], Capsule(PLACE, 0.7, 2.0, **TURNED)),
        ("cylinder", [0.7, 1.0], Cylinder(PLACE, 0.7, 2.0, **TURNED)),
        ("box", [1.0, 0.5, 1.5], Box(PLACE, Vec3(2.0, 1.0, 3.0), **TURNED)),
    ],
)
def test_clearances_of_solids_equal_those_of_mujoco(kind, size, obstacle):
    q = Quaternion.from_euler(EulerZYX(TURNED["roll_rad"], TURNED["pitch_rad"], TURNED["yaw_rad"]))
    text = (
        f"<mujoco><worldbody><geom type='{kind}' size='{' '.join(map(str, size))}' "
        f"pos='0.3 -0.2 0.5' quat='{q.w} {q.x} {q.y} {q.z}'/><body name='probe'><freejoint/>"
        "<geom type='sphere' size='0.001' mass='1'/></body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    points = scattered(100)
    found = clearances(obstacle, points)
    outside = found > 0.01
    expected = np.empty(len(points))
    for i, point in enumerate(points):
        data.qpos[:3] = point
        mujoco.mj_kinematics(model, data)
        expected[i] = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None) + 0.001
    # MuJoCo finds the distance by an iteration that stops at 1e-6
    np.testing.assert_allclose(found[outside], expected[outside], rtol=0.0, atol=1e-5)
    assert outside.sum() > 50


@pytest.mark.parametrize(
    "obstacle",
    [
        Hallway(BENDS, 2.0, 1.5, floor=True, ceiling=True),
        Mesh(TriangleMesh.of(np.asarray(ball_mesh()), "ball")),
    ],
)
def test_walls_and_meshes_are_as_near_as_their_triangles(obstacle):
    points = scattered(200)
    if isinstance(obstacle, Mesh):
        triangles = np.asarray(ball_mesh())
    else:
        triangles = np.asarray(obstacle._triangles(Vec3(jnp.asarray(0.0), 0.0, 0.0)))
    soup = trimesh.Trimesh(**trimesh.triangles.to_kwargs(triangles))
    expected = trimesh.proximity.closest_point_naive(soup, points)[1]
    np.testing.assert_allclose(clearances(obstacle, points), expected, rtol=0.0, atol=EXACT_M)


@pytest.mark.slow
def test_a_mesh_is_near_at_its_place_in_its_attitude_and_scale():
    mesh = Mesh(TriangleMesh.of(np.asarray(ball_mesh()), "ball"), PLACE, scale=0.5, **TURNED)
    plain = Mesh(TriangleMesh.of(np.asarray(ball_mesh()), "ball"))
    points = scattered(100)
    expected = 0.5 * clearances(plain, own_axes(points) / 0.5)
    np.testing.assert_allclose(clearances(mesh, points), expected, rtol=0.0, atol=EXACT_M)


@pytest.mark.slow
@pytest.mark.parametrize("curvature_pm", [0.0, 0.05, -0.7, 3.0, 40.0])
def test_a_parabolic_sheet_is_as_near_as_the_best_of_many_of_its_points(curvature_pm):
    sheet = ParabolicSheet(PLACE, curvature_pm, 2.0, 3.0, **TURNED)
    points = scattered(200)
    x, y0, z0 = own_axes(points).T
    y = np.linspace(-1.5, 1.5, 60_001)
    square = (y - y0[:, None]) ** 2 + (curvature_pm * y * y - z0[:, None]) ** 2
    aside = np.maximum(np.abs(x) - 1.0, 0.0)
    expected = np.sqrt(square.min(axis=1) + aside**2)
    # between two of its points, at most 6 mm apart in height, the distance falls by 5e-9 m2 / d
    np.testing.assert_allclose(clearances(sheet, points), expected, rtol=0.0, atol=3e-3)
    assert (clearances(sheet, points) <= expected + EXACT_M).all()


def test_the_focus_of_a_parabola_and_its_lowest_point_are_a_quarter_of_its_radius_apart():
    sheet = ParabolicSheet(ORIGIN, 0.5, 4.0, 4.0)
    places = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 3.0], [1.0, 0.0, -1.0], [5.0, 0.0, 0.0]])
    # z = 0.5 y^2: from (0, 3) the foot is at y^2 = 2 (3 - 1) = 4, the sheet's end
    expected = [0.5, math.hypot(2.0, 1.0), 1.0, 3.0]
    np.testing.assert_allclose(clearances(sheet, places), expected, rtol=0.0, atol=EXACT_M)


def test_a_plane_is_near_from_both_sides():
    plane = Plane(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 7.0))
    points = np.array([[3.0, 2.0, 4.0], [0.0, 9.0, -1.0]])
    np.testing.assert_allclose(clearances(plane, points), [3.0, 2.0], rtol=0.0, atol=EXACT_M)


def test_a_flat_body_comes_nearer_to_a_floor_than_to_a_wall():
    wall = Box(Vec3(2.0, 0.0, 0.0), Vec3(2.0, 8.0, 8.0))
    floor = Box(Vec3(0.0, 0.0, -2.0), Vec3(8.0, 8.0, 2.0))
    body = Body(Quaternion.identity(), FLAT)
    origin = np.zeros((1, 3))
    assert clearances(wall, origin, body)[0] == pytest.approx(0.75, abs=EXACT_M)
    assert clearances(floor, origin, body)[0] == pytest.approx(0.95, abs=EXACT_M)
    # turned by 45 degrees a corner leads, on its side the long edge
    yawed = Body(Quaternion.from_euler(EulerZYX(0.0, 0.0, math.pi / 4)), FLAT)
    rolled = Body(Quaternion.from_euler(EulerZYX(math.pi / 2, 0.0, 0.0)), FLAT)
    assert clearances(wall, origin, yawed)[0] == pytest.approx(1.0 - 0.5 * math.sqrt(0.5))
    assert clearances(floor, origin, rolled)[0] == pytest.approx(0.75, abs=EXACT_M)


@pytest.mark.slow
def test_a_flat_body_between_floor_and_wall_is_judged_by_the_one_that_it_touches():
    hall = Hallway((Vec3(-9.0, 0.0, 0.0), Vec3(9.0, 0.0, 0.0)), 4.0, 3.0, floor=True)
    body = Body(Quaternion.identity(), FLAT)
    # the floor is nearer to the middle, the wall to the body
    point = np.array([[0.0, 1.78, 0.2]])
    assert clearances(hall, point)[0] == pytest.approx(0.2, abs=EXACT_M)
    assert clearances(hall, point, body)[0] == pytest.approx(0.22 - 0.25, abs=EXACT_M)
    valley = ParabolicSheet(ORIGIN, 8.0, 9.0, 2.0)
    assert clearances(valley, np.array([[0.0, 0.0, 0.3]]), body)[0] < 0.0


@pytest.mark.slow
def test_a_body_with_positive_clearance_touches_nothing():
    angles = EulerZYX(0.3, -0.5, 0.8)
    q = Quaternion.from_euler(angles)
    body = Body(q, FLAT)
    shares = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 7)] * 3), axis=-1).reshape(-1, 3)
    parts = np.array([q.rotate(Vec3.of((s * [0.5, 0.5, 0.1]).tolist())).array for s in shares])
    for obstacle in (
        Box(PLACE, Vec3(2.0, 1.0, 3.0), **TURNED),
        Cylinder(PLACE, 0.7, 2.0, **TURNED),
        Slab(PLACE, Vec3(2.0, 1.0, 3.0), 0.5, **TURNED),
    ):
        middles = scattered(150, 2.0)
        left = clearances(obstacle, middles, body)
        of_parts = clearances(obstacle, (middles[:, None] + parts).reshape(-1, 3))
        touched = of_parts.reshape(len(middles), -1).min(axis=1) < 0.0
        assert not (touched & (left > 0.0)).any()
        # nor is contact told of what is further away than the body is long
        assert (left[of_parts.reshape(len(middles), -1).min(axis=1) > 0.36] > 0.0).all()


def test_the_nearest_of_many_is_returned_by_its_index():
    boxes = [Box(Vec3(3.0 * i, 0.0, 0.0), Vec3(1.0, 1.0, 1.0)) for i in range(MAX_UNROLLED + 3)]
    obstacles = (Sphere(Vec3(0.0, 5.0, 0.0), 1.0), *boxes, Plane(Vec3(0.0, 0.0, -9.0)))
    near = nearest_obstacle(obstacles, Vec3(jnp.asarray(9.0), 0.0, 2.0))
    assert int(near.index) == 4
    assert float(near.distance_m) == pytest.approx(1.5, abs=EXACT_M)
    nothing = nearest_obstacle((), Vec3(jnp.asarray(9.0), 0.0, 2.0))
    assert int(nothing.index) == NOTHING
    assert np.isinf(nothing.distance_m)


def test_decks_and_neighbors_are_near_as_what_they_are():
    still = Vec3(0.0, 0.0, 0.0)
    deck = DeckState(PLACE, Quaternion.identity(), still, still, 2.0, 4.0)
    point = PLACE + Vec3(2.0, 0.0, 1.0)
    assert float(DeckSurface(deck).clearance_m(point)) == pytest.approx(math.sqrt(2.0))
    other = VehicleObstacle(Sphere(PLACE, 0.5), PLACE, still, still, jnp.asarray(True))
    assert float(other.clearance_m(point)) == pytest.approx(math.sqrt(5.0) - 0.5)


SHAPES = {
    "box": Box(ORIGIN, Vec3(2.0, 4.0, 6.0)),
    "platform": Platform(ORIGIN, 2.0, 3.0),
    "slab": Slab(ORIGIN, Vec3(2.0, 1.0, 4.0), 0.5),
    "sphere": Sphere(ORIGIN, 2.0),
    "cylinder": Cylinder(ORIGIN, 1.0, 4.0),
    "capsule": Capsule(ORIGIN, 1.0, 4.0),
    "plane": Plane(ORIGIN),
    "parabolic sheet": ParabolicSheet(ORIGIN, 0.5, 4.0, 4.0),
    "hallway": Hallway(BENDS, 2.0, 3.0, floor=True),
    "mesh": Mesh(TriangleMesh.of(np.asarray(ball_mesh()), "ball")),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_are_finite_and_of_unit_length_in_the_open(shape):
    obstacle = SHAPES[shape]

    @jax.jit
    @jax.vmap
    def both(row):
        def clearance(v):
            return obstacle.clearance_m(Vec3.of(v))

        def left(v):
            return obstacle.clearance_m(Vec3.of(v), Body(Quaternion.identity(), FLAT))

        return jax.value_and_grad(clearance)(row), jax.grad(left)(row)

    # its center, its axes, its corners, and places all about
    special = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 2, 3], [0, 2, 2], [-1, -1.5, 0], [0, 0, 9]]
    (found, slopes), others = both(jnp.asarray(np.vstack([special, scattered(50)])))
    assert np.isfinite(found).all()
    assert np.isfinite(slopes).all()
    assert np.isfinite(others).all()
    lengths = np.linalg.norm(slopes, axis=1)[len(special) :]
    np.testing.assert_allclose(lengths, 1.0, atol=1e-9)
