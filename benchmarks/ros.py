"""Delay of odometry from ten drones at 200 Hz, and latency from a command to its effect in it.

Run as ``python benchmarks/ros.py --ros1``, which starts a master as well, or in the environment of
ROS 2 as ``python benchmarks/ros.py --ros2``. One process serves the drones; a plain rospy or rclpy
node in another process subscribes to all of them. The delay of a message is its time from stamp to
reception, minus that of the fastest message.
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
WEIGHT_N, THRUST_STEP_N = 9.81, 1.0
# change of the upward velocity within one physics step of an unbalanced newton
VISIBLE_CHANGE_MPS = 5e-4
POSITION_MODE, TORQUE_MODE = 1, 5
START_TIMEOUT_S, CLIMB_S = 180.0, 14.0


def main() -> None:
    """Print the share of late messages and the latency of commands."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--ros1", dest="version", action="store_const", const="ros1")
    which.add_argument("--ros2", dest="version", action="store_const", const="ros2")
    parser.add_argument("--drones", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--listen", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.listen:
        print(json.dumps(listen(options.version, options.drones, options.seconds)))
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.version == "ros1":
            stack.enter_context(master(folder))
        else:
            os.environ |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": "77"}
        server = serve_command(options.version, options.drones, folder / "run")
        stack.enter_context(running(*server))
        command = (sys.executable, __file__, "--listen", f"--{options.version}")
        command = (*command, "--drones", str(options.drones), "--seconds", str(options.seconds))
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    report(options.drones, json.loads(done.stdout.splitlines()[-1]))


@contextmanager
def master(folder: Path) -> Generator[None]:
    """Run a ROS 1 master on a free port, and set the environment for its nodes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    uri = f"http://127.0.0.1:{port}"
    os.environ |= {"ROS_MASTER_URI": uri, "ROS_IP": "127.0.0.1", "ROS_HOME": str(folder)}
    with running("/usr/bin/roscore", "-p", str(port)):
        time.sleep(5.0)
        yield


def serve_command(version: str, drones: int, out: Path) -> list[str]:
    """Return the command that serves the drones."""
    items = [f"vehicles.drone.count={drones}", "vehicles.drone.spacing_m=[0, 3, 0]"]
    options = [part for item in items for part in ("--set", item)]
    command = [sys.executable, "-m", "kittiwake", "serve", "ros-drone", f"--{version}", "--quiet"]
    return [*command, *options, "--out", str(out)]


@contextmanager
def running(*command: str) -> Generator[None]:
    """Run a process without output, with the system's programs first on its path."""
    environment = os.environ | {"PATH": f"/usr/bin:{os.environ['PATH']}"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


class Ros1Peer:
    """Plain rospy node."""

    message = staticmethod(definitions.message_class)

    def __init__(self) -> None:
        self._rospy = library1("rospy")
        self._rospy.init_node("listener", anonymous=True, disable_signals=True)

    def topics(self) -> list[str]:
        """Return all published topics."""
        return [topic for topic, _ in self._rospy.get_published_topics()]

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Any], None]
    ) -> None:
        """Subscribe to a topic."""
        self._rospy.Subscriber(
            topic, self.message(type_name), callback, queue_size=1000, tcp_nodelay=True
        )

    def create_publisher(self, topic: str, type_name: str) -> Callable[[Any], None]:
        """Return a function that publishes messages."""
        return self._rospy.Publisher(
            topic, self.message(type_name), queue_size=1, tcp_nodelay=True
        ).publish

    def close(self) -> None:
        """Shut the node down."""
        self._rospy.signal_shutdown("the benchmark is done")


class Ros2Peer:
    """Plain rclpy node."""

    message = staticmethod(ros2.message_class)

    def __init__(self) -> None:
        rclpy = library2("rclpy")
        rclpy.init()
        self._node = rclpy.create_node("listener")
        self._executor = library2("rclpy.experimental.events_executor").EventsExecutor()
        self._executor.add_node(self._node)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def topics(self) -> list[str]:
        """Return all topics with a publisher or subscriber."""
        return [topic for topic, _ in self._node.get_topic_names_and_types()]

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Any], None]
    ) -> None:
        """Subscribe to a topic."""
        self._node.create_subscription(self.message(type_name), topic, callback, 1000)

    def create_publisher(self, topic: str, type_name: str) -> Callable[[Any], None]:
        """Return a function that publishes messages."""
        return self._node.create_publisher(self.message(type_name), topic, 10).publish

    def close(self) -> None:
        """Shut the node down."""
        self._stopped.set()
        self._thread.join()
        self._executor.shutdown()
        library2("rclpy").shutdown()

    def _spin(self) -> None:
        while not self._stopped.is_set():
            self._executor.spin_once(0.1)


