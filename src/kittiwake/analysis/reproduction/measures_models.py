"""Measures of models alone, against tables of published figures; they require no flight."""

from datetime import UTC, datetime, timedelta
from functools import cache
from math import radians
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.reproduction.measures import measure
from kittiwake.analysis.reproduction.reference_tables import (
    reference_column,
    reference_path,
    reference_text,
)
from kittiwake.core.units import FOOT_M
from kittiwake.environment.satellites.gps_time import utc_from_gps
from kittiwake.environment.satellites.precise import PreciseConstellation
from kittiwake.environment.satellites.range_errors import SecondOrderError
from kittiwake.environment.satellites.selection import frame_at
from kittiwake.environment.turbulence import first_order_filters, intensities, scale_lengths
from kittiwake.environment.wind import ShearWind
from kittiwake.geometry.geodesy import (
    Geodetic,
    UtmGrid,
    ecef_from_geodetic,
    utm_from_geodetic,
    utm_zone,
)
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.files.sp3 import read_sp3
from kittiwake.scenario.load import load_in_python
from kittiwake.world.world import Origin

GPS_EPOCH = datetime(1980, 1, 6, tzinfo=UTC)
# independent satellites whose errors are drawn, and the steps of each
SATELLITES, STEPS = 4000, 401


def _columns(table: str, *names: str) -> list[Float64[np.ndarray, " rows"]]:
    return [reference_column(table, name) for name in names]


@measure
def wind_shear_difference_mps(
    table: str = "qrsim/c_wind_shear.csv",
) -> float:
    """Return the largest difference of the mean wind's components from a table's."""
    speed, direction, height = _columns(table, "W6_mps", "direction_rad", "altitude_m")
    north, east = _columns(table, "wind_N_mps", "wind_E_mps")
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        found = jax.vmap(lambda w, d, h: ShearWind(w, d).velocity_world_mps(h))(
            speed, direction, height
        )
    own = np.stack([np.asarray(found.x), np.asarray(found.y)])
    return float(np.abs(own - np.stack([east, north])).max())


def _gust_columns(table: str) -> dict[str, Any]:
    """Return what our gust filters have for each row, by the table's names and in its units."""
    columns = _columns(table, "altitude_m", "body_speed_mps", "W6_mps")
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        height, ground_speed, wind = map(jnp.asarray, columns)
        sigma, sigma_w = jax.vmap(intensities)(height, wind)
        length, length_w = jax.vmap(scale_lengths)(height)
        across, upwards = jax.vmap(lambda h, v, w: first_order_filters(h, v, w, 0.02))(
            height, ground_speed, wind
        )
    own: dict[str, Any] = {}
    for axis, rows in (("u", across), ("v", across), ("w", upwards)):
        own[f"phi_{axis}"] = np.asarray(rows.decay)
        deviation_mps = np.asarray(rows.deviation_mps)
        own[f"stat_std_{axis}_mps"] = deviation_mps
        own[f"gain_{axis}_fts"] = np.asarray(rows.innovation) * deviation_mps / FOOT_M
        own[f"sigma_{axis}_fts"] = np.asarray(sigma_w if axis == "w" else sigma) / FOOT_M
        own[f"L{axis}_ft"] = np.asarray(length_w if axis == "w" else length) / FOOT_M
    return own


@measure
def gust_filter_difference(
    columns: list[str], table: str = "qrsim/d_turbulence_coefficients.csv"
) -> float:
    """Return the largest relative difference of gust coefficients from columns of a table."""
    own = _gust_columns(table)
    ratios = [own[name] / reference_column(table, name) for name in columns]
    return float(np.abs(np.stack(ratios) - 1.0).max())


def _places(table: str) -> list[Geodetic]:
    rows = zip(*_columns(table, "lat_deg", "lon_deg", "h_m"), strict=True)
    return [Geodetic(radians(north), radians(east), float(up)) for north, east, up in rows]


@measure
def utm_difference_m(table: str = "qrsim/f_lla2utm.csv") -> float:
    """Return the largest difference of eastings and northings from a table's."""
    found = [
        utm_from_geodetic(place, zone=utm_zone(place, with_exceptions=False))
        for place in _places(table)
    ]
    easting, northing = _columns(table, "easting", "northing")
    eastings, northings = zip(*((own.easting_m, own.northing_m) for own in found), strict=True)
    zones = [cell[:-1] for cell in reference_text(table)["zone"]]
    if [str(own.zone) for own in found] != zones:
        return float("inf")
    return float(max(np.abs(eastings - easting).max(), np.abs(northings - northing).max()))


