"""Quantities of a flight over time: columns of its log, and some that follow from them."""

from collections.abc import Callable
from math import inf

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.ned_quantities import NED_QUANTITIES
from kittiwake.analysis.table import POSITION_WORLD_M, VELOCITY_WORLD_MPS, Table, at_common_times
from kittiwake.core.errors import LogError, did_you_mean

Series = Float64[np.ndarray, " rows"]
ESTIMATED_Q = tuple(f"estimate.q{part}" for part in "wxyz")
SETPOINT_WORLD_M = tuple(f"setpoint.position_{axis}_world_m" for axis in "xyz")
# of the deck that a sensor of this name measures, without its errors
DECK_WORLD_M = tuple(f"ideal.deck.position_{axis}_world_m" for axis in "xy")


def _angle(place: int) -> Callable[[Table], Series]:
    return lambda table: np.unwrap(table.roll_pitch_yaw_deg[:, place], period=360.0)


def _estimated_angle(place: int) -> Callable[[Table], Series]:
    def angle(table: Table) -> Series:
        named = dict(zip(ESTIMATED_Q, ("qw", "qx", "qy", "qz"), strict=True))
        renamed = Table(tuple(named.values()), table.part(ESTIMATED_Q))
        return np.unwrap(renamed.roll_pitch_yaw_deg[:, place], period=360.0)

    return angle


def _length(columns: tuple[str, ...]) -> Callable[[Table], Series]:
    return lambda table: np.linalg.norm(table.part(columns), axis=1)


def _heading_velocity(place: int) -> Callable[[Table], Series]:
    """Return the horizontal velocity along (0) or to the left of (1) the heading."""

    def velocity(table: Table) -> Series:
        east, north = table.part(VELOCITY_WORLD_MPS)[:, :2].T
        yaw = np.radians(table.roll_pitch_yaw_deg[:, 2])
        cosine, sine = np.cos(yaw), np.sin(yaw)
        return cosine * east + sine * north if place == 0 else cosine * north - sine * east

    return velocity


def _tilt_deg(table: Table) -> Series:
    x, y = table.part(("qx", "qy")).T
    return np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))


def _distance(to: tuple[str, ...]) -> Callable[[Table], Series]:
    """Return the distance from other columns, horizontal if they are two."""

    def distance(table: Table) -> Series:
        places = table.part(POSITION_WORLD_M[: len(to)])
        return np.linalg.norm(places - table.part(to), axis=1)

    return distance


DERIVED: dict[str, Callable[[Table], Series]] = {
    "roll_deg": _angle(0),
    "pitch_deg": _angle(1),
    "yaw_deg": _angle(2),
    "estimate.roll_deg": _estimated_angle(0),
    "estimate.pitch_deg": _estimated_angle(1),
    "estimate.yaw_deg": _estimated_angle(2),
    "speed_mps": _length(VELOCITY_WORLD_MPS),
    "speed_ahead_mps": _heading_velocity(0),
    "speed_left_mps": _heading_velocity(1),
    "tilt_deg": _tilt_deg,
    "wx_degps": lambda table: np.degrees(table.part(("wx_radps",))[:, 0]),
    "setpoint_distance_m": _distance(SETPOINT_WORLD_M),
    "deck_distance_m": _distance(DECK_WORLD_M),
    **NED_QUANTITIES,
}
# quantities of all vehicles together
CENTER = {f"center_{axis}_m": place for place, axis in enumerate("xyz")}


def quantity(log: Log, name: str, vehicle: str | None = None) -> tuple[Series, Series]:
    """Return the times and the values of a quantity.

    Args:
        log: the flight.
        name: a column, one of ``DERIVED``, ``center_x_m`` and so on of all vehicles, or
            ``A - B``, the difference of two columns.
        vehicle: the vehicle; the first one by default.

    Raises:
        LogError: if the log has no such vehicle or quantity.
    """
    if name in CENTER:
        times_s, positions = at_common_times(log.tables.values(), POSITION_WORLD_M)
        return times_s, positions[:, :, CENTER[name]].mean(axis=1)
    owner = log.names[0] if vehicle is None else vehicle
    if owner not in log.tables:
        message = f"this log has no vehicle '{owner}'. {did_you_mean(owner, [*log.tables])}"
        raise LogError(message)
    table = log.tables[owner]
    times_s = table.part(("time_s",))[:, 0]
    first, minus, second = name.partition(" - ")
    if minus:
        return times_s, _of(table, first) - _of(table, second)
    return times_s, _of(table, name)


def part(
    log: Log, name: str, vehicle: str | None, begin_s: float = -inf, end_s: float = inf
) -> tuple[Series, Series]:
    """Return the times and the values of a quantity from one time to another.

    Raises:
        LogError: if the log has no such quantity, or no row in this time.
    """
    times_s, values = quantity(log, name, vehicle)
    own = (begin_s <= times_s) & (times_s <= end_s)
    if not own.any():
        message = f"the log has no row between {begin_s:g} and {end_s:g} s"
        raise LogError(message)
    return times_s[own], values[own]


def _of(table: Table, name: str) -> Series:
    if name in DERIVED:
        return DERIVED[name](table)
    if name not in table.columns:
        message = f"no quantity '{name}'. {did_you_mean(name, [*table.columns, *DERIVED])}"
        raise LogError(message)
    return table.part((name,))[:, 0]
