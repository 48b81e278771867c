"""Geodesy: WGS-84 coordinates, the UTM grid, and local frames around an origin.

All functions use the host's double precision, which Earth-centered positions require (one unit in
the last place is a nanometer; in single precision it is half a meter). Only ``LocalFrame`` also
takes JAX scalars, for simulated satellite receivers. UTM follows Karney (2011), "Transverse
Mercator with an accuracy of a few nanometers", Krueger's series to the sixth order, accurate to
5 nm within 3900 km of the central meridian. Earth-centered to geodetic is Bowring's (1976)
iteration, accurate everywhere outside the Earth's core.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np

from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

SEMI_MAJOR_AXIS_M = 6378137.0
FLATTENING = 1.0 / 298.257223563
SEMI_MINOR_AXIS_M = SEMI_MAJOR_AXIS_M * (1.0 - FLATTENING)
ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
ECCENTRICITY = math.sqrt(ECCENTRICITY_SQUARED)
THIRD_FLATTENING = FLATTENING / (2.0 - FLATTENING)

UTM_SCALE = 0.9996
UTM_FALSE_EASTING_M = 500_000.0
UTM_FALSE_NORTHING_SOUTH_M = 10_000_000.0

# Karney (2011), equations 35 and 36: the coefficient of sin(2 j x) as a polynomial in the third
# flattening n, from n^j upwards
TO_GRID_POLYNOMIALS = (
    (1 / 2, -2 / 3, 5 / 16, 41 / 180, -127 / 288, 7891 / 37800),
    (13 / 48, -3 / 5, 557 / 1440, 281 / 630, -1983433 / 1935360),
    (61 / 240, -103 / 140, 15061 / 26880, 167603 / 181440),
    (49561 / 161280, -179 / 168, 6601661 / 7257600),
    (34729 / 80640, -3418889 / 1995840),
    (212378941 / 319334400,),
)
FROM_GRID_POLYNOMIALS = (
    (1 / 2, -2 / 3, 37 / 96, -1 / 360, -81 / 512, 96199 / 604800),
    (1 / 48, 1 / 15, -437 / 1440, 46 / 105, -1118711 / 3870720),
    (17 / 480, -37 / 840, -209 / 4480, 5569 / 90720),
    (4397 / 161280, -11 / 504, -830251 / 7257600),
    (4583 / 161280, -108847 / 3991680),
    (20648693 / 638668800,),
)


def _polynomials_at(n: float, rows: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    return tuple(
        sum(c * n ** (j + k) for k, c in enumerate(row)) for j, row in enumerate(rows, start=1)
    )


# Karney (2011), equation 14: the rectifying radius, and with it the scale of the grid
GRID_RADIUS_M = (
    UTM_SCALE
    * SEMI_MAJOR_AXIS_M
    / (1.0 + THIRD_FLATTENING)
    * (1.0 + THIRD_FLATTENING**2 / 4.0 + THIRD_FLATTENING**4 / 64.0 + THIRD_FLATTENING**6 / 256.0)
)
TO_GRID_COEFFICIENTS = _polynomials_at(THIRD_FLATTENING, TO_GRID_POLYNOMIALS)
FROM_GRID_COEFFICIENTS = _polynomials_at(THIRD_FLATTENING, FROM_GRID_POLYNOMIALS)


@dataclass(frozen=True)
class Geodetic:
    """Position as WGS-84 latitude, longitude and height above the ellipsoid."""

    latitude_rad: float
    longitude_rad: float
    altitude_m: float


@dataclass(frozen=True)
class Utm:
    """Position in a zone of the Universal Transverse Mercator grid, with the hemisphere."""

    easting_m: float
    northing_m: float
    zone: int
    north: bool


class LocalFrame(Module):
    """An affine map between the world's axes and Earth-centered, Earth-fixed ones.

    ``east``, ``north`` and ``up`` are the displacements in ECEF for one meter of each world
    coordinate; ``to_x``, ``to_y`` and ``to_z`` are the rows of the inverse. Needs float64 in JAX.
    """

    origin_ecef_m: Vec3
    east: Vec3
    north: Vec3
    up: Vec3
    to_x: Vec3
    to_y: Vec3
    to_z: Vec3

    @classmethod
    def of(cls, origin_ecef_m: Vec3, east: Vec3, north: Vec3, up: Vec3) -> "LocalFrame":
        """Return the frame with this origin and these axes."""
        columns = np.array([[v.x, v.y, v.z] for v in (east, north, up)]).T
        rows = [Vec3.of(row) for row in np.linalg.inv(columns).tolist()]
        return cls(origin_ecef_m, east, north, up, *rows)

    def ecef_from_local(self, position_world_m: Vec3) -> Vec3:
        """Return the ECEF coordinates of a world position."""
        return self.origin_ecef_m + self.direction_ecef(position_world_m)

    def local_from_ecef(self, position_ecef_m: Vec3) -> Vec3:
        """Return the world coordinates of an ECEF position."""
        d = position_ecef_m - self.origin_ecef_m
        return Vec3(self.to_x.dot(d), self.to_y.dot(d), self.to_z.dot(d))

    def direction_ecef(self, v: Vec3) -> Vec3:
        """Return the ECEF components of a displacement or velocity given in the world."""
        return self.east * v.x + self.north * v.y + self.up * v.z


def ecef_from_geodetic(place: Geodetic) -> Vec3:
    """Return the Earth-centered position: x to Greenwich, z to the north pole."""
    sine, cosine = math.sin(place.latitude_rad), math.cos(place.latitude_rad)
    prime_vertical = SEMI_MAJOR_AXIS_M / math.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    from_axis = (prime_vertical + place.altitude_m) * cosine
    return Vec3(
        from_axis * math.cos(place.longitude_rad),
        from_axis * math.sin(place.longitude_rad),
        (prime_vertical * (1.0 - ECCENTRICITY_SQUARED) + place.altitude_m) * sine,
    )


def geodetic_from_ecef(position_ecef_m: Vec3) -> Geodetic:
    """Return latitude, longitude and height of an Earth-centered position."""
    return geodetic_at(*map(float, (position_ecef_m.x, position_ecef_m.y, position_ecef_m.z)))


def geodetic_at(x: float, y: float, z: float) -> Geodetic:
    """Return latitude, longitude and height of Earth-centered coordinates."""
    from_axis = math.hypot(x, y)
    second_eccentricity_squared = ECCENTRICITY_SQUARED / (1.0 - ECCENTRICITY_SQUARED)
    parametric = math.atan2(z, from_axis * (1.0 - FLATTENING))
    latitude = parametric
    # two passes suffice near the ground, five at the height of navigation satellites
    for _ in range(8):
        latitude = math.atan2(
            z + second_eccentricity_squared * SEMI_MINOR_AXIS_M * math.sin(parametric) ** 3,
            from_axis - ECCENTRICITY_SQUARED * SEMI_MAJOR_AXIS_M * math.cos(parametric) ** 3,
        )
        parametric = math.atan2((1.0 - FLATTENING) * math.sin(latitude), math.cos(latitude))
    sine, cosine = math.sin(latitude), math.cos(latitude)
    # as a projection on the vertical the height is good at the poles too
    at_ground = SEMI_MAJOR_AXIS_M * math.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    return Geodetic(latitude, math.atan2(y, x), from_axis * cosine + z * sine - at_ground)


def utm_zone(place: Geodetic, *, with_exceptions: bool = True) -> int:
    """Return the 6-degree zone of a position.

    Args:
        place: the position.
        with_exceptions: true to widen zone 32 for the south-west of Norway and to merge the zones
            of Svalbard, as on maps. QRSim does neither.
    """
    latitude = math.degrees(place.latitude_rad)
    longitude = (math.degrees(place.longitude_rad) + 180.0) % 360.0 - 180.0
    if with_exceptions and 56.0 <= latitude < 64.0 and 3.0 <= longitude < 12.0:
        return 32
    if with_exceptions and 72.0 <= latitude < 84.0 and 0.0 <= longitude < 42.0:
        return 31 + 2 * sum(longitude >= edge for edge in (9.0, 21.0, 33.0))
    return math.floor(longitude / 6.0) + 31


def utm_from_geodetic(
    place: Geodetic, *, zone: int | None = None, north: bool | None = None
) -> Utm:
    """Return a position on the UTM grid; the equator counts as north.

    Args:
        place: the position; its altitude does not matter.
        zone: the zone to use instead of the position's own.
        north: the hemisphere to use instead of the position's own.
    """
    zone = utm_zone(place) if zone is None else zone
    north = place.latitude_rad >= 0.0 if north is None else north
    longitude = place.longitude_rad - _central_meridian_rad(zone)
    tau = _conformal(math.tan(place.latitude_rad))
    sphere = complex(
        math.atan2(tau, math.cos(longitude)),
        math.asinh(math.sin(longitude) / math.hypot(tau, math.cos(longitude))),
    )
    grid = sphere + _sine_series(TO_GRID_COEFFICIENTS, sphere)
    return Utm(
        easting_m=UTM_FALSE_EASTING_M + GRID_RADIUS_M * grid.imag,
        northing_m=_false_northing_m(north=north) + GRID_RADIUS_M * grid.real,
        zone=zone,
        north=north,
    )


def geodetic_from_utm(place: Utm, altitude_m: float) -> Geodetic:
    """Return the geodetic coordinates of a position on the UTM grid, with an altitude."""
    grid = complex(
        (place.northing_m - _false_northing_m(north=place.north)) / GRID_RADIUS_M,
        (place.easting_m - UTM_FALSE_EASTING_M) / GRID_RADIUS_M,
    )
    sphere = grid - _sine_series(FROM_GRID_COEFFICIENTS, grid)
    eastward = math.sinh(sphere.imag)
    tau = math.sin(sphere.real) / math.hypot(eastward, math.cos(sphere.real))
    longitude = math.atan2(eastward, math.cos(sphere.real)) + _central_meridian_rad(place.zone)
    return Geodetic(math.atan(_geographic(tau)), longitude, altitude_m)


def tangent_plane(origin: Geodetic) -> LocalFrame:
    """Return the tangent plane at an origin: axes east, north and up."""
    sin_lat, cos_lat = math.sin(origin.latitude_rad), math.cos(origin.latitude_rad)
    sin_lon, cos_lon = math.sin(origin.longitude_rad), math.cos(origin.longitude_rad)
    return LocalFrame.of(
        origin_ecef_m=ecef_from_geodetic(origin),
        east=Vec3(-sin_lon, cos_lon, 0.0),
        north=Vec3(-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat),
        up=Vec3(cos_lat * cos_lon, cos_lat * sin_lon, sin_lat),
    )


@dataclass(frozen=True)
class UtmGrid:
    """Local frame of QRSim: the UTM grid around an origin, and height above the ellipsoid.

    Its y axis points to grid north and not to true north, its scale differs from one by up to
    0.04 %, and it curves with the Earth: 1.5 mm at a distance of 140 m, 8 cm at 1 km. Zone and
    hemisphere are those of the origin everywhere, so the frame is continuous.
    """

    origin: Geodetic

    def ecef_from_local(self, position_world_m: Vec3) -> Vec3:
        """Return the ECEF coordinates of a world position."""
        start = self._origin_on_grid()
        place = Utm(
            easting_m=start.easting_m + float(position_world_m.x),
            northing_m=start.northing_m + float(position_world_m.y),
            zone=start.zone,
            north=start.north,
        )
        altitude = self.origin.altitude_m + float(position_world_m.z)
        return ecef_from_geodetic(geodetic_from_utm(place, altitude))

    def local_from_ecef(self, position_ecef_m: Vec3) -> Vec3:
        """Return the world coordinates of an ECEF position."""
        start = self._origin_on_grid()
        place = geodetic_from_ecef(position_ecef_m)
        there = utm_from_geodetic(place, zone=start.zone, north=start.north)
        return Vec3(
            there.easting_m - start.easting_m,
            there.northing_m - start.northing_m,
            place.altitude_m - self.origin.altitude_m,
        )

    def tangent(self) -> LocalFrame:
        """Return the affine frame that is tangent to the grid at the origin, without curvature."""
        return LocalFrame.of(
            origin_ecef_m=ecef_from_geodetic(self.origin),
            east=self._slope(Vec3(1.0, 0.0, 0.0)),
            north=self._slope(Vec3(0.0, 1.0, 0.0)),
            up=self._slope(Vec3(0.0, 0.0, 1.0)),
        )

    def _slope(self, axis: Vec3) -> Vec3:
        # central difference: 100 m balance the cubic term and the rounding, both below 1e-9
        reach = axis * 100.0
        return (self.ecef_from_local(reach) - self.ecef_from_local(-reach)) / 200.0

    def _origin_on_grid(self) -> Utm:
        zone = utm_zone(self.origin, with_exceptions=False)
        return utm_from_geodetic(self.origin, zone=zone)


def _sine_series(coefficients: tuple[float, ...], x: complex) -> complex:
    return sum((c * cmath.sin(2 * j * x) for j, c in enumerate(coefficients, start=1)), 0j)


def _conformal(tau: float) -> float:
    # tangent of the conformal latitude from that of the geographic one, equations 7 to 9
    root = math.hypot(1.0, tau)
    sigma = math.sinh(ECCENTRICITY * math.atanh(ECCENTRICITY * tau / root))
    return tau * math.hypot(1.0, sigma) - sigma * root


def _geographic(conformal: float) -> float:
    # the inverse by Newton's method, equations 19 to 21; five passes are more than enough
    tau = conformal
    for _ in range(5):
        reached = _conformal(tau)
        tau += (
            (conformal - reached)
            / math.hypot(1.0, reached)
            * (1.0 + (1.0 - ECCENTRICITY_SQUARED) * tau * tau)
            / ((1.0 - ECCENTRICITY_SQUARED) * math.hypot(1.0, tau))
        )
    return tau


def _central_meridian_rad(zone: int) -> float:
    return math.radians(6.0 * zone - 183.0)


def _false_northing_m(*, north: bool) -> float:
    return 0.0 if north else UTM_FALSE_NORTHING_SOUTH_M
