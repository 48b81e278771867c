"""Survey patterns: waypoints from a rectangle or from any body of water.

A rectangle begins at a corner; its length lies along the heading, counted like yaw, and its width
to the left of that. A box circles it once, a sweep covers it by lanes, there and back like a lawn
mower, at most one spacing apart and evenly over the width. A coverage does so in a polygon with
islands, at a margin from the shore, as described in ``coverage``.
"""

import math
from typing import Annotated, Any, Literal

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import SURVEY, import_optional
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.planning.lane_gaps import gaps_over
from kittiwake.guidance.shore import Shore
from kittiwake.pytree import Module, field
from kittiwake.world.world import Origin

# required and optional parameters of each shape
REQUIRED = {
    "box": ("corner_world_m", "length_m", "width_m"),
    "sweep": ("corner_world_m", "length_m", "width_m", "lane_spacing_m"),
    "coverage": ("lane_spacing_m",),
}
OF_POLYGON = ("polygon_world_m", "islands_world_m", "file", "margin_m", "height_world_m")
OF_RECTANGLE = ("corner_world_m", "length_m", "width_m")
MAX_PLACES = 5000
# a plane is no map of the Earth beyond this distance
MAX_DISTANCE_M = 100e3

SHAPELY = "shapely"

Corner = tuple[Real, Real]
Pair = tuple[float, float]


