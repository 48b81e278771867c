"""Commands and services on standard messages, for ROS 2 nodes without uav_gazebo_msgs.

| original, in a drone's namespace | standard | as |
|---|---|---|
| position_yaw/command | position_yaw/pose | geometry_msgs/PoseStamped: place, and heading |
| | position_yaw/trajectory_point | trajectory_msgs/MultiDOFJointTrajectoryPoint: its first |
| velocity_yawrate/command | velocity_yawrate/twist | geometry_msgs/TwistStamped: linear, about z |
| | cmd_vel | geometry_msgs/Twist, in the axes of the body |
| thrust_attitude/command | thrust_attitude/state | sensor_msgs/MultiDOFJointState: see below |
| thrust_velocity/command | thrust_velocity/state | sensor_msgs/MultiDOFJointState: see below |
| thrust_torque/command | thrust_torque/wrench | geometry_msgs/WrenchStamped: force.z, torque |
| switch_mode, a topic | switch_mode/number | std_msgs/UInt8 |
| switch_mode, a service | switch_mode/inactive, .../position_yaw and so on | std_srvs/Trigger |
| get_mode | get_mode/trigger | std_srvs/Trigger, which answers by the name |
| takeoff, land | takeoff/trigger, land/trigger | std_srvs/Trigger, with defaults of ``original`` |

A MultiDOFJointState holds one joint: its wrench has the thrust as force.z; its transform the
attitude, which only the mode of that name takes; its twist, which may be left out, the angular
velocity. A force in x or y cannot be had and is refused. Vectors are in the axes of the world (the
frame "world", or none named); only a twist may be in those of the body (named as the drone is, or
base_link). What the standard message has no field for is zero.

``read`` functions give objects with the fields of uav_gazebo's own messages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kittiwake.adapters.ros.node import RefusedResponse
from kittiwake.adapters.ros.ros2.orientations import heading_rad, rates_of, xyz_angles
from kittiwake.adapters.ros.ros2.original import (
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
    """What messages may call the axes of the world and of a drone's body."""

    world: str = "world"
    body: str = ""

    def is_body(self, frame: str) -> bool:
        """Whether the frame is that of the body.

        Raises:
            RosError: if it is that of the world neither.
        """
        name = frame.strip("/")
        if name in {"", self.world}:
            return False
        bodies = (self.body, BODY_FRAME, f"{self.body}/{BODY_FRAME}")
        if name not in bodies:
            message = f"the frame '{frame}' is not known; write {self.world}, or one of "
            raise RosError(message + ", ".join(dict.fromkeys(filter(None, bodies))))
        return True


Reader: TypeAlias = Callable[[Any, Frames], Any]


class StandardTopic(NamedTuple):
    """A topic in a drone's namespace, and how its messages are read."""

    name: str
    kind: str
    read: Reader


class StandardService(NamedTuple):
    """A std_srvs/Trigger in a drone's namespace, what it asks for, and what is answered."""

    name: str
    request: Any
    words: Callable[[Mapping[str, Any]], str]


class Original(NamedTuple):
    """Where the original's messages or services of one kind are, and what may stand for them."""

    name: str
    topics: Sequence[StandardTopic] = ()
    services: Sequence[StandardService] = ()


def pose(message: Any, frames: Frames) -> PositionYawControl:
    """Reads geometry_msgs/PoseStamped."""
    _in_world(message.header.frame_id, frames)
    return PositionYawControl(_vector(message.pose.position), heading_rad(message.pose.orientation))


def trajectory_point(message: Any, frames: Frames) -> PositionYawControl:
    """Reads the first of trajectory_msgs/MultiDOFJointTrajectoryPoint; it names no frame."""
    del frames
    transform = _only(message.transforms, "transforms")
    twist = _one_at_most(message.velocities, "velocities")
    change = _one_at_most(message.accelerations, "accelerations")
    return PositionYawControl(
        _vector(transform.translation),
        heading_rad(transform.rotation),
        Vector() if twist is None else _vector(twist.linear),
        Vector() if change is None else _vector(change.linear),
        0.0 if twist is None else twist.angular.z,
    )


def twist_stamped(message: Any, frames: Frames) -> VelocityYawRateControl:
    """Reads geometry_msgs/TwistStamped."""
    in_body = frames.is_body(message.header.frame_id)
    return VelocityYawRateControl(_vector(message.twist.linear), message.twist.angular.z, in_body)


def twist(message: Any, frames: Frames) -> VelocityYawRateControl:
    """Reads geometry_msgs/Twist, which drivers of robots give in the axes of the body."""
    del frames
    return VelocityYawRateControl(_vector(message.linear), message.angular.z, body_frame=True)


def thrust_attitude(message: Any, frames: Frames) -> ThrustAttitudeControl:
    """Reads sensor_msgs/MultiDOFJointState."""
    _in_world(message.header.frame_id, frames)
    thrust = _thrust_n(_only(message.wrench, "wrench").force)
    angles = xyz_angles(_only(message.transforms, "transforms").rotation)
    spin = _one_at_most(message.twist, "twist")
    rates = Vector() if spin is None else rates_of(angles, spin.angular)
    return ThrustAttitudeControl(thrust, angles, rates)


