"""Country as far as one can see, paler the further away: it goes over into the sky."""

import numpy as np

from kittiwake.rendering.look import Look
from kittiwake.rendering.offscreen_renderer import HORIZON_RGB
from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.frame import Show
from kittiwake.scene.static_objects import ground_height_m

# of what is looked at: where it begins, within the stage's own country, and where it ends
BEGIN, FAR = 4.0, 60.0
RINGS, SIDES = 48, 96
# how high it is, so that the stage's own country does not shine through
HEIGHT = 1e-3


def horizon_looks(show: Show, rgb: Rgb) -> list[Look]:
    """Rings from the ground's color to that of the sky at the horizon."""
    extent = extent_of(show)
    wide = extent.widest_m
    x, y = extent.center_world_m[:2]
    center = x, y, ground_height_m(show) + HEIGHT * wide
    edges = np.geomspace(BEGIN, FAR, RINGS + 1) * wide
    share = np.linspace(0.0, 1.0, RINGS)[:, None]
    pale = share * share * (3.0 - 2.0 * share)
    colors = (np.array(rgb) + pale * (np.array(HORIZON_RGB) - np.array(rgb))).round().astype(int)
    return [
        _ring(inner, outer, center, (int(red), int(green), int(blue)))
        for inner, outer, (red, green, blue) in zip(edges[:-1], edges[1:], colors, strict=True)
    ]


def _ring(inner_m: float, outer_m: float, center: tuple[float, float, float], rgb: Rgb) -> Look:
    angles = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(SIDES)], axis=1)
    points = np.concatenate([inner_m * circle, outer_m * circle]) + center
    one = np.arange(SIDES)
    other = (one + 1) % SIDES
    faces = [
        np.stack([one, one + SIDES, other + SIDES], axis=1),
        np.stack([one, other + SIDES, other], axis=1),
    ]
    return Look(points.astype(np.float32), np.concatenate(faces).astype(np.int32), rgb)
