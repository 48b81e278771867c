"""Messages as nested mappings of field names to plain values, without any library of ROS.

A time is a number of nanoseconds, bytes are what ROS has as arrays of uint8, and what a mapping
leaves out is zero or empty. Field names are those that ROS 1 and ROS 2 share; kinds are written as
in ROS 1. World is ENU and body FLU, as REP 103 has them.
"""

from collections.abc import Iterable, Sequence
from math import cos, sin
from typing import Any, NamedTuple, TypeAlias

PlainMessage: TypeAlias = dict[str, Any]
Triple: TypeAlias = tuple[float, float, float]
# as (w, x, y, z)
Attitude: TypeAlias = tuple[float, float, float, float]

SECOND_NS = 1_000_000_000
# ROS 1 takes a time of zero for one that is not known: its clock has not begun, tf has the latest,
# and its bags refuse it
FIRST_NS = 1
UPRIGHT: Attitude = (1.0, 0.0, 0.0, 0.0)

CLOCK = "rosgraph_msgs/Clock"
TRANSFORM = "geometry_msgs/TransformStamped"
TRANSFORMS = "tf2_msgs/TFMessage"


class Placement(NamedTuple):
    """Where something is in another frame, and how its axes lie there."""

    place_m: Triple = (0.0, 0.0, 0.0)
    attitude: Attitude = UPRIGHT


def stamp_ns(time_s: float) -> int:
    """A simulated time as messages tell it; the very first instant is a nanosecond late."""
    return max(round(time_s * SECOND_NS), FIRST_NS)


def clock(time_s: float) -> PlainMessage:
    """``rosgraph_msgs/Clock``."""
    return {"clock": stamp_ns(time_s)}


def header(ns: int, frame: str) -> PlainMessage:
    """``std_msgs/Header``, but for the count that libraries fill in."""
    return {"stamp": ns, "frame_id": frame}


def xyz(numbers: Sequence[float]) -> PlainMessage:
    """A vector or a point."""
    x, y, z = numbers
    return {"x": x, "y": y, "z": z}


def xyzw(attitude: Attitude) -> PlainMessage:
    """A quaternion in the order of ROS."""
    w, x, y, z = attitude
    return {"x": x, "y": y, "z": z, "w": w}


def pose(where: Placement) -> PlainMessage:
    """``geometry_msgs/Pose``."""
    return {"position": xyz(where.place_m), "orientation": xyzw(where.attitude)}


def transform(ns: int, frame: str, child: str, where: Placement) -> PlainMessage:
    """``geometry_msgs/TransformStamped``: where a child frame is in another."""
    return {
        "header": header(ns, frame),
        "child_frame_id": child,
        "transform": {"translation": xyz(where.place_m), "rotation": xyzw(where.attitude)},
    }


def rotated(q: Attitude, v: Sequence[float]) -> Triple:
    """A vector turned: v + 2 w (u x v) + 2 u x (u x v)."""
    w, a, b, c = q
    x, y, z = v
    tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return (
        x + w * tx + b * tz - c * ty,
        y + w * ty + c * tx - a * tz,
        z + w * tz + a * ty - b * tx,
    )


def inverse(q: Attitude) -> Attitude:
    """The opposite turn."""
    w, x, y, z = q
    return (w, -x, -y, -z)


def composed(one: Attitude, other: Attitude) -> Attitude:
    """First the other, then the one."""
    aw, ax, ay, az = one
    bw, bx, by, bz = other
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def turned(roll_rad: float, pitch_rad: float, yaw_rad: float) -> Attitude:
    """ZYX angles as a quaternion."""
    about_x = (cos(0.5 * roll_rad), sin(0.5 * roll_rad), 0.0, 0.0)
    about_y = (cos(0.5 * pitch_rad), 0.0, sin(0.5 * pitch_rad), 0.0)
    about_z = (cos(0.5 * yaw_rad), 0.0, 0.0, sin(0.5 * yaw_rad))
    return composed(about_z, composed(about_y, about_x))


def diagonal(*variances: float) -> list[float]:
    """A covariance of errors that know nothing of each other, row by row."""
    count = len(variances)
    return [variances[i] if i == j else 0.0 for i in range(count) for j in range(count)]


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """By name a different one of letters, digits and underscores, which is all that ROS allows."""
    found: dict[str, str] = {}
    for name in names:
        legal = wanted = name.replace("-", "_")
        number = 2
        while legal in found.values():
            legal, number = f"{wanted}_{number}", number + 1
        found[name] = legal
    return found
