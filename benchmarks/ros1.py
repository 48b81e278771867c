"""How late odometry comes from ten drones at 200 Hz, and how soon a command shows in it, in ROS 1.

Run as ``python benchmarks/ros1.py``. It starts a master, a served scenario, and a node that listens
to all drones in a process of its own. A message is late by how much longer it was on its way,
counted from its time in the simulation, than the one that was fastest.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from kittiwake.adapters.ros.ros1.definitions import message_class, service_class
from kittiwake.adapters.ros.ros1.library import library

LATE_S = 0.005
WEIGHT_N, MORE_N = 9.81, 1.0
# of the upward velocity, which an unbalanced newton gives within a physics step
SHOWS_MPS = 5e-4


def main() -> None:
    """Prints the share of late messages and the latency of commands."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--drones", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--listen", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.listen:
        print(json.dumps(listen(given.drones, given.seconds)))
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    os.environ |= {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROS_HOME"] = folder
        core = begun("/usr/bin/roscore", "-p", str(port))
        time.sleep(5.0)
        served = begun(*serving(given.drones, Path(folder) / "run"))
        try:
            command = (sys.executable, __file__, "--listen", "--drones", str(given.drones))
            answer = subprocess.run(
                [*command, "--seconds", str(given.seconds)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        finally:
            for process in (served, core):
                process.send_signal(signal.SIGINT)
                process.wait(30)
    told(given.drones, json.loads(answer.stdout.splitlines()[-1]))


def serving(drones: int, out: Path) -> list[str]:
    """The command that serves them."""
    items = [f"vehicles.drone.count={drones}", "vehicles.drone.spacing_m=[0, 3, 0]"]
    options = [part for item in items for part in ("--set", item)]
    command = [sys.executable, "-m", "kittiwake", "serve", "ros-drone", "--ros1", "--quiet"]
    return [*command, *options, "--out", str(out)]


def begun(*command: str) -> "subprocess.Popen[bytes]":
    """A process that says nothing, with the system's programs first."""
    environment = os.environ | {"PATH": f"/usr/bin:{os.environ['PATH']}"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)


def listen(drones: int, seconds: float) -> dict[str, list[float]]:
    """In a process of its own: by how much messages were late, and latencies of commands."""
    rospy = library("rospy")
    rospy.init_node("listener", anonymous=True, disable_signals=True)
    rospy.wait_for_service("/kittiwake/step", 120.0)
    topics = [topic for topic, _ in rospy.get_published_topics()]
    names = sorted(
        topic.split("/")[1]
        for topic in topics
        if topic.count("/") == 2 and topic.endswith("/odometry")
    )
    assert len(names) == drones
    ways: dict[str, list[float]] = {name: [] for name in names}
    speeds: dict[str, float] = {}

    def hear(message: object, name: str) -> None:
        way_s = time.time() - message.header.stamp.to_sec()
        ways[name].append(way_s)
        speeds[name] = message.twist.twist.linear.z

    odometry = message_class("nav_msgs/Odometry")
    for name in names:
        rospy.Subscriber(
            f"/{name}/odometry",
            odometry,
            hear,
            callback_args=name,
            queue_size=1000,
            tcp_nodelay=True,
        )
    time.sleep(3.0)
    for each in ways.values():
        each.clear()
    time.sleep(seconds)
    fastest = min(min(each) for each in ways.values())
    late = [way - fastest for each in ways.values() for way in each]
    return {"late_s": late, "latency_s": latencies(rospy, names[0], speeds)}


def latencies(rospy: object, name: str, speeds: dict[str, float]) -> list[float]:
    """From telling another thrust to an odometry that shows it, again and again."""
    kind = message_class("uav_gazebo_msgs/ThrustTorqueControl")
    switch = rospy.ServiceProxy(f"/{name}/switch_mode", service_class("uav_gazebo_msgs/SwitchMode"))
    takeoff = rospy.ServiceProxy(f"/{name}/takeoff", service_class("uav_gazebo_msgs/Takeoff"))
    command = rospy.Publisher(
        f"/{name}/thrust_torque/command", kind, queue_size=1, tcp_nodelay=True
    )
    takeoff(force_takeoff=True, height=5.0, takeoff_time=5.0, idle_time=4.0)
    command.publish(kind(thrust=WEIGHT_N))
    mode = message_class("uav_gazebo_msgs/ControlMode")
    switch(mode(5))
    found = []
    for number in range(100):
        time.sleep(0.05 + 0.003 * (number % 7))
        before, begun_s = speeds[name], time.perf_counter()
        up = 1.0 if number % 2 else -1.0
        command.publish(kind(thrust=WEIGHT_N + up * MORE_N))
        while abs(speeds[name] - before) < SHOWS_MPS and time.perf_counter() - begun_s < 1.0:
            time.sleep(1e-4)
        found.append(time.perf_counter() - begun_s)
        command.publish(kind(thrust=WEIGHT_N))
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
