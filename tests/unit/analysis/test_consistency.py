import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from kittiwake.analysis.consistency import (
    ERRORS,
    consistency,
    estimation_errors,
    nees_bounds,
    rotation_between,
)
from kittiwake.analysis.log import Log
from kittiwake.analysis.summary import FlownVehicle, summarize
from kittiwake.analysis.table import (
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    STATE_COLUMNS,
    VELOCITY_WORLD_MPS,
    Table,
)

ESTIMATED = tuple(
    f"estimate.{column}" for column in (*POSITION_WORLD_M, *VELOCITY_WORLD_MPS, *Q_WORLD_FROM_BODY)
)
PAIRS = [(i, j) for i in range(9) for j in range(i, 9)]
COVARIANCES = tuple(f"estimate.cov_{ERRORS[i]}_{ERRORS[j]}" for i, j in PAIRS)
ROWS = 4000
DRAWS = np.random.default_rng(1)


def wxyz(rotation):
    return np.roll(rotation.as_quat(), 1, axis=1)


def flight(errors, covariance=None):
    """Rows of random motion, estimated with these errors."""
    state = DRAWS.normal(size=(len(errors), len(STATE_COLUMNS)))
    truth = Rotation.random(len(errors), random_state=2)
    state[:, 4:8] = wxyz(truth)
    believed = Rotation.from_rotvec(errors[:, 6:]).inv() * truth
    estimate = [state[:, 1:4] - errors[:, :3], state[:, 8:11] - errors[:, 3:6], wxyz(believed)]
    covariances = [] if covariance is None else [[covariance[i, j] for i, j in PAIRS]] * len(errors)
    parts = [
        state,
        *estimate,
        *([np.array(covariances)] if covariances else []),
        np.zeros((len(errors), 1)),
    ]
    columns = (*STATE_COLUMNS, *ESTIMATED, *(COVARIANCES if covariances else ()), "status")
    return Table(columns, np.concatenate(parts, axis=1))


def drawn(scale=1.0):
    """A covariance with correlations, and errors that have it."""
    mixing = np.tril(DRAWS.normal(size=(9, 9))) * 0.02 + 0.05 * np.eye(9)
    return mixing @ mixing.T, scale * DRAWS.normal(size=(ROWS, 9)) @ mixing.T


def test_errors_of_an_estimate_are_found_again():
    _, errors = drawn()
    # a rotation forth and back
    np.testing.assert_allclose(estimation_errors(flight(errors)), errors, atol=1e-14)


@pytest.mark.parametrize("angle_rad", [0.0, 1e-12, 1e-5, 1.0, 3.1])
def test_rotation_between_attitudes_is_scipys(angle_rad):
    axis = np.array([[0.6, -0.48, 0.64]])
    believed = Rotation.random(1, random_state=3)
    true = Rotation.from_rotvec(angle_rad * axis) * believed
    # of quaternions, whichever sign they come with
    for sign in (1.0, -1.0):
        found = rotation_between(wxyz(believed), sign * wxyz(true))
        np.testing.assert_allclose(found, angle_rad * axis, atol=1e-15, rtol=1e-14)


def test_consistent_covariance_has_a_nees_of_nine():
    covariance, errors = drawn()
    found = consistency(flight(errors, covariance))
    # four deviations of the mean of so many: that of chi-square with 9 is sqrt(18)
    assert found.nees_mean == pytest.approx(9.0, abs=4.0 * np.sqrt(18.0 / ROWS))
    assert found.nees_inside == pytest.approx(0.95, abs=4.0 * np.sqrt(0.95 * 0.05 / ROWS))


def test_errors_twice_the_estimate_quadruple_the_nees():
    covariance, errors = drawn(scale=2.0)
    found = consistency(flight(errors, covariance))
    assert found.nees_mean == pytest.approx(36.0, abs=16.0 * np.sqrt(18.0 / ROWS))
    low, high = chi2.ppf([0.025, 0.975], 9)
    share = chi2.cdf(high / 4.0, 9) - chi2.cdf(low / 4.0, 9)
    assert found.nees_inside == pytest.approx(share, abs=4.0 * np.sqrt(0.25 / ROWS))


def test_position_errors_are_lengths():
    errors = np.zeros((4, 9))
    errors[:, :3] = [[3.0, 4.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, 1.0, 2.0]]
    found = consistency(flight(errors))
    assert found.position_rms_m == pytest.approx(np.sqrt((25.0 + 1.0 + 9.0) / 4.0), rel=1e-12)
    assert found.position_max_m == pytest.approx(5.0, rel=1e-12)
    assert found.nees_mean is None
    assert found.nees_inside is None


def test_true_state_has_no_consistency():
    table = flight(np.zeros((5, 9)))
    values = table.values.copy()
    for column in ESTIMATED:
        true = table.columns.index(column.removeprefix("estimate."))
        values[:, table.columns.index(column)] = values[:, true]
    assert consistency(Table(table.columns, values)) is None
    assert consistency(Table(STATE_COLUMNS, table.values[:, : len(STATE_COLUMNS)])) is None


def test_rows_without_a_sound_covariance_do_not_count():
    covariance, errors = drawn()
    table = flight(errors, covariance)
    table.values[:10, table.columns.index(COVARIANCES[0])] = np.nan
    table.values[10:20, [table.columns.index(column) for column in COVARIANCES]] = 0.0
    assert np.isfinite(consistency(table).nees_mean)


def test_errors_without_a_covariance_do_not_count():
    covariance, errors = drawn()
    covariance[6:] = covariance[:, 6:] = 0.0
    found = consistency(flight(errors, covariance))
    assert found.nees_errors == 6
    assert found.nees_mean == pytest.approx(6.0, abs=4.0 * np.sqrt(12.0 / ROWS))
    assert found.nees_inside == pytest.approx(0.95, abs=4.0 * np.sqrt(0.95 * 0.05 / ROWS))


def test_bounds_of_a_mean_narrow_with_the_flights():
    one, fifty = nees_bounds(1), nees_bounds(50)
    # from printed tables: chi-square with 9 degrees of freedom
    assert one == pytest.approx((2.700, 19.023), abs=5e-4)
    # nearly normal: 9 -+ 1.96 sqrt(18 / 50), shifted by its skewness
    assert fifty == pytest.approx((9.0 - 1.176, 9.0 + 1.176), abs=0.05)


def test_the_summary_holds_it_by_vehicle():
    covariance, errors = drawn()
    tables = {"a": flight(errors, covariance), "b": flight(errors)}
    found = summarize(
        Log(tables, ()),
        scenario="s",
        seed=0,
        precision="float64",
        engine="simd",
        engine_reason="",
        status="completed",
        reason=None,
        duration_s=1.0,
        steps=1,
        wall_s=1.0,
        compile_s=1.0,
        vehicles=dict.fromkeys(
            tables, FlownVehicle("pelican", tracked=True, planned_waypoints=None)
        ),
    )["metrics"]["estimate"]
    assert list(found) == ["a", "b"]
    names = ["position_rms_m", "position_max_m", "nees_errors", "nees_mean", "nees_inside"]
    assert [list(of) for of in found.values()] == [names, names]
    assert found["b"]["nees_mean"] is None
