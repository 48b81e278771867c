"""Verdicts follow from the tolerances of the data file."""

from math import inf, nan

import pytest
from tests.unit.analysis.reproduction.hand_made import item, number, order

from kittiwake.analysis.reproduction.verdict import (
    Measured,
    Verdict,
    judged_numbers,
    judged_orders,
)


def verdict(ours, others=(), **fields):
    (judged,) = judged_numbers(item([number(**fields)]), {"height": Measured.of(ours, others)})
    return judged.verdict


@pytest.mark.parametrize(
    ("ours", "fields", "expected"),
    [
        ([1.05], {"published": 1.0, "tolerance": 0.05}, Verdict.AGREES),
        ([0.95], {"published": 1.0, "tolerance": 0.05}, Verdict.AGREES),
        ([1.06], {"published": 1.0, "tolerance": 0.05}, Verdict.DIFFERS),
        ([1.0], {"published": 1.0, "tolerance": 0.0}, Verdict.AGREES),
        ([1.06], {"published": 1.0, "tolerance": 0.05, "better": "more"}, Verdict.BETTER),
        ([1.06], {"published": 1.0, "tolerance": 0.05, "better": "less"}, Verdict.DIFFERS),
        ([0.5], {"published": 1.0, "tolerance": 0.05, "better": "less"}, Verdict.BETTER),
        ([0.96], {"published": 1.0, "tolerance": 0.05, "better": "less"}, Verdict.AGREES),
        ([1.0], {"published": 1.0}, Verdict.OURS),
        ([1.0], {}, Verdict.OURS),
        ([nan], {"published": 1.0, "tolerance": 0.05}, Verdict.MISSING),
        ([inf], {"published": 1.0, "tolerance": 0.05, "better": "more"}, Verdict.MISSING),
        ([1.0, nan], {"published": 1.0, "tolerance": 0.05}, Verdict.MISSING),
    ],
)
def test_verdict_follows_from_the_tolerance(ours, fields, expected):
    assert verdict(ours, **fields) == expected


@pytest.mark.parametrize(
    ("ours", "others", "expected"),
    [
        ([1.2], [0.9], Verdict.BAND),
        ([1.2, 1.0, 1.4], [], Verdict.BAND),
        ([1.2], [1.04], Verdict.BAND),
        ([1.2], [1.3, nan], Verdict.DIFFERS),
        ([1.2], [1.06], Verdict.DIFFERS),
        ([1.02], [9.0], Verdict.AGREES),
    ],
)
def test_band_is_the_range_of_seeds_and_plausible_values(ours, others, expected):
    assert verdict(ours, others, published=1.0, tolerance=0.05) == expected


def test_a_single_flight_has_no_band():
    assert verdict([1.2], published=1.0, tolerance=0.05) == Verdict.DIFFERS


def test_value_is_the_mean_over_seeds_alone():
    ours = Measured.of([1.0, 3.0], [10.0])
    assert (ours.value, ours.low, ours.high, ours.flights) == (2.0, 1.0, 10.0, 3)


def relative(first, second, **fields):
    numbers = [
        number("first", published=20.0, tolerance=0.0),
        number("second", published=30.0, tolerance=0.1, relative_to="first", **fields),
    ]
    ours = {"first": Measured.of([first]), "second": Measured.of([second])}
    return judged_numbers(item(numbers), ours)[1]


def test_relative_numbers_are_compared_as_multiples():
    judged = relative(0.2, 0.31)
    assert (judged.published, judged.verdict) == (1.5, Verdict.AGREES)
    assert judged.ours.value == pytest.approx(1.55)
    assert judged.difference == pytest.approx(0.05)
    assert relative(0.2, 0.33).verdict == Verdict.DIFFERS


def test_relative_number_without_its_base_is_not_measured():
    assert relative(nan, 0.3).verdict == Verdict.MISSING


@pytest.mark.parametrize(
    ("values", "ours", "expected"),
    [
        ((1.0, 2.0, 3.0), ("a", "b", "c"), Verdict.AGREES),
        ((2.0, 1.0, 3.0), ("b", "a", "c"), Verdict.DIFFERS),
    ],
)
def test_orders_are_those_of_the_values(values, ours, expected):
    measured = {name: Measured.of([v]) for name, v in zip("abc", values, strict=True)}
    numbers = [number(name) for name in "abc"]
    (judged,) = judged_orders(item(numbers, [order("a", "b", "c")]), measured)
    assert (judged.ours, judged.verdict) == (ours, expected)


def test_bands_of_multiples_are_formed_flight_by_flight():
    first, second = Measured.of([1.0, 2.0, 4.0]), Measured.of([2.0, 4.0, 8.0])
    ratio = second.relative_to(first)
    assert (ratio.value, ratio.low, ratio.high, ratio.flights) == (2.0, 2.0, 2.0, 3)
    assert Measured.of([1.0]).relative_to(Measured.of([0.0])).value == inf


def test_an_order_of_what_was_not_measured_is_not_judged():
    numbers = [number("low", published=1.0), number("high", published=2.0)]
    ours = {"low": Measured.of([nan]), "high": Measured.of([2.0])}
    (judged,) = judged_orders(item(numbers, orders=[order("low", "high")]), ours)
    assert judged.verdict == Verdict.MISSING
