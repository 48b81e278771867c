"""Commands and services on standard messages, for ROS 2 nodes without uav_gazebo_msgs.

| original, in a drone's namespace | standard | type |
|---|---|---|
| position_yaw/command | position_yaw/pose | geometry_msgs/PoseStamped: position, heading |
| | position_yaw/trajectory_point | trajectory_msgs/MultiDOFJointTrajectoryPoint: one |
| velocity_yawrate/command | velocity_yawrate/twist | geometry_msgs/TwistStamped: linear, yaw rate |
| | cmd_vel | geometry_msgs/Twist, in body axes |
| thrust_attitude/command | thrust_attitude/state | sensor_msgs/MultiDOFJointState: see below |
| thrust_velocity/command | thrust_velocity/state | sensor_msgs/MultiDOFJointState: see below |
| thrust_torque/command | thrust_torque/wrench | geometry_msgs/WrenchStamped: force.z, torque |
| switch_mode, a topic | switch_mode/number | std_msgs/UInt8 |
| switch_mode, a service | switch_mode/inactive, .../position_yaw and so on | std_srvs/Trigger |
| get_mode | get_mode/trigger | std_srvs/Trigger, with the name as message |
| takeoff, land | takeoff/trigger, land/trigger | std_srvs/Trigger, see ``uav_gazebo_types`` |

A MultiDOFJointState holds one joint. Its wrench has the thrust as force.z. Its transform has the
attitude, which only the mode thrust_attitude uses. Its twist, which thrust_attitude may leave out,
has the angular velocity. A force in x or y is rejected. Vectors are in world axes (frame "world" or
an empty frame); only a twist may be in body axes (frame named like the drone, or base_link). Fields
that the standard message does not have are zero.

Converters return objects with the fields of uav_gazebo's messages.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from kittiwake.adapters.ros.message_types import Message, MessageFields
from kittiwake.adapters.ros.messages.plain import PlainMessage
from kittiwake.adapters.ros.node import RefusedResponse
from kittiwake.adapters.ros.ros2.orientations import heading_rad, xyz_angle_rates, xyz_angles
from kittiwake.adapters.ros.ros2.uav_gazebo_types import (
    ControlMode,
    GetMode,
    LandRequest,
    PositionYawControl,
    SwitchMode,
    TakeoffRequest,
    ThrustAttitudeControl,
    ThrustTorqueControl,
    ThrustVelocityControl,
    Vector,
    VelocityYawRateControl,
)
from kittiwake.core.errors import RosError

MODES = (
    "inactive",
    "position_yaw",
    "velocity_yawrate",
    "thrust_attitude",
    "thrust_velocity",
    "thrust_torque",
)
BODY_FRAME = "base_link"


class Frames(NamedTuple):
    """Names of the world's and the body's frame in messages."""

    world: str = "world"
    body: str = ""

    def is_body(self, frame: str) -> bool:
        """Return True for the frame of the body, False for that of the world.

        Raises:
            RosError: for any other frame.
        """
        name = frame.strip("/")
        if name in {"", self.world}:
            return False
        bodies = (self.body, BODY_FRAME, f"{self.body}/{BODY_FRAME}")
        if name not in bodies:
            message = f"frame '{frame}' is unknown; must be {self.world}, or one of "
            raise RosError(message + ", ".join(dict.fromkeys(filter(None, bodies))))
        return True


Converter: TypeAlias = Callable[[Message, Frames], Message]


class StandardTopic(NamedTuple):
    """Topic in a drone's namespace, and the converter of its messages."""

    name: str
    type_name: str
    convert: Converter


class StandardService(NamedTuple):
    """Service of type std_srvs/Trigger in a drone's namespace.

    Attributes:
        name: in the namespace.
        request: the request of uav_gazebo's service that it stands for.
        text: returns the message of a response.
    """

    name: str
    request: Message
    text: Callable[[MessageFields], str]


