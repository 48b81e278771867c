"""What solids of obstacles, decks and bodies look like."""

from collections.abc import Sequence

import numpy as np

from kittiwake.contact.solid import Solid
from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Rgb, Shape, box, capsule, cylinder, hull, joined

# of a plane, which has no end, that much is shown about its place
PLANE_M = 200.0


def shape_of(solid: Solid, plane_m: float = PLANE_M) -> Shape:
    """Its triangles, in the axes of what it belongs to."""
    if solid.kind == "hull":
        assert solid.corners_m is not None
        return hull(np.asarray(solid.corners_m, float))
    return _own_shape(solid, plane_m).at(solid.place_m, np.array(solid.attitude))


def look_of(
    solids: Sequence[Solid], rgb: Rgb, opacity: float = 1.0, plane_m: float = PLANE_M
) -> Look:
    """Several of them as one."""
    return joined(*(shape_of(solid, plane_m) for solid in solids)).look(rgb, opacity)


def _own_shape(solid: Solid, plane_m: float) -> Shape:
    match solid.kind, solid.sizes_m:
        case "box", (x, y, z):
            return box((2.0 * x, 2.0 * y, 2.0 * z))
        case "sphere", (radius,):
            return capsule(radius, 0.0, sections=32)
        case "cylinder", (radius, half):
            return cylinder(radius, half, sections=32)
        case "capsule", (radius, half):
            return capsule(radius, half, sections=32)
        case _:
            # all below its z = 0, of which only the surface is seen
            return box((plane_m, plane_m, 0.01), (0.0, 0.0, -0.005))
