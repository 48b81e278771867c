"""Verdicts: what is measured beside what was published, by the tolerances of the data file."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import isfinite
from typing import NamedTuple

import numpy as np

from kittiwake.analysis.reproduction.publication import (
    PublishedItem,
    PublishedNumber,
    PublishedOrder,
)

# rounding of a tolerance
EQUAL = 1e-9


class Verdict(StrEnum):
    """Result of comparing a number of ours with the published one."""

    AGREES = "agrees"
    BAND = "agrees within the band"
    BETTER = "better"
    DIFFERS = "differs"
    MISSING = "not measured"
    OURS = "ours alone"


class Measured(NamedTuple):
    """Our values of a number.

    Attributes:
        value: the mean over the seeds.
        low: the least value over seeds and plausible other values.
        high: the largest one.
        flights: the number of flights.
        runs: the value of each flight.
    """

    value: float
    low: float
    high: float
    flights: int
    runs: tuple[float, ...] = ()

    @classmethod
    def of(cls, seeds: Sequence[float], others: Sequence[float] = ()) -> "Measured":
        """Return the values of the flights with each seed, and with each other setting."""
        runs = (*seeds, *others)
        every = [value for value in runs if isfinite(value)]
        low, high = (min(every), max(every)) if every else (np.nan, np.nan)
        return cls(float(np.mean(seeds)), low, high, len(runs), runs)

    def relative_to(self, unit: "Measured") -> "Measured":
        """Return them in multiples of another number, flight by flight.

        The flights of both have the same seeds and changes in the same order.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.divide(self.value, unit.value))
            same = len(self.runs) == len(unit.runs)
            ratios = np.divide(self.runs, unit.runs) if same else np.array([value])
        return Measured.of([value], ratios.tolist())._replace(flights=self.flights)


class JudgedNumber(NamedTuple):
    """Number with what was measured and the verdict; all in multiples of ``relative_to``."""

    number: PublishedNumber
    published: float | None
    ours: Measured
    verdict: Verdict

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        return None if self.published is None else self.ours.value - self.published


class JudgedOrder(NamedTuple):
    """Published order beside ours, the least first."""

    order: PublishedOrder
    ours: tuple[str, ...]
    verdict: Verdict


def judged_numbers(item: PublishedItem, ours: Mapping[str, Measured]) -> list[JudgedNumber]:
    """Return the numbers of an item with their verdicts."""
    published = {own.name: own.published for own in item.numbers}
    found = []
    for number in item.numbers:
        value, own, unit = number.published, ours[number.name], number.relative_to
        if unit is not None:
            own = own.relative_to(ours[unit])
            value = None if value is None else value / (published[unit] or np.nan)
        found.append(JudgedNumber(number, value, own, _verdict(number, value, own)))
    return found


def judged_orders(item: PublishedItem, ours: Mapping[str, Measured]) -> list[JudgedOrder]:
    """Return the orders of an item with their verdicts."""
    found = []
    for order in item.orders:
        if not all(isfinite(ours[name].value) for name in order.numbers):
            found.append(JudgedOrder(order, (), Verdict.MISSING))
            continue
        own = tuple(sorted(order.numbers, key=lambda name: ours[name].value))
        same = own == tuple(order.numbers)
        found.append(JudgedOrder(order, own, Verdict.AGREES if same else Verdict.DIFFERS))
    return found


def _verdict(number: PublishedNumber, published: float | None, ours: Measured) -> Verdict:
    if not isfinite(ours.value):
        return Verdict.MISSING
    if published is None or number.tolerance is None:
        return Verdict.OURS
    difference, tolerance = ours.value - published, number.tolerance * (1.0 + EQUAL)
    if abs(difference) <= tolerance:
        return Verdict.AGREES
    if number.better is not None and (difference < 0.0) == (number.better == "less"):
        return Verdict.BETTER
    if ours.flights > 1 and ours.low - tolerance <= published <= ours.high + tolerance:
        return Verdict.BAND
    return Verdict.DIFFERS
