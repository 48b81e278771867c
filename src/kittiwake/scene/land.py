"""The land around and in a piece of water that is surveyed."""

from dataclasses import replace

import numpy as np
import shapely
from shapely import Polygon

from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Shape, joined
from kittiwake.scenario.survey_areas import coverages
from kittiwake.scene.extent import Extent
from kittiwake.scene.frame import Show

RGB = (150, 162, 128)
# chosen: over the water at rest, and how deep the shore reaches
HEIGHT_M, DEPTH_M = 0.3, 1.0
# of the water's longer side, how far the land around it reaches
SHORE = 0.12


def land_looks(show: Show, extent: Extent) -> list[tuple[str, Look]]:
    """A strip around each piece of water that a vessel covers, and its islands."""
    scenario, found = show.scenario, {}
    for course in coverages(scenario.document, scenario.vehicles, scenario.tables).values():
        water = replace(course, margin_m=0.0).water(scenario.world.origin)
        found[water.wkb] = water
    return [
        (f"land {number + 1}", _land(water, extent).look(RGB))
        for number, water in enumerate(found.values())
    ]


def _land(water: Polygon, extent: Extent) -> Shape:
    del extent
    west, south, east, north = water.bounds
    around = shapely.buffer(Polygon(water.exterior), SHORE * max(east - west, north - south))
    land = around.difference(water)
    return joined(_top(land), *(_bank(ring) for ring in (water.exterior, *water.interiors)))


def _top(land: shapely.Geometry) -> Shape:
    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(land))
    # a triangle's ring has its first corner twice
    corners = np.array([shapely.get_coordinates(one)[:3] for one in triangles])
    points = np.concatenate([corners, np.full((*corners.shape[:2], 1), HEIGHT_M)], axis=2)
    return Shape(points.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _bank(ring: shapely.LinearRing) -> Shape:
    """From the land down into the water."""
    line = shapely.get_coordinates(ring)
    count = len(line)
    high = np.column_stack([line, np.full(count, HEIGHT_M)])
    low = np.column_stack([line, np.full(count, -DEPTH_M)])
    here = np.arange(count - 1)
    one = np.column_stack([here, here + 1, count + here + 1])
    other = np.column_stack([here, count + here + 1, count + here])
    return Shape(np.concatenate([high, low]), np.concatenate([one, other]))
