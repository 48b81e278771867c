"""Estimation errors and their consistency with the estimated covariance.

The errors are those of ``core.estimator.Uncertainty``: true minus estimated position and velocity
in the world, and the rotation vector in world axes from the estimated to the true attitude. With
their covariance P the normalized estimation error squared is

    NEES = e' P^-1 e

which for a consistent estimate has a chi-square distribution with nine degrees of freedom and mean
9 (Bar-Shalom, Li, Kirubarajan, 2001, "Estimation with applications to tracking and navigation",
section 5.4). The errors of one flight are correlated over time, so that its mean may be 5 or 14.
Errors that an estimator does not estimate, with zeros in all rows of its covariance, do not count:
an estimator of position and velocity only has six degrees of freedom.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.table import (
    ESTIMATE_PREFIX,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
    Table,
    estimated_state,
)
from kittiwake.analysis.time_spans import TimeSpans

ERRORS = ("x", "y", "z", "vx", "vy", "vz", "rx", "ry", "rz")
STATE = (*POSITION_WORLD_M, *VELOCITY_WORLD_MPS, *Q_WORLD_FROM_BODY)
INSIDE = 0.95
# largest error whose square is finite
LARGEST = 1e150

# of a position that its covariance does not explain, as after a crash
LEAST_ERROR_M, DEVIATIONS = 3.0, 5.0

Vectors = Float64[np.ndarray, "rows 3"]
Quaternions = Float64[np.ndarray, "rows 4"]
Errors = Float64[np.ndarray, "rows 9"]
Covariances = Float64[np.ndarray, "rows 9 9"]
Rows = Float64[np.ndarray, "rows errors"]
Matrices = Float64[np.ndarray, "rows errors errors"]


class Consistency(NamedTuple):
    """Errors of one vehicle's estimate; the last three are None without a covariance.

    Attributes:
        position_rms_m: the root mean square of the distance from the true position.
        position_max_m: the largest distance.
        nees_errors: the number of errors in the NEES, which is the mean of a consistent estimate.
        nees_mean: the mean NEES over the rows.
        nees_inside: the share of rows within the 95 % interval of the chi-square distribution.
    """

    position_rms_m: float
    position_max_m: float
    nees_errors: int | None
    nees_mean: float | None
    nees_inside: float | None


class Overconfidence(NamedTuple):
    """Time in which an estimate's errors are far beyond its covariance.

    Attributes:
        spans: the time.
        position_max_m: the largest distance from the true position in it.
    """

    spans: TimeSpans
    position_max_m: float


def consistency(table: Table) -> Consistency | None:
    """Return the consistency of a vehicle's estimate; None for the true state or without one."""
    if np.array_equal(table.part(STATE), estimated_state(table).part(STATE)):
        return None
    errors = _finite_errors(table)
    errors = errors[np.isfinite(errors).all(axis=1)]
    if not errors.any():
        return None
    squares = np.square(errors[:, :3]).sum(axis=1)
    found, count = nees_of(table)
    found = found[np.isfinite(found)]
    low, high = nees_bounds(1, count)
    return Consistency(
        float(np.sqrt(squares.mean())),
        float(np.sqrt(squares.max())),
        count if found.size else None,
        float(found.mean()) if found.size else None,
        float(((low <= found) & (found <= high)).mean()) if found.size else None,
    )


def overconfidence(table: Table) -> Overconfidence | None:
    """Return when an estimated position was farther off than its covariance allows; None for never.

    That is by more than ``LEAST_ERROR_M`` and ``DEVIATIONS`` standard deviations.
    """
    variances = [f"{ESTIMATE_PREFIX}cov_{axis}_{axis}" for axis in "xyz"]
    if variances[0] not in table.columns or len(table.values) < 2:
        return None
    estimated_m = estimated_state(table).part(POSITION_WORLD_M)
    with np.errstate(over="ignore", invalid="ignore"):
        off_m = np.linalg.norm(table.part(POSITION_WORLD_M) - estimated_m, axis=1)
        claimed_m = np.sqrt(table.part(variances).sum(axis=1))
        holds = (claimed_m > 0.0) & (off_m > np.maximum(LEAST_ERROR_M, DEVIATIONS * claimed_m))
        # rows of a diverging vehicle count for nothing, as in its consistency
        holds &= off_m < LARGEST
    if not holds.any():
        return None
    times_s = table.part(["time_s"])[:, 0]
    return Overconfidence(TimeSpans.of(times_s, holds), float(off_m[holds].max()))


