"""Fake drone on a Ros2Node, run by test_ros2_node in an environment with ROS 2.

With the first argument "without", the messages of uav_gazebo appear not to be installed.
"""

import json
import os
import sys
import threading
import time

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros2.node import Ros2Node
from kittiwake.core.errors import RosError

COMMANDS = {
    "position_yaw": "PositionYawControl",
    "velocity_yawrate": "VelocityYawRateControl",
    "thrust_attitude": "ThrustAttitudeControl",
    "thrust_velocity": "ThrustVelocityControl",
    "thrust_torque": "ThrustTorqueControl",
}
COVARIANCE = [0.5 * k for k in range(36)]


def odometry(k):
    return {
        "header": {"stamp": k * 20_000_000, "frame_id": "world"},
        "child_frame_id": "drone",
        "pose": {"pose": {"position": {"x": k, "y": 2.0}}, "covariance": COVARIANCE},
        "twist": {"twist": {"linear": {"z": -1.5}}},
    }


def transform(child):
    placement = {"translation": {"z": 3.0}, "rotation": {"z": 1.0, "w": 0.0}}
    return {"header": {"frame_id": "world"}, "child_frame_id": child, "transform": placement}


def as_data(message):
    """Return a received command, of either type, as nested mappings."""
    if hasattr(message, "get_fields_and_field_types"):
        names = message.get_fields_and_field_types()
    elif hasattr(message, "_fields"):
        names = message._fields
    else:
        return message
    return {name: as_data(getattr(message, name)) for name in names}


def takeoff(request):
    time.sleep(2.0)
    return {"success": True, "residual": 0.25 * request.height}


def fail(request):
    message = "unexpected error"
    raise ZeroDivisionError(message)


def set_gains(requested):
    if requested.get("Wp", 0.0) > 8.0:
        message = "Wp would be too fast"
        raise RosError(message)
    return requested


def main():
    if sys.argv[1] == "without":
        sys.modules["uav_gazebo_msgs"] = None
    node = Ros2Node()
    publish_received = node.create_publisher("/received", "std_msgs/String")

    def report(topic, message):
        publish_received({"data": json.dumps({topic: as_data(message)})})

    for mode, kind in COMMANDS.items():
        node.create_subscription(
            f"/drone/{mode}/command",
            f"uav_gazebo_msgs/{kind}",
            lambda m, mode=mode: report(mode, m),
        )
    node.create_subscription(
        "/drone/switch_mode", "uav_gazebo_msgs/ControlMode", lambda m: report("switch_mode", m)
    )
    node.create_subscription("/fail", "std_msgs/UInt8", fail)
    node.create_service("/drone/takeoff", "uav_gazebo_msgs/Takeoff", takeoff)
    node.create_service(
        "/drone/get_mode", "uav_gazebo_msgs/GetMode", lambda _: {"mode": {"mode": 2}}
    )
    node.create_service(
        "/drone/switch_mode",
        "uav_gazebo_msgs/SwitchMode",
        lambda request: {"success": request.mode.mode < 6},
    )
    node.create_service("/gazebo/pause_physics", "std_srvs/Empty", lambda _: {})
    node.create_service("/fail", "std_srvs/Trigger", fail)
    node.create_service(
        "/gazebo/set_model_state",
        "gazebo_msgs/SetModelState",
        lambda request: {"success": True, "status_message": request.model_state.model_name},
    )
    gains = [
        Gain("Wp", 0.5, 0.0, 10.0, "natural frequency of the position"),
        Gain("Xp", 1.0, 0.0, 5.0, "damping of the position"),
    ]
    node.create_gain_server("/drone/gains", gains, set_gains)
    node.create_publisher("/latched", "std_msgs/String", latched=True)({"data": "hello"})
    publish_odometry = node.create_publisher("/drone/odometry", "nav_msgs/Odometry")
    publish_transforms = node.create_transform_broadcaster()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    prefixes = ("ROS_", "FAST")
    variables = {name: value for name, value in os.environ.items() if name.startswith(prefixes)}
    print(json.dumps(variables), flush=True)
    k = 0
    while not ended.wait(0.02):
        publish_odometry(odometry(k))
        publish_transforms([transform("drone"), transform("drone/camera")])
        k += 1
    node.close()
    publish_odometry(odometry(k))
    node.close()
    print("closed", flush=True)


if __name__ == "__main__":
    main()
