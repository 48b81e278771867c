"""A node that stands in for the simulator: it publishes, hears, answers and has gains.

What it hears of commands and gains it tells on /heard, as JSON.
"""

import json
import logging
import signal
import sys
import time

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros1.node import Ros1Node

PERIOD_S = 0.01
STAMP_NS = 1_234_567_890_123
GAINS = [
    Gain("Wp", 0.5, 0.0, 10.0, "natural frequency of the position"),
    Gain("Xp", 1.0, 0.0, 5.0, "damping of the position"),
]


def header(frame):
    return {"stamp": STAMP_NS, "frame_id": frame}


ODOMETRY = {
    "header": header("world"),
    "child_frame_id": "drone",
    "pose": {
        "pose": {
            "position": {"x": 1.0, "y": 2.0, "z": 3.0},
            "orientation": {"x": 0.0, "y": 0.6, "z": 0.0, "w": 0.8},
        },
        "covariance": [float(place) for place in range(36)],
    },
    "twist": {"twist": {"linear": {"x": 4.0, "z": 6.0}, "angular": {"z": 0.5}}},
}
TRANSFORM = {
    "header": header("world"),
    "child_frame_id": "drone",
    "transform": {
        "translation": {"x": 1.0, "y": 2.0, "z": 3.0},
        "rotation": {"y": 0.6, "w": 0.8},
    },
}
CARRIED = {
    "header": header("drone"),
    "child_frame_id": "drone/lidar",
    "transform": {"translation": {"z": 0.5}, "rotation": {"w": 1.0}},
}


def main():
    before = signal.getsignal(signal.SIGINT), list(logging.getLogger().handlers)
    node = Ros1Node()
    after = signal.getsignal(signal.SIGINT), list(logging.getLogger().handlers)
    tell = node.publisher("/heard", "std_msgs/String")
    odometry = node.publisher("/drone/odometry", "nav_msgs/Odometry")
    transforms = node.transforms()
    node.transforms(still=True)([CARRIED])
    latched = node.publisher("/latched", "std_msgs/String", latched=True)
    latched({"data": json.dumps({"untouched": before == after})})

    def heard(command):
        tell({"data": json.dumps({"x": command.position.x, "yaw": command.yaw})})

    def changed(values):
        tell({"data": json.dumps(values)})
        # it takes no gain above 5
        return {name: value for name, value in values.items() if value <= 5.0}

    def take_off(request):
        time.sleep(request.takeoff_time)
        return {"success": True, "residual": request.height}

    node.subscribe("/drone/position_yaw/command", "uav_gazebo_msgs/PositionYawControl", heard)
    node.serve("/drone/takeoff", "uav_gazebo_msgs/Takeoff", take_off)
    node.serve(
        "/drone/switch_mode",
        "uav_gazebo_msgs/SwitchMode",
        lambda request: {"success": request.mode.mode <= request.mode.THRUST_TORQUE},
    )
    node.serve("/gazebo/set_model_state", "gazebo_msgs/SetModelState", placed)
    for place in ("/drone/gains", "/other/gains", "/fleet/third/control"):
        node.offer_gains(place, GAINS, changed)
    node.inform("it is 100 % there")
    node.warn("it has warned")
    sys.stdout.write("there\n")
    sys.stdout.flush()
    while not node.left.is_set():
        odometry(ODOMETRY)
        transforms([TRANSFORM])
        node.left.wait(PERIOD_S)
    odometry(ODOMETRY)
    sys.stdout.write("left\n")


def placed(request):
    state = request.model_state
    return {"success": True, "status_message": f"{state.model_name} {state.pose.position.z:g}"}


if __name__ == "__main__":
    main()
