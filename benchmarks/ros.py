"""How late odometry comes from ten drones at 200 Hz, and how soon a command shows in it.

Run as ``python benchmarks/ros.py --ros1``, which starts a master as well, or in the environment of
ROS 2 as ``python benchmarks/ros.py --ros2``. The drones are served by one process; a node of plain
rospy or rclpy in another one listens to all of them. A message is late by how much longer it was on
its way, counted from its time in the simulation, than the one that was fastest.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kittiwake.adapters.ros.ros1 import definitions
from kittiwake.adapters.ros.ros1.library import library as library1
from kittiwake.adapters.ros.ros2 import library as ros2
from kittiwake.adapters.ros.ros2.library import library as library2

LATE_S = 0.005
WEIGHT_N, MORE_N = 9.81, 1.0
# of the upward velocity, which an unbalanced newton gives within a physics step
SHOWS_MPS = 5e-4
PLACE, TORQUE = 1, 5
STARTS_S, RISES_S = 180.0, 14.0


def main() -> None:
    """Prints the share of late messages and the latency of commands."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--ros1", dest="kind", action="store_const", const="ros1")
    which.add_argument("--ros2", dest="kind", action="store_const", const="ros2")
    parser.add_argument("--drones", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--listen", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.listen:
        print(json.dumps(listen(given.kind, given.drones, given.seconds)))
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if given.kind == "ros1":
            stack.enter_context(master(folder))
        else:
            os.environ |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": "77"}
        stack.enter_context(begun(*serving(given.kind, given.drones, folder / "run")))
        command = (sys.executable, __file__, "--listen", f"--{given.kind}")
        command = (*command, "--drones", str(given.drones), "--seconds", str(given.seconds))
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told(given.drones, json.loads(answer.stdout.splitlines()[-1]))


@contextmanager
def master(folder: Path) -> Generator[None]:
    """A master of ROS 1 on a port of its own, which others find by the environment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    uri = f"http://127.0.0.1:{port}"
    os.environ |= {"ROS_MASTER_URI": uri, "ROS_IP": "127.0.0.1", "ROS_HOME": str(folder)}
    with begun("/usr/bin/roscore", "-p", str(port)):
        time.sleep(5.0)
        yield


def serving(kind: str, drones: int, out: Path) -> list[str]:
    """The command that serves them."""
    items = [f"vehicles.drone.count={drones}", "vehicles.drone.spacing_m=[0, 3, 0]"]
    options = [part for item in items for part in ("--set", item)]
    command = [sys.executable, "-m", "kittiwake", "serve", "ros-drone", f"--{kind}", "--quiet"]
    return [*command, *options, "--out", str(out)]


@contextmanager
def begun(*command: str) -> Generator[None]:
    """A process that says nothing, with the system's programs first."""
    environment = os.environ | {"PATH": f"/usr/bin:{os.environ['PATH']}"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


class Peer1:
    """Somebody else's node of ROS 1."""

    message = staticmethod(definitions.message_class)

    def __init__(self) -> None:
        self._rospy = library1("rospy")
        self._rospy.init_node("listener", anonymous=True, disable_signals=True)

    def topics(self) -> list[str]:
        """All that somebody publishes."""
        return [topic for topic, _ in self._rospy.get_published_topics()]

    def hear(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Subscribes."""
        self._rospy.Subscriber(topic, self.message(kind), heard, queue_size=1000, tcp_nodelay=True)

    def say(self, topic: str, kind: str) -> Callable[[Any], None]:
        """What publishes."""
        return self._rospy.Publisher(
            topic, self.message(kind), queue_size=1, tcp_nodelay=True
        ).publish

    def close(self) -> None:
        """Leaves ROS."""
        self._rospy.signal_shutdown("it has heard enough")


class Peer2:
    """Somebody else's node of ROS 2."""

    message = staticmethod(ros2.message_class)

    def __init__(self) -> None:
        rclpy = library2("rclpy")
        rclpy.init()
        self._node = rclpy.create_node("listener")
        self._executor = library2("rclpy.experimental.events_executor").EventsExecutor()
        self._executor.add_node(self._node)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def topics(self) -> list[str]:
        """All that somebody publishes or hears."""
        return [topic for topic, _ in self._node.get_topic_names_and_types()]

    def hear(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Subscribes."""
        self._node.create_subscription(self.message(kind), topic, heard, 1000)

    def say(self, topic: str, kind: str) -> Callable[[Any], None]:
        """What publishes."""
        return self._node.create_publisher(self.message(kind), topic, 10).publish

    def close(self) -> None:
        """Leaves ROS."""
        self._left.set()
        self._thread.join()
        self._executor.shutdown()
        library2("rclpy").shutdown()

    def _spin(self) -> None:
        while not self._left.is_set():
            self._executor.spin_once(0.1)


def listen(kind: str, drones: int, seconds: float) -> dict[str, Any]:
    """In a process of its own: by how much messages were late, and latencies of commands."""
    peer = Peer1() if kind == "ros1" else Peer2()
    try:
        return heard_by(peer, kind, drones, seconds)
    finally:
        peer.close()


def heard_by(peer: Peer1 | Peer2, kind: str, drones: int, seconds: float) -> dict[str, Any]:
    """What ``listen`` returns, by a node that is there."""
    names = served(peer, drones)
    ways: dict[str, list[float]] = {name: [] for name in names}
    speeds: dict[str, float] = {}

    def listener(name: str) -> Callable[[Any], None]:
        def hear(message: Any) -> None:
            stamp = message.header.stamp
            sent_s = stamp.to_sec() if kind == "ros1" else stamp.sec + 1e-9 * stamp.nanosec
            ways[name].append(time.time() - sent_s)
            speeds[name] = message.twist.twist.linear.z

        return hear

    for name in names:
        peer.hear(f"/{name}/odometry", "nav_msgs/Odometry", listener(name))
    end_s = time.monotonic() + STARTS_S
    while len(speeds) < drones and time.monotonic() < end_s:
        time.sleep(0.1)
    time.sleep(3.0)
    for each in ways.values():
        each.clear()
    time.sleep(seconds)
    heard = {name: list(way) for name, way in ways.items()}
    fastest = min(min(each) for each in heard.values())
    late = [way - fastest for each in heard.values() for way in each]
    return {"late_s": late, "latency_s": latencies(peer, names[0], speeds)}


def served(peer: Peer1 | Peer2, drones: int) -> list[str]:
    """The names of all drones, once they are there."""
    end_s = time.monotonic() + STARTS_S
    while time.monotonic() < end_s:
        ends = [topic.split("/") for topic in peer.topics()]
        names = sorted({end[1] for end in ends if len(end) == 3 and end[2] == "odometry"})
        if len(names) == drones:
            return names
        time.sleep(0.5)
    message = f"{drones} drones are not there after {STARTS_S:g} s"
    raise SystemExit(message)


def latencies(peer: Peer1 | Peer2, name: str, speeds: dict[str, float]) -> list[float]:
    """From telling another thrust to an odometry that shows it, again and again."""
    switch = peer.say(f"/{name}/switch_mode", "uav_gazebo_msgs/ControlMode")
    place_kind = peer.message("uav_gazebo_msgs/PositionYawControl")
    place = peer.say(f"/{name}/position_yaw/command", "uav_gazebo_msgs/PositionYawControl")
    thrust_kind = peer.message("uav_gazebo_msgs/ThrustTorqueControl")
    thrust = peer.say(f"/{name}/thrust_torque/command", "uav_gazebo_msgs/ThrustTorqueControl")
    time.sleep(1.0)
    up = place_kind()
    up.position.z = 5.0
    place(up)
    thrust(thrust_kind(thrust=WEIGHT_N))
    mode = peer.message("uav_gazebo_msgs/ControlMode")
    switch(mode(mode=PLACE))
    time.sleep(RISES_S)
    switch(mode(mode=TORQUE))
    time.sleep(0.5)
    found = []
    for number in range(100):
        time.sleep(0.05 + 0.003 * (number % 7))
        before, begun_s = speeds[name], time.perf_counter()
        thrust(thrust_kind(thrust=WEIGHT_N + MORE_N * (1.0 if number % 2 else -1.0)))
        while abs(speeds[name] - before) < SHOWS_MPS and time.perf_counter() - begun_s < 1.0:
            time.sleep(1e-4)
        found.append(time.perf_counter() - begun_s)
        thrust(thrust_kind(thrust=WEIGHT_N))
    return found


def told(drones: int, found: dict[str, list[float]]) -> None:
    """Prints what was found."""
    late, latency = np.array(found["late_s"]), np.array(found["latency_s"])
    share = np.mean(late > LATE_S)
    print(f"{drones} drones, {len(late)} messages of odometry")
    print(f"late by more than {1e3 * LATE_S:g} ms: {share:.2%}")
    print(
        "late by, median and 99 %: {:.2f} ms, {:.2f} ms".format(
            *1e3 * np.quantile(late, [0.5, 0.99])
        )
    )
    print(
        "command to odometry, median and 99 %: {:.2f} ms, {:.2f} ms".format(
            *1e3 * np.quantile(latency, [0.5, 0.99])
        )
    )


if __name__ == "__main__":
    main()
