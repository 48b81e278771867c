import json

import numpy as np
import pytest

from kittiwake.analysis.log_fields import LogField, as_columns, as_fields
from kittiwake.analysis.log_format import (
    CHUNK_LIMIT_BYTES,
    message_definition,
    pack_layouts,
    unpack_layouts,
)

PICTURE = tuple(
    f"sensor.eye.color_{i}_{j}_{k}" for i in range(3) for j in range(4) for k in range(3)
)
DEPTHS = tuple(f"sensor.eye.depth_{i}_{j}_m" for i in range(3) for j in range(4))
COLUMNS = ("time_s", "cmd_speeds_0_radps", "cmd_speeds_1_radps", *PICTURE, *DEPTHS, "status")


def test_a_picture_is_one_field_with_the_unit_of_its_numbers():
    assert as_fields(COLUMNS)[3:5] == [
        LogField("sensor.eye.color", (3, 4, 3)),
        LogField("sensor.eye.depth", (3, 4), "_m"),
    ]
    assert message_definition(COLUMNS).decode().splitlines() == [
        "float64 time_s",
        "float64 cmd_speeds_0_radps",
        "float64 cmd_speeds_1_radps",
        "float64[36] sensor_eye_color",
        "float64[12] sensor_eye_depth_m",
        "float64 status",
    ]


@pytest.mark.parametrize(
    "columns",
    [
        (),
        ("status",),
        COLUMNS,
        ("a_0_0",),
        ("a_0_0", "a_0_1", "a_1_0"),
        ("a_0_1", "a_0_0"),
        ("a_0_0", "a_0_0_0"),
        ("a_0_0_m", "a_0_0_s", "a_0_1_s"),
        ("a_0_0", "a_99999999999_99999999999"),
        ("a_0_0", "a_0_²"),
        ("a_0_0", "a_00_1"),
        ("a" + 99 * "_0", "a" + 98 * "_0" + "_1"),
        ("0_0_0", "_0_0", "a_0_0_m_0_0", "a_0_0_m_0_1"),
    ],
)
def test_fields_give_back_exactly_their_columns(columns):
    assert as_columns(as_fields(columns)) == columns
    assert unpack_layouts(pack_layouts({"a": (columns, ("x_m",))})) == {"a": (columns, ("x_m",))}


@pytest.mark.slow
def test_the_definition_of_a_large_picture_is_short():
    columns = as_columns([LogField("sensor.eye.color", (480, 640, 3))])
    assert len(message_definition(columns)) < 100
    assert len(json.dumps(pack_layouts({"a": (columns, ())}))) < 300


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {"array": "a", "shape": [], "ending": ""},
        {"array": "a", "shape": [1] * 99, "ending": ""},
        {"array": "a", "shape": [2, -1], "ending": ""},
        {"array": "a", "shape": [2, 1.5], "ending": ""},
        {"array": "a", "shape": [2, True], "ending": ""},
        {"array": 3, "shape": [2, 2], "ending": ""},
        {"array": "a", "shape": [2, 2]},
        {"array": "a", "shape": [10**9, 10**9], "ending": ""},
    ],
)
def test_an_array_that_no_row_can_hold_is_refused(entry):
    kinds = json.dumps([{"columns": ["time_s", entry], "quantities": []}])
    with pytest.raises((LookupError, TypeError, ValueError)):
        unpack_layouts({"kinds": kinds, "vehicles": '{"a": 0}'})


def test_many_arrays_together_are_bounded_as_well():
    length = int(np.sqrt(CHUNK_LIMIT_BYTES / 8)) - 1
    entry = {"array": "a", "shape": [length, length], "ending": ""}
    kinds = json.dumps([{"columns": [entry], "quantities": []}] * 3)
    with pytest.raises(ValueError, match="exceed the maximum of a row"):
        unpack_layouts({"kinds": kinds, "vehicles": "{}"})