class UavGazeboInterface(NamedTuple):
    """Topic or service of uav_gazebo, and the standard ones that stand for it."""

    name: str
    topics: Sequence[StandardTopic] = ()
    services: Sequence[StandardService] = ()


def pose(message: Message, frames: Frames) -> PositionYawControl:
    """Convert a geometry_msgs/PoseStamped."""
    _require_world(message.header.frame_id, frames)
    return PositionYawControl(_vector(message.pose.position), heading_rad(message.pose.orientation))


def trajectory_point(message: Message, frames: Frames) -> PositionYawControl:
    """Convert the joint of a trajectory_msgs/MultiDOFJointTrajectoryPoint; it has no frame."""
    del frames
    transform = _single(message.transforms, "transforms")
    twist = _single_or_none(message.velocities, "velocities")
    acceleration = _single_or_none(message.accelerations, "accelerations")
    return PositionYawControl(
        _vector(transform.translation),
        heading_rad(transform.rotation),
        Vector() if twist is None else _vector(twist.linear),
        Vector() if acceleration is None else _vector(acceleration.linear),
        0.0 if twist is None else twist.angular.z,
    )


def twist_stamped(message: Message, frames: Frames) -> VelocityYawRateControl:
    """Convert a geometry_msgs/TwistStamped."""
    in_body = frames.is_body(message.header.frame_id)
    return VelocityYawRateControl(_vector(message.twist.linear), message.twist.angular.z, in_body)


def twist(message: Message, frames: Frames) -> VelocityYawRateControl:
    """Convert a geometry_msgs/Twist, which is in body axes by convention."""
    del frames
    return VelocityYawRateControl(_vector(message.linear), message.angular.z, body_frame=True)


def thrust_attitude(message: Message, frames: Frames) -> ThrustAttitudeControl:
    """Convert a sensor_msgs/MultiDOFJointState."""
    _require_world(message.header.frame_id, frames)
    thrust = _thrust_n(_single(message.wrench, "wrench").force)
    angles = xyz_angles(_single(message.transforms, "transforms").rotation)
    twist = _single_or_none(message.twist, "twist")
    rates = Vector() if twist is None else xyz_angle_rates(angles, twist.angular)
    return ThrustAttitudeControl(thrust, angles, rates)


def thrust_velocity(message: Message, frames: Frames) -> ThrustVelocityControl:
    """Convert a sensor_msgs/MultiDOFJointState."""
    _require_world(message.header.frame_id, frames)
    thrust = _thrust_n(_single(message.wrench, "wrench").force)
    return ThrustVelocityControl(thrust, _vector(_single(message.twist, "twist").angular))


def wrench(message: Message, frames: Frames) -> ThrustTorqueControl:
    """Convert a geometry_msgs/WrenchStamped."""
    _require_world(message.header.frame_id, frames)
    return ThrustTorqueControl(_thrust_n(message.wrench.force), _vector(message.wrench.torque))


def mode_number(message: Message, frames: Frames) -> ControlMode:
    """Convert a std_msgs/UInt8."""
    del frames
    return ControlMode(message.data)


def _require_world(frame: str, frames: Frames) -> None:
    if frames.is_body(frame):
        message = f"frame '{frame}' is that of the body; this message must be in {frames.world}"
        raise RosError(message)


def _vector(given: Message) -> Vector:
    return Vector(given.x, given.y, given.z)


def _thrust_n(force: Message) -> float:
    if force.x != 0.0 or force.y != 0.0:
        message = f"lateral force: got ({force.x:g}, {force.y:g}) N; must be (0, 0)"
        raise RosError(message)
    return force.z


def _single(items: Sequence[Message], name: str) -> Message:
    if len(items) != 1:
        message = f"{name}: got {len(items)} entries; must be one"
        raise RosError(message)
    return items[0]


def _single_or_none(items: Sequence[Message], name: str) -> Message:
    return _single(items, name) if len(items) else None


