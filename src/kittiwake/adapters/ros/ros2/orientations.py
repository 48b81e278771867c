"""Conversion of quaternions in messages to the angles of uav_gazebo.

Its angles are those of R = Rx Ry Rz, rotations about the body's own axes. Their rates follow from
the angular velocity in world axes: omega = D rates.
"""

from math import asin, atan2, cos, sin, tan

from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.ros2.uav_gazebo_types import Vector
from kittiwake.core.errors import RosError

# greatest deviation of a unit quaternion's norm from 1
UNIT_TOLERANCE = 1e-3
# below this cosine of the pitch the rates of the angles are undefined
MIN_PITCH_COSINE = 0.01


def _check_unit(q: Message) -> None:
    norm = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) ** 0.5
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        message = f"orientation: got norm {norm:g}; must be a unit quaternion"
        raise RosError(message)


def heading_rad(q: Message) -> float:
    """Return the heading of the x axis; raises ``RosError`` without a unit quaternion."""
    _check_unit(q)
    return atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))


def xyz_angles(q: Message) -> Vector:
    """Return the angles of R = Rx Ry Rz; raises ``RosError`` without a unit quaternion."""
    _check_unit(q)
    sine = 2.0 * (q.x * q.z + q.w * q.y)
    return Vector(
        atan2(2.0 * (q.w * q.x - q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
        asin(min(max(sine, -1.0), 1.0)),
        atan2(2.0 * (q.w * q.z - q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z)),
    )


def xyz_angle_rates(angles: Vector, omega: Message) -> Vector:
    """Return the rates of the angles from an angular velocity in world axes.

    Raises:
        RosError: if they are undefined, with x straight up or down.
    """
    cosine = cos(angles.y)
    if abs(cosine) < MIN_PITCH_COSINE:
        message = (
            f"the rates of the angles are undefined at a pitch of {angles.y:.2f} rad; leave out "
            "the twist"
        )
        raise RosError(message)
    about_y = cos(angles.x) * omega.y + sin(angles.x) * omega.z
    about_z = cos(angles.x) * omega.z - sin(angles.x) * omega.y
    return Vector(omega.x - tan(angles.y) * about_z, about_y, about_z / cosine)