def nees_of(table: Table) -> tuple[Float64[np.ndarray, " rows"], int]:
    """Return the NEES of each row, NaN where it is unknown, and the number of its errors."""
    errors, covariances = _finite_errors(table), estimated_covariances(table)
    known = np.isfinite(errors).all(axis=1)
    estimated = estimated_errors(covariances[known])
    found = np.full(len(errors), np.nan)
    inner = covariances[:, estimated][:, :, estimated]
    found[known] = nees(errors[known][:, estimated], inner[known])
    return found, int(estimated.sum())


def _finite_errors(table: Table) -> Errors:
    """Return the errors, with NaN in rows of a diverging vehicle that have no finite squares."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = estimation_errors(table)
    known = (np.abs(errors) < LARGEST).all(axis=1, keepdims=True)
    return np.where(known, errors, np.nan)


def estimation_errors(table: Table) -> Errors:
    """Return true minus estimated state, nine errors in each row."""
    estimated = estimated_state(table)
    place, speed = (
        table.part(columns) - estimated.part(columns)
        for columns in (POSITION_WORLD_M, VELOCITY_WORLD_MPS)
    )
    turn = rotation_between(estimated.part(Q_WORLD_FROM_BODY), table.part(Q_WORLD_FROM_BODY))
    return np.concatenate([place, speed, turn], axis=1)


def rotation_between(q_estimated: Quaternions, q_true: Quaternions) -> Vectors:
    """Return rotation vectors in world axes from one attitude to another, up to half a turn."""
    w, v = q_estimated[:, :1], -q_estimated[:, 1:]
    true_w, true_v = q_true[:, :1], q_true[:, 1:]
    cosine = true_w * w - (true_v * v).sum(axis=1, keepdims=True)
    sine = true_w * v + w * true_v + np.cross(true_v, v)
    sine = np.where(cosine < 0.0, -sine, sine)
    length = np.linalg.norm(sine, axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, np.abs(cosine))
    return sine * np.divide(angle, length, out=np.full_like(angle, 2.0), where=length > 0.0)


def estimated_errors(covariances: Covariances) -> Bool[np.ndarray, "9"]:
    """Return flags of the errors that an estimator estimates; all True without a covariance."""
    variances = np.nan_to_num(np.diagonal(covariances, axis1=1, axis2=2))
    estimated = (variances != 0.0).any(axis=0)
    return estimated if estimated.any() else np.ones(len(ERRORS), bool)


def nees(errors: Rows, covariances: Matrices) -> Float64[np.ndarray, " rows"]:
    """Return the NEES of each row; NaN if the covariance is unknown or singular."""
    found = np.full(len(errors), np.nan)
    sound = np.flatnonzero(np.isfinite(covariances).all(axis=(1, 2)))
    ranks = np.linalg.matrix_rank(covariances[sound], hermitian=True)
    sound = sound[ranks == errors.shape[1]]
    solved = np.linalg.solve(covariances[sound], errors[sound][:, :, None])
    found[sound] = (errors[sound] * solved[:, :, 0]).sum(axis=1)
    return found


def nees_bounds(flights: int, errors: int = len(ERRORS)) -> tuple[float, float]:
    """Return the 95 % interval of the mean NEES of independent flights."""
    # imported here, so that reading a log takes no time for it
    from scipy.stats import chi2

    freedom = errors * flights
    low, high = chi2.ppf([0.5 - INSIDE / 2.0, 0.5 + INSIDE / 2.0], freedom) / flights
    return float(low), float(high)


def estimated_covariances(table: Table) -> Covariances:
    """Return the covariances from the logged upper triangles."""
    order = np.arange(len(ERRORS))
    first, second = np.minimum(*np.ix_(order, order)), np.maximum(*np.ix_(order, order))
    names = [
        f"{ESTIMATE_PREFIX}cov_{ERRORS[i]}_{ERRORS[j]}"
        for i, j in zip(first.ravel(), second.ravel(), strict=True)
    ]
    return table.part(names).reshape(-1, len(ERRORS), len(ERRORS))
