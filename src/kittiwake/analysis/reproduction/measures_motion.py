"""Measures of motion: parameters as flown, step responses, circles, courses and landings."""

from collections.abc import Sequence
from functools import lru_cache
from math import degrees, e, inf, nan
from typing import Any

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.measures import measure
from kittiwake.analysis.reproduction.quantities import part, quantity
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.physics.hull import slender_body_derivatives
from kittiwake.scenario.load import load_in_python
from kittiwake.scenario.scenario import Scenario

# as data files have it
Place = Sequence[float | int]
SETPOINT_X, SETPOINT_Y = (f"setpoint.position_{axis}_world_m" for axis in "xy")


@lru_cache(maxsize=1)
def _built(log: Log) -> Scenario:
    return load_in_python(log.scenario, None)


@measure
def parameter(log: Log, path: str, vehicle: str | None = None, divided_by: float = 1.0) -> float:
    """Return a parameter of a vehicle as it is built for the flight, or one of the scenario.

    Args:
        log: the flight.
        path: fields and places in order, such as ``dynamics.hull.y_v_kgps``.
        vehicle: the vehicle; without one the path begins at the scenario.
        divided_by: size of the published unit.
    """
    scenario = _built(log)
    if vehicle is not None and vehicle not in scenario.vehicles:
        message = f"no vehicle '{vehicle}'. {did_you_mean(vehicle, [*scenario.vehicles])}"
        raise LogError(message)
    found: Any = scenario if vehicle is None else scenario.vehicles[vehicle]
    for key in path.split("."):
        if key.isdecimal() and isinstance(found, Sequence) and int(key) < len(found):
            found = found[int(key)]
        elif hasattr(found, key):
            found = getattr(found, key)
        else:
            names = [name for name in dir(found) if not name.startswith("_")]
            message = f"no parameter '{path}': no '{key}'. {did_you_mean(key, names)}"
            raise LogError(message)
    return float(found) / divided_by


@measure
def slender_body(
    derivative: str,
    length_m: float,
    draft_m: float,
    density_kgpm3: float,
    speed_mps: float = 1.0,
) -> float:
    """Return a derivative of a hull by slender-body theory."""
    theory = slender_body_derivatives(length_m, draft_m, density_kgpm3, speed_mps)
    return float(getattr(theory, derivative))


@measure
def largest_between(
    log: Log, quantity: str, over: str, low: float, high: float, vehicle: str | None = None
) -> float:
    """Return the largest magnitude of a quantity while another one is between two values."""
    _, values = part(log, quantity, vehicle, -inf, inf)
    _, places = part(log, over, vehicle, -inf, inf)
    own = (low <= places) & (places <= high)
    if not own.any():
        return nan
    return float(np.nanmax(np.abs(values[own])))


