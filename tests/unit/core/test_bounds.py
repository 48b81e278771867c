"""Bounds of parameters: membership and text."""

import math

import pytest

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (POSITIVE, [1e-300, 1.0, math.inf], [0.0, -0.0, -1e-300, -math.inf]),
        (NOT_NEGATIVE, [0.0, -0.0, 1.0], [-1e-300, -math.inf]),
        (FRACTION, [0.0, 0.5, 1.0], [-1e-9, 1.0 + 1e-9]),
        (Bounds(-60.0, 60.0), [-60.0, 60.0], [-60.1, 60.1]),
        (Bounds(high=3.0), [-math.inf, 3.0], [3.1]),
        (Bounds(0.0, 1.0, open_below=True), [1e-9, 1.0], [0.0, 1.1]),
    ],
)
def test_bounds_contain_values_inside(bounds, inside, outside):
    assert all(bounds.contains(value) for value in inside)
    assert not any(bounds.contains(value) for value in outside)


@pytest.mark.parametrize("bounds", [POSITIVE, NOT_NEGATIVE, FRACTION, Bounds()])
def test_bounds_never_contain_nan(bounds):
    assert not bounds.contains(math.nan)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (POSITIVE, "above 0"),
        (NOT_NEGATIVE, "at least 0"),
        (FRACTION, "from 0 to 1"),
        (Bounds(-60.0, 60.0), "from -60 to 60"),
        (Bounds(0.0, 2.5, open_below=True), "above 0 to 2.5"),
        (Bounds(high=3.0), "at most 3"),
    ],
)
def test_bounds_are_described_in_words(bounds, text):
    assert str(bounds) == text
