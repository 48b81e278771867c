"""Log rows between two others: true and estimated poses are interpolated.

Both are, because a pose that is held beside one that moves would show an error that never was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import ESTIMATE_PREFIX, POSITION_WORLD_M, Q_WORLD_FROM_BODY

Row = Float64[np.ndarray, " columns"]


class PoseColumns(NamedTuple):
    """Indices of the columns of a pose."""

    position: list[int]
    attitude: list[int]


def pose_columns(columns: Sequence[str]) -> list[PoseColumns]:
    """Return the columns of the true pose, and those of the estimated one if it is logged."""
    indices = {name: index for index, name in enumerate(columns)}
    return [
        PoseColumns(
            [indices[prefix + name] for name in POSITION_WORLD_M],
            [indices[prefix + name] for name in Q_WORLD_FROM_BODY],
        )
        for prefix in ("", ESTIMATE_PREFIX)
        if all(prefix + name in indices for name in (*POSITION_WORLD_M, *Q_WORLD_FROM_BODY))
    ]


def interpolated_row(first: Row, second: Row, share: float, poses: Sequence[PoseColumns]) -> Row:
    """Return the first row with poses between those of both.

    Args:
        first: row at the earlier time.
        second: row at the later time.
        share: position between them, from 0 to 1.
        poses: columns of the poses.
    """
    row = first.copy()
    for position, attitude in poses:
        row[position] += share * (second[position] - first[position])
        row[attitude] = interpolated_attitude(first[attitude], second[attitude], share)
    return row


def interpolated_attitude(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """Interpolate linearly between two nearby quaternions along the shorter arc."""
    target = second if float(first @ second) >= 0.0 else -second
    mixed = first + share * (target - first)
    length = float(np.linalg.norm(mixed))
    return mixed / length if length > 0.0 else first
