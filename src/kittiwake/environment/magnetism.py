"""The magnetic field of the Earth, by the World Magnetic Model of pygeomag."""

from datetime import UTC, datetime
from math import degrees

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.world import Origin

TESLA_PER_NANOTESLA = 1e-9
# above the ellipsoid and below it; the model says nothing of what is further away
LOWEST_M, HIGHEST_M = -1_000.0, 850_000.0


def earth_field_world_t(origin: Origin, time_utc: datetime) -> Vec3:
    """The field at a place and time, to the east, to the north and up.

    Raises:
        ScenarioError: for a time or a height that no model is valid at.
    """
    # takes a tenth of a second, which scenarios without a world on the Earth need not wait for
    from pygeomag import GeoMag

    altitude_m = float(origin.altitude_m)
    if not LOWEST_M <= altitude_m <= HIGHEST_M:
        message = (
            f"the Earth's magnetic field at world.origin.altitude_m: {altitude_m:g} is not known; "
            f"write one from {LOWEST_M:g} to {HIGHEST_M:g}, or world.magnetic_field_world_t"
        )
        raise ScenarioError(message)
    try:
        field = GeoMag(base_year=time_utc).calculate(
            glat=degrees(float(origin.latitude_rad)),
            glon=degrees(float(origin.longitude_rad)),
            alt=altitude_m / 1000.0,
            time=_decimal_year(time_utc),
        )
    except (ValueError, OSError) as error:
        message = (
            f"the Earth's magnetic field on {time_utc.date()} is not known; write a date from "
            "2010 to 2029 as world.start_utc, or world.magnetic_field_world_t"
        )
        raise ScenarioError(message) from error
    return Vec3(field.y, field.x, -field.z) * TESLA_PER_NANOTESLA


def _decimal_year(time_utc: datetime) -> float:
    begins = datetime(time_utc.year, 1, 1, tzinfo=UTC)
    ends = datetime(time_utc.year + 1, 1, 1, tzinfo=UTC)
    return time_utc.year + (time_utc - begins) / (ends - begins)