def thrust_velocity(message: Any, frames: Frames) -> ThrustVelocityControl:
    """Reads sensor_msgs/MultiDOFJointState."""
    _in_world(message.header.frame_id, frames)
    thrust = _thrust_n(_only(message.wrench, "wrench").force)
    return ThrustVelocityControl(thrust, _vector(_only(message.twist, "twist").angular))


def wrench(message: Any, frames: Frames) -> ThrustTorqueControl:
    """Reads geometry_msgs/WrenchStamped."""
    _in_world(message.header.frame_id, frames)
    return ThrustTorqueControl(_thrust_n(message.wrench.force), _vector(message.wrench.torque))


def mode_number(message: Any, frames: Frames) -> ControlMode:
    """Reads std_msgs/UInt8."""
    del frames
    return ControlMode(message.data)


def _in_world(frame: str, frames: Frames) -> None:
    if frames.is_body(frame):
        message = f"the frame '{frame}' is that of the body; these vectors are in {frames.world}"
        raise RosError(message)


def _vector(given: Any) -> Vector:
    return Vector(given.x, given.y, given.z)


def _thrust_n(force: Any) -> float:
    if force.x != 0.0 or force.y != 0.0:
        message = (
            f"a force of ({force.x:g}, {force.y:g}) N to the sides cannot be had; write (0, 0)"
        )
        raise RosError(message)
    return force.z


def _only(items: Sequence[Any], name: str) -> Any:
    if len(items) != 1:
        message = f"{name} has {len(items)} entries; write one"
        raise RosError(message)
    return items[0]


def _one_at_most(items: Sequence[Any], name: str) -> Any:
    return _only(items, name) if len(items) else None


def _switched(_: Mapping[str, Any]) -> str:
    return ""


def _landed(response: Mapping[str, Any]) -> str:
    far = "too far from where it should be to switch its motors off"
    return "" if response.get("success") else far


def _mode_name(response: Mapping[str, Any]) -> str:
    return MODES[response["mode"]["mode"]]


def _risen(response: Mapping[str, Any]) -> str:
    return f"{response['residual']:.2f} m from where it should be"


ORIGINALS: dict[str, Original] = {
    "uav_gazebo_msgs/PositionYawControl": Original(
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
    "uav_gazebo_msgs/VelocityYawRateControl": Original(
        "velocity_yawrate/command",
        (
            StandardTopic("velocity_yawrate/twist", "geometry_msgs/TwistStamped", twist_stamped),
            StandardTopic("cmd_vel", "geometry_msgs/Twist", twist),
        ),
    ),
    "uav_gazebo_msgs/ThrustAttitudeControl": Original(
        "thrust_attitude/command",
        (
            StandardTopic(
                "thrust_attitude/state", "sensor_msgs/MultiDOFJointState", thrust_attitude
            ),
        ),
    ),
    "uav_gazebo_msgs/ThrustVelocityControl": Original(
        "thrust_velocity/command",
        (
            StandardTopic(
                "thrust_velocity/state", "sensor_msgs/MultiDOFJointState", thrust_velocity
            ),
        ),
    ),
    "uav_gazebo_msgs/ThrustTorqueControl": Original(
        "thrust_torque/command",
        (StandardTopic("thrust_torque/wrench", "geometry_msgs/WrenchStamped", wrench),),
    ),
    "uav_gazebo_msgs/ControlMode": Original(
        "switch_mode", (StandardTopic("switch_mode/number", "std_msgs/UInt8", mode_number),)
    ),
    "uav_gazebo_msgs/SwitchMode": Original(
        "switch_mode",
        services=tuple(
            StandardService(f"switch_mode/{name}", SwitchMode(ControlMode(number)), _switched)
            for number, name in enumerate(MODES)
        ),
    ),
    "uav_gazebo_msgs/GetMode": Original(
        "get_mode", services=(StandardService("get_mode/trigger", GetMode(), _mode_name),)
    ),
    "uav_gazebo_msgs/Takeoff": Original(
        "takeoff", services=(StandardService("takeoff/trigger", TakeoffRequest(), _risen),)
    ),
    "uav_gazebo_msgs/Land": Original(
        "land", services=(StandardService("land/trigger", LandRequest(), _landed),)
    ),
}


def namespace_of(name: str, kind: str) -> str | None:
    """The namespace of a topic or service of uav_gazebo's: "/drone" for "/drone/takeoff"."""
    original = ORIGINALS.get(kind)
    if original is None or not name.endswith(f"/{original.name}"):
        return None
    return name.removesuffix(f"/{original.name}")


def trigger_response(service: StandardService, response: Mapping[str, Any]) -> dict[str, Any]:
    """A response of the original as one of std_srvs/Trigger."""
    if isinstance(response, RefusedResponse):
        return {"success": False, "message": response.reason}
    if not response:
        return {"success": False, "message": "another order came between"}
    done = bool(response.get("success", "mode" in response))
    return {"success": done, "message": service.words(response)}
