"""Geodesy: round trips, special places and the local frames."""

import math

import jax
import jax.numpy as jnp
import pytest

from kittiwake.geometry.geodesy import (
    SEMI_MAJOR_AXIS_M,
    SEMI_MINOR_AXIS_M,
    UTM_FALSE_EASTING_M,
    UTM_SCALE,
    Geodetic,
    Utm,
    UtmGrid,
    ecef_from_geodetic,
    geodetic_from_ecef,
    geodetic_from_utm,
    tangent_plane,
    utm_from_geodetic,
    utm_zone,
)
from kittiwake.geometry.vec3 import Vec3

EARTH_ULP_M = 1e-9
ORIGIN = Geodetic(math.radians(51.71190), math.radians(-0.21052), 40.0)


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def degrees(latitude, longitude, altitude=0.0):
    return Geodetic(math.radians(latitude), math.radians(longitude), altitude)


def distance(a, b):
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (degrees(0.0, 0.0, 5.0), Vec3(SEMI_MAJOR_AXIS_M + 5.0, 0.0, 0.0)),
        (degrees(0.0, 90.0), Vec3(0.0, SEMI_MAJOR_AXIS_M, 0.0)),
        (degrees(90.0, 0.0, 5.0), Vec3(0.0, 0.0, SEMI_MINOR_AXIS_M + 5.0)),
        (degrees(-90.0, 0.0), Vec3(0.0, 0.0, -SEMI_MINOR_AXIS_M)),
    ],
)
def test_ecef_of_the_poles_and_the_equator_are_the_axes(place, expected):
    assert distance(ecef_from_geodetic(place), expected) < EARTH_ULP_M


@pytest.mark.parametrize("latitude", [-90.0, -89.99999, -45.0, 0.0, 1e-7, 30.0, 89.0, 90.0])
@pytest.mark.parametrize("altitude", [-5000.0, 0.0, 100.0, 12_000.0, 2.02e7])
def test_ecef_round_trip_returns_to_the_place(latitude, altitude):
    there = ecef_from_geodetic(degrees(latitude, 12.34, altitude))
    back = geodetic_from_ecef(there)
    # at a satellite's distance one ulp is 4e-9 m
    assert distance(ecef_from_geodetic(back), there) < (2e-8 if altitude > 1e6 else 3e-9)
    assert back.altitude_m == pytest.approx(altitude, abs=1e-8 if altitude > 1e6 else 2e-9)


@pytest.mark.parametrize("latitude", [-80.0, -33.8, 0.0, 1e-9, 51.7, 83.0])
@pytest.mark.parametrize("longitude", [-177.3, -0.2, 0.0, 3.0, 150.0])
def test_utm_round_trip_returns_to_the_place(latitude, longitude):
    given = degrees(latitude, longitude, 7.0)
    back = geodetic_from_utm(utm_from_geodetic(given), 7.0)
    assert distance(ecef_from_geodetic(back), ecef_from_geodetic(given)) < 1e-8


def test_the_equator_counts_as_north():
    on_the_equator = utm_from_geodetic(degrees(0.0, 10.0))
    assert on_the_equator.north
    assert on_the_equator.northing_m == 0.0


def test_southern_northings_count_down_from_ten_million():
    south, north = (utm_from_geodetic(degrees(latitude, 10.0)) for latitude in (-20.0, 20.0))
    assert not south.north
    assert south.northing_m == pytest.approx(10_000_000.0 - north.northing_m, abs=1e-8)
    assert south.easting_m == pytest.approx(north.easting_m, abs=1e-8)


def test_the_central_meridian_has_the_false_easting_and_the_scale_of_the_grid():
    # one second of latitude at the equator along the ellipse: a (1 - e^2) per radian
    small = 1e-6
    there = utm_from_geodetic(Geodetic(small, math.radians(9.0), 0.0))
    meridian_radius = SEMI_MINOR_AXIS_M**2 / SEMI_MAJOR_AXIS_M
    assert there.easting_m == pytest.approx(UTM_FALSE_EASTING_M, abs=1e-8)
    # relative: the next term of the meridian's arc is of the order small^2
    assert there.northing_m / small == pytest.approx(UTM_SCALE * meridian_radius, rel=1e-9)


@pytest.mark.parametrize(
    ("latitude", "longitude", "zone", "plain_zone"),
    [
        (51.7, -0.2, 30, 30),
        (0.0, -180.0, 1, 1),
        (0.0, 180.0, 1, 1),
        (0.0, 179.999, 60, 60),
        (60.4, 5.3, 32, 31),
        (55.9, 5.3, 31, 31),
        (78.2, 8.0, 31, 32),
        (78.2, 15.6, 33, 33),
        (78.2, 32.9, 35, 36),
        (78.2, 40.0, 37, 37),
    ],
)
def test_zones_follow_the_map_or_the_plain_rule(latitude, longitude, zone, plain_zone):
    place = degrees(latitude, longitude)
    assert utm_zone(place) == zone
    assert utm_zone(place, with_exceptions=False) == plain_zone


