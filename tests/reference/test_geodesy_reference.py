"""Geodesy against figures of QRSim and against PROJ."""

import csv
import math
from itertools import product

import pyproj
import pytest

from kittiwake.analysis.reproduction.reference_tables import FOLDER
from kittiwake.geometry.geodesy import (
    Geodetic,
    UtmGrid,
    ecef_from_geodetic,
    geodetic_from_ecef,
    geodetic_from_utm,
    utm_from_geodetic,
    utm_zone,
)
from kittiwake.geometry.vec3 import Vec3

DATA = FOLDER / "qrsim"
ORIGIN = Geodetic(math.radians(51.71190), math.radians(-0.21052), 0.0)
PLACES = [
    (latitude, longitude, altitude)
    for latitude, longitude, altitude in product(
        (-84.0, -45.3, -1e-6, 0.0, 1e-6, 12.0, 51.7, 83.9),
        (-180.0, -179.9, -74.0, -0.2, 0.0, 5.0, 91.234, 179.9),
        (-50.0, 0.0, 9000.0, 2e7),
    )
]


def rows(name):
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def place_of(row):
    return Geodetic(
        math.radians(float(row["lat_deg"])), math.radians(float(row["lon_deg"])), float(row["h_m"])
    )


def ecef_of(row):
    return Vec3(float(row["ecef_x"]), float(row["ecef_y"]), float(row["ecef_z"]))


def distance(a, b):
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z))


@pytest.mark.parametrize("row", rows("f_lla2utm.csv"))
def test_utm_is_that_of_qrsim(row):
    place = place_of(row)
    found = utm_from_geodetic(place, zone=utm_zone(place, with_exceptions=False))
    assert f"{found.zone}" == row["zone"][:-1]
    # QRSim itself is off by up to 4e-6 m from PROJ, which agrees here to 1e-8 m
    assert found.easting_m == pytest.approx(float(row["easting"]), abs=1e-5)
    assert found.northing_m == pytest.approx(float(row["northing"]), abs=1e-5)


@pytest.mark.parametrize("row", rows("f_lla2utm.csv"))
def test_ecef_is_that_of_qrsim(row):
    # an ulp of an Earth radius is 1e-9 m
    assert distance(ecef_from_geodetic(place_of(row)), ecef_of(row)) < 3e-9


@pytest.mark.parametrize("row", rows("f_ned_ecef.csv"))
def test_the_utm_grid_frame_is_that_of_qrsim(row):
    position = Vec3(float(row["ned_e"]), float(row["ned_n"]), -float(row["ned_d"]))
    grid = UtmGrid(ORIGIN)
    # the error of QRSim's northing cancels in differences from the origin
    assert distance(grid.ecef_from_local(position), ecef_of(row)) < 1e-8
    assert distance(grid.local_from_ecef(ecef_of(row)), position) < 1e-8


@pytest.mark.parametrize("place", PLACES)
def test_utm_agrees_with_proj(place):
    latitude, longitude, altitude = place
    given = Geodetic(math.radians(latitude), math.radians(longitude), altitude)
    found = utm_from_geodetic(given)
    proj = pyproj.Proj(proj="utm", zone=found.zone, ellps="WGS84", south=not found.north)
    easting, northing = proj(longitude, latitude)
    # both claim nanometres; an ulp of a northing is 2e-9 m
    assert found.easting_m == pytest.approx(easting, abs=2e-8)
    assert found.northing_m == pytest.approx(northing, abs=2e-8)
    back_longitude, back_latitude = proj(found.easting_m, found.northing_m, inverse=True)
    back = geodetic_from_utm(found, altitude)
    # 1e-14 rad are 6e-8 m; PROJ keeps longitudes in one turn, the series in the zone's
    assert back.latitude_rad == pytest.approx(math.radians(back_latitude), abs=1e-14)
    turns = (back.longitude_rad - math.radians(back_longitude)) / (2.0 * math.pi)
    assert turns == pytest.approx(round(turns), abs=1e-14)


@pytest.mark.parametrize("place", PLACES)
def test_ecef_agrees_with_proj(place):
    latitude, longitude, altitude = place
    proj = pyproj.Transformer.from_crs("EPSG:4979", "EPSG:4978", always_xy=True)
    expected = Vec3(*proj.transform(longitude, latitude, altitude))
    found = ecef_from_geodetic(Geodetic(math.radians(latitude), math.radians(longitude), altitude))
    # an ulp of 2.6e7 m is 4e-9 m
    assert distance(found, expected) < 1e-8
    back = geodetic_from_ecef(expected)
    assert math.degrees(back.latitude_rad) == pytest.approx(latitude, abs=1e-13)
    assert back.altitude_m == pytest.approx(altitude, abs=1e-8)
