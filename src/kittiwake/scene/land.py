"""Land around surveyed waters, and islands in them."""

from dataclasses import replace

import numpy as np
import shapely
from shapely import Polygon

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, merge
from kittiwake.scenario.survey_areas import coverages
from kittiwake.scene.extent import Extent
from kittiwake.scene.scene_state import FlightInfo

RGB = (150, 162, 128)
# chosen: height above still water, and depth of the shore
HEIGHT_M, DEPTH_M = 0.3, 1.0
# width of the land relative to the longer side of the water
SHORE = 0.12


def land_meshes(flight: FlightInfo, extent: Extent) -> list[tuple[str, ColoredMesh]]:
    """Return a strip of land around each surveyed water, with its islands."""
    scenario, waters = flight.scenario, {}
    for course in coverages(scenario.document, scenario.vehicles, scenario.tables).values():
        water = replace(course, margin_m=0.0).water(scenario.world.origin)
        waters[water.wkb] = water
    return [
        (f"land {number + 1}", _land(water, extent).colored(RGB))
        for number, water in enumerate(waters.values())
    ]


def _land(water: Polygon, extent: Extent) -> Shape:
    del extent
    west, south, east, north = water.bounds
    around = shapely.buffer(Polygon(water.exterior), SHORE * max(east - west, north - south))
    land = around.difference(water)
    return merge(_top(land), *(_bank(ring) for ring in (water.exterior, *water.interiors)))


def _top(land: shapely.Geometry) -> Shape:
    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(land))
    # the ring of a triangle repeats its first corner
    corners = np.array([shapely.get_coordinates(one)[:3] for one in triangles])
    points = np.concatenate([corners, np.full((*corners.shape[:2], 1), HEIGHT_M)], axis=2)
    return Shape(points.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _bank(ring: shapely.LinearRing) -> Shape:
    """Return the slope from the land down into the water."""
    line = shapely.get_coordinates(ring)
    count = len(line)
    high = np.column_stack([line, np.full(count, HEIGHT_M)])
    low = np.column_stack([line, np.full(count, -DEPTH_M)])
    here = np.arange(count - 1)
    one = np.column_stack([here, here + 1, count + here + 1])
    other = np.column_stack([here, count + here + 1, count + here])
    return Shape(np.concatenate([high, low]), np.concatenate([one, other]))
