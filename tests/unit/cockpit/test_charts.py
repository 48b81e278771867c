"""Quantities, data and files of charts."""

import csv

import numpy as np
import pytest

from kittiwake.analysis.plots.quantities import PlotQuantity
from kittiwake.cockpit.chart import _with_mark
from kittiwake.cockpit.chart_data import chart_curves, filled, rounded, thinned, to_csv, to_png
from kittiwake.cockpit.chart_quantities import (
    PRESETS,
    chart_quantities,
    columns_read,
    preset,
    trace_of,
)

COLUMNS = (
    "time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps",
    "cmd_speeds_0_radps", "cmd_thrust_n", "act_rotor_0_radps", "act_battery_v",
    "estimate.x_m", "estimate.y_m", "estimate.z_m", "setpoint.position_x_world_m",
    "setpoint.position_y_world_m", "setpoint.position_z_world_m", "sensor.imu.rate_radps",
)  # fmt: skip


def flight(rows=100, **values):
    """Return a trace with all columns, zero unless given."""
    times = np.linspace(0.0, 1.0, rows)
    given = {"time_s": times, "qw": 1.0} | values
    data = np.stack([np.broadcast_to(given.get(c, 0.0), rows) for c in COLUMNS], axis=1)
    return trace_of("tern", COLUMNS, data)


def test_every_column_and_the_quantities_of_pictures_can_be_charted():
    titles = chart_quantities(COLUMNS)
    assert {"Position [m]", "Height [m]", "Velocity [m/s]", "Attitude [deg]"} <= titles.keys()
    assert {"Position x [m]", "imu: rate [deg/s]", "Battery voltage [V]"} <= titles.keys()
    assert "Wind [m/s]" not in titles


def test_presets_have_the_charts_of_their_quantities():
    found = {name: preset(name, chart_quantities(COLUMNS).values()) for name in PRESETS}
    assert found["Position"] == ["Position [m]", "Height [m]"]
    assert found["Velocity"] == ["Velocity [m/s]", "Speed [m/s]"]
    assert found["Attitude"] == ["Attitude [deg]", "Yaw [deg]"]
    assert found["Inputs"] == ["Rotor 0 [rad/s]", "Commanded thrust [N]"]
    assert found["Battery"] == ["Battery voltage [V]"]
    assert found["Errors"] == ["Position error [m]", "Estimation error [m]"]


def kinds(quantity, trace):
    return [(key.place, key.kind) for key in chart_curves(quantity, trace)]


def test_setpoint_and_estimate_are_beside_the_truth():
    trace = flight(x_m=np.linspace(0.0, 2.0, 100))
    found = chart_quantities(COLUMNS)
    expected = [(0, "actual"), (0, "setpoint"), (0, "estimate")]
    assert kinds(found["Position x [m]"], trace) == expected
    assert kinds(found["Rotor 0 [rad/s]"], trace) == [(0, "actual"), (0, "setpoint")]
    assert kinds(found["Battery voltage [V]"], trace) == [(0, "actual")]


def test_an_estimate_that_equals_the_truth_is_not_drawn():
    assert (0, "estimate") not in kinds(chart_quantities(COLUMNS)["Position x [m]"], flight())


def test_only_the_columns_of_a_quantity_are_read():
    found = chart_quantities(COLUMNS)
    assert columns_read(found["Battery voltage [V]"], COLUMNS) == ["act_battery_v"]
    assert columns_read(found["Position x [m]"], COLUMNS) == [
        "x_m", "estimate.x_m", "setpoint.position_x_world_m",
    ]  # fmt: skip


def test_a_quantity_of_its_columns_equals_that_of_all_columns():
    trace = flight(qx=np.linspace(0.0, 0.3, 100), z_m=4.0)
    for quantity in chart_quantities(COLUMNS).values():
        read = ["time_s", *columns_read(quantity, COLUMNS)]
        part = trace_of("tern", read, trace.table.part(read))
        whole, few = chart_curves(quantity, trace), chart_curves(quantity, part)
        assert whole.keys() == few.keys()
        for key, values in whole.items():
            np.testing.assert_array_equal(few[key], values)


