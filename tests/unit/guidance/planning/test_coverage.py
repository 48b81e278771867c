"""Courses that cover water: what is passed, where no leg leads, and what is refused."""

import math
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely import LineString, Polygon

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.line_of_sight import LineOfSight
from kittiwake.guidance.maneuvers.waypoints import Waypoints
from kittiwake.guidance.planning import open_water, survey_pattern
from kittiwake.guidance.planning.coverage import lane_count
from kittiwake.guidance.planning.open_water import OpenWater, length_m
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.guidance.shore import Shore
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.world.world import FlightArea, Origin

L_SHAPE = ((0.0, 0.0), (40.0, 0.0), (40.0, 10.0), (10.0, 10.0), (10.0, 30.0), (0.0, 30.0))
SQUARE = ((0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0))


def star(random, corners, radius, middle=(0.0, 0.0)):
    """A polygon round a place, with corners in and out."""
    turns = sorted(random.uniform(0.0, 2.0 * math.pi) for _ in range(corners))
    reach = [radius * random.uniform(0.35, 1.0) for _ in turns]
    x, y = middle
    return tuple(
        (x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(reach, turns, strict=True)
    )


def lake(polygon, spacing, islands=(), **more):
    return SurveyPattern(
        "coverage",
        lane_spacing_m=spacing,
        polygon_world_m=polygon,
        islands_world_m=islands,
        **more,
    )


def is_one(pattern):
    """Whether it is one piece of water."""
    try:
        return not pattern.water().is_empty
    except ScenarioError:
        return False


def line(pattern):
    return LineString([(p.x, p.y) for p in pattern.positions_world_m()])


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(4, 24),
    st.integers(0, 2),
    st.sampled_from([0.0, 0.7, 1.5]),
    st.floats(3.0, 15.0),
    st.sampled_from([None, 0.0, 1.1]),
)
def test_all_water_is_within_half_a_spacing_and_no_leg_leaves_it(
    seed, corners, islands, margin, spacing, heading
):
    random = Random(seed)
    outline = star(random, corners, 60.0)
    holes = tuple(star(random, 6, 6.0, (15.0 * i, 4.0)) for i in range(islands))
    pattern = lake(outline, spacing, holes, margin_m=margin, heading_rad=heading)
    # sides that cross, or a strait that is too narrow
    assume(is_one(pattern))
    way = line(pattern)
    water = Polygon(outline).difference(shapely.union_all([Polygon(hole) for hole in holes]))
    # legs along the shore touch it, but for rounding
    assert way.difference(water.buffer(1e-6)).length == 0.0
    # the corners of a distance are round; of theirs by chords 1.1 % is lost
    nearest = shapely.distance(water.boundary, shapely.points(way.coords))
    assert nearest.min() >= 0.989 * margin - 1e-6
    places = shapely.points(
        [(random.uniform(-60, 60), random.uniform(-60, 60)) for _ in range(3000)]
    )
    inside = shapely.contains(water, places)
    inside &= shapely.distance(water.boundary, places) > margin
    # straight across to the lane or to the shore before it
    assert shapely.distance(way, places[inside]).max(initial=0.0) <= spacing / 2.0 + 1e-9


@pytest.mark.parametrize(("length", "width", "spacing"), [(10.0, 7.0, 3.0), (15.0, 15.0, 5.0)])
@pytest.mark.parametrize("heading", [0.0, 0.6])
def test_a_rectangle_is_swept_as_by_a_sweep(length, width, spacing, heading):
    corner = Vec3(1.0, 2.0, 0.0)
    sweep = SurveyPattern("sweep", corner, length, width, spacing, heading)
    box = SurveyPattern("box", corner, length, width, heading_rad=heading)
    outline = tuple((p.x, p.y) for p in box.positions_world_m()[:4])
    covered = lake(outline, spacing, heading_rad=heading)
    expected = [(p.x, p.y, p.z) for p in sweep.positions_world_m()]
    places = [(p.x, p.y, p.z) for p in covered.positions_world_m()]
    np.testing.assert_allclose(places, expected, atol=1e-9)


