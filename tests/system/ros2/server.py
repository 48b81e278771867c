"""A drone that is no drone, on a Ros2Node: run by test_ros2_node in an environment with ROS 2.

The first argument is "without" if the messages of uav_gazebo are to be as if not installed.
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
    where = {"translation": {"z": 3.0}, "rotation": {"z": 1.0, "w": 0.0}}
    return {"header": {"frame_id": "world"}, "child_frame_id": child, "transform": where}


def as_data(message):
    """What was heard, of either library, as nested mappings."""
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


def fall(request):
    message = "nobody has thought of this"
    raise ZeroDivisionError(message)


def set_gains(wanted):
    if wanted.get("Wp", 0.0) > 8.0:
        message = "Wp would be too fast"
        raise RosError(message)
    return wanted


def main():
    if sys.argv[1] == "without":
        sys.modules["uav_gazebo_msgs"] = None
    node = Ros2Node()
    heard = node.publisher("/heard", "std_msgs/String")

    def hear(topic, message):
        heard({"data": json.dumps({topic: as_data(message)})})

    for mode, kind in COMMANDS.items():
        node.subscribe(
            f"/drone/{mode}/command", f"uav_gazebo_msgs/{kind}", lambda m, mode=mode: hear(mode, m)
        )
    node.subscribe(
        "/drone/switch_mode", "uav_gazebo_msgs/ControlMode", lambda m: hear("switch_mode", m)
    )
    node.subscribe("/fall", "std_msgs/UInt8", fall)
    node.serve("/drone/takeoff", "uav_gazebo_msgs/Takeoff", takeoff)
    node.serve("/drone/get_mode", "uav_gazebo_msgs/GetMode", lambda _: {"mode": {"mode": 2}})
    node.serve(
        "/drone/switch_mode",
        "uav_gazebo_msgs/SwitchMode",
        lambda request: {"success": request.mode.mode < 6},
    )
    node.serve("/gazebo/pause_physics", "std_srvs/Empty", lambda _: {})
    node.serve("/fall", "std_srvs/Trigger", fall)
    node.serve(
        "/gazebo/set_model_state",
        "gazebo_msgs/SetModelState",
        lambda request: {"success": True, "status_message": request.model_state.model_name},
    )
    gains = [
        Gain("Wp", 0.5, 0.0, 10.0, "how fast the place is corrected"),
        Gain("Xp", 1.0, 0.0, 5.0, "how damped"),
    ]
    node.offer_gains("/drone/gains", gains, set_gains)
    node.publisher("/said_before", "std_msgs/String", latched=True)({"data": "hello"})
    fly, transforms = node.publisher("/drone/odometry", "nav_msgs/Odometry"), node.transforms()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    told = {name: value for name, value in os.environ.items() if name.startswith(("ROS_", "FAST"))}
    print(json.dumps(told), flush=True)
    k = 0
    while not ended.wait(0.02):
        fly(odometry(k))
        transforms([transform("drone"), transform("drone/camera")])
        k += 1
    node.close()
    fly(odometry(k))
    node.close()
    print("closed", flush=True)


if __name__ == "__main__":
    main()
