"""Conversion of Gazebo's model states to initial states of vehicles."""

from collections.abc import Mapping
from dataclasses import replace
from math import hypot

from kittiwake.adapters.ranges import POSITION, RATE, VELOCITY
from kittiwake.adapters.ros.message_types import Message
from kittiwake.core.command_numbers import UNIT_TOLERANCE
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.core.kinematics import Start
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.problems import shortened
from kittiwake.scenario.ros_settings import RosSettings

NO_ROTATION = Quaternion(1.0, 0.0, 0.0, 0.0)


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
    _require_world(state.reference_frame, settings)
    attitude, twist = _attitude(state.pose.orientation), state.twist
    start = replace(
        _placed(state.pose.position, attitude),
        velocity_world_mps=VELOCITY.vector("twist.linear", twist.linear),
        angular_velocity_body_radps=_as_floats(
            attitude.inverse().rotate(RATE.vector("twist.angular", twist.angular))
        ),
    )
    return vehicles[state.model_name], start


def start_of_pose(pose: Message, reference_frame: str, settings: RosSettings) -> Start | None:
    """Return the start at a geometry_msgs/Pose; None for one of zeros, as of an empty message.

    An orientation of zeros is none, as in Gazebo.

    Raises:
        CommandError: as ``start_of``.
    """
    _require_world(reference_frame, settings)
    q = pose.orientation
    attitude = _attitude(q) if any((q.w, q.x, q.y, q.z)) else NO_ROTATION
    start = _placed(pose.position, attitude)
    return None if start == Start() else start


def _require_world(frame: str, settings: RosSettings) -> None:
    if frame not in ("", "world", settings.world_frame):
        message = (
            f"reference_frame: got {shortened(frame)}; must be empty or '{settings.world_frame}'"
        )
        raise CommandError(message)


def _attitude(q: Message) -> Quaternion:
    norm = hypot(q.w, q.x, q.y, q.z)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        message = (
            f"orientation: got norm {norm:.6g}; must be a unit quaternion, such as "
            "{x: 0, y: 0, z: 0, w: 1}"
        )
        raise CommandError(message)
    return Quaternion(q.w, q.x, q.y, q.z)


def _placed(position: Message, attitude: Quaternion) -> Start:
    angles = attitude.to_euler()
    return Start(
        POSITION.vector("position", position),
        float(angles.roll_rad),
        float(angles.pitch_rad),
        float(angles.yaw_rad),
    )


def _as_floats(vector: Vec3) -> Vec3:
    return Vec3(float(vector.x), float(vector.y), float(vector.z))
