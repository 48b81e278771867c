"""Estimated quantities in a log: truth, estimate, and error with its estimated deviation.

The error is true minus estimated, as in ``analysis.consistency``. Attitudes are in ZYX angles;
small rotations e in world axes change them by J e, of which J P J' is the covariance:

    roll' = a / cos(pitch)    pitch' = e_y cos(yaw) - e_x sin(yaw)    yaw' = e_z + a tan(pitch)
    a = e_x cos(yaw) + e_y sin(yaw)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.consistency import estimated_covariances
from kittiwake.analysis.plots.quantities import (
    LEAST_DIFFERENCE,
    cut_at_jumps,
    nearest_turn_deg,
    readable_yaw_deg,
)
from kittiwake.analysis.table import (
    POSITION_WORLD_M,
    VELOCITY_WORLD_MPS,
    Table,
    estimated_state,
)

Rows = Float64[np.ndarray, " rows"]
Vectors = Float64[np.ndarray, "rows 3"]


@dataclass(frozen=True, eq=False)
class EstimatedQuantity:
    """Number of the estimated state, in the unit of the plot.

    Attributes:
        name: the name of the quantity.
        unit: its unit.
        truth: the true values.
        estimate: the estimated values.
        error: true minus estimated values, angles within half a turn.
        deviation: the estimated standard deviations; NaN without a covariance.
    """

    name: str
    unit: str
    truth: Rows
    estimate: Rows
    error: Rows
    deviation: Rows

    @property
    def exact(self) -> bool:
        """True if the estimate is the truth."""
        return bool((np.nan_to_num(np.abs(self.error)) <= LEAST_DIFFERENCE).all())

    @property
    def rms(self) -> float:
        """Root mean square of the error; zero if it is never known."""
        known = self.error[np.isfinite(self.error)]
        with np.errstate(over="ignore"):
            return float(np.sqrt(np.square(known).mean())) if known.size else 0.0


def estimated_quantities(table: Table) -> dict[str, tuple[EstimatedQuantity, ...]]:
    """Return position, velocity and attitude, of three quantities each."""
    # rows of a diverging vehicle may be infinite or have no finite squares
    with np.errstate(over="ignore", invalid="ignore"):
        return _quantities(table)


def _quantities(table: Table) -> dict[str, tuple[EstimatedQuantity, ...]]:
    estimated, covariances = estimated_state(table), estimated_covariances(table)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    found: dict[str, tuple[EstimatedQuantity, ...]] = {}
    for group, columns, names, unit, first in (
        ("position", POSITION_WORLD_M, ("x", "y", "z"), "m", 0),
        ("velocity", VELOCITY_WORLD_MPS, ("vx", "vy", "vz"), "m/s", 3),
    ):
        truth, estimate = table.part(columns), estimated.part(columns)
        deviations = _roots(variances[:, first : first + 3])
        series = zip(names, truth.T, estimate.T, (truth - estimate).T, deviations.T, strict=True)
        found[group] = tuple(EstimatedQuantity(name, unit, *own) for name, *own in series)
    return found | {"attitude": _attitude(table, estimated, covariances[:, 6:, 6:])}


def share_within(quantities: Sequence[EstimatedQuantity], deviations: float) -> float | None:
    """Return the share of errors within their estimated deviations; None without these."""
    error = np.concatenate([quantity.error for quantity in quantities])
    limit = deviations * np.concatenate([quantity.deviation for quantity in quantities])
    known = np.isfinite(error) & np.isfinite(limit)
    return float((np.abs(error[known]) <= limit[known]).mean()) if known.any() else None


def _attitude(
    table: Table, estimated: Table, covariances: Float64[np.ndarray, "rows 3 3"]
) -> tuple[EstimatedQuantity, ...]:
    truth, estimate = table.roll_pitch_yaw_deg, estimated.roll_pitch_yaw_deg
    error = nearest_turn_deg(truth - estimate, np.zeros_like(truth))
    turns = _angles_from_rotations(truth)
    variances = np.diagonal(turns @ covariances @ turns.swapaxes(1, 2), axis1=1, axis2=2)
    deviations = np.degrees(_roots(variances))
    series = zip(("roll", "pitch", "yaw"), truth.T, error.T, deviations.T, strict=True)
    found: list[EstimatedQuantity] = []
    for name, true, own_error, deviation in series:
        drawn = readable_yaw_deg(true) if name == "yaw" else cut_at_jumps(true)
        near = cut_at_jumps(nearest_turn_deg(true - own_error, drawn))
        found.append(EstimatedQuantity(name, "deg", drawn, near, own_error, deviation))
    return tuple(found)


def _angles_from_rotations(angles_deg: Vectors) -> Float64[np.ndarray, "rows 3 3"]:
    """Return the changes of ZYX angles by small rotations in world axes."""
    _, pitch, yaw = np.radians(angles_deg).T
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)
    along, across = np.cos(yaw), np.sin(yaw)
    rows = (
        (along / np.cos(pitch), across / np.cos(pitch), zero),
        (-across, along, zero),
        (along * np.tan(pitch), across * np.tan(pitch), one),
    )
    return np.moveaxis(np.array(rows), 2, 0)


def _roots(variances: Vectors) -> Vectors:
    """Return standard deviations; NaN for errors that are not estimated."""
    return np.sqrt(np.where(variances > 0.0, variances, np.nan))
