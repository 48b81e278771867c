"""Messages as nested mappings of field names to plain values, without any ROS library.

A time is an integer of nanoseconds, bytes stand for arrays of uint8, and fields left out are zero
or empty. Field names are those common to ROS 1 and ROS 2; type names are written as in ROS 1. World
axes are ENU and body axes FLU (REP 103).
"""

from collections.abc import Collection, Iterable, Sequence
from math import cos, sin
from typing import NamedTuple, TypeAlias

from kittiwake.adapters.ros.message_types import FieldValue

PlainMessage: TypeAlias = dict[str, FieldValue]
Triple: TypeAlias = tuple[float, float, float]
# a quaternion as w, x, y, z
Attitude: TypeAlias = tuple[float, float, float, float]

SECOND_NS = 1_000_000_000
# the time of the first instant: in ROS 1 a time of zero means an unknown time (the clock has not
# started, tf returns the latest transform), and its bags reject it
FIRST_NS = 1
IDENTITY: Attitude = (1.0, 0.0, 0.0, 0.0)

CLOCK = "rosgraph_msgs/Clock"
TRANSFORM = "geometry_msgs/TransformStamped"
TRANSFORMS = "tf2_msgs/TFMessage"


class Placement(NamedTuple):
    """Position and attitude of a frame in another frame."""

    position_m: Triple = (0.0, 0.0, 0.0)
    attitude: Attitude = IDENTITY


def stamp_ns(time_s: float) -> int:
    """Return a simulation time in nanoseconds, at least 1 ns."""
    return max(round(time_s * SECOND_NS), FIRST_NS)


def clock(time_s: float) -> PlainMessage:
    """Return a ``rosgraph_msgs/Clock``."""
    return {"clock": stamp_ns(time_s)}


def header(ns: int, frame: str) -> PlainMessage:
    """Return a ``std_msgs/Header``; the client library fills in the sequence number."""
    return {"stamp": ns, "frame_id": frame}


def xyz(numbers: Sequence[float]) -> PlainMessage:
    """Return a vector or a point."""
    x, y, z = numbers
    return {"x": x, "y": y, "z": z}


def xyzw(attitude: Attitude) -> PlainMessage:
    """Return a quaternion in the order of ROS."""
    w, x, y, z = attitude
    return {"x": x, "y": y, "z": z, "w": w}


def pose(placement: Placement) -> PlainMessage:
    """Return a ``geometry_msgs/Pose``."""
    return {"position": xyz(placement.position_m), "orientation": xyzw(placement.attitude)}


def transform(ns: int, frame: str, child: str, placement: Placement) -> PlainMessage:
    """Return a ``geometry_msgs/TransformStamped`` with the placement of a child frame."""
    return {
        "header": header(ns, frame),
        "child_frame_id": child,
        "transform": {
            "translation": xyz(placement.position_m),
            "rotation": xyzw(placement.attitude),
        },
    }


def rotate(q: Attitude, v: Sequence[float]) -> Triple:
    """Rotate a vector: v + 2 w (u x v) + 2 u x (u x v), with q = (w, u)."""
    w, a, b, c = q
    x, y, z = v
    tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return (
        x + w * tx + b * tz - c * ty,
        y + w * ty + c * tx - a * tz,
        z + w * tz + a * ty - b * tx,
    )


def inverse(q: Attitude) -> Attitude:
    """Return the inverse rotation."""
    w, x, y, z = q
    return (w, -x, -y, -z)


def multiply(a: Attitude, b: Attitude) -> Attitude:
    """Return the quaternion product a b: rotation b, then a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quaternion_from_euler(roll_rad: float, pitch_rad: float, yaw_rad: float) -> Attitude:
    """Return the quaternion of ZYX angles."""
    about_x = (cos(0.5 * roll_rad), sin(0.5 * roll_rad), 0.0, 0.0)
    about_y = (cos(0.5 * pitch_rad), 0.0, sin(0.5 * pitch_rad), 0.0)
    about_z = (cos(0.5 * yaw_rad), 0.0, 0.0, sin(0.5 * yaw_rad))
    return multiply(about_z, multiply(about_y, about_x))


def diagonal(*variances: float) -> list[float]:
    """Return a diagonal covariance matrix, row by row."""
    count = len(variances)
    return [variances[i] if i == j else 0.0 for i in range(count) for j in range(count)]


def legal_names(names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return a legal ROS name for each name, unlike all others and those that are taken.

    Legal are letters, digits and underscores.
    """
    found: dict[str, str] = {}
    for name in names:
        legal = base = name.replace("-", "_")
        number = 2
        while legal in found.values() or legal in taken:
            legal, number = f"{base}_{number}", number + 1
        found[name] = legal
    return found
