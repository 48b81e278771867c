"""Sends a drone round a circle, looking ahead: place and velocity, 100 times a second.

Its time is that of /clock where a simulator tells it, so that the circle takes as long in a flight
that goes slower or faster than the clock on the wall.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from math import cos, sin
from typing import Any, NamedTuple

from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.program import run

PERIOD_S = 0.01


class Circle(NamedTuple):
    """A circle about the z axis of the world.

    Attributes:
        radius_m: of it.
        height_m: above the origin.
        rate_radps: how fast it is flown, to the left if positive.
        leads: whether the acceleration is told as well, so that the drone does not fall behind.
    """

    radius_m: float = 1.0
    height_m: float = 1.0
    rate_radps: float = 1.0
    leads: bool = False

    def command(self, time_s: float) -> dict[str, Any]:
        """Where to be at a time, as a plain uav_gazebo_msgs/PositionYawControl."""
        rate, angle = self.rate_radps, self.rate_radps * time_s
        x, y = self.radius_m * cos(angle), self.radius_m * sin(angle)
        acceleration = {"x": -rate * rate * x, "y": -rate * rate * y} if self.leads else {}
        return {
            "position": {"x": x, "y": y, "z": self.height_m},
            "velocity": {"x": -rate * y, "y": rate * x},
            "acceleration": acceleration,
            "yaw": angle,
            "yaw_rate": rate,
        }


def fly(node: RosNode, options: Namespace) -> None:
    """Sends commands until the node leaves."""
    circle = Circle(options.radius, options.height, options.rate, options.acceleration)
    topic = f"/{options.namespace.strip('/')}/position_yaw/command"
    send = node.publisher(topic, "uav_gazebo_msgs/PositionYawControl")
    now_s = _clock(node)
    while not node.left.wait(PERIOD_S):
        send(circle.command(now_s()))


def _clock(node: RosNode) -> Callable[[], float]:
    """The simulator's time where there is any, else that of the wall; from nought."""
    first_s: float | None = None
    latest_s = 0.0
    began_s = time.monotonic()

    def heard(message: Any) -> None:
        nonlocal first_s, latest_s
        latest_s = _seconds(message.clock)
        first_s = latest_s if first_s is None else first_s

    node.subscribe("/clock", "rosgraph_msgs/Clock", heard)
    return lambda: time.monotonic() - began_s if first_s is None else latest_s - first_s


def _seconds(stamp: Any) -> float:
    """Of a time of ROS 1 or of ROS 2."""
    if hasattr(stamp, "nsecs"):
        return stamp.secs + 1e-9 * stamp.nsecs
    return stamp.sec + 1e-9 * stamp.nanosec


def _parser() -> ArgumentParser:
    usual = Circle()
    parser = ArgumentParser("example_control", description="Sends a drone round a circle.")
    parser.add_argument("--namespace", default="drone", metavar="NS", help="of the drone: drone")
    parser.add_argument("--radius", type=float, default=usual.radius_m, metavar="M", help="1 m")
    parser.add_argument("--height", type=float, default=usual.height_m, metavar="M", help="1 m")
    parser.add_argument("--rate", type=float, default=usual.rate_radps, help="1 rad/s")
    parser.add_argument("--acceleration", action="store_true", help="send the acceleration, too")
    return parser


if __name__ == "__main__":
    sys.exit(run(_parser(), fly))