def test_lanes_lie_along_the_longer_side_where_they_are_fewest():
    outline = ((0.0, 0.0), (12.0, 0.0), (12.0, 50.0), (0.0, 50.0))
    best, across = lake(outline, 4.0), lake(outline, 4.0, heading_rad=0.0)
    # 12 m are three gaps and 50 m thirteen, with a lane more than gaps
    assert len(best.positions_world_m()) == 2 * 4
    assert len(across.positions_world_m()) == 2 * 14


def test_lanes_are_counted_by_hand_in_an_l_with_an_island():
    """30 m are ten gaps of 3 m, a lane in each; an island 12 m long cuts those it lies across."""
    water = lake(L_SHAPE, 3.0).water()
    assert lane_count(water, 3.0, 0.0) == 10
    assert lane_count(water, 3.0, math.pi / 2.0) == 14
    island = ((3.0, 14.0), (6.0, 14.0), (6.0, 26.0), (3.0, 26.0))
    # lanes at 1.5, 4.5, ... 28.5: those at 16.5, 19.5, 22.5 and 25.5 are cut
    assert lane_count(lake(L_SHAPE, 3.0, (island,)).water(), 3.0, 0.0) == 14


def test_path_around_an_island_is_the_shortest():
    """Round a square of 2 m from one side to the other: twice the hypotenuse and a side."""
    hole = ((9.0, 9.0), (11.0, 9.0), (11.0, 11.0), (9.0, 11.0))
    water = OpenWater(lake(SQUARE, 3.0, (hole,)).water())
    path = water.path((5.0, 10.0), (15.0, 10.0))
    assert len(path) == 3
    assert length_m((5.0, 10.0), path) == pytest.approx(2.0 * math.hypot(4.0, 1.0) + 2.0, rel=1e-12)
    assert water.path((5.0, 5.0), (15.0, 5.0)) == [(15.0, 5.0)]


def test_shore_on_the_earth_is_converted_relative_to_the_origin():
    """A minute of latitude at 45 degrees is 1852.2 m long (WGS-84), one of longitude 1314.2 m."""
    minute = math.radians(1.0 / 60.0)
    latitude, longitude = math.radians(45.0), math.radians(8.0)
    east, north = longitude + minute / 10.0, latitude + minute / 10.0
    ring = [(longitude, latitude), (east, latitude), (east, north), (longitude, north)]
    pattern = SurveyPattern(
        "coverage", lane_spacing_m=50.0, file=Shore("l.geojson", (np.array(ring),))
    )
    origin = Origin(latitude, longitude, 0.0)
    west, south, edge, top = pattern.water(origin).bounds
    assert (west, south) == pytest.approx((0.0, 0.0), abs=0.01)
    assert (edge, top) == pytest.approx((131.42, 185.22), abs=0.05)


def test_pattern_is_at_its_height():
    assert {p.z for p in lake(SQUARE, 5.0, height_world_m=12.0).positions_world_m()} == {12.0}


