"""Ground up to the horizon, which fades into the sky."""

import numpy as np

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.offscreen_renderer import HORIZON_RGB
from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.scene.static_objects import ground_height_m

# inner and outer radius relative to the extent; the inner one is within the ground disc
BEGIN, FAR = 4.0, 60.0
RINGS, SIDES = 48, 96
# height above the ground disc relative to the extent, against z-fighting
HEIGHT = 1e-3


def horizon_meshes(flight: FlightInfo, rgb: Rgb) -> list[ColoredMesh]:
    """Return rings whose colors change from that of the ground to that of the sky."""
    extent = extent_of(flight)
    width_m = extent.widest_m
    x, y = extent.center_world_m[:2]
    center = x, y, ground_height_m(flight) + HEIGHT * width_m
    edges = np.geomspace(BEGIN, FAR, RINGS + 1) * width_m
    share = np.linspace(0.0, 1.0, RINGS)[:, None]
    blend = share * share * (3.0 - 2.0 * share)
    colors = (np.array(rgb) + blend * (np.array(HORIZON_RGB) - np.array(rgb))).round().astype(int)
    return [
        _ring(inner, outer, center, (int(red), int(green), int(blue)))
        for inner, outer, (red, green, blue) in zip(edges[:-1], edges[1:], colors, strict=True)
    ]


def _ring(
    inner_m: float, outer_m: float, center: tuple[float, float, float], rgb: Rgb
) -> ColoredMesh:
    angles = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(SIDES)], axis=1)
    points = np.concatenate([inner_m * circle, outer_m * circle]) + center
    one = np.arange(SIDES)
    other = (one + 1) % SIDES
    faces = [
        np.stack([one, one + SIDES, other + SIDES], axis=1),
        np.stack([one, other + SIDES, other], axis=1),
    ]
    return ColoredMesh(points.astype(np.float32), np.concatenate(faces).astype(np.int32), rgb)