@measure
def percent(
    log: Log,
    quantity: str,
    of: float,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the mean of a quantity in percent of a number."""
    return 100.0 * float(part(log, quantity, vehicle, begin_s, end_s)[1].mean()) / of


@measure
def overshoot(
    log: Log, quantity: str, target: float, begin_s: float = -inf, vehicle: str | None = None
) -> float:
    """Return by how much a quantity goes beyond a target, seen from its side at the beginning."""
    _, values = part(log, quantity, vehicle, begin_s, inf)
    beyond = (values - target) * (1.0 if values[0] <= target else -1.0)
    return max(0.0, float(beyond.max()))


@measure
def time_constant_s(
    log: Log, quantity: str, target: float, begin_s: float = 0.0, vehicle: str | None = None
) -> float:
    """Return the time after which 1 - 1/e of the way to a target is done; NaN if never."""
    times_s, values = part(log, quantity, vehicle, begin_s, inf)
    done = (values - values[0]) / (target - values[0])
    reached = np.flatnonzero(done >= 1.0 - 1.0 / e)
    if not reached.size:
        return nan
    span = slice(reached[0] - 1, reached[0] + 1)
    return float(np.interp(1.0 - 1.0 / e, done[span], times_s[span]) - times_s[0])


@measure
def lowest_s(
    log: Log,
    quantity: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the time of the least value."""
    times_s, values = part(log, quantity, vehicle, begin_s, end_s)
    return float(times_s[values.argmin()])


@measure
def longest_above_s(
    log: Log,
    quantity: str,
    level: float,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the longest time for which a quantity stays above a level."""
    times_s, values = part(log, quantity, vehicle, begin_s, end_s)
    period_s = float(times_s[1] - times_s[0])
    longest = current = 0
    for above in (values > level).tolist():
        current = current + 1 if above else 0
        longest = max(longest, current)
    return longest * period_s


def _free_response(
    log: Log, angle: str, rate: str, vehicle: str | None, begin_s: float, end_s: float
) -> tuple[float, float]:
    """Return stiffness and damping of ``x'' + d x' + k (x - x_0) = 0`` by least squares."""
    times_s, angles = part(log, angle, vehicle, begin_s, end_s)
    rates = part(log, rate, vehicle, begin_s, end_s)[1]
    accelerations = np.gradient(rates, times_s, edge_order=2)
    known = np.stack([angles, rates, np.ones_like(angles)], axis=1)
    fitted = np.linalg.lstsq(known, -accelerations, rcond=None)[0]
    return float(fitted[0]), float(fitted[1])


@measure
def natural_frequency_radps(
    log: Log,
    angle: str,
    rate: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the natural frequency of a free second-order response; both in the same angle."""
    stiffness, _ = _free_response(log, angle, rate, vehicle, begin_s, end_s)
    return float(np.sqrt(stiffness)) if stiffness > 0.0 else nan


@measure
def damping_ratio(
    log: Log,
    angle: str,
    rate: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the damping ratio of a free second-order response; both in the same angle."""
    stiffness, damping = _free_response(log, angle, rate, vehicle, begin_s, end_s)
    return damping / (2.0 * float(np.sqrt(stiffness))) if stiffness > 0.0 else nan


@measure
def circle_radius_m(
    log: Log,
    begin_s: float = -inf,
    center_m: Place = (0.0, 0.0),
    vehicle: str | None = None,
) -> float:
    """Return the mean horizontal distance from a center."""
    x, y = (part(log, name, vehicle, begin_s, inf)[1] for name in POSITION_WORLD_M[:2])
    return float(np.hypot(x - center_m[0], y - center_m[1]).mean())


@measure
def circle_lag_deg(
    log: Log,
    begin_s: float = -inf,
    center_m: Place = (0.0, 0.0),
    vehicle: str | None = None,
) -> float:
    """Return the mean angle about a center by which a vehicle is behind its setpoint.

    It is positive for a lag on a counterclockwise circle.
    """
    names = (*POSITION_WORLD_M[:2], SETPOINT_X, SETPOINT_Y)
    x, y, to_x, to_y = (part(log, name, vehicle, begin_s, inf)[1] for name in names)
    center = complex(*center_m)
    ahead = (to_x + 1j * to_y - center) / (x + 1j * y - center)
    return degrees(float(np.angle(ahead).mean()))


@measure
def largest_miss_m(log: Log, positions_m: Sequence[Place], vehicle: str | None = None) -> float:
    """Return the distance from the place that the path misses most."""
    path = np.stack([quantity(log, name, vehicle)[1] for name in POSITION_WORLD_M], axis=1)
    places = np.asarray(positions_m, float)
    return max(float(np.linalg.norm(path - place, axis=1).min()) for place in places)


@measure
def rate_error(
    log: Log,
    quantity: str,
    rate: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the RMS difference of a rate from the slope of the quantity whose rate it is."""
    times_s, values = part(log, quantity, vehicle, begin_s, end_s)
    rates = part(log, rate, vehicle, begin_s, end_s)[1]
    slopes, middle = np.diff(values) / np.diff(times_s), 0.5 * (rates[1:] + rates[:-1])
    return float(np.sqrt(np.mean((slopes - middle) ** 2)))
