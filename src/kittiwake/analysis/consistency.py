"""How far an estimate is off, and whether its covariance says so.

The errors are those of ``core.estimator.Uncertainty``: true less estimated position and velocity in
the world, and the rotation vector in the world's axes that turns the estimated attitude into the
true one. With their covariance P the normalized estimation error squared is

    NEES = e' P^-1 e

which for an honest estimate is distributed like chi-square with nine degrees of freedom, whose mean
is 9 (Bar-Shalom, Li, Kirubarajan, 2001, "Estimation with applications to tracking and navigation",
section 5.4). One flight's errors go together over its time: its mean may well be 5 or 14. Errors of
which an estimator says nothing, with zeros in all rows of its covariance, do not count: of one that
knows place and velocity alone six degrees are left.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.table import (
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
    Table,
)

ERRORS = ("x", "y", "z", "vx", "vy", "vz", "rx", "ry", "rz")
INSIDE = 0.95
# of an error, so that its square is a number
LARGEST = 1e150

Vectors = Float64[np.ndarray, "rows 3"]
Quaternions = Float64[np.ndarray, "rows 4"]
Errors = Float64[np.ndarray, "rows 9"]
Covariances = Float64[np.ndarray, "rows 9 9"]
Rows = Float64[np.ndarray, "rows errors"]
Matrices = Float64[np.ndarray, "rows errors errors"]


class Consistency(NamedTuple):
    """Of one vehicle's estimate; the last three are None where it says nothing of its errors.

    Attributes:
        position_rms_m: root of the mean squared distance from the true place.
        position_max_m: the largest one.
        nees_errors: of how many errors, which is the mean of an honest estimate.
        nees_mean: over the rows.
        nees_inside: the share of rows between the bounds that hold 95 % of chi-square.
    """

    position_rms_m: float
    position_max_m: float
    nees_errors: int | None
    nees_mean: float | None
    nees_inside: float | None


def consistency(table: Table) -> Consistency | None:
    """Of what was recorded of a vehicle; None for one that knows the truth, or logs no estimate."""
    # of a vehicle on its way to infinity some rows are no numbers, or have no squares
    with np.errstate(over="ignore", invalid="ignore"):
        errors = estimation_errors(table)
    known = (np.abs(errors) < LARGEST).all(axis=1)
    errors = errors[known]
    if not errors.any():
        return None
    squares = np.square(errors[:, :3]).sum(axis=1)
    covariances = _covariances(table)[known]
    told = estimated_errors(covariances)
    found = nees(errors[:, told], covariances[:, told][:, :, told])
    found = found[np.isfinite(found)]
    low, high = nees_bounds(1, int(told.sum()))
    return Consistency(
        float(np.sqrt(squares.mean())),
        float(np.sqrt(squares.max())),
        int(told.sum()) if found.size else None,
        float(found.mean()) if found.size else None,
        float(((low <= found) & (found <= high)).mean()) if found.size else None,
    )


def estimation_errors(table: Table) -> Errors:
    """True less estimated, nine in each row."""
    place, speed = (
        table.part(columns) - table.part(_estimated(columns))
        for columns in (POSITION_WORLD_M, VELOCITY_WORLD_MPS)
    )
    q, believed = table.part(Q_WORLD_FROM_BODY), table.part(_estimated(Q_WORLD_FROM_BODY))
    return np.concatenate([place, speed, rotation_between(believed, q)], axis=1)


def rotation_between(q_believed: Quaternions, q_true: Quaternions) -> Vectors:
    """Rotation vectors in the world's axes from one attitude to another, at most half a turn."""
    w, v = q_believed[:, :1], -q_believed[:, 1:]
    true_w, true_v = q_true[:, :1], q_true[:, 1:]
    cosine = true_w * w - (true_v * v).sum(axis=1, keepdims=True)
    sine = true_w * v + w * true_v + np.cross(true_v, v)
    sine = np.where(cosine < 0.0, -sine, sine)
    length = np.linalg.norm(sine, axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, np.abs(cosine))
    return sine * np.divide(angle, length, out=np.full_like(angle, 2.0), where=length > 0.0)


def estimated_errors(covariances: Covariances) -> Bool[np.ndarray, "9"]:
    """Of which of the errors an estimator says something; all, if it says nothing at all."""
    variances = np.nan_to_num(np.diagonal(covariances, axis1=1, axis2=2))
    told = (variances != 0.0).any(axis=0)
    return told if told.any() else np.ones(len(ERRORS), bool)


def nees(errors: Rows, covariances: Matrices) -> Float64[np.ndarray, " rows"]:
    """Of each row; NaN where the covariance is not known or has no inverse."""
    found = np.full(len(errors), np.nan)
    sound = np.flatnonzero(np.isfinite(covariances).all(axis=(1, 2)))
    ranks = np.linalg.matrix_rank(covariances[sound], hermitian=True)
    sound = sound[ranks == errors.shape[1]]
    solved = np.linalg.solve(covariances[sound], errors[sound][:, :, None])
    found[sound] = (errors[sound] * solved[:, :, 0]).sum(axis=1)
    return found


def nees_bounds(flights: int, errors: int = len(ERRORS)) -> tuple[float, float]:
    """Between which the mean of so many independent flights lies with 95 %."""
    # reading a log takes no time for it
    from scipy.stats import chi2

    freedom = errors * flights
    low, high = chi2.ppf([0.5 - INSIDE / 2.0, 0.5 + INSIDE / 2.0], freedom) / flights
    return float(low), float(high)


def _estimated(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"estimate.{column}" for column in columns)


def _covariances(table: Table) -> Covariances:
    """From the upper triangles."""
    order = np.arange(len(ERRORS))
    first, second = np.minimum(*np.ix_(order, order)), np.maximum(*np.ix_(order, order))
    names = [
        f"estimate.cov_{ERRORS[i]}_{ERRORS[j]}"
        for i, j in zip(first.ravel(), second.ravel(), strict=True)
    ]
    return table.part(names).reshape(-1, len(ERRORS), len(ERRORS))