def test_a_place_can_be_counted_in_a_neighboring_zone():
    place = degrees(51.7, -0.2)
    there = utm_from_geodetic(place, zone=31)
    assert there.zone == 31
    back = geodetic_from_utm(there, 0.0)
    assert back.longitude_rad == pytest.approx(place.longitude_rad, abs=1e-14)


def test_the_tangent_plane_is_a_rotation():
    frame = tangent_plane(ORIGIN)
    axes = (frame.east, frame.north, frame.up)
    for i, a in enumerate(axes):
        for j, b in enumerate(axes):
            assert a.dot(b) == pytest.approx(float(i == j), abs=1e-15)
    assert distance(frame.east.cross(frame.north), frame.up) < 1e-15


def test_up_on_the_tangent_plane_raises_the_altitude_alone():
    above = tangent_plane(ORIGIN).ecef_from_local(Vec3(0.0, 0.0, 100.0))
    place = geodetic_from_ecef(above)
    assert place.altitude_m == pytest.approx(ORIGIN.altitude_m + 100.0, abs=3e-9)
    assert place.latitude_rad == pytest.approx(ORIGIN.latitude_rad, abs=1e-15)


@pytest.mark.parametrize("make", [tangent_plane, lambda origin: UtmGrid(origin).tangent()])
def test_local_frames_round_trip(make):
    frame, position = make(ORIGIN), Vec3(812.0, -433.0, 71.0)
    there = frame.ecef_from_local(position)
    assert distance(frame.local_from_ecef(there), position) < 3e-9


def test_a_local_frame_gives_the_same_inside_jit():
    frame, position = tangent_plane(ORIGIN), Vec3(812.0, -433.0, 71.0)
    compiled = jax.jit(frame.ecef_from_local)(jax.tree.map(jnp.float64, position))
    # fused multiply-adds may round the last place differently
    assert distance(compiled, frame.ecef_from_local(position)) < 2 * EARTH_ULP_M


def test_the_utm_grid_round_trip_returns_to_the_position():
    grid, position = UtmGrid(ORIGIN), Vec3(-1200.0, 3400.0, 55.0)
    assert distance(grid.local_from_ecef(grid.ecef_from_local(position)), position) < 1e-8


def test_the_utm_grid_crosses_the_equator_without_a_seam():
    grid = UtmGrid(degrees(0.0, 10.0))
    south = grid.ecef_from_local(Vec3(0.0, -10.0, 0.0))
    north = grid.ecef_from_local(Vec3(0.0, 10.0, 0.0))
    assert distance(south, north) == pytest.approx(20.0, rel=1e-3)


def test_the_tangent_of_the_grid_leaves_it_with_the_square_of_the_distance():
    grid = UtmGrid(ORIGIN)
    frame = grid.tangent()

    def gap(reach):
        position = Vec3(reach, 0.0, 0.0)
        return distance(grid.ecef_from_local(position), frame.ecef_from_local(position))

    # half a square over the Earth's radius, and a little for the grid's changing scale
    assert gap(140.0) == pytest.approx(140.0**2 / (2.0 * 6.38e6), rel=0.3)
    assert gap(1000.0) / gap(100.0) == pytest.approx(100.0, rel=0.01)


def test_the_tangent_of_the_grid_has_its_scale_and_leans_from_true_north():
    frame, plane = UtmGrid(ORIGIN).tangent(), tangent_plane(ORIGIN)
    place = utm_from_geodetic(ORIGIN, zone=30)
    # point scale by the classical second-order formula, good to 1e-6 this close to the meridian
    offset = (place.easting_m - UTM_FALSE_EASTING_M) / UTM_SCALE
    scale = UTM_SCALE * (1.0 + offset**2 / (2.0 * 6.38e6**2))
    altitude_factor = 1.0 + ORIGIN.altitude_m / 6.38e6
    assert 1.0 / frame.east.norm() == pytest.approx(scale / altitude_factor, abs=3e-6)
    # convergence: east of the central meridian grid north lies east of true north, by the
    # difference of longitudes times the sine of the latitude
    leaning = math.atan2(frame.north.dot(plane.east), frame.north.dot(plane.north))
    convergence = (ORIGIN.longitude_rad - math.radians(-3.0)) * math.sin(ORIGIN.latitude_rad)
    assert leaning == pytest.approx(convergence, rel=2e-3)


def test_records_compare_by_value():
    assert Utm(1.0, 2.0, 30, True) == Utm(1.0, 2.0, 30, True)
    assert degrees(1.0, 2.0) == degrees(1.0, 2.0)
