"""Ros2Node and a plain rclpy node, in two processes with ROS 2.

scripts/ros2-setup creates their environment; VENV_ROS2 names it if it is not .venv-ros2.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from kittiwake.adapters.ros.ros2.standard import MODES

ROOT = Path(__file__).resolve().parents[2]
VENV = Path(os.environ.get("VENV_ROS2", ROOT / ".venv-ros2"))
PYTHON = VENV / "bin" / "python"
NODES = Path(__file__).with_name("ros2")
TIMEOUT_S = 90
FIRST_EPHEMERAL_PORT = 32768

pytestmark = [
    pytest.mark.ros,
    pytest.mark.xdist_group("ros2-node"),
    pytest.mark.skipif(
        not (VENV / ".ros2").exists(),
        reason="no environment with ROS 2; scripts/ros2-setup makes one",
    ),
]


def environment(**others):
    """Return this environment without variables of ROS, with a domain of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROS_", "FAST", "PYTHON"))}
    domain = str(1 + os.getpid() % 100)
    return kept | {"ROS_DOMAIN_ID": domain, "PYTHONPATH": str(ROOT / "src")} | others


def bound_to(pid):
    """Return the addresses and ports of a process's UDP sockets."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    inodes = {found[1] for link in links if (found := re.match(r"socket:\[(\d+)\]", link))}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]]
    sockets = [row[1].split(":") for row in rows if row[9] in inodes]
    return [(bytes.fromhex(address)[::-1], int(port, 16)) for address, port in sockets]


def run_both(which):
    """Return the server's environment and output, and the peer's observations."""
    command = [PYTHON, NODES / "server.py", which]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), text=True, **pipes) as server:
        try:
            variables = json.loads(server.stdout.readline())
            peer = subprocess.run(
                [PYTHON, NODES / "peer.py", which],
                env=environment(ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST"),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            addresses = bound_to(server.pid)
            last, errors = server.communicate(timeout=TIMEOUT_S)
        except BaseException:
            server.kill()
            raise
    assert peer.returncode == 0, peer.stderr
    server_output = {"environment": variables, "last": last, "errors": errors}
    return server_output | {"addresses": addresses} | json.loads(peer.stdout.splitlines()[-1])


@pytest.fixture(scope="module", params=["with", "without"])
def seen(request):
    return run_both(request.param)


@pytest.fixture(scope="module")
def whole():
    """Run with the messages of uav_gazebo installed."""
    return run_both("with")


def test_odometry_arrives_complete_and_in_order(seen):
    assert seen["in_order"]
    assert seen["lost"] == 0
    assert seen["odometry"] == ["world", "drone", -1.5]
    assert seen["covariance"] == [0.5 * k for k in range(36)]
    # fifty steps of 20 ms
    assert seen["stamps_s"] == pytest.approx(1.0, abs=1e-9)


def test_fields_left_out_have_their_default(seen):
    # the default quaternion of ROS 2 is the identity
    assert seen["left_out"] == [1.0, 0.0]


def test_transforms_arrive_together(seen):
    assert seen["transforms"] == [["world", "drone"], ["world", "drone/camera"]]
    assert seen["rotation_z"] == 1.0


def test_late_subscriber_receives_the_latched_message(seen):
    assert seen["latched"] == ["hello"]


def test_publishers_have_their_qos_profiles(seen):
    assert seen["quality"] == {
        "/drone/odometry": [["RELIABLE", "VOLATILE"]],
        "/latched": [["RELIABLE", "TRANSIENT_LOCAL"]],
        "/tf": [["RELIABLE", "VOLATILE"]],
    }


def test_standard_commands_are_converted_to_those_of_uav_gazebo(seen):
    received = seen["received"][:8]
    modes = [next(iter(command)) for command in received]
    assert modes == [
        "position_yaw",
        "position_yaw",
        "velocity_yawrate",
        "velocity_yawrate",
        "thrust_attitude",
        "thrust_velocity",
        "thrust_torque",
        "switch_mode",
    ]
    assert received[0]["position_yaw"]["position"]["x"] == 1.0
    assert received[1]["position_yaw"]["yaw_rate"] == 0.5
    assert all(command["velocity_yawrate"]["body_frame"] for command in received[2:4])
    assert received[4]["thrust_attitude"]["attitude"]["x"] == pytest.approx(1.5707963)
    assert received[5]["thrust_velocity"]["velocity"]["z"] == 0.5
    assert received[6]["thrust_torque"] == {"thrust": 7.0, "torque": {"x": 0.0, "y": 0.0, "z": 0.1}}
    assert received[7] == {"switch_mode": {"mode": 3}}


def test_invalid_commands_are_logged_and_do_not_block_others(seen):
    # topics have no order between them
    assert sorted(seen["log"]) == [
        "/drone/position_yaw/pose: orientation: got norm 2; must be a unit quaternion",
        "/fail: ZeroDivisionError('unexpected error')",
    ]
    assert seen["triggered"]["get_mode/trigger"] == [True, MODES[2]]


def test_services_are_available_as_triggers(seen):
    assert seen["triggered"] == {
        "takeoff/trigger": [True, "1.50 m from the commanded position"],
        "get_mode/trigger": [True, "velocity_yawrate"],
        "switch_mode/thrust_torque": [True, ""],
    }
    assert seen["empty"]


def test_failing_service_still_responds(seen):
    assert seen["failed"] is False


def test_gains_are_parameters_with_ranges(seen):
    assert seen["ranges"] == [[0.0, 10.0], [0.0, 5.0]]
    assert seen["described"] == ["natural frequency of the position", "damping of the position"]
    assert seen["put"] == [[True, ""], [True, ""]]


def test_integers_are_accepted_as_gains(seen):
    assert seen["whole"] == [[True, ""]]


def test_rejected_gains_have_the_reason_of_the_simulator(seen):
    assert seen["refused"] == [[False, "Wp would be too fast"]]
    assert seen["outside"][0][0] is False
    assert "range" in seen["outside"][0][1]


def test_atomically_set_gains_are_rejected_together(seen):
    assert seen["both"] is False
    assert seen["values"] == [2.0, 0.7]


def test_closed_node_publishes_nothing(seen):
    assert seen["last"].splitlines() == ["closed"]
    assert "Traceback" not in seen["errors"]


def test_commands_of_uav_gazebo_are_received(whole):
    received = whole["received"][8:]
    assert [next(iter(command)) for command in received] == [*MODES[1:], "switch_mode"]
    assert received[0]["position_yaw"]["yaw"] == 1.5
    assert received[0]["position_yaw"]["velocity"]["y"] == 2.0
    assert received[1]["velocity_yawrate"]["body_frame"] is True
    assert received[5] == {"switch_mode": {"mode": 5}}


def test_long_service_does_not_block_others(whole):
    assert whole["mode"] == 2
    assert whole["switched"] is False
    assert whole["answered_meanwhile"]
    assert 1.9 < whole["took_s"] < 4.0
    # two seconds at 50 Hz, on a machine that runs other programs as well
    assert whole["odometry_meanwhile"] > 40
    assert whole["residual"] == 0.5
    assert whole["model"] == "drone"


def test_node_is_bound_to_localhost(seen):
    assert seen["environment"]["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert seen["environment"]["FASTRTPS_DEFAULT_PROFILES_FILE"].endswith("loopback.xml")
    # ports of discovery and data; it sends from the ports above, and only to 127.0.0.1
    bound = [address for address, port in seen["addresses"] if port < FIRST_EPHEMERAL_PORT]
    assert len(bound) >= 3
    assert set(bound) == {bytes((127, 0, 0, 1))}


@pytest.mark.parametrize(
    "variables",
    [
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
        {"ROS_LOCALHOST_ONLY": "1"},
        {"FASTRTPS_DEFAULT_PROFILES_FILE": "own.xml"},
    ],
)
def test_configured_network_variables_are_kept(variables):
    script = (
        "import json, os; from kittiwake.adapters.ros.ros2 import node; before = dict(os.environ); "
        "node.restrict_to_localhost(); print(json.dumps(before == dict(os.environ)))"
    )
    done = subprocess.run(
        [PYTHON, "-c", script],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)
