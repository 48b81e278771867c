"""Static objects of a flight: ground or water, land, obstacles, regions and the flight area.

The ground is a checkerboard, surrounded by a disc. If vessels float, there is water at z = 0. With
waves, draw ``water.Sea`` instead of this flat water (``is_water``).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.placed import q_world_from_own
from kittiwake.environment.regions import ForceRegion, WindRegion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Rgb, Shape, box, disc, quads
from kittiwake.rendering.solids import mesh_of
from kittiwake.scene.environment_layers import environment_meshes
from kittiwake.scene.extent import Extent, area_of, extent_of
from kittiwake.scene.land import land_meshes
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.world.environment import AbstractRegion
from kittiwake.world.ray import AbstractObstacle
from kittiwake.world.waves import WAVES

GROUND, WATER = "ground", "water"
LAND_RGB, LAND_SQUARES_RGB = (146, 156, 138), (160, 169, 151)
WATER_RGB, WATER_SQUARES_RGB = (62, 122, 158), (70, 132, 168)
OBSTACLES_RGB = (
    (186, 150, 116),
    (150, 164, 140),
    (172, 132, 124),
    (140, 146, 176),
    (178, 170, 130),
)
# translucent because vehicles fly inside
WALLS_OPACITY, REGION_OPACITY = 0.35, 0.13
WIND_RGB, FORCE_RGB, AREA_RGB = (70, 150, 240), (220, 80, 170), (120, 130, 145)
MAX_SQUARES = 40
# radius of the surrounding disc relative to the extent
DISC_RADIUS = 6.0
# depth of the disc below the squares relative to the extent, against z-fighting
DISC_DEPTH = 4e-4
# length of a region's arrow and of its head relative to the shortest side
ARROW, ARROW_HEAD = 0.7, 0.18


class Lines(NamedTuple):
    """Line segments in one color."""

    points_world_m: Float64[np.ndarray, "pieces 2 3"]
    rgb: Rgb


def static_meshes(flight: FlightInfo) -> list[tuple[str, ColoredMesh]]:
    """Return the meshes of all static objects in world axes, by name."""
    return [*_ground(flight, extent_of(flight)), *objects_on_ground(flight)]


def objects_on_ground(
    flight: FlightInfo, land_m: float | None = None
) -> list[tuple[str, ColoredMesh]]:
    """Return the meshes of all static objects but the ground and the water, by name.

    Args:
        flight: the flight.
        land_m: width of the land around surveyed waters; None for a strip.
    """
    world, extent = flight.scenario.world, extent_of(flight)
    return [
        *land_meshes(flight, land_m),
        *environment_meshes(flight),
        *_obstacles(flight, extent),
        *(
            (f"region {number + 1}", mesh)
            for number, region in enumerate(world.regions)
            if (mesh := _region(region, flight)) is not None
        ),
    ]


def static_lines(flight: FlightInfo) -> list[tuple[str, Lines]]:
    """Return the edges of the flight area and the arrows of regions, by name."""
    extent = extent_of(flight)
    if not extent.bounded:
        return region_arrows(flight)
    edges = area_edges(extent.low_world_m, extent.high_world_m)
    return [("flight area", Lines(edges, AREA_RGB)), *region_arrows(flight)]


def region_arrows(flight: FlightInfo) -> list[tuple[str, Lines]]:
    """Return the arrows of regions, by name."""
    return [
        (f"region {number + 1} direction", arrow)
        for number, region in enumerate(flight.scenario.world.regions)
        if (arrow := _arrow(region, flight)) is not None
    ]


def is_water(name: str) -> bool:
    """Return True if a static object is the flat water."""
    return name.startswith(WATER)


def has_water_surface(flight: FlightInfo) -> bool:
    """Return True if the world has water."""
    vehicles = flight.scenario.vehicles.values()
    vessels = any(one.dynamics.is_vessel for one in vehicles)
    return vessels or WAVES in flight.scenario.world.processes


def ground_height_m(flight: FlightInfo) -> float:
    """Return the height of the ground, or of still water."""
    return 0.0 if has_water_surface(flight) else float(flight.scenario.world.ground_z_m)


def _ground(flight: FlightInfo, extent: Extent) -> list[tuple[str, ColoredMesh]]:
    has_water, z = has_water_surface(flight), ground_height_m(flight)
    name = WATER if has_water else GROUND
    one, other = (WATER_RGB, WATER_SQUARES_RGB) if has_water else (LAND_RGB, LAND_SQUARES_RGB)
    step = DISC_DEPTH * extent.widest_m
    radius_m = DISC_RADIUS * extent.widest_m
    center = extent.center_world_m
    ground_disc = disc(radius_m, 64).at((center[0], center[1], z - step))
    return [
        (name, ground_disc.colored(one)),
        (f"{name} squares", _squares(extent, z).colored(other)),
    ]


def square_m(extent: Extent) -> float:
    """Return the side of a square: a round number of meters."""
    for power in range(6):
        for number in (1.0, 2.0, 5.0):
            side = number * 10.0**power
            if extent.widest_m / side <= MAX_SQUARES:
                return side
    return extent.widest_m


def _squares(extent: Extent, z: float) -> Shape:
    """Return every other square; the disc below shows between them."""
    side = square_m(extent)
    low = np.floor(extent.low_world_m[:2] / side).astype(int)
    high = np.maximum(np.ceil(extent.high_world_m[:2] / side).astype(int), low + 1)
    east, north = np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]))
    light = (east + north) % 2 == 0
    corner = np.column_stack([east[light], north[light], np.zeros(int(light.sum()))])
    about = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    return quads((corner[:, None] + about) * side + np.array([0.0, 0.0, z]))


def _obstacles(flight: FlightInfo, extent: Extent) -> list[tuple[str, ColoredMesh]]:
    world = flight.scenario.world
    found = []
    for number, obstacle in enumerate(world.obstacles):
        name = world.obstacle_called(number).removeprefix("world.obstacles.")
        rgb = OBSTACLES_RGB[number % len(OBSTACLES_RGB)]
        mesh = _obstacle(obstacle, rgb, extent)
        if mesh is not None:
            found.append((f"obstacle {name}", mesh))
    return found


def _obstacle(obstacle: AbstractObstacle, rgb: Rgb, extent: Extent) -> ColoredMesh | None:
    """Return the mesh of an obstacle; None if it has no solids."""
    if isinstance(obstacle, Mesh):
        return mesh_shape(obstacle).colored(rgb)
    opacity = WALLS_OPACITY if isinstance(obstacle, Hallway) else 1.0
    try:
        solids = obstacle.solids_world()
    except ScenarioError:
        return None
    return mesh_of(solids, rgb, opacity, plane_m=3.0 * extent.widest_m) if solids else None


def mesh_shape(mesh: Mesh) -> Shape:
    """Return the triangles of a mesh in world axes, without duplicates."""
    corners = np.asarray(mesh.file.corners, float).reshape(-1, 3, 3)
    triangles = np.unique(corners, axis=0)
    points = triangles.reshape(-1, 3) * float(mesh.scale * mesh.file.unit_m)
    q = q_world_from_own(mesh.yaw_rad, mesh.pitch_rad, mesh.roll_rad)
    turn = np.array([float(q.w), float(q.x), float(q.y), float(q.z)])
    place = mesh.position_world_m
    shape = Shape(points, np.arange(len(points)).reshape(-1, 3))
    return shape.at((float(place.x), float(place.y), float(place.z)), turn)


def _corners(region: AbstractRegion, flight: FlightInfo) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the corners of a box region, clipped to the flight area unless it is rotated."""
    if not isinstance(region, WindRegion | ForceRegion):
        return None
    if not region.is_upright:
        return _numbers(region.from_world_m), _numbers(region.to_world_m)
    low, high = extent_of(flight)[:2]
    area_low, area_high = area_of(flight)
    # a region far from the extent is shown in full
    lowest = np.maximum(area_low, np.minimum(low, _numbers(region.from_world_m)))
    highest = np.minimum(area_high, np.maximum(high, _numbers(region.to_world_m)))
    corners = (
        np.maximum(_numbers(region.from_world_m), lowest),
        np.minimum(_numbers(region.to_world_m), highest),
    )
    return corners if (corners[0] < corners[1]).all() else None


