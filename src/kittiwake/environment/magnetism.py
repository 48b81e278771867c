"""Magnetic field of the Earth, by the World Magnetic Model of pygeomag."""

from datetime import UTC, datetime
from functools import lru_cache
from math import degrees

from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.world import Origin

TESLA_PER_NANOTESLA = 1e-9
# limits of the model's validity, relative to the ellipsoid
LOWEST_M, HIGHEST_M = -1_000.0, 850_000.0


def earth_field_world_t(origin: Origin, time_utc: datetime) -> Vec3:
    """Return the field at a position and time, to the east, to the north and up.

    Raises:
        MissingExtraError: without pygeomag.
        ScenarioError: for a time or a height outside the model's validity.
    """
    place = degrees(float(origin.latitude_rad)), degrees(float(origin.longitude_rad))
    return _field_world_t(*place, float(origin.altitude_m), time_utc)


# read from the file of its coefficients each time, but the same for all runs of a sweep
@lru_cache(maxsize=32)
def _field_world_t(
    latitude_deg: float, longitude_deg: float, altitude_m: float, time_utc: datetime
) -> Vec3:
    model = import_optional("pygeomag", "magnetic")
    if not LOWEST_M <= altitude_m <= HIGHEST_M:
        message = (
            f"the Earth's magnetic field is unknown at world.origin.altitude_m: {altitude_m:g}; "
            f"must be from {LOWEST_M:g} to {HIGHEST_M:g}, or write world.magnetic_field_world_t"
        )
        raise ScenarioError(message)
    try:
        field = model.GeoMag(base_year=time_utc).calculate(
            glat=latitude_deg,
            glon=longitude_deg,
            alt=altitude_m / 1000.0,
            time=_decimal_year(time_utc),
        )
    except (ValueError, OSError) as error:
        message = (
            f"the Earth's magnetic field is unknown on {time_utc.date()}; write a date from "
            "2010 to 2029 as world.start_utc, or world.magnetic_field_world_t"
        )
        raise ScenarioError(message) from error
    return Vec3(field.y, field.x, -field.z) * TESLA_PER_NANOTESLA


def _decimal_year(time_utc: datetime) -> float:
    year_start = datetime(time_utc.year, 1, 1, tzinfo=UTC)
    year_end = datetime(time_utc.year + 1, 1, 1, tzinfo=UTC)
    return time_utc.year + (time_utc - year_start) / (year_end - year_start)
