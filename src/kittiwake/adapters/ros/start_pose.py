"""Conversion of Gazebo's model states to initial states of vehicles."""

from collections.abc import Mapping
from math import hypot

from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.ranges import POSITION, RATE, VELOCITY
from kittiwake.core.command_numbers import UNIT_TOLERANCE
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.core.kinematics import Start
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.ros_settings import RosSettings


def start_of(
    state: Message, vehicles: Mapping[str, str], settings: RosSettings
) -> tuple[str, Start]:
    """Return the vehicle of a gazebo_msgs/ModelState and its initial state.

    Args:
        state: velocities are in world axes.
        vehicles: vehicle of each name in ROS.
        settings: ROS settings of the scenario.

    Raises:
        CommandError: for a vehicle that does not exist, a frame other than the world, an
            orientation that is not a unit quaternion, or numbers not finite or too large.
    """
    if state.model_name not in vehicles:
        message = f"no model '{state.model_name}'. "
        raise CommandError(message + did_you_mean(state.model_name, [*vehicles]))
    if state.reference_frame not in ("", "world", settings.world_frame):
        message = (
            f"reference_frame: got '{state.reference_frame}'; must be empty or "
            f"'{settings.world_frame}'"
        )
        raise CommandError(message)
    q = state.pose.orientation
    norm = hypot(q.w, q.x, q.y, q.z)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        message = (
            f"orientation: got norm {norm:.6g}; must be a unit quaternion, such as "
            "{x: 0, y: 0, z: 0, w: 1}"
        )
        raise CommandError(message)
    attitude = Quaternion(q.w, q.x, q.y, q.z)
    angles = attitude.to_euler()
    twist = state.twist
    start = Start(
        POSITION.vector("position", state.pose.position),
        float(angles.roll_rad),
        float(angles.pitch_rad),
        float(angles.yaw_rad),
        VELOCITY.vector("twist.linear", twist.linear),
        _as_floats(attitude.inverse().rotate(RATE.vector("twist.angular", twist.angular))),
    )
    return vehicles[state.model_name], start


def _as_floats(vector: Vec3) -> Vec3:
    return Vec3(float(vector.x), float(vector.y), float(vector.z))
