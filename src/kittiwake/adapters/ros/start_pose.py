"""Where a vehicle is to be put, as Gazebo's model states say it."""

from collections.abc import Mapping
from math import hypot
from typing import Any

from kittiwake.adapters.ros.ranges import POSITION, RATE, VELOCITY
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.core.kinematics import Start
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.commands import UNIT_TOLERANCE
from kittiwake.scenario.ros_settings import RosSettings


def start_of(state: Any, vehicles: Mapping[str, str], settings: RosSettings) -> tuple[str, Start]:
    """The vehicle of a gazebo_msgs/ModelState, and where it is to begin.

    Velocities are given in the axes of the world; ``vehicles`` are known by their names in ROS.

    Raises:
        CommandError: for a vehicle that is not there, a frame that is not the world's, or an
            orientation that is no unit quaternion; for numbers that are not finite or too large.
    """
    if state.model_name not in vehicles:
        message = f"there is no model '{state.model_name}'. "
        raise CommandError(message + did_you_mean(state.model_name, [*vehicles]))
    if state.reference_frame not in ("", "world", settings.world_frame):
        message = (
            f"reference_frame '{state.reference_frame}' is not known; must be empty or "
            f"'{settings.world_frame}'"
        )
        raise CommandError(message)
    q = state.pose.orientation
    length = hypot(q.w, q.x, q.y, q.z)
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        message = (
            f"orientation has the norm {length:.6g}; a rotation is a unit quaternion, such as "
            "{x: 0, y: 0, z: 0, w: 1}"
        )
        raise CommandError(message)
    attitude = Quaternion(q.w, q.x, q.y, q.z)
    angles = attitude.to_euler()
    twist = state.twist
    start = Start(
        POSITION.vector("position", state.pose.position),
        *(float(angles.roll_rad), float(angles.pitch_rad), float(angles.yaw_rad)),
        VELOCITY.vector("twist.linear", twist.linear),
        _plain(attitude.inverse().rotate(RATE.vector("twist.angular", twist.angular))),
    )
    return vehicles[state.model_name], start


def _plain(vector: Vec3) -> Vec3:
    return Vec3(float(vector.x), float(vector.y), float(vector.z))