def _region(region: AbstractRegion, flight: FlightInfo) -> ColoredMesh | None:
    corners = _corners(region, flight)
    if corners is None:
        return None
    rgb = WIND_RGB if isinstance(region, WindRegion) else FORCE_RGB
    low, high = corners
    assert isinstance(region, WindRegion | ForceRegion)
    q = q_world_from_own(region.yaw_rad, region.pitch_rad, region.roll_rad)
    turn = np.array([float(q.w), float(q.x), float(q.y), float(q.z)])
    return box(high - low, np.zeros(3)).at(0.5 * (low + high), turn).colored(rgb, REGION_OPACITY)


def _arrow(region: AbstractRegion, flight: FlightInfo) -> Lines | None:
    """Return an arrow along the wind or force at the center of a region, with four head lines."""
    corners = _corners(region, flight)
    if corners is None:
        return None
    assert isinstance(region, WindRegion | ForceRegion)
    is_wind = isinstance(region, WindRegion)
    effect = _numbers(region.wind_world_mps if is_wind else region.force_world_n)
    strength = float(np.linalg.norm(effect))
    if strength == 0.0:
        return None
    side_m = float((corners[1] - corners[0]).min())
    ahead, center = effect / strength, 0.5 * (corners[0] + corners[1])
    aside = np.cross(ahead, [0.0, 0.0, 1.0] if abs(ahead[2]) < 0.9 else [1.0, 0.0, 0.0])
    aside /= np.linalg.norm(aside)
    across = np.cross(ahead, aside)
    tip = center + 0.5 * ARROW * side_m * ahead
    back = tip - ARROW_HEAD * side_m * ahead
    ends = [back + 0.5 * ARROW_HEAD * side_m * side for side in (aside, -aside, across, -across)]
    pieces = [(center - 0.5 * ARROW * side_m * ahead, tip), *((tip, end) for end in ends)]
    return Lines(np.array(pieces), WIND_RGB if is_wind else FORCE_RGB)


def area_edges(low: np.ndarray, high: np.ndarray) -> Float64[np.ndarray, "12 2 3"]:
    """Return the edges of a box between two corners."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    pairs = [
        (one, other)
        for i, one in enumerate(corners)
        for other in corners[i + 1 :]
        if np.abs(one - other).sum() == 1.0
    ]
    return low + np.array(pairs) * (high - low)


def _numbers(vector: Vec3) -> np.ndarray:
    return np.array([float(getattr(vector, axis)) for axis in "xyz"])
