"""A real roscore for a test module, and programs beside it that talk to it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xmlrpc.client import ServerProxy

import pytest

from kittiwake.adapters.ros.ros1.definitions import PACKAGES
from kittiwake.adapters.ros.ros1.library import DEBIAN_PACKAGES, DEBIAN_PYTHON, fits

ROOT = Path(__file__).parents[2]
ROSCORE = Path("/usr/bin/roscore")
GENERATORS = Path("/usr/lib/genpy")
STARTS_S = 30.0
ENDS_S = 15.0

needs_ros1 = pytest.mark.skipif(
    not (ROSCORE.exists() and (DEBIAN_PACKAGES / "rospy").is_dir() and fits()),
    reason="ROS 1 is not installed for this Python: scripts/ros1-setup",
)


class Ros1:
    """A master and what its nodes need to find it.

    Attributes:
        uri: of the master.
        folder: of logs, and of Python classes that ROS's own tools have made.
    """

    def __init__(self, port: int, folder: Path) -> None:
        self.uri = f"http://127.0.0.1:{port}"
        self.folder = folder

    def environment(self, *python_paths: Path) -> dict[str, str]:
        """Of a process that is to take part."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ROS_")}
        return kept | {
            "PATH": f"/usr/bin:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, python_paths)),
            "ROS_MASTER_URI": self.uri,
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(self.folder / "home"),
        }

    @contextmanager
    def ours(self, *arguments: object) -> Iterator[subprocess.Popen[str]]:
        """A process with this package in it, which is interrupted if it has not ended by itself."""
        with subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env=self.environment(ROOT / "src"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                end(process)

    def peer(self, code: str, within_s: float = 30.0) -> object:
        """What a node of plain rospy puts into ``answer``.

        Args:
            code: what it does; ``rospy``, the classes of messages, and ``one(topic, kind)``,
                ``said(topic, kind)`` and ``service(name, kind)`` are there.
            within_s: when it has to be done.
        """
        script = PRELUDE + code + "\nprint(json.dumps(answer))"
        said = self.tool(DEBIAN_PYTHON, "-c", script, within_s=within_s)
        return json.loads(said.splitlines()[-1])

    def tool(self, *command: object, within_s: float = 30.0) -> str:
        """What a program of ROS prints."""
        done = subprocess.run(
            list(map(str, command)),
            env=self.environment(self.folder / "classes"),
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


PRELUDE = """
import json, time, threading
import rospy
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
from std_msgs.msg import String
from uav_gazebo_msgs.msg import *
from uav_gazebo_msgs.srv import *
rospy.init_node("peer", anonymous=True, disable_signals=True)
def one(topic, kind, seconds=10.0):
    return rospy.wait_for_message(topic, kind, seconds)
def said(topic, kind):
    publisher = rospy.Publisher(topic, kind, queue_size=5, latch=True)
    end = time.time() + 10.0
    while publisher.get_num_connections() == 0 and time.time() < end:
        time.sleep(0.02)
    return publisher
def service(name, kind):
    rospy.wait_for_service(name, 10.0)
    return rospy.ServiceProxy(name, kind)
"""


@contextmanager
def running_master(folder: Path) -> Iterator[Ros1]:
    """A master on a free port, with classes of uav_gazebo_msgs made by ROS's own generators."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ros = Ros1(port, folder)
    generate(ros)
    with master_at(ros, port):
        yield ros


@contextmanager
def master_at(ros: Ros1, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A master on a port, which may be ended within."""
    with subprocess.Popen(
        [str(ROSCORE), "-p", str(port)],
        env=ros.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as core:
        try:
            _wait_for(ros, core)
            yield core
        finally:
            end(core)


def end(process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    """Interrupts a process that goes on, and kills it if that is not enough."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _wait_for(ros: Ros1, core: "subprocess.Popen[bytes]") -> None:
    end_s = time.monotonic() + STARTS_S
    while time.monotonic() < end_s:
        assert core.poll() is None, "roscore has ended"
        try:
            with ServerProxy(ros.uri) as master:
                found = master.lookupNode("/test", "/rosout")
        except OSError:
            found = [0]
        if found[0] == 1:
            return
        time.sleep(0.1)
    pytest.fail("roscore has not started")


def generate(ros: Ros1) -> None:
    """Has ROS's own generators make the classes of messages for programs beside the master."""
    ours = {name: PACKAGES / name for name in ("uav_gazebo_msgs", "gazebo_msgs")}
    theirs = {name: Path("/usr/share", name) for name in ("geometry_msgs", "std_msgs")}
    parts = [f"{name}:{folder / 'msg'}" for name, folder in (ours | theirs).items()]
    includes = [word for part in parts for word in ("-I", part)]
    for package, folder in ours.items():
        root = ros.folder / "classes" / package
        root.mkdir(parents=True)
        (root / "__init__.py").touch()
        for what in ("msg", "srv"):
            out, files = root / what, sorted((folder / what).iterdir())
            program = [DEBIAN_PYTHON, GENERATORS / f"gen{what}_py.py"]
            ros.tool(*program, "-p", package, *includes, "-o", out, *files)
            ros.tool(*program, "--initpy", "-p", package, "-o", out)
