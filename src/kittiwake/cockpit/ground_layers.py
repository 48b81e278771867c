"""Layers of the ground: its surface and grid, axes, flight area, shadows and heights."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.cockpit.layer_options import Layer, Options
from kittiwake.cockpit.node_factory import NodeFactory, set_visible, update_node
from kittiwake.rendering.shapes import disc, merge, ring
from kittiwake.scene.extent import area_of, extent_of
from kittiwake.scene.grid import AXES, GridLabel, GroundGrid
from kittiwake.scene.lines import MAX_ANNOTATED
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.static_objects import (
    LAND_RGB,
    WATER_RGB,
    area_edges,
    ground_height_m,
    has_water_surface,
    square_m,
)
from kittiwake.scene.water import has_waves

# depth of the flat water below waves, which are drawn around the vehicles only
BELOW_WAVES_M = 2.0
# depth of the ground below its grid relative to a cell, against z-fighting far away
BELOW_GRID_SHARE = 0.03
GROUND_RINGS, SIDES = 8, 64
CELL_RGB, SECTION_RGB = (130, 140, 124), (112, 122, 108)
WATER_CELL_RGB, WATER_SECTION_RGB = (96, 150, 184), (124, 174, 204)
# distance at which the grid has faded, relative to the extent
FADE_SHARE, MIN_FADE_M = 3.0, 60.0
AREA_RGB, BORDER_RGB = (120, 130, 145), (196, 110, 50)
SHADOW_RGB, SHADOW_OPACITY, SHADOW_SHARE = (15, 20, 25), 0.3, 0.4
# paler for large fleets, whose lines would hide the vehicles
HEIGHT_RGB, PALE_HEIGHT_RGB = (70, 80, 95), (158, 167, 158)
# heights of a shadow: above the ground, and above still water with waves
ABOVE_GROUND_M, ABOVE_WAVES_M = 0.02, 0.25
AXIS_WIDTH, SCALE_WIDTH, BORDER_WIDTH, THIN_WIDTH = 3.0, 4.0, 2.0, 1.0
LABEL_SCALE, FAINT_LABEL_SCALE = 0.8, 0.7

Positions = Float[np.ndarray, "vehicles 3"]


def add_ground(nodes: NodeFactory, flight: FlightInfo, radius_m: float) -> None:
    """Add the ground, or the water, up to the horizon."""
    extent = extent_of(flight)
    x, y = extent.center_world_m[:2]
    below_grid_m = BELOW_GRID_SHARE * square_m(extent)
    depth_m = BELOW_WAVES_M if has_waves(flight) else below_grid_m
    # depth is imprecise in triangles that are much larger than what is seen of them
    radii_m = np.geomspace(0.5 * extent.widest_m, radius_m, GROUND_RINGS)
    rings = (ring(inner, outer, SIDES) for inner, outer in pairwise(radii_m))
    sheet = merge(disc(radii_m[0], SIDES), *rings).at((x, y, ground_height_m(flight) - depth_m))
    rgb = WATER_RGB if has_water_surface(flight) else LAND_RGB
    nodes.mesh("static/ground", sheet.colored(rgb), shadow=False)


def grid_layer(nodes: NodeFactory, flight: FlightInfo, options: Options) -> Layer:
    """Return the layer of the grid with its coordinates, of the axes and of the scale bar."""
    grid, water = GroundGrid(flight), has_water_surface(flight)
    lines = nodes.scene.add_grid(
        f"{nodes.prefix}/grid/lines",
        infinite_grid=True,
        cell_size=grid.cell_m,
        section_size=grid.section_m,
        cell_color=WATER_CELL_RGB if water else CELL_RGB,
        section_color=WATER_SECTION_RGB if water else SECTION_RGB,
        section_thickness=1.5,
        fade_distance=max(FADE_SHARE * extent_of(flight).widest_m, MIN_FADE_M),
        shadow_opacity=0.0,
        position=(0.0, 0.0, grid.ground_m + 0.002 * grid.cell_m),
    )
    colors = np.array([[rgb, rgb] for _, rgb in AXES], np.uint8)
    axes = nodes.lines("grid/axes", grid.axes(), colors, AXIS_WIDTH)
    bar, length = grid.scale_bar()
    scale = nodes.lines("grid/scale", bar, SHADOW_RGB, SCALE_WIDTH)
    ends = [GridLabel(name, end) for (name, _), end in zip(AXES, grid.axes()[:, 1], strict=True)]
    labels = [_label(nodes, f"grid/axis {label.text}", label, LABEL_SCALE) for label in ends]
    labels += [_label(nodes, "grid/length", length, LABEL_SCALE)]
    labels += [
        _label(nodes, f"grid/{label.text}", label, FAINT_LABEL_SCALE)
        for label in grid.coordinates()
    ]
    return _static_layer([lines, axes, scale, *labels], lambda: options.grid)


def area_layer(nodes: NodeFactory, flight: FlightInfo, options: Options) -> Layer:
    """Return the layer of the flight area: faint edges, its border on the ground and a label."""
    low, high = area_of(flight)
    edges = area_edges(low, high)
    ground_m = float(np.clip(ground_height_m(flight), low[2], high[2]))
    border = area_edges(np.array([*low[:2], ground_m]), np.array([*high[:2], ground_m]))
    flat = border[np.abs(border[:, 0] - border[:, 1]).max(axis=1) > 0.0]
    lift = np.array([0.0, 0.0, ABOVE_GROUND_M])
    top = np.array([*high[:2], 0.5 * (ground_m + high[2])])
    handles = [
        nodes.lines("area/edges", edges, AREA_RGB, THIN_WIDTH),
        nodes.lines("area/border", flat + lift, BORDER_RGB, BORDER_WIDTH),
        _label(nodes, "area/label", GridLabel("flight area", top), LABEL_SCALE),
    ]
    return _static_layer(handles, lambda: options.area)


def height_layer(
    nodes: NodeFactory,
    flight: FlightInfo,
    options: Options,
    positions_world_m: Callable[[], Positions],
) -> list[Layer]:
    """Return the layer of shadows below aircraft and of lines down to them; none for vessels.

    Args:
        nodes: the nodes of the scene.
        flight: the flight.
        options: visibility of the layers.
        positions_world_m: returns the positions of all vehicles, in the order of the scenario.
    """
    vehicles = list(flight.scenario.vehicles.values())
    aloft = np.array([not one.dynamics.is_vessel for one in vehicles])
    count = int(aloft.sum())
    if not count:
        return []
    z = ground_height_m(flight) + (ABOVE_WAVES_M if has_waves(flight) else ABOVE_GROUND_M)
    sizes = [float(one.dynamics.size_body_m.x) for one in vehicles if not one.dynamics.is_vessel]
    radii = SHADOW_SHARE * np.maximum(np.array(sizes, np.float32), 0.1)
    mesh = disc(1.0, 20).colored(SHADOW_RGB, SHADOW_OPACITY)
    shadows = nodes.batch("heights/shadows", mesh, count, batched_scales=radii)
    line_rgb = HEIGHT_RGB if count <= MAX_ANNOTATED else PALE_HEIGHT_RGB
    lines = nodes.empty_lines("heights/lines", count, line_rgb, THIN_WIDTH)
    segments = np.zeros((count, 2, 3), np.float32)

    def draw(scene_state: SceneState) -> None:
        del scene_state
        set_visible(shadows, visible=options.heights)
        set_visible(lines, visible=options.heights)
        if options.heights:
            segments[:, 0] = segments[:, 1] = positions_world_m()[aloft]
            segments[:, 1, 2] = z
            update_node(shadows, batched_positions=segments[:, 1])
            update_node(lines, points=segments)

    return [draw]


def _label(nodes: NodeFactory, name: str, label: GridLabel, scale: float) -> viser.SceneNodeHandle:
    return nodes.scene.add_label(
        f"{nodes.prefix}/{name}",
        label.text,
        position=label.position_world_m,
        font_screen_scale=scale,
        anchor="center-center",
    )


def _static_layer(handles: list[viser.SceneNodeHandle], is_visible: Callable[[], bool]) -> Layer:
    """Return a layer of nodes that never change, besides their visibility."""

    def draw(scene_state: SceneState) -> None:
        del scene_state
        for handle in handles:
            set_visible(handle, visible=is_visible())

    return draw