def _switch_mode_text(_: MessageFields) -> str:
    return ""


def _land_text(response: MessageFields) -> str:
    too_far = "too far from the landing position to stop the motors"
    return "" if response.get("success") else too_far


def _get_mode_text(response: MessageFields) -> str:
    return MODES[response["mode"]["mode"]]


def _takeoff_text(response: MessageFields) -> str:
    return f"{response['residual']:.2f} m from the commanded position"


UAV_GAZEBO_INTERFACES: dict[str, UavGazeboInterface] = {
    "uav_gazebo_msgs/PositionYawControl": UavGazeboInterface(
        "position_yaw/command",
        (
            StandardTopic("position_yaw/pose", "geometry_msgs/PoseStamped", pose),
            StandardTopic(
                "position_yaw/trajectory_point",
                "trajectory_msgs/MultiDOFJointTrajectoryPoint",
                trajectory_point,
            ),
        ),
    ),
    "uav_gazebo_msgs/VelocityYawRateControl": UavGazeboInterface(
        "velocity_yawrate/command",
        (
            StandardTopic("velocity_yawrate/twist", "geometry_msgs/TwistStamped", twist_stamped),
            StandardTopic("cmd_vel", "geometry_msgs/Twist", twist),
        ),
    ),
    "uav_gazebo_msgs/ThrustAttitudeControl": UavGazeboInterface(
        "thrust_attitude/command",
        (
            StandardTopic(
                "thrust_attitude/state", "sensor_msgs/MultiDOFJointState", thrust_attitude
            ),
        ),
    ),
    "uav_gazebo_msgs/ThrustVelocityControl": UavGazeboInterface(
        "thrust_velocity/command",
        (
            StandardTopic(
                "thrust_velocity/state", "sensor_msgs/MultiDOFJointState", thrust_velocity
            ),
        ),
    ),
    "uav_gazebo_msgs/ThrustTorqueControl": UavGazeboInterface(
        "thrust_torque/command",
        (StandardTopic("thrust_torque/wrench", "geometry_msgs/WrenchStamped", wrench),),
    ),
    "uav_gazebo_msgs/ControlMode": UavGazeboInterface(
        "switch_mode", (StandardTopic("switch_mode/number", "std_msgs/UInt8", mode_number),)
    ),
    "uav_gazebo_msgs/SwitchMode": UavGazeboInterface(
        "switch_mode",
        services=tuple(
            StandardService(
                f"switch_mode/{name}", SwitchMode(ControlMode(number)), _switch_mode_text
            )
            for number, name in enumerate(MODES)
        ),
    ),
    "uav_gazebo_msgs/GetMode": UavGazeboInterface(
        "get_mode", services=(StandardService("get_mode/trigger", GetMode(), _get_mode_text),)
    ),
    "uav_gazebo_msgs/Takeoff": UavGazeboInterface(
        "takeoff", services=(StandardService("takeoff/trigger", TakeoffRequest(), _takeoff_text),)
    ),
    "uav_gazebo_msgs/Land": UavGazeboInterface(
        "land", services=(StandardService("land/trigger", LandRequest(), _land_text),)
    ),
}


def namespace_of(name: str, type_name: str) -> str | None:
    """Return the namespace of a topic or service of uav_gazebo: "/drone" for "/drone/takeoff"."""
    interface = UAV_GAZEBO_INTERFACES.get(type_name)
    if interface is None or not name.endswith(f"/{interface.name}"):
        return None
    return name.removesuffix(f"/{interface.name}")


def trigger_response(service: StandardService, response: MessageFields) -> PlainMessage:
    """Convert a response of uav_gazebo's service to one of std_srvs/Trigger."""
    if isinstance(response, RefusedResponse):
        return {"success": False, "message": response.reason}
    if not response:
        return {"success": False, "message": "replaced by another command"}
    success = bool(response.get("success", "mode" in response))
    return {"success": success, "message": service.text(response)}
