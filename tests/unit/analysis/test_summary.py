import json
from math import cos, pi, sin

import numpy as np
import pytest

from kittiwake.analysis.log import Log
from kittiwake.analysis.separation import TREE_FROM_VEHICLES, min_separation
from kittiwake.analysis.summary import (
    FlownVehicle,
    in_digits,
    summarize,
)
from kittiwake.analysis.table import SETPOINT_WORLD_M, STATE_COLUMNS, Event, Table
from kittiwake.analysis.vehicle_figures import max_tilt_rad

HOLDING = FlownVehicle("pelican", tracked=True, planned_waypoints=None)
TOURING = FlownVehicle("pelican", tracked=False, planned_waypoints=5)
COLUMNS = (*STATE_COLUMNS, *SETPOINT_WORLD_M, "status")
RADIUS_M, TURN_S, ROWS = 3.0, 20.0, 2001


def circle(*, phase_rad=0.0, tilt_rad=0.1, columns=COLUMNS):
    """One turn in the plane z = 2 m, rolled by a constant angle, on time but half a meter low."""
    time_s = np.linspace(0.0, TURN_S, ROWS)
    angle = 2.0 * pi * time_s / TURN_S + phase_rad
    values = dict.fromkeys(columns, np.zeros(ROWS))
    speed_mps = 2.0 * pi * RADIUS_M / TURN_S
    values |= {"time_s": time_s, "z_m": np.full(ROWS, 2.0)}
    values |= {"x_m": RADIUS_M * np.cos(angle), "y_m": RADIUS_M * np.sin(angle)}
    values |= {"vx_mps": -speed_mps * np.sin(angle), "vy_mps": speed_mps * np.cos(angle)}
    values |= {"qw": np.full(ROWS, cos(tilt_rad / 2)), "qx": np.full(ROWS, sin(tilt_rad / 2))}
    if SETPOINT_WORLD_M[0] in columns:
        low = (values["x_m"], values["y_m"], np.full(ROWS, 2.5))
        values |= dict(zip(SETPOINT_WORLD_M, low, strict=True))
    return Table(columns, np.stack([values[column] for column in columns], axis=1), ("speed_mps",))


def summary(tables, *, events=(), wall_s=2.0, duration_s=TURN_S, flown=HOLDING):
    return summarize(
        Log(tables, events),
        scenario="circle",
        seed=3,
        precision="float64",
        engine="simd",
        engine_reason="",
        status="completed",
        reason=None,
        duration_s=duration_s,
        steps=2000,
        wall_s=wall_s,
        compile_s=0.5,
        vehicles=dict.fromkeys(tables, flown),
    )


def changed(table, column, rows, value):
    values = table.values.copy()
    values[rows, table.columns.index(column)] = value
    return Table(table.columns, values, table.quantities)


def test_the_summary_has_exactly_the_documented_shape():
    found = summary({"a": circle()}, events=(Event(1.0, "a", "took off"),))
    assert list(found) == [
        "format",
        "scenario",
        "seed",
        "status",
        "reason",
        "duration_s",
        "steps",
        "wall_s",
        "compile_s",
        "realtime_factor",
        "vehicles",
        "min_separation_m",
        "events",
        "metrics",
    ]
    assert list(found["vehicles"]["a"]) == [
        "model",
        "final_position_m",
        "final_speed_mps",
        "distance_m",
        "max_tilt_rad",
        "tracking_rms_m",
        "contacts",
        "touchdown",
        "valid",
    ]
    assert found["events"] == [{"time_s": 1.0, "vehicle": "a", "event": "took off"}]
    assert found["realtime_factor"] == 10.0
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_circle_is_summarized_by_its_geometry():
    vehicle = summary({"a": circle()})["vehicles"]["a"]
    # a polygon of n sides is shorter than its circle by the factor sin(pi / n) / (pi / n)
    sides = ROWS - 1
    length_m = 2.0 * sides * RADIUS_M * sin(pi / sides)
    assert vehicle["distance_m"] == pytest.approx(length_m, rel=1e-12)
    assert vehicle["distance_m"] == pytest.approx(2.0 * pi * RADIUS_M, rel=1e-6)
    assert vehicle["final_position_m"] == pytest.approx([RADIUS_M, 0.0, 2.0], abs=1e-14)
    assert vehicle["final_speed_mps"] == pytest.approx(2.0 * pi * RADIUS_M / TURN_S, rel=1e-14)
    assert vehicle["max_tilt_rad"] == pytest.approx(0.1, rel=1e-14)
    assert vehicle["tracking_rms_m"] == pytest.approx(0.5, rel=1e-12)
    assert vehicle["valid"] is True


