"""Orientations of messages, quaternions with x, y, z and w, as angles of uav_gazebo.

Its angles are those of R = Rx Ry Rz, turns about the body's own axes; their rates follow from an
angular velocity in the axes of the world by omega = D rates.
"""

from math import asin, atan2, cos, sin, tan
from typing import Any

from kittiwake.adapters.ros.ros2.original import Vector
from kittiwake.core.errors import RosError

# what is read as a unit quaternion differs from one by less
UNIT_TOLERANCE = 1e-3
# beyond this pitch an angular velocity has no rates of angles
STEEPEST_COSINE = 0.01


def _check_unit(q: Any) -> None:
    norm = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) ** 0.5
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        message = f"an orientation has length {norm:g}; write a quaternion of length 1"
        raise RosError(message)


def heading_rad(q: Any) -> float:
    """Where x points, seen from above; raises ``RosError`` for what is no rotation."""
    _check_unit(q)
    return atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))


def xyz_angles(q: Any) -> Vector:
    """The angles of R = Rx Ry Rz; raises ``RosError`` for what is no rotation."""
    _check_unit(q)
    sine = 2.0 * (q.x * q.z + q.w * q.y)
    return Vector(
        atan2(2.0 * (q.w * q.x - q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
        asin(min(max(sine, -1.0), 1.0)),
        atan2(2.0 * (q.w * q.z - q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z)),
    )


def rates_of(angles: Vector, omega: Any) -> Vector:
    """How those angles change at an angular velocity in the axes of the world.

    Raises:
        RosError: where they have no rates, with x straight up or down.
    """
    cosine = cos(angles.y)
    if abs(cosine) < STEEPEST_COSINE:
        message = f"with a pitch of {angles.y:.2f} rad angles have no rates; leave out the twist"
        raise RosError(message)
    about_y = cos(angles.x) * omega.y + sin(angles.x) * omega.z
    about_z = cos(angles.x) * omega.z - sin(angles.x) * omega.y
    return Vector(omega.x - tan(angles.y) * about_z, about_y, about_z / cosine)