BOW_TIE = ((0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0))
AT_SEA = BuildContext(
    SimpleNamespace(area=FlightArea(), obstacles=(), ground_z_m=0.0, origin=Origin()),
    *(None, Start(), {}),
)
FAR_SHORE = ((-9.0, -9.0), (30.0, -9.0), (30.0, 30.0), (-9.0, 30.0))
# two basins and a strait of 1 m
STRAIT = (
    *((0.0, 0.0), (10.0, 0.0), (10.0, 4.5), (20.0, 4.5), (20.0, 0.0), (30.0, 0.0)),
    *((30.0, 10.0), (20.0, 10.0), (20.0, 5.5), (10.0, 5.5), (10.0, 10.0), (0.0, 10.0)),
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SurveyPattern("coverage", polygon_world_m=SQUARE),
            "coverage requires lane_spacing_m, such",
        ),
        (
            lambda: SurveyPattern("coverage", lane_spacing_m=5.0),
            "requires either polygon_world_m, such as",
        ),
        (lambda: lake(SQUARE, 5.0, length_m=3.0), "`length_m`: not allowed for a coverage"),
        (
            lambda: SurveyPattern("sweep", Vec3.zero(), 1.0, 1.0, 1.0, margin_m=1.0),
            "`margin_m`: not allowed for a sweep",
        ),
        (lambda: SurveyPattern("box", length_m=1.0), "a box requires corner_world_m and width_m"),
        (lambda: lake(SQUARE[:2], 5.0).water(), "got 2 points; a polygon must have at least three"),
        (lambda: lake(BOW_TIE, 5.0).water(), r"each other; they cross at \(5, 5\) m"),
        (lambda: lake(SQUARE, 5.0, (L_SHAPE, BOW_TIE)).water(), r"islands_world_m\[1\]: sides"),
        (lambda: lake(SQUARE, 5.0, margin_m=11.0).water(), "leaves no water; must be below 10"),
        (lambda: lake(STRAIT, 5.0, margin_m=1.0).water(), "into 2 parts, of 64 and 64 m2; write"),
        (lambda: lake(SQUARE, 5.0, (SQUARE,)).water(), "cover all of its water; write smaller"),
        (lambda: lake(SQUARE, 5.0, (FAR_SHORE,), margin_m=1.0).water(), "polygon_world_m: islands"),
        (
            lambda: lake(SQUARE, 1e-3).positions_world_m(),
            "over a width of 20 m; must be 1000 lanes",
        ),
    ],
)
def test_invalid_coverages_are_refused(make, message):
    with pytest.raises((ValueError, ScenarioError), match=message):
        make()


def test_island_outside_the_polygon_gives_a_warning():
    inside = ((1.0, 1.0), (3.0, 1.0), (2.0, 3.0))
    beyond = ((15.0, 5.0), (25.0, 5.0), (25.0, 10.0))
    assert lake(SQUARE, 5.0, (inside, SQUARE)).warnings() == ()
    (warning,) = lake(SQUARE, 5.0, (inside, beyond)).warnings()
    assert warning.startswith("pattern.islands_world_m[1] reaches out of the polygon")
    assert SurveyPattern("box", Vec3.zero(), 1.0, 1.0).warnings() == ()


def test_file_far_from_the_origin_gives_a_hint_on_coordinate_order():
    ring = np.radians([[47.2, 8.7], [47.2, 8.8], [47.3, 8.75]])
    pattern = SurveyPattern("coverage", lane_spacing_m=5.0, file=Shore("lake.geojson", (ring,)))
    with pytest.raises(ScenarioError, match=r"lake.geojson: lies .* km from.*longitude before lat"):
        pattern.positions_world_m(Origin(math.radians(47.2), math.radians(8.7)))


@pytest.mark.parametrize("guidance", [LineOfSight, Waypoints])
@pytest.mark.parametrize(
    ("given", "key"), [("pattern", "pattern"), ("places", "positions_world_m")]
)
def test_refused_position_is_named_by_its_key(guidance, given, key):
    pattern = lake(SQUARE, 5.0, height_world_m=-1.0)
    places = pattern.positions_world_m()
    made = guidance(pattern=pattern) if given == "pattern" else guidance(places)
    with pytest.raises(ScenarioError, match=rf"^{key}: \[0, 0, -1\] is below the ground"):
        made.prepare(AT_SEA)


def test_too_large_patterns_are_refused(monkeypatch):
    monkeypatch.setattr(open_water, "MAX_CORNERS", 3)
    with pytest.raises(ScenarioError, match="got 4 corners; must be 3 at most"):
        lake(SQUARE, 5.0).water()
    monkeypatch.undo()
    monkeypatch.setattr(open_water, "MAX_BENDS", 3)
    hole = ((9.0, 9.0), (11.0, 9.0), (11.0, 11.0), (9.0, 11.0))
    with pytest.raises(ScenarioError, match="got 4 reflex corners of the water; must be 3"):
        lake(SQUARE, 3.0, (hole,)).positions_world_m()
    monkeypatch.undo()
    monkeypatch.setattr(survey_pattern, "MAX_PLACES", 3)
    with pytest.raises(ScenarioError, match="got 10 positions; must be 3 at most"):
        lake(SQUARE, 5.0).positions_world_m()


def test_coverage_is_reproducible():
    outline = star(Random(3), 15, 40.0)
    assert lake(outline, 4.0).positions_world_m() == lake(outline, 4.0).positions_world_m()