def test_thinned_curves_keep_the_extreme_values():
    times = np.linspace(0.0, 20.0, 2000)
    curves = np.stack([np.sin(times), np.full(2000, np.nan)], axis=1)
    curves[777, 0] = 9.0
    few_times, few = thinned(times, curves, 100)
    assert 90 <= len(few_times) <= 110
    assert np.all(np.diff(few_times) >= 0.0)
    assert few[:, 0].max() == 9.0
    assert few[:, 0].min() == curves[:, 0].min()
    assert np.isnan(few[:, 1]).all()


def test_short_curves_are_not_thinned():
    times = np.arange(10.0)
    assert thinned(times, times[:, None], 20)[0] is times


def test_thinned_intervals_do_not_move_with_the_window():
    times = np.arange(0.0, 40.0, 0.01)
    curves = np.sin(7.0 * times)[:, None]
    first, second = (
        thinned(times[start : start + 2001], curves[start : start + 2001], 100)
        for start in (1000, 1010)
    )
    common = np.intersect1d(first[0], second[0])
    assert len(common) >= 0.9 * len(first[0])


def test_rounding_errors_are_not_shown():
    values = rounded(np.array([[1e-9, -0.0, -1e-8]]))
    assert np.array_equal(values, np.zeros((1, 3)))
    assert not np.signbit(values).any()
    assert rounded(np.array([[123.456789]])) == pytest.approx(123.46)
    assert np.isnan(rounded(np.array([[np.nan]]))).all()


def test_the_mark_is_a_vertical_line_at_its_time():
    times = np.array([0.0, 1.0, 2.0])
    marked_times, values, mark = _with_mark((times, 2.0 * times), 1.5)
    np.testing.assert_array_equal(marked_times, [0.0, 1.0, 1.5, 1.5, 2.0])
    np.testing.assert_array_equal(values, [0.0, 2.0, 3.0, 3.0, 4.0])
    np.testing.assert_array_equal(mark, [np.nan, np.nan, 0.0, 1.0, np.nan])
    assert len(_with_mark((times, times), 9.0)[0]) == 5


def test_unknown_numbers_are_drawn_at_the_nearest_earlier_known_one():
    curves = np.array([[np.nan, np.nan], [1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(filled(curves), [[1, 0], [1, 0], [1, 0], [3, 0]])


def chosen(*titles):
    found, trace = chart_quantities(COLUMNS), flight(4, z_m=np.array([0.0, 1.0, np.nan, 3.0]))
    return [("tern", found[title], trace) for title in titles]


def test_a_table_has_the_curves_with_units():
    text = to_csv(chosen("Height [m]", "Battery voltage [V]")).decode()
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == [
        "time [s]",
        "tern: Height [m]: z",
        "tern: Height [m]: z setpoint",
        "tern: Height [m]: z estimate",
        "tern: Battery voltage [V]: battery voltage",
    ]
    assert rows[1] == ["0", "0", "0", "0", "0"]
    assert rows[3][1] == ""
    assert len(rows) == 5


def test_a_picture_of_the_charts_is_written():
    assert to_png("hover", chosen("Height [m]", "Position [m]")).startswith(b"\x89PNG")


def test_numbers_of_a_diverging_vehicle_are_left_out():
    trace = flight(x_m=1e200)
    (curve,) = (
        values
        for key, values in chart_curves(chart_quantities(COLUMNS)["Position x [m]"], trace).items()
        if key.kind == "actual"
    )
    assert np.isnan(curve).all()


def test_titles_are_of_known_quantities():
    assert all(isinstance(one, PlotQuantity) for one in chart_quantities(COLUMNS).values())