def listen(version: str, drones: int, seconds: float) -> dict[str, Any]:
    """Return the delays of messages and the latencies of commands; runs in its own process."""
    peer = Ros1Peer() if version == "ros1" else Ros2Peer()
    try:
        return measure(peer, version, drones, seconds)
    finally:
        peer.close()


def measure(peer: Ros1Peer | Ros2Peer, version: str, drones: int, seconds: float) -> dict[str, Any]:
    """Return the delays of messages and the latencies of commands."""
    names = wait_for_drones(peer, drones)
    transit_s: dict[str, list[float]] = {name: [] for name in names}
    speeds: dict[str, float] = {}

    def recorder(name: str) -> Callable[[Any], None]:
        def on_odometry(message: Any) -> None:
            stamp = message.header.stamp
            sent_s = stamp.to_sec() if version == "ros1" else stamp.sec + 1e-9 * stamp.nanosec
            transit_s[name].append(time.time() - sent_s)
            speeds[name] = message.twist.twist.linear.z

        return on_odometry

    for name in names:
        peer.create_subscription(f"/{name}/odometry", "nav_msgs/Odometry", recorder(name))
    end_s = time.monotonic() + START_TIMEOUT_S
    while len(speeds) < drones and time.monotonic() < end_s:
        time.sleep(0.1)
    time.sleep(3.0)
    for times in transit_s.values():
        times.clear()
    time.sleep(seconds)
    recorded = {name: list(times) for name, times in transit_s.items()}
    fastest = min(min(times) for times in recorded.values())
    delays = [one - fastest for times in recorded.values() for one in times]
    return {"late_s": delays, "latency_s": latencies(peer, names[0], speeds)}


def wait_for_drones(peer: Ros1Peer | Ros2Peer, drones: int) -> list[str]:
    """Wait for all drones, and return their names."""
    end_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end_s:
        parts = [topic.split("/") for topic in peer.topics()]
        names = sorted({part[1] for part in parts if len(part) == 3 and part[2] == "odometry"})
        if len(names) == drones:
            return names
        time.sleep(0.5)
    message = f"{drones} drones are not available after {START_TIMEOUT_S:g} s"
    raise SystemExit(message)


def latencies(peer: Ros1Peer | Ros2Peer, name: str, speeds: dict[str, float]) -> list[float]:
    """Return the times from changes of thrust to their effects in the odometry."""
    mode_type = peer.message("uav_gazebo_msgs/ControlMode")
    switch = peer.create_publisher(f"/{name}/switch_mode", "uav_gazebo_msgs/ControlMode")
    position_type = peer.message("uav_gazebo_msgs/PositionYawControl")
    topic = f"/{name}/position_yaw/command"
    command_position = peer.create_publisher(topic, "uav_gazebo_msgs/PositionYawControl")
    thrust_type = peer.message("uav_gazebo_msgs/ThrustTorqueControl")
    topic = f"/{name}/thrust_torque/command"
    command_thrust = peer.create_publisher(topic, "uav_gazebo_msgs/ThrustTorqueControl")
    time.sleep(1.0)
    hover = position_type()
    hover.position.z = 5.0
    command_position(hover)
    command_thrust(thrust_type(thrust=WEIGHT_N))
    switch(mode_type(mode=POSITION_MODE))
    time.sleep(CLIMB_S)
    switch(mode_type(mode=TORQUE_MODE))
    time.sleep(0.5)
    found = []
    for number in range(100):
        time.sleep(0.05 + 0.003 * (number % 7))
        before, start_s = speeds[name], time.perf_counter()
        step_n = THRUST_STEP_N * (1.0 if number % 2 else -1.0)
        command_thrust(thrust_type(thrust=WEIGHT_N + step_n))
        while (
            abs(speeds[name] - before) < VISIBLE_CHANGE_MPS and time.perf_counter() - start_s < 1.0
        ):
            time.sleep(1e-4)
        found.append(time.perf_counter() - start_s)
        command_thrust(thrust_type(thrust=WEIGHT_N))
    return found


def report(drones: int, found: dict[str, list[float]]) -> None:
    """Print the measurements."""
    delay, latency = np.array(found["late_s"]), np.array(found["latency_s"])
    share = np.mean(delay > LATE_S)
    print(f"{drones} drones, {len(delay)} odometry messages")
    print(f"delayed by more than {1e3 * LATE_S:g} ms: {share:.2%}")
    print(
        "delay, median and 99 %: {:.2f} ms, {:.2f} ms".format(
            *1e3 * np.quantile(delay, [0.5, 0.99])
        )
    )
    print(
        "command to odometry, median and 99 %: {:.2f} ms, {:.2f} ms".format(
            *1e3 * np.quantile(latency, [0.5, 0.99])
        )
    )


if __name__ == "__main__":
    main()
