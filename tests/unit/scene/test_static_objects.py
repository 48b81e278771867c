"""Static objects of a scene."""

from dataclasses import replace

import numpy as np
import pytest

from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.shapes import is_closed
from kittiwake.scene.extent import extent_of
from kittiwake.scene.static_objects import is_water, square_m, static_lines, static_meshes


def bounds(mesh):
    return mesh.vertices_m.min(axis=0), mesh.vertices_m.max(axis=0)


def test_obstacles_have_their_scenario_positions(staged):
    meshes = dict(static_meshes(staged("ultrasonic-turns")))
    low, high = bounds(meshes["obstacle north"])
    np.testing.assert_allclose([low, high], [[-6, 5, 0], [6, 6, 4]], atol=1e-6)
    low, high = bounds(meshes["obstacle pillar"])
    np.testing.assert_allclose([low, high], [[1.5, -2.5, 0], [2.5, -1.5, 4]], atol=0.01)
    assert is_closed(meshes["obstacle pillar"])


def test_ground_lies_at_its_height_and_covers_the_flight_area(staged):
    meshes = dict(static_meshes(staged("surface-following")))
    assert not any(is_water(name) for name in meshes)
    squares = meshes["ground squares"].vertices_m
    np.testing.assert_allclose(squares[:, 2], -20.0)
    np.testing.assert_allclose(squares[:, :2].min(axis=0), [-10, -10])
    np.testing.assert_allclose(squares[:, :2].max(axis=0), [10, 30])


def test_vessels_have_water_at_zero(staged):
    meshes = dict(static_meshes(staged("deck-landing")))
    assert not any(name.startswith("ground") for name in meshes)
    np.testing.assert_allclose(meshes["water squares"].vertices_m[:, 2], 0.0)
    # the disc around them is lower, against z-fighting
    assert meshes["water"].vertices_m[:, 2].max() < 0.0


def test_the_ground_has_every_other_square(staged):
    flight = staged("hover-hummingbird")
    squares = dict(static_meshes(flight))["ground squares"]
    assert square_m(extent_of(flight)) == 1.0
    # half of the 20 by 20 m, as two triangles each
    assert len(squares.faces) == 2 * 200


def test_a_region_is_a_box_with_an_arrow_along_its_wind(staged):
    flight = staged("wind-box")
    (region,) = flight.scenario.world.regions
    mesh = dict(static_meshes(flight))["region 1"]
    low, high = bounds(mesh)
    assert mesh.opacity < 0.5
    np.testing.assert_allclose(low, np.array(region.from_world_m.array), atol=1e-5)
    np.testing.assert_allclose(high, np.array(region.to_world_m.array), atol=1e-5)
    shaft = dict(static_lines(flight))["region 1 direction"].points_world_m[0]
    direction = shaft[1] - shaft[0]
    wind = np.array([float(part) for part in region.wind_world_mps.array])
    np.testing.assert_allclose(
        direction / np.linalg.norm(direction), wind / np.linalg.norm(wind), atol=1e-9
    )


def test_only_a_bounded_flight_area_has_edges(staged):
    edges = dict(static_lines(staged("hover-hummingbird")))["flight area"].points_world_m
    assert edges.shape == (12, 2, 3)
    np.testing.assert_allclose(edges.min(axis=(0, 1)), [-10, -10, 0])
    np.testing.assert_allclose(edges.max(axis=(0, 1)), [10, 10, 20])
    assert "flight area" not in dict(static_lines(staged("circle")))


def test_land_lies_around_and_in_a_lake(staged):
    flight = staged("survey-lake")
    land = dict(static_meshes(flight))["land 1"]
    assert land.vertices_m[:, 2].max() == pytest.approx(0.3)
    assert land.vertices_m[:, 2].min() == pytest.approx(-1.0)


def test_persons_and_terrain_classes_are_drawn(staged):
    meshes = dict(static_meshes(staged("person-search")))
    assert "persons" in meshes
    cells = [mesh for name, mesh in meshes.items() if name.startswith("terrain")]
    low = np.min([bounds(mesh)[0][:2] for mesh in cells], axis=0)
    high = np.max([bounds(mesh)[1][:2] for mesh in cells], axis=0)
    flight = staged("person-search")
    np.testing.assert_allclose([low, high], np.array([e[:2] for e in extent_of(flight)[:2]]))


def test_a_mesh_file_is_drawn_at_its_pose(staged):
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0.0, 0, 0], [0, 1, 0], [0, 0, 2]]])
    place = Vec3(1.0, 2.0, 3.0)
    mesh = Mesh(TriangleMesh.of(corners, "file"), place, yaw_rad=np.pi / 2, scale=2.0)
    flight = staged("ultrasonic-turns")
    world = replace(flight.scenario.world, obstacles=(mesh,), obstacle_names=("rock",))
    rock = dict(static_meshes(flight._replace(scenario=flight.scenario.with_parts(world=world))))[
        "obstacle rock"
    ]
    assert len(rock.faces) == 2
    # rotated to the left and scaled by 2: x to y, y to -x
    low, high = bounds(rock)
    np.testing.assert_allclose([low, high], [[-1, 2, 3], [1, 4, 7]], atol=1e-5)
