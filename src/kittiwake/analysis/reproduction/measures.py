"""Measures of flights: functions from a log to one number, by name.

Each takes the log first, and else what the data file gives; those of models alone take no log.
"""

from collections.abc import Callable
from functools import partial
from inspect import signature
from math import inf, nan
from typing import Any

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.quantities import part
from kittiwake.analysis.response import loess_error
from kittiwake.core.errors import LogError, ScenarioError, did_you_mean

MEASURES: dict[str, Callable[..., float]] = {}


def measure(function: Callable[..., float]) -> Callable[..., float]:
    """Register a measure by the name of its function."""
    MEASURES[function.__name__] = function
    return function


def measured(log: Log | None, given: dict[str, Any]) -> float:
    """Return the number that a measure with its arguments has in a flight, or without one.

    Raises:
        ScenarioError: for an unknown measure, or arguments that it does not take.
        LogError: if the log lacks what it needs.
    """
    return bound_measure(given, of_flight=log is not None)(*([] if log is None else [log]))


def bound_measure(given: dict[str, Any], *, of_flight: bool) -> Callable[..., float]:
    """Return a measure with its arguments, to be called with a log, or without one.

    Raises:
        ScenarioError: for an unknown measure, or arguments that it does not take.
    """
    arguments = dict(given)
    name = arguments.pop("type", "")
    if name not in MEASURES:
        message = f"measure: got {name}. {did_you_mean(name, [*MEASURES])}"
        raise ScenarioError(message)
    declared = signature(MEASURES[name])
    if ("log" in declared.parameters) != of_flight:
        message = f"measure {name}: {'takes no' if of_flight else 'requires a'} flight"
        raise ScenarioError(message)
    try:
        declared.bind(*([None] if of_flight else []), **arguments)
    except TypeError as error:
        message = f"measure {name}: {error}"
        raise ScenarioError(message) from None
    for key, value in arguments.items():
        if declared.parameters[key].annotation is float and isinstance(value, int):
            arguments[key] = float(value)  # YAML's 1 is an int
    return partial(MEASURES[name], **arguments)


@measure
def value(log: Log, quantity: str, at_s: float = inf, vehicle: str | None = None) -> float:
    """Return a quantity at a time, or at the end."""
    times_s, values = part(log, quantity, vehicle, -inf, inf)
    return float(values[-1] if at_s == inf else np.interp(at_s, times_s, values))


@measure
def maximum(
    log: Log,
    quantity: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    magnitude: bool = False,
    vehicle: str | None = None,
) -> float:
    """Return the largest value, or the largest magnitude, of a quantity."""
    _, values = part(log, quantity, vehicle, begin_s, end_s)
    return float(np.nanmax(np.abs(values) if magnitude else values))


@measure
def minimum(
    log: Log,
    quantity: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the least value of a quantity."""
    _, values = part(log, quantity, vehicle, begin_s, end_s)
    return float(np.nanmin(values))


@measure
def mean(
    log: Log,
    quantity: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the mean of a quantity."""
    _, values = part(log, quantity, vehicle, begin_s, end_s)
    return float(np.nanmean(values))


@measure
def deviation(
    log: Log,
    quantity: str,
    begin_s: float = -inf,
    end_s: float = inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the standard deviation of a quantity."""
    _, values = part(log, quantity, vehicle, begin_s, end_s)
    return float(np.nanstd(values))


@measure
def crossing_s(
    log: Log,
    quantity: str,
    level: float,
    begin_s: float = -inf,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the first time at which a quantity reaches a level from its side; NaN if never."""
    times_s, values = part(log, quantity, vehicle, begin_s, inf)
    above = values >= level
    reached = np.flatnonzero(above != above[0])
    if not reached.size:
        return nan
    after = int(reached[0])
    span = values[after] - values[after - 1]
    share = (level - values[after - 1]) / span if span else 1.0
    return float(times_s[after - 1] + share * (times_s[after] - times_s[after - 1]))


@measure
def within_s(
    log: Log,
    quantity: str,
    target: float,
    tolerance: float,
    *,
    vehicle: str | None = None,
) -> float:
    """Return the time from which on a quantity stays near a target; NaN if it does not."""
    times_s, values = part(log, quantity, vehicle, -inf, inf)
    outside = np.flatnonzero(~(np.abs(values - target) <= tolerance))
    if not outside.size:
        return float(times_s[0])
    if outside[-1] + 1 == len(times_s):
        return nan
    return float(times_s[outside[-1] + 1])


@measure
def event_s(log: Log, event: str, number: int = 1, vehicle: str | None = None) -> float:
    """Return the time of the n-th event whose text begins so; NaN if there is none."""
    found = [
        own.time_s
        for own in log.events
        if own.event.startswith(event) and vehicle in (None, own.vehicle)
    ]
    return found[number - 1] if len(found) >= number else nan


@measure
def summary(log: Log, path: str) -> float:
    """Return a number of the summary by its path."""
    found: Any = log.summary or {}
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            message = f"the summary has no '{path}'"
            raise LogError(message)
        found = found[key]
    return nan if found is None else float(found)


@measure
def loess_standard_error(log: Log, quantity: str | list[str], vehicle: str | None = None) -> float:
    """Return the residual standard error of a LOESS curve, span 1 and degree 2.

    That of several quantities is the mean of theirs.
    """
    every = [quantity] if isinstance(quantity, str) else quantity
    return float(np.mean([loess_error(*part(log, one, vehicle, -inf, inf)) for one in every]))
