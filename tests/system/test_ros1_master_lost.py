"""ROS 1 node whose master dies and is replaced."""

import json
import socket
from contextlib import ExitStack

import pytest
from tests.system.ros1_master import Ros1, end, generate, master_at, needs_ros1

pytestmark = [pytest.mark.ros, needs_ros1]

NODE = """
import sys
from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros1.node import Ros1Node
node = Ros1Node("watcher")
display = node.create_gain_server("/gains", [Gain("kp", 2.0, 0.0, 5.0, "")], lambda values: values)
display({"kp": 3.0})
publish = node.create_publisher("/latched", "std_msgs/String", latched=True)
publish({"data": "still here"})
node.create_subscription(
    "/input", "std_msgs/String", lambda message: print("received", message.data, flush=True)
)
node.create_service("/trigger", "std_srvs/Trigger", lambda _: {"success": True})
node.watch_master(reconnect="reconnect" in sys.argv)
print("ready", flush=True)
print("stopped" if node.stopped.wait(60.0) else "runs", flush=True)
node.close()
"""
PEER = """
from std_srvs.srv import Trigger
answer = [receive("/latched", String).data, service("/trigger", Trigger)().success]
answer.append(rospy.get_param("/gains/kp"))
publisher("/input", String).publish("a word")
time.sleep(0.5)
"""


@pytest.fixture
def master(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return Ros1(port, tmp_path), port


@pytest.mark.slow
def test_node_stops_when_its_master_dies(master):
    ros, port = master
    with master_at(ros, port) as core, ros.ours("-c", NODE) as node:
        assert node.stdout.readline() == "ready\n"
        end(core)
        assert node.stdout.readline() == "stopped\n"
        node.wait(30.0)
        errors = node.stderr.read()
    assert f"the ROS master at {ros.uri} has died; the flight ends" in errors


@pytest.mark.slow  # waits for the end of a served flight
def test_served_flight_ends_with_its_master(master, tmp_path):
    ros, port = master
    generate(ros)
    out = tmp_path / "run"
    command = ("-m", "kittiwake", "serve", "ros-drones", "--ros1", "--quiet", "--out", out)
    with master_at(ros, port) as core, ros.ours(*command) as served:
        while not (line := served.stderr.readline()).startswith("flying"):
            assert line, "it has ended before it flew"
        end(core)
        assert served.wait(60.0) == 1
    reason = json.loads((out / "summary.json").read_text())["reason"]
    assert reason.startswith(f"the ROS master at {ros.uri} has died at ")


@pytest.mark.slow  # waits for two masters
def test_reconnecting_node_registers_at_the_next_master(master):
    ros, port = master
    generate(ros)
    with ExitStack() as stack:
        with master_at(ros, port):
            node = stack.enter_context(ros.ours("-c", NODE, "reconnect"))
            assert node.stdout.readline() == "ready\n"
        stack.enter_context(master_at(ros, port))
        line = ""
        while "registered at the new ROS master" not in line:
            line = node.stderr.readline()
            assert line, "the node has ended"
        assert ros.peer(PEER) == ["still here", True, 3.0]
        assert node.stdout.readline() == "received a word\n"
