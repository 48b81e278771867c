"""Node that stands in for the simulator, with topics, services and gains.

It publishes received commands and changes of gains on /received, as JSON.
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
STATIC_TRANSFORM = {
    "header": header("drone"),
    "child_frame_id": "drone/lidar",
    "transform": {"translation": {"z": 0.5}, "rotation": {"w": 1.0}},
}


def main():
    before = signal.getsignal(signal.SIGINT), list(logging.getLogger().handlers)
    node = Ros1Node()
    after = signal.getsignal(signal.SIGINT), list(logging.getLogger().handlers)
    report = node.create_publisher("/received", "std_msgs/String")
    odometry = node.create_publisher("/drone/odometry", "nav_msgs/Odometry")
    transforms = node.create_transform_broadcaster()
    node.create_transform_broadcaster(static=True)([STATIC_TRANSFORM])
    latched = node.create_publisher("/latched", "std_msgs/String", latched=True)
    latched({"data": json.dumps({"untouched": before == after})})

    def on_command(command):
        report({"data": json.dumps({"x": command.position.x, "yaw": command.yaw})})

    def on_change(values):
        report({"data": json.dumps(values)})
        # it accepts no gain above 5
        return {name: value for name, value in values.items() if value <= 5.0}

    def take_off(request):
        time.sleep(request.takeoff_time)
        return {"success": True, "residual": request.height}

    topic = "/drone/position_yaw/command"
    node.create_subscription(topic, "uav_gazebo_msgs/PositionYawControl", on_command)
    node.create_service("/drone/takeoff", "uav_gazebo_msgs/Takeoff", take_off)
    node.create_service(
        "/drone/switch_mode",
        "uav_gazebo_msgs/SwitchMode",
        lambda request: {"success": request.mode.mode <= request.mode.THRUST_TORQUE},
    )
    node.create_service("/gazebo/set_model_state", "gazebo_msgs/SetModelState", set_model_state)
    for namespace in ("/drone/gains", "/other/gains", "/fleet/third/control"):
        node.create_gain_server(namespace, GAINS, on_change)
    node.info("it is 100 % ready")
    node.warn("it has warned")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not node.stopped.is_set():
        odometry(ODOMETRY)
        transforms([TRANSFORM])
        node.stopped.wait(PERIOD_S)
    odometry(ODOMETRY)
    sys.stdout.write("stopped\n")


def set_model_state(request):
    state = request.model_state
    return {"success": True, "status_message": f"{state.model_name} {state.pose.position.z:g}"}


if __name__ == "__main__":
    main()