@pytest.mark.parametrize("tilt_rad", [0.0, 1e-9, 1e-3, 1.0, pi / 2, 3.0, pi])
def test_tilt_is_exact_from_upright_to_upside_down(tilt_rad):
    quaternion = np.array([[cos(tilt_rad / 2), 0.0, sin(tilt_rad / 2), 0.0]])
    assert max_tilt_rad(quaternion) == pytest.approx(tilt_rad, rel=1e-15)


def test_turning_about_the_vertical_is_no_tilt():
    assert max_tilt_rad(np.array([[cos(0.7), 0.0, 0.0, sin(0.7)]])) == 0.0


def test_two_on_a_circle_are_a_chord_apart():
    found = summary({"a": circle(), "b": circle(phase_rad=1.0)})
    assert found["min_separation_m"] == pytest.approx(2.0 * RADIUS_M * sin(0.5), rel=1e-12)


def test_values_that_do_not_apply_are_null():
    plain = circle(columns=(*STATE_COLUMNS, "status"))
    found = summary({"a": plain}, wall_s=0.0)
    vehicle = found["vehicles"]["a"]
    assert found["min_separation_m"] is None
    assert found["realtime_factor"] is None
    assert vehicle["tracking_rms_m"] is None
    assert vehicle["contacts"] is None
    assert vehicle["touchdown"] is None
    unset = changed(circle(), SETPOINT_WORLD_M[1], slice(None), np.nan)
    assert summary({"a": unset})["vehicles"]["a"]["tracking_rms_m"] is None


def test_a_vehicle_that_diverged_is_summarized_up_to_then():
    half = changed(circle(), "vx_mps", slice(1001, None), np.inf)
    half = changed(half, "x_m", slice(1002, None), np.nan)
    found = summary({"a": half, "b": circle(phase_rad=pi)})
    vehicle = found["vehicles"]["a"]
    assert vehicle["valid"] is False
    assert vehicle["final_position_m"] == pytest.approx([-RADIUS_M, 0.0, 2.0], abs=1e-14)
    assert vehicle["distance_m"] == pytest.approx(pi * RADIUS_M, rel=1e-6)
    assert found["min_separation_m"] == pytest.approx(2.0 * RADIUS_M, rel=1e-12)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_flight_of_hardly_any_rows_has_a_summary(rows):
    short = Table(COLUMNS, circle().values[:rows])
    found = summary({"a": short, "b": short})
    assert found["vehicles"]["a"]["final_position_m"] == ([RADIUS_M, 0.0, 2.0] if rows else None)
    assert found["vehicles"]["a"]["distance_m"] == 0.0
    json.dumps(found, allow_nan=False)


def test_numbers_too_large_to_square_become_null():
    far = changed(circle(), "x_m", slice(None, None, 2), 1e300)
    found = summary({"a": far, "b": far}, duration_s=np.inf)
    assert found["vehicles"]["a"]["distance_m"] is None
    assert found["duration_s"] is None
    json.dumps(found, allow_nan=False)


def test_one_step_out_of_range_makes_a_flight_invalid():
    out = changed(circle(), "status", 700, 1.0)
    assert summary({"a": out})["vehicles"]["a"]["valid"] is False


def test_contacts_are_counted_when_they_begin():
    table = circle(columns=(*STATE_COLUMNS, "contact", "status"))
    for rows in (slice(0, 10), slice(50, 60), slice(100, 101)):  # it starts on the ground
        table = changed(table, "contact", rows, 1.0)
    assert summary({"a": table})["vehicles"]["a"]["contacts"] == 2


