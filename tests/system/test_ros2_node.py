"""A Ros2Node and somebody else's node on plain rclpy, in two processes with ROS 2.

scripts/ros2-setup makes that environment; VENV_ROS2 names it if it is not .venv-ros2.
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
TAKES_S = 90
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
    """This one, less what somebody has set for a ROS of theirs, in a domain of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROS_", "FAST", "PYTHON"))}
    domain = str(1 + os.getpid() % 100)
    return kept | {"ROS_DOMAIN_ID": domain, "PYTHONPATH": str(ROOT / "src")} | others


def bound_to(pid):
    """The addresses and ports of a process's UDP sockets."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    inodes = {found[1] for link in links if (found := re.match(r"socket:\[(\d+)\]", link))}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]]
    places = [row[1].split(":") for row in rows if row[9] in inodes]
    return [(bytes.fromhex(address)[::-1], int(port, 16)) for address, port in places]


def run_both(which):
    """What the server said of its environment and its end, and what the peer saw."""
    command = [PYTHON, NODES / "server.py", which]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), text=True, **pipes) as server:
        try:
            told = json.loads(server.stdout.readline())
            peer = subprocess.run(
                [PYTHON, NODES / "peer.py", which],
                env=environment(ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST"),
                capture_output=True,
                text=True,
                timeout=TAKES_S,
                check=False,
            )
            addresses = bound_to(server.pid)
            last, errors = server.communicate(timeout=TAKES_S)
        except BaseException:
            server.kill()
            raise
    assert peer.returncode == 0, peer.stderr
    return {"told": told, "last": last, "errors": errors, "addresses": addresses} | json.loads(
        peer.stdout.splitlines()[-1]
    )


@pytest.fixture(scope="module", params=["with", "without"])
def seen(request):
    return run_both(request.param)


@pytest.fixture(scope="module")
def whole():
    """With the messages of uav_gazebo installed."""
    return run_both("with")


def test_odometry_arrives_whole_and_in_order(seen):
    assert seen["in_order"]
    assert seen["lost"] == 0
    assert seen["odometry"] == ["world", "drone", -1.5]
    assert seen["covariance"] == [0.5 * k for k in range(36)]
    # fifty steps of 20 ms
    assert seen["stamps_s"] == pytest.approx(1.0, abs=1e-9)


def test_what_a_plain_message_leaves_out_is_as_the_kind_has_it(seen):
    # a quaternion of ROS 2 is upright unless told otherwise
    assert seen["left_out"] == [1.0, 0.0]


def test_transforms_arrive_together(seen):
    assert seen["transforms"] == [["world", "drone"], ["world", "drone/camera"]]
    assert seen["rotation_z"] == 1.0


def test_a_late_listener_is_told_what_was_latched(seen):
    assert seen["before"] == ["hello"]


def test_quality_of_service(seen):
    assert seen["quality"] == {
        "/drone/odometry": [["RELIABLE", "VOLATILE"]],
        "/said_before": [["RELIABLE", "TRANSIENT_LOCAL"]],
        "/tf": [["RELIABLE", "VOLATILE"]],
    }


def test_each_standard_command_is_heard_as_one_of_uav_gazebo(seen):
    heard = seen["heard"][:8]
    modes = [next(iter(command)) for command in heard]
    assert modes == [
        *("position_yaw", "position_yaw", "velocity_yawrate", "velocity_yawrate"),
        *("thrust_attitude", "thrust_velocity", "thrust_torque", "switch_mode"),
    ]
    assert heard[0]["position_yaw"]["position"]["x"] == 1.0
    assert heard[1]["position_yaw"]["yaw_rate"] == 0.5
    assert all(command["velocity_yawrate"]["body_frame"] for command in heard[2:4])
    assert heard[4]["thrust_attitude"]["attitude"]["x"] == pytest.approx(1.5707963)
    assert heard[5]["thrust_velocity"]["velocity"]["z"] == 0.5
    assert heard[6]["thrust_torque"] == {"thrust": 7.0, "torque": {"x": 0.0, "y": 0.0, "z": 0.1}}
    assert heard[7] == {"switch_mode": {"mode": 3}}


def test_commands_that_cannot_be_read_are_told_and_others_are_heard_after(seen):
    # topics have no order between them
    assert sorted(seen["log"]) == [
        "/drone/position_yaw/pose: an orientation has length 2; write a quaternion of length 1",
        "/fall: ZeroDivisionError('nobody has thought of this')",
    ]
    assert seen["triggered"]["get_mode/trigger"] == [True, MODES[2]]


def test_services_answer_to_triggers(seen):
    assert seen["triggered"] == {
        "takeoff/trigger": [True, "1.50 m from where it should be"],
        "get_mode/trigger": [True, "velocity_yawrate"],
        "switch_mode/thrust_torque": [True, ""],
    }
    assert seen["empty"]


def test_a_service_that_fails_answers_all_the_same(seen):
    assert seen["fallen"] is False


def test_gains_are_parameters_with_ranges(seen):
    assert seen["ranges"] == [[0.0, 10.0], [0.0, 5.0]]
    assert seen["described"] == ["how fast the place is corrected", "how damped"]
    assert seen["put"] == [[True, ""], [True, ""]]


def test_a_whole_number_is_a_gain_too(seen):
    assert seen["whole"] == [[True, ""]]


def test_gains_that_the_simulator_refuses_are_refused_with_its_words(seen):
    assert seen["refused"] == [[False, "Wp would be too fast"]]
    assert seen["outside"][0][0] is False
    assert "range" in seen["outside"][0][1]


def test_gains_that_are_set_together_are_refused_together(seen):
    assert seen["both"] is False
    assert seen["values"] == [2.0, 0.7]


def test_the_node_leaves_and_publishes_nothing_after(seen):
    assert seen["last"].splitlines() == ["closed"]
    assert "Traceback" not in seen["errors"]


def test_the_original_commands_are_heard(whole):
    heard = whole["heard"][8:]
    assert [next(iter(command)) for command in heard] == [*MODES[1:], "switch_mode"]
    assert heard[0]["position_yaw"]["yaw"] == 1.5
    assert heard[0]["position_yaw"]["velocity"]["y"] == 2.0
    assert heard[1]["velocity_yawrate"]["body_frame"] is True
    assert heard[5] == {"switch_mode": {"mode": 5}}


def test_a_long_service_keeps_nobody_waiting(whole):
    assert whole["mode"] == 2
    assert whole["switched"] is False
    assert whole["answered_meanwhile"]
    assert 1.9 < whole["took_s"] < 4.0
    # two seconds at 50 Hz, on a machine that does other things as well
    assert whole["odometry_meanwhile"] > 40
    assert whole["residual"] == 0.5
    assert whole["model"] == "drone"


def test_it_stays_on_this_machine(seen):
    assert seen["told"]["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert seen["told"]["FASTRTPS_DEFAULT_PROFILES_FILE"].endswith("loopback.xml")
    # ports of discovery and data; those above are what it sends from, and only to 127.0.0.1
    heard_at = [address for address, port in seen["addresses"] if port < FIRST_EPHEMERAL_PORT]
    assert len(heard_at) >= 3
    assert set(heard_at) == {bytes((127, 0, 0, 1))}


@pytest.mark.parametrize(
    "chosen",
    [
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
        {"ROS_LOCALHOST_ONLY": "1"},
        {"FASTRTPS_DEFAULT_PROFILES_FILE": "own.xml"},
    ],
)
def test_what_somebody_has_chosen_for_the_network_is_kept(chosen):
    script = (
        "import json, os; from kittiwake.adapters.ros.ros2 import node; before = dict(os.environ); "
        "node.stay_on_this_machine(); print(json.dumps(before == dict(os.environ)))"
    )
    done = subprocess.run(
        [PYTHON, "-c", script],
        env=environment(**chosen),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)