class SurveyPattern(Module):
    """Rectangle or polygon with the pattern of its visit.

    A polygon is given by its corners, or by the ``file`` with its shore and islands. Without a
    heading a rectangle lies along the x axis, and the lanes of a coverage where they are fewest.

    Attributes:
        shape: once around a rectangle, lanes over it, or lanes over any polygon.
        corner_world_m: corner of the rectangle.
        length_m: side along the heading.
        width_m: side to the left of the heading.
        lane_spacing_m: largest distance of lanes.
        heading_rad: direction of the lanes, counted like yaw.
        polygon_world_m: corners, east and north, either way round.
        islands_world_m: islands, each by its corners.
        file: GeoJSON file with longitude and latitude, in place of the polygon.
        margin_m: distance from shore and islands.
        height_world_m: height of all waypoints.
    """

    shape: Literal["box", "sweep", "coverage"] = field(static=True)
    corner_world_m: Vec3 | None = None
    length_m: Annotated[Real, POSITIVE] | None = None
    width_m: Annotated[Real, POSITIVE] | None = None
    lane_spacing_m: Annotated[Real, POSITIVE] | None = None
    heading_rad: Real | None = None
    polygon_world_m: tuple[Corner, ...] = ()
    islands_world_m: tuple[tuple[Corner, ...], ...] = ()
    file: Shore | None = None
    margin_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    height_world_m: Real = 0.0

    def __post_init__(self) -> None:
        """Raise an error for missing parameters, and for those that the shape does not use."""
        if self.shape == "box" and self.lane_spacing_m is not None:
            message = "`lane_spacing_m`: a box has no lanes; omit it"
            raise ValueError(message)
        missing = [name for name in REQUIRED[self.shape] if getattr(self, name) is None]
        if missing:
            example = ", such as 5" if "lane_spacing_m" in missing[:1] else ""
            message = f"a {self.shape} requires {' and '.join(missing)}{example}"
            raise ValueError(message)
        others = OF_RECTANGLE if self.shape == "coverage" else OF_POLYGON
        unused = [name for name in others if getattr(self, name)]
        if unused:
            message = f"`{unused[0]}`: not allowed for a {self.shape}; omit it"
            raise ValueError(message)
        if self.shape == "coverage" and bool(self.polygon_world_m) == (self.file is not None):
            message = (
                "a coverage requires either polygon_world_m, such as [[0, 0], [60, 0], [30, 50]], "
                "or a file with a polygon"
            )
            raise ValueError(message)

    def positions_world_m(self, origin: Origin | None = None) -> tuple[Vec3, ...]:
        """Return the waypoints; not for use in compiled code.

        Args:
            origin: origin of the world, which a polygon from a file requires.

        Raises:
            ScenarioError: if there would be too many, or the polygon is invalid.
        """
        if self.shape == "coverage":
            return self._coverage_path(origin)
        assert self.length_m is not None
        assert self.width_m is not None
        length, width = float(self.length_m), float(self.width_m)
        if self.shape == "box":
            near, far = (0.0, 0.0), (length, width)
            return self._placed([near, (length, 0.0), far, (0.0, width), near])
        offsets = self._offsets_m(width)
        ends = [(0.0, length) if lane % 2 == 0 else (length, 0.0) for lane in range(len(offsets))]
        corners = [(x, y) for y, pair in zip(offsets, ends, strict=True) for x in pair]
        return self._placed(corners)

    def water(self, origin: Origin | None = None) -> Any:
        """Return the polygon of Shapely that a coverage covers, without islands and margin.

        Raises:
            MissingExtraError: without Shapely.
            ScenarioError: if it is invalid.
        """
        name, outline, islands = self._rings(origin)
        import_optional(SHAPELY, SURVEY)
        from kittiwake.guidance.planning.open_water import free_water

        return free_water(outline, islands, float(self.margin_m), name)

    def warnings(self, origin: Origin | None = None) -> tuple[str, ...]:
        """Return warnings about islands that reach beyond the shore."""
        if self.shape != "coverage":
            return ()
        from kittiwake.guidance.planning.open_water import islands_reaching_out

        _, outline, islands = self._rings(origin)
        return tuple(
            f"pattern.{name} reaches out of the polygon; the part outside is ignored"
            for name in islands_reaching_out(outline, islands)
        )

    def _rings(self, origin: Origin | None) -> tuple[str, list[Pair], dict[str, list[Pair]]]:
        """Return the name of the outline, its corners, and those of the islands by name."""
        rings = {"polygon_world_m": self.polygon_world_m}
        if self.file is not None:
            from_file = self.file.rings_world_m(origin or Origin())
            source = self.file.source
            rings = {f"{source}: coordinates[{i}]": ring for i, ring in enumerate(from_file)}
            away_m = max(abs(number) for place in from_file[0] for number in place)
            if away_m > MAX_DISTANCE_M:
                message = (
                    f"{source}: lies {away_m / 1e3:.3g} km from world.origin; is longitude before "
                    "latitude, and the origin on its shore?"
                )
                raise ScenarioError(message)
        rings |= {f"islands_world_m[{i}]": ring for i, ring in enumerate(self.islands_world_m)}
        plain = {name: [(float(x), float(y)) for x, y in ring] for name, ring in rings.items()}
        name = next(iter(plain))
        return name, plain.pop(name), plain

    def _coverage_path(self, origin: Origin | None) -> tuple[Vec3, ...]:
        assert self.lane_spacing_m is not None
        import_optional(SHAPELY, SURVEY)
        from kittiwake.guidance.planning.coverage import coverage_path

        water, heading = self.water(origin), self.heading_rad
        first = self.polygon_world_m[0] if self.file is None else (water.exterior.coords[0][:2])
        begin = (float(first[0]), float(first[1]))
        heading = None if heading is None else float(heading)
        places = coverage_path(water, float(self.lane_spacing_m), heading, begin)
        if len(places) > MAX_PLACES:
            message = (
                f"`pattern`: got {len(places)} positions; must be {MAX_PLACES} at most. Write a "
                "larger lane_spacing_m, or simplify the shore"
            )
            raise ScenarioError(message)
        return tuple(Vec3(x, y, float(self.height_world_m)) for x, y in places)

    def _offsets_m(self, width_m: float) -> list[float]:
        assert self.lane_spacing_m is not None
        count = gaps_over(width_m, float(self.lane_spacing_m))
        return [width_m * lane / count for lane in range(count + 1)]

    def _placed(self, corners: list[tuple[float, float]]) -> tuple[Vec3, ...]:
        """Return positions in the world from coordinates along and to the left of the heading."""
        heading, corner = self.heading_rad or 0.0, self.corner_world_m
        assert corner is not None
        c, s = math.cos(heading), math.sin(heading)
        return tuple(
            Vec3(corner.x + c * x - s * y, corner.y + s * x + c * y, corner.z) for x, y in corners
        )

    @classmethod
    def examples(cls) -> dict[str, "SurveyPattern"]:
        """Return patterns for the contract tests by name."""
        lake = cls(
            "coverage",
            lane_spacing_m=2.0,
            polygon_world_m=((0.0, 0.0), (9.0, 1.0), (5.0, 4.0), (8.0, 9.0), (0.0, 7.0)),
            islands_world_m=(((2.0, 3.0), (4.0, 3.0), (3.0, 5.0)),),
            margin_m=0.2,
            height_world_m=10.0,
        )
        return {"sweep": cls("sweep", Vec3(1.0, 2.0, 10.0), 6.0, 4.0, 2.0, 0.5), "coverage": lake}


def check_positions_or_pattern(
    positions_world_m: tuple[Vec3, ...], pattern: SurveyPattern | None
) -> None:
    """Raise an error unless either positions or a pattern is given."""
    if positions_world_m and pattern is not None:
        message = "`positions_world_m`: not allowed with pattern; omit one of them"
        raise ValueError(message)
    if not positions_world_m and pattern is None:
        message = (
            "`positions_world_m`: got none; must be at least one position, such as [[0, 0, 10]], "
            "or write pattern with a box, a sweep or a coverage"
        )
        raise ValueError(message)
