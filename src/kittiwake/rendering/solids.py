"""Shapes and meshes of the solids of obstacles, decks and bodies."""

from collections.abc import Sequence

import numpy as np

from kittiwake.contact.solid import Solid
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Rgb, Shape, box, capsule, cylinder, hull, merge

# drawn side of an infinite plane
PLANE_M = 200.0


def shape_of(solid: Solid, plane_m: float = PLANE_M) -> Shape:
    """Return the shape of a solid in the axes of its body."""
    if solid.shape == "hull":
        assert solid.corners_m is not None
        return hull(np.asarray(solid.corners_m, float))
    return _own_shape(solid, plane_m).at(solid.position_m, np.array(solid.attitude))


def mesh_of(
    solids: Sequence[Solid], rgb: Rgb, opacity: float = 1.0, plane_m: float = PLANE_M
) -> ColoredMesh:
    """Return one mesh of several solids."""
    return merge(*(shape_of(solid, plane_m) for solid in solids)).colored(rgb, opacity)


def _own_shape(solid: Solid, plane_m: float) -> Shape:
    match solid.shape, solid.sizes_m:
        case "box", (x, y, z):
            return box((2.0 * x, 2.0 * y, 2.0 * z))
        case "sphere", (radius,):
            return capsule(radius, 0.0, sections=32)
        case "cylinder", (radius, half):
            return cylinder(radius, half, sections=32)
        case "capsule", (radius, half):
            return capsule(radius, half, sections=32)
        case _:
            # a half space, of which only the surface is drawn
            return box((plane_m, plane_m, 0.01), (0.0, 0.0, -0.005))
