"""Conversion of recorded columns to world axes ENU and body axes FLU.

``geometry/frames.py`` has the same conversions for single vectors. Here each column is a signal of
its own: a vector in NED becomes one in ENU by exchange of the names x and y, and a new sign of z.
"""

import math
import re
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import (
    ANGULAR_VELOCITY_BODY_RADPS,
    POSITION_WORLD_M,
    VELOCITY_WORLD_MPS,
)

WorldAxes = Literal["enu", "ned"]
BodyAxes = Literal["flu", "frd"]
Rotations = Float64[np.ndarray, "samples 4"]

IN_WORLD = re.compile(r"(?:.*_)?([xyz])_world(?:_.*)?")
IN_BODY = re.compile(r"(?:.*_)?([xyz])_body(?:_.*)?")
# the state's columns, which do not name their axes
OF_STATE = {
    **{name: (IN_WORLD, axis) for name, axis in zip(POSITION_WORLD_M, "xyz", strict=True)},
    **{name: (IN_WORLD, axis) for name, axis in zip(VELOCITY_WORLD_MPS, "xyz", strict=True)},
    **{
        name: (IN_BODY, axis) for name, axis in zip(ANGULAR_VELOCITY_BODY_RADPS, "xyz", strict=True)
    },
}
EXCHANGED = {"x": "y", "y": "x", "z": "z"}
# angles and rates of FRD that count in the other direction
TURNED = ("pitch_rad", "yaw_rate_radps", "yaw_body_rad")
# angles of the vehicle's x axis, counted from north to east in NED and from east to north in ENU
HEADINGS = ("yaw_rad", "heading_rad")
# rotations by 180 degrees: about the line between north and east, and about the body's x axis
Q_ENU_FROM_NED = (0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0)
Q_FRD_FROM_FLU = (0.0, 1.0, 0.0, 0.0)


class AxisRule(NamedTuple):
    """Conversion of one column: ``sign * value + offset``, under another name."""

    name: str
    sign: float = 1.0
    offset: float = 0.0


def axis_rule(name: str, world_axes: WorldAxes, body_axes: BodyAxes) -> AxisRule:
    """Return the conversion of a column that is no part of an attitude."""
    prefix, field = _split(name)
    kind, axis = _kind_and_axis(field)
    if kind is IN_WORLD and world_axes == "ned":
        other = _with_axis(field, axis, EXCHANGED[axis])
        return AxisRule(prefix + other, -1.0 if axis == "z" else 1.0)
    if kind is IN_BODY and body_axes == "frd":
        return AxisRule(name, 1.0 if axis == "x" else -1.0)
    if field in TURNED and body_axes == "frd":
        return AxisRule(name, -1.0)
    if field in HEADINGS and world_axes == "ned":
        return AxisRule(name, -1.0, math.pi / 2.0)
    return AxisRule(name)


def attitude_enu_flu(recorded: Rotations, world_axes: WorldAxes, body_axes: BodyAxes) -> Rotations:
    """Return attitudes from FLU to ENU, given those from and to the recorded axes.

    Consecutive rotations have the nearer of their two signs, so that each part can be interpolated.
    """
    q = recorded
    if world_axes == "ned":
        q = _product(np.broadcast_to(Q_ENU_FROM_NED, q.shape), q)
    if body_axes == "frd":
        q = _product(q, np.broadcast_to(Q_FRD_FROM_FLU, q.shape))
    same = np.sum(q[1:] * q[:-1], axis=1) >= 0.0
    signs = np.cumprod(np.concatenate([[1.0 if q[0, 0] >= 0.0 else -1.0], 2.0 * same - 1.0]))
    return q * signs[:, None] + 0.0  # no negative zeros


def from_euler_zyx(angles_rad: Float64[np.ndarray, "samples 3"]) -> Rotations:
    """Return the rotations of roll, pitch and yaw."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(0.5 * angles_rad.T), np.sin(0.5 * angles_rad.T)
    parts = (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )
    return np.stack(parts, axis=1)


def _product(one: Rotations, other: Rotations) -> Rotations:
    """Return the Hamilton products, row by row."""
    aw, ax, ay, az = one.T
    bw, bx, by, bz = other.T
    parts = (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )
    return np.stack(parts, axis=1)


def _split(name: str) -> tuple[str, str]:
    """Return a column's prefix, such as ``sensor.imu.`` or ``cmd_``, and the rest."""
    prefix, _, field = name.rpartition(".")
    if prefix:
        return f"{prefix}.", field
    return ("cmd_", name[4:]) if name.startswith("cmd_") else ("", name)


def _kind_and_axis(field: str) -> tuple[re.Pattern[str] | None, str]:
    if field in OF_STATE:
        return OF_STATE[field]
    for kind in (IN_WORLD, IN_BODY):
        found = kind.fullmatch(field)
        if found:
            return kind, found.group(1)
    return None, ""


def _with_axis(field: str, axis: str, other: str) -> str:
    """Return the column of another axis."""
    if field in OF_STATE:
        stem, _, unit = field.rpartition("_")
        return f"{stem.removesuffix(axis)}{other}_{unit}"
    return re.sub(rf"(?<![^_]){axis}(?=_world)", other, field, count=1)
