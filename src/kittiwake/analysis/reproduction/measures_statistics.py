"""Measures of noise, of several vehicles, and of flags over time."""

from math import exp, nan

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.measures import measure
from kittiwake.analysis.reproduction.quantities import Series, part
from kittiwake.analysis.table import POSITION_WORLD_M, STATUS
from kittiwake.core.errors import LogError


def _fresh(log: Log, name: str, fresh: str, vehicle: str | None) -> Series:
    """Return a quantity in the rows in which a flag is set, in all without one."""
    _, values = part(log, name, vehicle)
    return values[part(log, fresh, vehicle)[1] > 0.5] if fresh else values


@measure
def root_mean_square(
    log: Log, quantity: str, *, fresh: str = "", vehicle: str | None = None
) -> float:
    """Return the root of the mean square of a quantity, in fresh rows alone if a flag is given."""
    return float(np.sqrt(np.mean(_fresh(log, quantity, fresh, vehicle) ** 2)))


@measure
def spread(log: Log, quantity: str, *, fresh: str = "", vehicle: str | None = None) -> float:
    """Return the standard deviation about the mean, in fresh rows alone if a flag is given."""
    return float(np.std(_fresh(log, quantity, fresh, vehicle)))


@measure
def spread_in_space(log: Log, quantities: list[str], *, vehicle: str | None = None) -> float:
    """Return the root of the summed squares of the standard deviations of several quantities."""
    return float(np.linalg.norm([spread(log, name, vehicle=vehicle) for name in quantities]))


@measure
def autocorrelation(log: Log, quantity: str, rows: int, *, vehicle: str | None = None) -> float:
    """Return the correlation of a quantity of mean zero with itself some rows later."""
    values = _fresh(log, quantity, "", vehicle)
    return float(np.mean(values[rows:] * values[:-rows]) / np.mean(values**2))


@measure
def innovation(
    log: Log, quantity: str, time_constant_s: float, *, vehicle: str | None = None
) -> float:
    """Return the deviation of what each step adds to first-order Gauss-Markov noise."""
    times_s, values = part(log, quantity, vehicle)
    decay = exp(-(times_s[1] - times_s[0]) / time_constant_s)
    return float(np.sqrt(np.mean((values[1:] - decay * values[:-1]) ** 2)))


@measure
def correlation(log: Log, quantity: str, vehicles: list[str], *, fresh: str = "") -> float:
    """Return the correlation of a quantity of two vehicles."""
    first, second = (_fresh(log, quantity, fresh, vehicle) for vehicle in vehicles)
    return float(np.corrcoef(first, second)[0, 1])


@measure
def distance_m(log: Log, to_world_m: list[float | int], *, vehicle: str | None = None) -> float:
    """Return the distance of a vehicle from a position, at the end."""
    table = log.tables[log.names[0] if vehicle is None else vehicle]
    return float(np.linalg.norm(table.part(POSITION_WORLD_M)[-1] - np.asarray(to_world_m)))


@measure
def minus_squared_distance_m2(
    log: Log, to_world_m: list[float | int], *, vehicle: str | None = None
) -> float:
    """Return minus the squared distance of a vehicle from a position, at the end."""
    return -(distance_m(log, to_world_m, vehicle=vehicle) ** 2)


@measure
def largest_distance_m(
    log: Log, to_world_m: list[float | int], *, vehicle: str | None = None
) -> float:
    """Return the largest distance of a vehicle from a position."""
    table = log.tables[log.names[0] if vehicle is None else vehicle]
    offsets = table.part(POSITION_WORLD_M) - np.asarray(to_world_m)
    return float(np.linalg.norm(offsets, axis=1).max())


@measure
def lost_vehicles(log: Log) -> float:
    """Return the number of vehicles that are lost at the end."""
    return float(sum(table.part((STATUS,))[-1, 0] > 0.0 for table in log.tables.values()))


@measure
def moving_vehicles(log: Log, farther_than_m: float) -> float:
    """Return the number of vehicles that end farther from their start than a distance."""
    paths = [table.part(POSITION_WORLD_M) for table in log.tables.values()]
    return float(sum(np.linalg.norm(path[-1] - path[0]) > farther_than_m for path in paths))


@measure
def rise_s(log: Log, quantity: str, number: int = 1, *, vehicle: str | None = None) -> float:
    """Return the time of the n-th row in which a flag is set anew; NaN if there is none."""
    times_s, values = part(log, quantity, vehicle)
    rises = np.flatnonzero(np.diff((values > 0.5).astype(int), prepend=0) > 0)
    return float(times_s[rises[number - 1]]) if len(rises) >= number else nan


@measure
def most_at_once(log: Log, quantities: list[str], *, vehicle: str | None = None) -> float:
    """Return the largest number of flags that are set in one row."""
    flags = [part(log, name, vehicle)[1] > 0.5 for name in quantities]
    if not flags:
        message = "quantities: got none"
        raise LogError(message)
    return float(np.sum(flags, axis=0).max())


@measure
def rows_of_both(
    log: Log, first: list[str], second: list[str], *, vehicle: str | None = None
) -> float:
    """Return the number of rows in which a flag of each of two lists is set."""
    both = [
        np.any([part(log, name, vehicle)[1] > 0.5 for name in names], axis=0)
        for names in (first, second)
    ]
    return float(np.all(both, axis=0).sum())


@measure
def mean_interval_s(log: Log, quantity: str, *, vehicle: str | None = None) -> float:
    """Return the mean time from one row in which a flag is set to the next such row."""
    times_s, values = part(log, quantity, vehicle)
    set_s = times_s[values > 0.5]
    return float(np.mean(np.diff(set_s))) if len(set_s) > 1 else nan
