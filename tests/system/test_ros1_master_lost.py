"""A node of ROS 1 whose master dies, and comes back."""

import json
import socket
from contextlib import ExitStack

import pytest
from tests.system.ros1_master import Ros1, end, generate, master_at, needs_ros1

pytestmark = [pytest.mark.ros, needs_ros1]

WATCHES = """
import sys
from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros1.node import Ros1Node
node = Ros1Node("watcher")
show = node.offer_gains("/gains", [Gain("kp", 2.0, 0.0, 5.0, "")], lambda values: values)
show({"kp": 3.0})
say = node.publisher("/said", "std_msgs/String", latched=True)
say({"data": "still here"})
node.subscribe("/heard", "std_msgs/String", lambda said: print("heard", said.data, flush=True))
node.serve("/asked", "std_srvs/Trigger", lambda _: {"success": True})
node.watch_master(waits="waits" in sys.argv)
print("there", flush=True)
print("left" if node.left.wait(60.0) else "stays", flush=True)
node.close()
"""
TALKS = """
from std_srvs.srv import Trigger
answer = [one("/said", String).data, service("/asked", Trigger)().success]
answer.append(rospy.get_param("/gains/kp"))
publisher = said("/heard", String)
publisher.publish("a word")
time.sleep(0.5)
"""


@pytest.fixture
def place(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return Ros1(port, tmp_path), port


def test_a_node_whose_master_dies_says_so_and_leaves(place):
    ros, port = place
    with master_at(ros, port) as core, ros.ours("-c", WATCHES) as node:
        assert node.stdout.readline() == "there\n"
        end(core)
        assert node.stdout.readline() == "left\n"
        node.wait(30.0)
        said = node.stderr.read()
    assert f"the ROS master at {ros.uri} has died; the flight ends" in said


def test_a_served_flight_ends_with_its_master(place, tmp_path):
    ros, port = place
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


def test_a_node_that_waits_is_registered_at_the_next_master(place):
    ros, port = place
    generate(ros)
    with ExitStack() as stack:
        with master_at(ros, port):
            node = stack.enter_context(ros.ours("-c", WATCHES, "waits"))
            assert node.stdout.readline() == "there\n"
        stack.enter_context(master_at(ros, port))
        line = ""
        while "registered at the ROS master" not in line:
            line = node.stderr.readline()
            assert line, "the node has ended"
        assert ros.peer(TALKS) == ["still here", True, 3.0]
        assert node.stdout.readline() == "heard a word\n"
