"""Measures against tables, of noise, of several vehicles and of flags, on logs made by hand."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction import (
    measures_models,
    measures_statistics,
    measures_tables,
    reference_tables,
)
from kittiwake.analysis.reproduction.measures import bound_measure, measured
from kittiwake.analysis.reproduction.quantities import quantity
from kittiwake.analysis.table import STATE_COLUMNS, STATUS, Table
from kittiwake.core.errors import LogError, ScenarioError

TIMES_S = np.arange(6) * 0.5


def table(status=0.0, **columns):
    """A vehicle that stands level, with columns of its own."""
    names = (*STATE_COLUMNS, *(name for name in columns if name not in STATE_COLUMNS), STATUS)
    rest = {"time_s": TIMES_S, "qw": np.ones(6), STATUS: np.full(6, status)}
    values = {**rest, **columns}
    return Table(names, np.column_stack([values.get(name, np.zeros(6)) for name in names]))


def log(*tables, **columns):
    return Log({f"drone-{i}": own for i, own in enumerate(tables or (table(**columns),))})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(reference_tables, "FOLDER", tmp_path)
    reference_tables.reference_text.cache_clear()
    yield tmp_path
    reference_tables.reference_text.cache_clear()


def test_states_in_ned_and_frd_are_those_of_a_rotation_matrix():
    angles = [0.9, -0.3, 0.4]
    turn = Rotation.from_euler("ZYX", angles)
    x, y, z, w = turn.as_quat()
    velocity = np.array([2.0, -1.0, 0.5])
    names = [*("qw", "qx", "qy", "qz"), *("vx_mps", "vy_mps", "vz_mps")]
    own = log(
        **{name: np.full(6, v) for name, v in zip(names, [w, x, y, z, *velocity], strict=True)}
    )
    found = [quantity(own, f"frd.{name}")[1][0] for name in ("u_mps", "v_mps", "w_mps")]
    np.testing.assert_allclose(found, turn.inv().apply(velocity) * [1, -1, -1], atol=1e-12)
    found = [quantity(own, f"frd.{name}_rad")[1][0] for name in ("heading", "pitch", "roll")]
    np.testing.assert_allclose(found, [math.pi / 2 - 0.9, 0.3, 0.4], atol=1e-12)
    found = [quantity(own, f"ned.{name}_mps")[1][0] for name in ("north", "east", "down")]
    np.testing.assert_allclose(found, [-1.0, 2.0, -0.5])


def test_differences_from_a_table_are_taken_row_by_row(folder):
    (folder / "t.csv").write_text("t,x\n0,1\n0.5,2\n1,\n")
    own = log(x_m=np.array([1.0, 2.5, 3.0, 0.0, 0.0, 0.0]))
    with pytest.raises(ScenarioError, match=r"t\.csv has no column 'y'; its columns are t, x"):
        measures_tables.largest_difference(own, "x_m", "t.csv", "y")
    assert math.isnan(measures_tables.largest_difference(own, "x_m", "t.csv", "x"))
    (folder / "u.csv").write_text("x\n1\n2\n")
    assert measures_tables.largest_difference(own, "x_m", "u.csv", "x") == 0.5
    assert measures_tables.mean_square_difference(own, "x_m", "u.csv", "x") == 0.125
    later = measures_tables.largest_difference(own, "x_m", "u.csv", "x", first_row=1)
    assert later == 1.5
    turned = measures_tables.largest_difference(own, "x_m", "u.csv", "x", first_row=1, period=1.0)
    assert turned == 0.5


def test_a_table_longer_than_the_log_is_refused(folder):
    (folder / "t.csv").write_text("x\n" + "1\n" * 7)
    with pytest.raises(LogError, match=r"6 rows of the log beside 7 of t\.csv"):
        measures_tables.largest_difference(log(), "x_m", "t.csv", "x")


def test_a_missing_table_is_named(folder):
    with pytest.raises(ScenarioError, match=r"no reference file 'none\.csv'"):
        reference_tables.reference_column("none.csv", "x")


def test_noise_has_its_spread_correlation_and_innovation():
    own = log(e=np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]))
    assert measures_statistics.root_mean_square(own, "e") == 1.0
    assert measures_statistics.spread(own, "e") == 1.0
    assert measures_statistics.autocorrelation(own, "e", 1) == -1.0
    assert measures_statistics.spread_in_space(own, ["e", "e"]) == pytest.approx(math.sqrt(2.0))
    # x' - exp(-dt / T) x is 1 + exp(-1/2) in every step
    expected = 1.0 + math.exp(-0.5)
    assert measures_statistics.innovation(own, "e", 1.0) == pytest.approx(expected)


def test_held_samples_are_left_out_by_their_flag():
    own = log(e=np.array([3.0, 3.0, 3.0, -1.0, -1.0, -1.0]), new=np.array([1.0, 0, 0, 1.0, 0, 0]))
    assert measures_statistics.root_mean_square(own, "e", fresh="new") == math.sqrt(5.0)


def test_vehicles_are_correlated_counted_and_located():
    first = table(e=TIMES_S, x_m=TIMES_S)
    second = table(status=2.0, e=-TIMES_S, x_m=np.zeros(6))
    own = log(first, second)
    names = ["drone-0", "drone-1"]
    assert measures_statistics.correlation(own, "e", names) == pytest.approx(-1.0)
    assert measures_statistics.lost_vehicles(own) == 1.0
    assert measures_statistics.moving_vehicles(own, 1.0) == 1.0
    assert measures_statistics.distance_m(own, [2.5, 3.0, 4.0]) == 5.0
    assert measures_statistics.minus_squared_distance_m2(own, [2.5, 3.0, 4.0]) == -25.0
    assert measures_statistics.largest_distance_m(own, [2.0, 0.0, 0.0]) == 2.0


def test_turns_of_flags_have_their_times_and_overlaps():
    own = log(a=np.array([1.0, 1, 0, 0, 1, 0]), b=np.array([0.0, 1, 1, 0, 0, 0]))
    assert measures_statistics.rise_s(own, "a") == 0.0
    assert measures_statistics.rise_s(own, "a", 2) == 2.0
    assert math.isnan(measures_statistics.rise_s(own, "b", 2))
    assert measures_statistics.most_at_once(own, ["a", "b"]) == 2.0
    assert measures_statistics.rows_of_both(own, ["a"], ["b"]) == 1.0
    assert measures_statistics.mean_interval_s(own, "a") == 1.0


def test_a_measure_of_models_takes_no_flight_and_others_require_one():
    assert measured(None, {"type": "wind_shear_difference_mps"}) < 1e-12
    with pytest.raises(ScenarioError, match="takes no flight"):
        bound_measure({"type": "wind_shear_difference_mps"}, of_flight=True)
    with pytest.raises(ScenarioError, match="requires a flight"):
        measured(None, {"type": "lost_vehicles"})


def test_models_have_the_figures_of_qrsim():
    columns = ["sigma_u_fts", "Lw_ft", "phi_v", "gain_w_fts", "stat_std_u_mps"]
    assert measures_models.gust_filter_difference(columns) < 1e-11
    assert measures_models.utm_difference_m() < 1e-5
    assert measures_models.ecef_difference_m() < 3e-9
    assert measures_models.grid_frame_difference_m(51.7119, -0.21052) < 1e-8
    limit = measures_models.command_limit("pelican-playback", "pelican", "battery_v", "low")
    assert limit == 9.0
    rate = measures_models.dynamics_parameter("pelican-playback", "pelican", "max_rate_radps")
    assert rate == 3.0
