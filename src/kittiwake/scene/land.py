"""Land around surveyed waters, and islands in them."""

from dataclasses import replace
from typing import Any

import numpy as np

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, merge
from kittiwake.scenario.survey_areas import coverages
from kittiwake.scene.scene_state import FlightInfo

RGB = (150, 162, 128)
# chosen: height above still water, and depth of the shore
HEIGHT_M, DEPTH_M = 0.3, 1.0
# width of the land relative to the longer side of the water
SHORE = 0.12


def land_meshes(flight: FlightInfo, width_m: float | None = None) -> list[tuple[str, ColoredMesh]]:
    """Return the land around each surveyed water, with its islands.

    Args:
        flight: the flight.
        width_m: width of the land; None for a strip.
    """
    waters = surveyed_waters(flight)
    return [
        (f"land {number + 1}", _land(water, waters, width_m).colored(RGB))
        for number, water in enumerate(waters)
    ]


def surveyed_waters(flight: FlightInfo) -> list[Any]:
    """Return the waters of all coverage patterns, with islands as holes, each one once."""
    scenario, waters = flight.scenario, {}
    for pattern in coverages(scenario.document, scenario.vehicles, scenario.tables).values():
        water = replace(pattern, margin_m=0.0).water(scenario.world.origin)
        waters[water.wkb] = water
    return [*waters.values()]


def _land(water: Any, waters: list[Any], width_m: float | None) -> Shape:
    import shapely

    west, south, east, north = water.bounds
    shore_m = SHORE * max(east - west, north - south) if width_m is None else width_m
    around = shapely.buffer(shapely.Polygon(water.exterior), shore_m)
    land = around.difference(shapely.union_all(waters))
    return merge(_top(land), *(_bank(ring) for ring in (water.exterior, *water.interiors)))


def _top(land: Any) -> Shape:
    import shapely

    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(land))
    # the ring of a triangle repeats its first corner
    corners = np.array([shapely.get_coordinates(one)[:3] for one in triangles])
    points = np.concatenate([corners, np.full((*corners.shape[:2], 1), HEIGHT_M)], axis=2)
    return Shape(points.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _bank(ring: Any) -> Shape:
    """Return the slope from the land down into the water."""
    import shapely

    line = shapely.get_coordinates(ring)
    count = len(line)
    high = np.column_stack([line, np.full(count, HEIGHT_M)])
    low = np.column_stack([line, np.full(count, -DEPTH_M)])
    here = np.arange(count - 1)
    one = np.column_stack([here, here + 1, count + here + 1])
    other = np.column_stack([here, count + here + 1, count + here])
    return Shape(np.concatenate([high, low]), np.concatenate([one, other]))