@pytest.mark.parametrize(("tilt_rad", "turned_over"), [(1.0, False), (pi, True)])
def test_a_vehicle_that_lay_on_its_back_is_named_with_the_time(tilt_rad, turned_over):
    table = circle(tilt_rad=tilt_rad, columns=(*STATE_COLUMNS, "contact", "status"))
    found = summary({"a": changed(table, "contact", slice(700, 710), 1.0)})["metrics"]
    assert found.get("turned_over_s") == ({"a": pytest.approx(7.0)} if turned_over else None)
    said = ["a: turned over at 7 s; see what it touched, and how fast"]
    assert found["warnings"] == (said if turned_over else [])
    assert "turned_over_s" not in summary({"a": table})["metrics"]  # it touched nothing


TOUCHES = ("contact", "landings", "touch_speed_mps", "touched_deck", "touch_offset_m")


def landed(*landings):
    """A circle with these landings, from row on: speed, whether on a deck, and where on it."""
    table = circle(columns=(*STATE_COLUMNS, *TOUCHES, "status"))
    for count, (row, speed_mps, on_deck, offset_m) in enumerate(landings, start=1):
        values = dict(zip(TOUCHES, (4.0, count, speed_mps, on_deck, offset_m), strict=True))
        for column, value in values.items():
            table = changed(table, column, slice(row, None), value)
    return table


def test_the_touchdown_is_that_of_the_last_landing():
    on_ground, on_deck = (500, 0.7, 0.0, 0.0), (1200, 0.3, 1.0, 0.05)
    found = summary({"a": landed(on_ground, on_deck)})["vehicles"]["a"]["touchdown"]
    assert found == {"time_s": pytest.approx(12.0), "speed_mps": 0.3, "offset_m": 0.05}
    found = summary({"a": landed(on_deck, (1300, 0.7, 0.0, 0.0))})["vehicles"]["a"]["touchdown"]
    assert found == {"time_s": pytest.approx(13.0), "speed_mps": 0.7, "offset_m": None}


def test_a_vehicle_that_never_landed_has_no_touchdown():
    vehicle = summary({"a": landed()})["vehicles"]["a"]
    assert vehicle["touchdown"] is None
    assert vehicle["contacts"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("vehicles", [2, 7, TREE_FROM_VEHICLES + 10])
def test_separation_is_that_of_every_pair_and_instant(vehicles):
    positions = np.sin(1e3 * np.arange(20.0 * vehicles * 3)).reshape(20, vehicles, 3)
    positions[3:7, 0] = np.nan
    positions[11, 1, 2] = np.inf
    positions[9] = np.nan
    expected = min(
        np.linalg.norm(row[i] - row[j])
        for row in positions
        for i in range(vehicles)
        for j in range(i)
        if np.isfinite(row[[i, j]]).all()
    )
    # two summations of three squares differ by a few units in the last place
    assert min_separation(positions) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("vehicles", [2, TREE_FROM_VEHICLES])
def test_vehicles_never_there_at_once_have_no_separation(vehicles):
    positions = np.full((vehicles, vehicles, 3), np.nan)
    for one in range(vehicles):
        positions[one, one] = 0.0
    assert np.isnan(min_separation(positions))


def test_the_distance_to_a_place_on_the_way_is_no_error():
    table = circle(columns=(*COLUMNS, "guidance.legs"))
    assert summary({"a": table}, flown=TOURING)["vehicles"]["a"]["tracking_rms_m"] is None


def test_the_waypoints_that_were_reached_are_counted():
    table = circle(columns=(*COLUMNS, "guidance.legs"))
    found = summary({"a": changed(table, "guidance.legs", slice(900, None), 3.0)}, flown=TOURING)
    waypoints = {"a": {"reached": 3, "planned": 5}}
    assert found["metrics"] == {"warnings": [], "engine": "simd", "waypoints": waypoints}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5.5e-15, "0.00"),
        (-3e-9, "0.00"),
        (0.00573, "0.00573"),
        (12.53, "12.5"),
        (12345.6, "12,346"),
    ],
)
def test_numbers_have_three_digits_and_rounding_is_zero(value, expected):
    assert in_digits(value) == expected
