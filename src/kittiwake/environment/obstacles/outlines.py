"""Outlines of shapes for pictures, about their own centers."""

import itertools

import numpy as np
from jaxtyping import Float

Line = Float[np.ndarray, "points 3"]

STEPS = 32


def box_edges(sides_m: Float[np.ndarray, "3"]) -> list[Line]:
    """Return the twelve edges of a box."""
    corners = [np.array(c) for c in itertools.product((-0.5, 0.5), repeat=3)]
    return [
        np.stack([one, other]) * sides_m
        for one, other in itertools.combinations(corners, 2)
        if np.count_nonzero(one != other) == 1
    ]


def circle(radius_m: float, axis_name: str, at_m: float = 0.0) -> Line:
    """Return a circle around an axis, at a position along it."""
    return arc(radius_m, axis_name, 0.0, 2.0 * np.pi, at_m)


def arc(
    radius_m: float, axis_name: str, begin_rad: float, end_rad: float, at_m: float = 0.0
) -> Line:
    """Return an arc around an axis, with angles from the next axis in the order x, y, z."""
    angles = np.linspace(begin_rad, end_rad, STEPS + 1)
    axis = "xyz".index(axis_name)
    line = np.empty((len(angles), 3))
    line[:, axis] = at_m
    line[:, (axis + 1) % 3] = radius_m * np.cos(angles)
    line[:, (axis + 2) % 3] = radius_m * np.sin(angles)
    return line


def uprights(radius_m: float, half_height_m: float) -> list[Line]:
    """Return four lines along the z axis on a cylinder about it."""
    ends = np.array([-half_height_m, half_height_m])
    return [
        np.column_stack([np.full(2, radius_m * x), np.full(2, radius_m * y), ends])
        for x, y in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
    ]
