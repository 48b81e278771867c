"""What stands still in a show: ground or water, land, obstacles, regions, the flight area.

Ground is a checker of squares, with open country around it. Water lies at the world's zero where
vessels float; where waves move it, ``water`` has it as it is at a time, and this flat one is to be
left out (``is_water``).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.placed import q_world_from_own
from kittiwake.environment.regions import ForceRegion, WindRegion
from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Rgb, Shape, box, disc, quads
from kittiwake.rendering.solids import look_of
from kittiwake.scene.environment_layers import environment_looks
from kittiwake.scene.extent import Extent, area_of, extent_of
from kittiwake.scene.frame import Show
from kittiwake.scene.land import land_looks
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
# of what surrounds whoever flies there
WALLS_OPACITY, REGION_OPACITY = 0.35, 0.13
WIND_RGB, FORCE_RGB, AREA_RGB = (70, 150, 240), (220, 80, 170), (120, 130, 145)
MOST_SQUARES = 40
# of the checker's longer side, how far the country around reaches
COUNTRY = 6.0
# of that side, how far the country lies below the squares, and the one color below the other
BELOW = 4e-4
# of a region's least side, its arrow's length and that of its head
ARROW, ARROW_HEAD = 0.7, 0.18


class Lines(NamedTuple):
    """Pieces of lines in one color, each from one point to another."""

    points_world_m: Float64[np.ndarray, "pieces 2 3"]
    rgb: Rgb


def static_looks(show: Show) -> list[tuple[str, Look]]:
    """Everything by name, in the world's axes."""
    world, extent = show.scenario.world, extent_of(show)
    return [
        *_ground(show, extent),
        *land_looks(show, extent),
        *environment_looks(show),
        *_obstacles(show, extent),
        *(
            (f"region {number + 1}", look)
            for number, region in enumerate(world.regions)
            if (look := _region(region, show)) is not None
        ),
    ]


def static_lines(show: Show) -> list[tuple[str, Lines]]:
    """The edges of the flight area, and which way regions blow or push, by name."""
    found = []
    extent = extent_of(show)
    if extent.bounded:
        edges = _edges(extent.low_world_m, extent.high_world_m)
        found.append(("flight area", Lines(edges, AREA_RGB)))
    for number, region in enumerate(show.scenario.world.regions):
        if (arrow := _arrow(region, show)) is not None:
            found.append((f"region {number + 1} direction", arrow))
    return found


def is_water(name: str) -> bool:
    """Whether a piece of the stage is the flat water."""
    return name.startswith(WATER)


def floats(show: Show) -> bool:
    """Whether there is water in a show."""
    vehicles = show.scenario.vehicles.values()
    vessels = any(one.dynamics.floats for one in vehicles)
    return vessels or WAVES in show.scenario.world.processes


def ground_height_m(show: Show) -> float:
    """Of the ground, or of the water at rest where there is any."""
    return 0.0 if floats(show) else float(show.scenario.world.ground_z_m)


def _ground(show: Show, extent: Extent) -> list[tuple[str, Look]]:
    wet, z = floats(show), ground_height_m(show)
    name = WATER if wet else GROUND
    one, other = (WATER_RGB, WATER_SQUARES_RGB) if wet else (LAND_RGB, LAND_SQUARES_RGB)
    step = BELOW * extent.widest_m
    wide = COUNTRY * extent.widest_m
    center = extent.center_world_m
    country = disc(wide, 64).at((center[0], center[1], z - step))
    return [(name, country.look(one)), (f"{name} squares", _squares(extent, z).look(other))]


def square_m(extent: Extent) -> float:
    """The side of a square: a meter, or a round number of them."""
    for power in range(6):
        for number in (1.0, 2.0, 5.0):
            side = number * 10.0**power
            if extent.widest_m / side <= MOST_SQUARES:
                return side
    return extent.widest_m


def _squares(extent: Extent, z: float) -> Shape:
    """Every other one; between them the country is seen."""
    side = square_m(extent)
    low = np.floor(extent.low_world_m[:2] / side).astype(int)
    high = np.maximum(np.ceil(extent.high_world_m[:2] / side).astype(int), low + 1)
    east, north = np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]))
    light = (east + north) % 2 == 0
    corner = np.column_stack([east[light], north[light], np.zeros(int(light.sum()))])
    about = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    return quads((corner[:, None] + about) * side + np.array([0.0, 0.0, z]))


def _obstacles(show: Show, extent: Extent) -> list[tuple[str, Look]]:
    world = show.scenario.world
    found = []
    for number, obstacle in enumerate(world.obstacles):
        name = world.obstacle_called(number).removeprefix("world.obstacles.")
        rgb = OBSTACLES_RGB[number % len(OBSTACLES_RGB)]
        look = _obstacle(obstacle, rgb, extent)
        if look is not None:
            found.append((f"obstacle {name}", look))
    return found


