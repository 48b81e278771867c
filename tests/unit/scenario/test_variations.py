"""Values that a sweep varies, as written on the command line and in Python."""

import json

import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.variations import parse_variations, variations


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("a=1,2,5", [1, 2, 5]),
        ("a.b=0:90:4", [0.0, 30.0, 60.0, 90.0]),
        ("a.b=-1e1:.5:2", [-10.0, 0.5]),
        ("a.b=7", [7]),
        ("a.b=[1, 2],[3, 4]", [[1, 2], [3, 4]]),
        ("a.b=calm, {type: shear}", ["calm", {"type": "shear"}]),
    ],
)
def test_lists_and_ranges_are_values_of_a_grid(item, values):
    path = item.partition("=")[0]
    assert parse_variations([item]) == ({path: values}, {})


@pytest.mark.parametrize(
    ("item", "entry"),
    [
        ("m=normal(1.68, 0.05)", {"normal": [1.68, 0.05]}),
        ("m=uniform([0, 1], [2, 3])", {"uniform": [[0, 1], [2, 3]]}),
        ("m=choice(1, 2, 5)", {"choice": [1, 2, 5]}),
    ],
)
def test_distributions_are_drawn(item, entry):
    found = parse_variations([item])
    assert found == ({}, {"m": entry})
    assert found.items()[0].item.startswith("randomize.m=")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a.b"], "write a key and its values"),
        (["=1,2"], "write a key and its values"),
        (["a=1", "a=2"], "varied twice"),
        (["a=gaussian(0, 1)"], "there is no distribution 'gaussian'"),
        (["a=normal(1)"], "normal: got \\[1\\]"),
        (["a=0:1:0"], "got 0 values"),
        (["a=1:2"], "got 1:2; a range is low:high:count"),
        (["a=9:10:2.5"], "whose count is a whole number"),
        (["seed=1,2"], "give the number of seeds"),
        (["a.yaw_deg=1,2", "a.yaw_rad=1,2"], "is varied twice, also as a.yaw_rad"),
        (["a.x.0=1,2", "a.x=[1, 2, 3]"], "is varied twice, also as a.x"),
        (["a=[1,"], "--vary a="),
    ],
)
def test_other_forms_are_refused(items, message):
    with pytest.raises(ScenarioError, match=message):
        parse_variations(items)


def test_python_gives_arrays_and_distributions():
    given = {"a": np.linspace(0.0, 1.0, 3), "b": {"uniform": [0, 1]}, "c": ("x", "y")}
    assert variations(given) == (
        {"a": [0.0, 0.5, 1.0], "c": ["x", "y"]},
        {"b": {"uniform": [0, 1]}},
    )


def test_values_of_numpy_are_plain_ones():
    grid, _ = variations({"a": [np.float32(0.5), np.int64(2)], "b": [np.zeros(3)]})
    assert json.dumps(grid) == '{"a": [0.5, 2], "b": [[0.0, 0.0, 0.0]]}'


@pytest.mark.parametrize(
    "values",
    [5, "abc", [], {"uniform": [2, 1]}, [0, np.nan], np.array([np.inf]), [[0, -np.inf]]],
)
def test_what_is_no_list_of_values_is_refused(values):
    with pytest.raises(ScenarioError, match="vary: a: "):
        variations({"a": values})
