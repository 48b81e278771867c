"""Example node that commands a circle, facing outwards: position and velocity at 100 Hz.

It uses the time of /clock if a simulator publishes it, so that the circle takes the same simulation
time at any real-time factor.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from math import cos, sin
from typing import NamedTuple

from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.messages.plain import PlainMessage
from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.program import run

PERIOD_S = 0.01


class CommandedCircle(NamedTuple):
    """Circle about the z axis of the world.

    Attributes:
        radius_m: the radius.
        height_m: above the origin.
        rate_radps: angular rate, counterclockwise if positive.
        feed_forward: if True, the acceleration is sent as well, so that the drone does not lag.
    """

    radius_m: float = 1.0
    height_m: float = 1.0
    rate_radps: float = 1.0
    feed_forward: bool = False

    def command(self, time_s: float) -> PlainMessage:
        """Return the plain uav_gazebo_msgs/PositionYawControl for a time."""
        rate, angle = self.rate_radps, self.rate_radps * time_s
        x, y = self.radius_m * cos(angle), self.radius_m * sin(angle)
        acceleration = {"x": -rate * rate * x, "y": -rate * rate * y} if self.feed_forward else {}
        return {
            "position": {"x": x, "y": y, "z": self.height_m},
            "velocity": {"x": -rate * y, "y": rate * x},
            "acceleration": acceleration,
            "yaw": angle,
            "yaw_rate": rate,
        }


def fly(node: RosNode, options: Namespace) -> None:
    """Send commands until the node is shut down."""
    circle = CommandedCircle(options.radius, options.height, options.rate, options.acceleration)
    topic = f"/{options.namespace.strip('/')}/position_yaw/command"
    publish = node.create_publisher(topic, "uav_gazebo_msgs/PositionYawControl")
    now_s = _clock(node)
    while not node.stopped.wait(PERIOD_S):
        publish(circle.command(now_s()))


def _clock(node: RosNode) -> Callable[[], float]:
    """Return a clock that starts at 0: simulation time if it is published, else wall time."""
    first_s: float | None = None
    latest_s = 0.0
    start_s = time.monotonic()

    def on_clock(message: Message) -> None:
        nonlocal first_s, latest_s
        latest_s = _seconds(message.clock)
        first_s = latest_s if first_s is None else first_s

    node.create_subscription("/clock", "rosgraph_msgs/Clock", on_clock)
    return lambda: time.monotonic() - start_s if first_s is None else latest_s - first_s


def _seconds(stamp: Message) -> float:
    """Return a time of ROS 1 or ROS 2 in seconds."""
    if hasattr(stamp, "nsecs"):
        return stamp.secs + 1e-9 * stamp.nsecs
    return stamp.sec + 1e-9 * stamp.nanosec


def _parser() -> ArgumentParser:
    default = CommandedCircle()
    parser = ArgumentParser("example_control", description="Fly a drone on a circle.")
    parser.add_argument("--namespace", default="drone", metavar="NS", help="default: drone")
    parser.add_argument("--radius", type=float, default=default.radius_m, metavar="M", help="1 m")
    parser.add_argument("--height", type=float, default=default.height_m, metavar="M", help="1 m")
    parser.add_argument("--rate", type=float, default=default.rate_radps, help="1 rad/s")
    parser.add_argument("--acceleration", action="store_true", help="send the acceleration as well")
    return parser


if __name__ == "__main__":
    sys.exit(run(_parser(), fly))