def _obstacle(obstacle: AbstractObstacle, rgb: Rgb, extent: Extent) -> Look | None:
    """None of one that no solids stand for."""
    if isinstance(obstacle, Mesh):
        return mesh_shape(obstacle).look(rgb)
    opacity = WALLS_OPACITY if isinstance(obstacle, Hallway) else 1.0
    try:
        solids = obstacle.solids_world()
    except ScenarioError:
        return None
    return look_of(solids, rgb, opacity, plane_m=3.0 * extent.widest_m) if solids else None


def mesh_shape(mesh: Mesh) -> Shape:
    """Its triangles, of which some stand twice."""
    corners = np.asarray(mesh.file.corners, float).reshape(-1, 3, 3)
    triangles = np.unique(corners, axis=0)
    points = triangles.reshape(-1, 3) * float(mesh.scale * mesh.file.unit_m)
    q = q_world_from_own(mesh.yaw_rad, mesh.pitch_rad, mesh.roll_rad)
    turn = np.array([float(q.w), float(q.x), float(q.y), float(q.z)])
    place = mesh.position_world_m
    shape = Shape(points, np.arange(len(points)).reshape(-1, 3))
    return shape.at((float(place.x), float(place.y), float(place.z)), turn)


def _corners(region: AbstractRegion, show: Show) -> tuple[np.ndarray, np.ndarray] | None:
    """As much of a region as lies in the flight area, all of a turned one; None of no box."""
    if not isinstance(region, WindRegion | ForceRegion):
        return None
    if not region.is_upright:
        return _numbers(region.from_world_m), _numbers(region.to_world_m)
    low, high = extent_of(show)[:2]
    area_low, area_high = area_of(show)
    # one that is far from all that happens is shown where it is
    least = np.maximum(area_low, np.minimum(low, _numbers(region.from_world_m)))
    most = np.minimum(area_high, np.maximum(high, _numbers(region.to_world_m)))
    corners = (
        np.maximum(_numbers(region.from_world_m), least),
        np.minimum(_numbers(region.to_world_m), most),
    )
    return corners if (corners[0] < corners[1]).all() else None


def _region(region: AbstractRegion, show: Show) -> Look | None:
    corners = _corners(region, show)
    if corners is None:
        return None
    rgb = WIND_RGB if isinstance(region, WindRegion) else FORCE_RGB
    low, high = corners
    assert isinstance(region, WindRegion | ForceRegion)
    q = q_world_from_own(region.yaw_rad, region.pitch_rad, region.roll_rad)
    turn = np.array([float(q.w), float(q.x), float(q.y), float(q.z)])
    return box(high - low, np.zeros(3)).at(0.5 * (low + high), turn).look(rgb, REGION_OPACITY)


def _arrow(region: AbstractRegion, show: Show) -> Lines | None:
    """Along what blows or pushes, in the middle, with four lines as its head."""
    corners = _corners(region, show)
    if corners is None:
        return None
    blows = isinstance(region, WindRegion)
    effect = _numbers(region.wind_world_mps if blows else getattr(region, "force_world_n", None))
    strength = float(np.linalg.norm(effect))
    if strength == 0.0:
        return None
    least = float((corners[1] - corners[0]).min())
    ahead, center = effect / strength, 0.5 * (corners[0] + corners[1])
    aside = np.cross(ahead, [0.0, 0.0, 1.0] if abs(ahead[2]) < 0.9 else [1.0, 0.0, 0.0])
    aside /= np.linalg.norm(aside)
    across = np.cross(ahead, aside)
    tip = center + 0.5 * ARROW * least * ahead
    back = tip - ARROW_HEAD * least * ahead
    ends = [back + 0.5 * ARROW_HEAD * least * way for way in (aside, -aside, across, -across)]
    pieces = [(center - 0.5 * ARROW * least * ahead, tip), *((tip, end) for end in ends)]
    return Lines(np.array(pieces), WIND_RGB if blows else FORCE_RGB)


def _edges(low: np.ndarray, high: np.ndarray) -> Float64[np.ndarray, "12 2 3"]:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    pairs = [
        (one, other)
        for i, one in enumerate(corners)
        for other in corners[i + 1 :]
        if np.abs(one - other).sum() == 1.0
    ]
    return low + np.array(pairs) * (high - low)


def _numbers(vector: object) -> np.ndarray:
    return np.array([float(getattr(vector, axis)) for axis in "xyz"])
