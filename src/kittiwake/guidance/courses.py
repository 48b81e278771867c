"""Courses of a survey: places to visit, made from a rectangle.

The rectangle begins at a corner; its length lies along the heading, counted like yaw, and its width
to the left of that. A box goes round it once, a sweep goes along lanes, there and back like a lawn
mower, no farther apart than the spacing and evenly over the width.
"""

import math
from typing import Annotated, Literal

import equinox as eqx

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

MOST_LANES = 1000
# a width of so much more than a whole number of spacings is one
SPACING_TOLERANCE = 1e-9


class Course(eqx.Module):
    """A rectangle and how it is visited, beginning at a corner."""

    shape: Literal["box", "sweep"] = eqx.field(static=True)
    corner_world_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    lane_spacing_m: Annotated[Real, POSITIVE] | None = None
    heading_rad: Real = 0.0

    def __check_init__(self) -> None:
        """Refuses lanes without a spacing, and a spacing without lanes."""
        if (self.lane_spacing_m is None) == (self.shape == "sweep"):
            missing = "a sweep needs lane_spacing_m, such as 5"
            idle = "a box has no lanes; leave lane_spacing_m out"
            raise ValueError(missing if self.shape == "sweep" else idle)

    def positions_world_m(self) -> tuple[Vec3, ...]:
        """The places, before anything is compiled.

        Raises:
            ScenarioError: if there would be too many.
        """
        length, width = float(self.length_m), float(self.width_m)
        if self.shape == "box":
            near, far = (0.0, 0.0), (length, width)
            return self._placed([near, (length, 0.0), far, (0.0, width), near])
        offsets = self._offsets_m(width)
        ends = [(0.0, length) if lane % 2 == 0 else (length, 0.0) for lane in range(len(offsets))]
        corners = [(x, y) for y, pair in zip(offsets, ends, strict=True) for x in pair]
        return self._placed(corners)

    def _offsets_m(self, width_m: float) -> list[float]:
        assert self.lane_spacing_m is not None
        gaps = width_m / float(self.lane_spacing_m)
        if gaps > MOST_LANES - 1:
            message = (
                f"lane_spacing_m: {self.lane_spacing_m:g} makes {gaps:.3g} lanes over width_m "
                f"{width_m:g}; at most {MOST_LANES} are sailed, so write at least "
                f"{width_m / (MOST_LANES - 1):.3g}"
            )
            raise ScenarioError(message)
        count = max(math.ceil(gaps - SPACING_TOLERANCE), 1)
        return [width_m * lane / count for lane in range(count + 1)]

    def _placed(self, corners: list[tuple[float, float]]) -> tuple[Vec3, ...]:
        """Places of the world from those along and to the left of the heading."""
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        corner = self.corner_world_m
        return tuple(
            Vec3(corner.x + c * x - s * y, corner.y + s * x + c * y, corner.z) for x, y in corners
        )


def refuse_both_or_none(positions_world_m: tuple[Vec3, ...], course: Course | None) -> None:
    """Refuses places beside a course, and neither."""
    if positions_world_m and course is not None:
        message = "positions_world_m and course are both given; leave one of them out"
        raise ValueError(message)
    if not positions_world_m and course is None:
        message = (
            "positions_world_m must name at least one place, such as [[0, 0, 10]], or course a box "
            "or a sweep"
        )
        raise ValueError(message)