@measure
def ecef_difference_m(table: str = "qrsim/f_lla2utm.csv") -> float:
    """Return the largest distance of geocentric positions from a table's."""
    found = np.array([ecef_from_geodetic(place).array for place in _places(table)])
    published = np.column_stack(_columns(table, "ecef_x", "ecef_y", "ecef_z"))
    return float(np.linalg.norm(found - published, axis=1).max())


@measure
def grid_frame_difference_m(
    latitude_deg: float, longitude_deg: float, table: str = "qrsim/f_ned_ecef.csv"
) -> float:
    """Return the largest distance of positions of the map grid's axes from a table's, in ECEF."""
    grid = UtmGrid(Geodetic(radians(latitude_deg), radians(longitude_deg), 0.0))
    rows = zip(*_columns(table, "ned_n", "ned_e", "ned_d"), strict=True)
    found = [
        grid.ecef_from_local(Vec3(float(east), float(north), -float(down))).array
        for north, east, down in rows
    ]
    published = np.column_stack(_columns(table, "ecef_x", "ecef_y", "ecef_z"))
    return float(np.linalg.norm(np.array(found) - published, axis=1).max())


@measure
def satellite_difference_m(
    latitude_deg: float,
    longitude_deg: float,
    orbits: str = "qrsim/ngs15992_16to17.sp3",
    table: str = "qrsim/g_satellite_positions.csv",
) -> float:
    """Return the largest distance of interpolated positions of satellites from a table's."""
    constellation = PreciseConstellation(file=read_sp3(reference_path(orbits)), numbers=None)
    origin = Origin(radians(latitude_deg), radians(longitude_deg), 0.0)
    times_s, numbers = _columns(table, "gps_time_s", "prn")
    begin_s = float(times_s.min())
    start = utc_from_gps(GPS_EPOCH + timedelta(seconds=begin_s))
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        own = constellation.orbits(origin, start)
        frame = frame_at(origin)
        places = jax.jit(jax.vmap(own.positions_world_m))(jnp.asarray(times_s - begin_s))
        order = [own.numbers.index(int(number)) for number in numbers]
        chosen = np.asarray(places)[np.arange(len(order)), order]
        found = [frame.ecef_from_local(Vec3.of(place)).array for place in chosen.tolist()]
    published = np.column_stack(_columns(table, "ecef_x_m", "ecef_y_m", "ecef_z_m"))
    return float(np.linalg.norm(np.array(found) - published, axis=1).max())


@cache
def _range_errors(dt_s: float) -> Float64[np.ndarray, "satellites steps"]:
    """Return errors of independent satellites over time, by the second-order process."""
    error = SecondOrderError()

    def one(key: jax.Array) -> Any:
        def once(state: Any, draw: jax.Array) -> tuple[Any, Any]:
            return error.step(state, 0.0, dt_s, draw)

        begin, draws = jax.random.split(key)
        return jax.lax.scan(once, error.init(begin), jax.random.split(draws, STEPS))[1]

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), SATELLITES)))


@measure
def range_error_deviation_m(dt_s: float = 0.2) -> float:
    """Return the standard deviation of QRSim's range errors over 4000 satellites."""
    return float(_range_errors(dt_s).std())


@measure
def range_error_step_m(dt_s: float = 0.2) -> float:
    """Return the root mean square of the change of range errors in a step."""
    return float(np.sqrt(np.mean(np.diff(_range_errors(dt_s), axis=1) ** 2)))


@measure
def range_error_correlation(lag_s: float, dt_s: float = 0.2) -> float:
    """Return the correlation of a range error with itself some time later."""
    errors, lag = _range_errors(dt_s), round(lag_s / dt_s)
    return float(np.mean(errors[:, lag:] * errors[:, :-lag]) / np.mean(errors**2))


@measure
def command_limit(
    scenario: str, vehicle: str, column: str, side: Literal["low", "high"] = "high"
) -> float:
    """Return a limit of a vehicle's actuator command."""
    dynamics = load_in_python(scenario, None).vehicles[vehicle].dynamics
    return float(dynamics.command_bounds[column][side == "high"])


@measure
def dynamics_parameter(scenario: str, vehicle: str, parameter: str) -> float:
    """Return a parameter of a vehicle's dynamics, such as its largest rate."""
    return float(getattr(load_in_python(scenario, None).vehicles[vehicle].dynamics, parameter))
