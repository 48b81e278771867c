"""ROS 1 node with a real master and plain rospy nodes."""

import json
import socket
import subprocess
import sys
from math import cos, sin
from pathlib import Path

import pytest
from tests.system.ros1_master import ROOT, needs_ros1, running_master

from kittiwake.adapters.ros.ros1.definitions import PACKAGES, message_class, service_class
from kittiwake.adapters.ros.ros1.message_conversion import make_message
from kittiwake.core.errors import KittiwakeError

pytestmark = [pytest.mark.ros, needs_ros1]

STAND_IN = Path(__file__).with_name("ros1_stand_in.py")
START = """
import time
from kittiwake.adapters.ros.ros1.node import Ros1Node
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError
library("rospy")
begin = time.monotonic()
try:
    Ros1Node()
except RosError as error:
    print(time.monotonic() - begin, error)
"""
KILLED = """
from kittiwake.adapters.ros.ros1.node import Ros1Node
node = Ros1Node("killed")
publish = node.create_publisher("/killed", "std_msgs/String")
latched = node.create_publisher("/killed/latched", "std_msgs/String", latched=True)
print(node.name, flush=True)
node.stopped.wait()
publish({"data": "lost"})
latched({"data": "lost"})
print("continues")
"""

CONFIGURES = ("-m", "kittiwake.adapters.ros.nodes.configure_controllers")
CHANGE = """
import dynamic_reconfigure.client
rospy.wait_for_service("/configure_controllers/set_parameters", 20.0)
client = dynamic_reconfigure.client.Client("/configure_controllers", timeout=10)
client.update_configuration({"Wp": 1.5})
answer = [rospy.get_param(f"/{place}/Wp") for place in [PLACES]]
client.update_configuration({"Wp": 0.5})
"""


@pytest.fixture(autouse=True)
def own_imports(monkeypatch):
    """Keep Debian's packages and ROS 1's messages out of what other tests import."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0].endswith("_msgs"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    with running_master(tmp_path_factory.mktemp("ros1")) as master:
        yield master


@pytest.fixture(scope="module")
def stand_in(ros):
    """Run the tested node."""
    with ros.ours(STAND_IN) as process:
        first = process.stdout.readline()
        assert first == "ready\n", process.stderr.read()
        yield process


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_plain_message_arrives_complete(ros):
    got = ros.peer("""
m = receive("/drone/odometry", Odometry)
p, q, v = m.pose.pose.position, m.pose.pose.orientation, m.twist.twist
answer = [m.header.stamp.to_nsec(), m.header.frame_id, m.child_frame_id, [p.x, p.y, p.z],
          [q.x, q.y, q.z, q.w], list(m.pose.covariance), [v.linear.x, v.linear.y, v.linear.z],
          v.angular.z, list(m.twist.covariance)]
""")
    assert got == [
        1_234_567_890_123,
        "world",
        "drone",
        [1.0, 2.0, 3.0],
        [0.0, 0.6, 0.0, 0.8],
        [float(index) for index in range(36)],
        [4.0, 0.0, 6.0],
        0.5,
        [0.0] * 36,
    ]


@pytest.mark.usefixtures("stand_in")
def test_no_published_message_is_lost(ros):
    # sent at 100 Hz, on a machine that runs other programs as well
    got = ros.peer("""
times = []
rospy.Subscriber("/drone/odometry", Odometry, lambda m: times.append(m.header.seq))
receive("/drone/odometry", Odometry); time.sleep(1.0)
answer = times
""")
    assert len(got) > 50
    assert got == list(range(got[0], got[0] + len(got)))


@pytest.mark.usefixtures("stand_in")
def test_transforms_reach_tf(ros):
    got = ros.peer("""
import tf2_ros
buffer = tf2_ros.Buffer(); listener = tf2_ros.TransformListener(buffer)
t = buffer.lookup_transform("world", "drone", rospy.Time(0), rospy.Duration(10)).transform
s = buffer.lookup_transform("drone", "drone/lidar", rospy.Time(0), rospy.Duration(10)).transform
answer = [t.translation.x, t.translation.y, t.translation.z, t.rotation.y, t.rotation.w,
          s.translation.z, s.rotation.w]
""")
    assert got == [1.0, 2.0, 3.0, 0.6, 0.8, 0.5, 1.0]


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_late_subscriber_receives_the_latched_message(ros):
    untouched = json.loads(ros.peer('answer = receive("/latched", String).data'))
    assert untouched == {"untouched": True}, "of signals and of the root logger"


@pytest.mark.usefixtures("stand_in")
def test_command_is_received(ros):
    got = ros.peer("""
answers = []
rospy.Subscriber("/received", String, lambda m: answers.append(m.data))
command = publisher("/drone/position_yaw/command", PositionYawControl)
end = time.time() + 10.0
while not answers and time.time() < end:
    command.publish(PositionYawControl(position=Vector3(7, 0, 0), yaw=0.25))
    time.sleep(0.05)
answer = answers[0]
""")
    assert json.loads(got) == {"x": 7.0, "yaw": 0.25}


@pytest.mark.usefixtures("stand_in")
def test_services_respond_while_another_one_runs(ros):
    got = ros.peer("""
takeoff, switch = service("/drone/takeoff", Takeoff), service("/drone/switch_mode", SwitchMode)
late = []
slow = threading.Thread(target=lambda: late.append(takeoff(False, 6.0, 2.0, 0.0)))
start = time.time(); slow.start()
answers = [switch(ControlMode(mode)).success for mode in (0, 5, 6)]
quick = time.time() - start; slow.join()
answer = [answers, quick, time.time() - start, late[0].success, late[0].residual]
""")
    assert got[0] == [True, True, False]
    assert got[1] < 2.0 <= got[2]
    assert got[3:] == [True, 6.0]


@pytest.mark.usefixtures("stand_in")
def test_rosservice_call_of_uav_gazebo_switches_modes(ros):
    output = ros.tool("rosservice", "call", "/drone/switch_mode", "{mode: {mode: 2}}")
    assert "success: True" in output


@pytest.mark.usefixtures("stand_in")
def test_set_model_state_works_without_gazebo(ros):
    got = ros.peer("""
from gazebo_msgs.srv import SetModelState
request = SetModelState._request_class()
request.model_state.model_name, request.model_state.pose.position.z = "drone", 6.0
answer = service("/gazebo/set_model_state", SetModelState)(request).status_message
""")
    assert got == "drone 6"


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_gains_stay_within_their_ranges_and_can_be_rejected(ros):
    got = ros.peer("""
import dynamic_reconfigure.client
client = dynamic_reconfigure.client.Client("/drone/gains", timeout=10)
gains = lambda config: [config["Wp"], config["Xp"]]
described = [[p["name"], p["type"], p["min"], p["max"], p["default"], p["description"]]
             for p in client.get_parameter_descriptions(timeout=10)]
answer = [described, gains(client.get_configuration(timeout=10))]
nan = float("nan")
for change in ({"Wp": 2.0}, {"Xp": -3.0}, {"Wp": 7.0}, {"Wp": nan}, {"Wp": 0.5, "Xp": 1.0}):
    answer.append(gains(client.update_configuration(change)))
answer.append(rospy.get_param("/drone/gains/Wp"))
""")
    described, initial, *changed, parameter = got
    assert described == [
        ["Wp", "double", 0.0, 10.0, 0.5, "natural frequency of the position"],
        ["Xp", "double", 0.0, 5.0, 1.0, "damping of the position"],
    ]
    assert initial == [0.5, 1.0]
    too_low, refused, no_number = [2.0, 0.0], [2.0, 0.0], [2.0, 0.0]
    assert changed == [[2.0, 1.0], too_low, refused, no_number, [0.5, 1.0]]
    assert parameter == 0.5


@pytest.mark.usefixtures("stand_in")
@pytest.mark.slow
def test_one_change_is_forwarded_to_several_drones(ros):
    with ros.ours(*CONFIGURES, "drone", "other"):
        assert ros.peer(CHANGE.replace("PLACES", "'drone/gains', 'other/gains'")) == [1.5, 1.5]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.slow
def test_namespaces_of_configured_drones_are_parameters(ros):
    with ros.ours(*CONFIGURES, "third", "_base_ns:=fleet", "_servers_ns:=control"):
        assert ros.peer(CHANGE.replace("PLACES", "'fleet/third/control'")) == [1.5]


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_missing_drones_cannot_be_configured(ros):
    with ros.ours(*CONFIGURES, "nobody", "_base_ns:=/", "_servers_ns:=gains") as process:
        _, errors = process.communicate(timeout=30.0)
    assert process.returncode == 1
    assert "no gains at /nobody/gains" in errors


@pytest.mark.slow
def test_example_commands_a_circle_with_feed_forward(ros):
    program = ("-m", "kittiwake.adapters.ros.nodes.example_control")
    with ros.ours(*program, "--namespace", "d2", "--radius", 2, "--height", 3, "--rate", 0.5):
        got = ros.peer("""
commands = []
kind = PositionYawControl
rospy.Subscriber("/d2/position_yaw/command", kind, lambda m: commands.append(m))
receive("/d2/position_yaw/command", kind, 20.0); time.sleep(1.0)
answer = [[m.position.x, m.position.y, m.position.z, m.velocity.x, m.velocity.y,
           m.acceleration.x, m.yaw, m.yaw_rate] for m in commands]
""")
    assert len(got) > 50  # of 100
    for x, y, z, vx, vy, ax, yaw, yaw_rate in got:
        assert (x * x + y * y, z, ax, yaw_rate) == (pytest.approx(4.0), 3.0, 0.0, 0.5)
        assert (vx, vy) == (pytest.approx(-0.5 * y), pytest.approx(0.5 * x))
        assert (x, y) == pytest.approx((2.0 * cos(yaw), 2.0 * sin(yaw)))


@pytest.mark.usefixtures("stand_in")
def test_log_messages_reach_the_log_file_of_ros(ros):
    log = (ros.folder / "home" / "log" / "kittiwake.log").read_text()
    assert "it is 100 % ready" in log
    assert "it has warned" in log


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_second_node_of_the_same_name_is_refused(ros):
    with ros.ours("-c", START) as process:
        output, _ = process.communicate(timeout=30.0)
    assert f"the master at {ros.uri} already has a node /kittiwake" in output
    assert "rosnode kill /kittiwake" in output
    ros.peer('answer = receive("/drone/odometry", Odometry).child_frame_id')


@pytest.mark.slow
def test_process_continues_after_its_node_is_killed(ros):
    with ros.ours("-c", KILLED, "__ns:=here") as process:
        assert process.stdout.readline() == "/here/killed\n"
        ros.tool("rosnode", "kill", "/here/killed")
        out, _ = process.communicate(timeout=30.0)
    assert process.returncode == 0
    assert out.endswith("continues\n")


@pytest.mark.slow
@pytest.mark.parametrize("listens", [False, True])
def test_missing_master_is_reported_without_waiting(ros, listens):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        if not listens:
            silent.close()
        environment = ros.environment(ROOT / "src") | {"ROS_MASTER_URI": uri}
        done = subprocess.run(
            [sys.executable, "-c", START],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30.0,
            check=True,
        )
    took_s, _, error = done.stdout.partition(" ")
    assert error == f"no ROS master at {uri} (ROS_MASTER_URI). Start one with: roscore\n"
    assert float(took_s) < 3.0


@pytest.mark.slow
def test_generated_classes_match_those_of_the_ros_tools(ros):
    names = {
        part: sorted(file.stem for file in (PACKAGES / "uav_gazebo_msgs" / part).iterdir())
        for part in ("msg", "srv")
    }
    theirs = ros.peer(f"""
from importlib import import_module
answer = {{part: [getattr(import_module("uav_gazebo_msgs." + part), name)._md5sum for name in names]
          for part, names in {names}.items()}}
""")
    class_of = {"msg": message_class, "srv": service_class}
    ours = {
        part: [find(f"uav_gazebo_msgs/{name}")._md5sum for name in names[part]]
        for part, find in class_of.items()
    }
    assert ours == theirs
    assert len(ours["msg"]) == 6
    assert len(ours["srv"]) == 4


def test_gazebo_messages_have_the_original_md5_sums():
    # sums of gazebo_msgs in ROS Noetic
    assert message_class("gazebo_msgs/ModelState")._md5sum == "9330fd35f2fcd82d457e54bd54e10593"
    state = service_class("gazebo_msgs/GetModelState")._response_class
    assert state._md5sum == "ccd51739bb00f0141629e87b792e92b9"
    spawn, delete = (service_class(f"gazebo_msgs/{one}Model") for one in ("Spawn", "Delete"))
    assert spawn._request_class._md5sum == "6d0eba5753761cd57e6263a056b79930"
    assert delete._request_class._md5sum == "ea31c8eab6fc401383cf528a7c0984ba"
    for one in (spawn, delete):
        assert one._response_class._md5sum == "2ec6f3eff0161f4257b808b12bc830c2"


def test_make_messages_generates_importable_classes(ros, tmp_path):
    with ros.ours("-m", "kittiwake.adapters.ros.nodes.make_messages", tmp_path) as process:
        output, _ = process.communicate(timeout=30.0)
    assert output == f"export PYTHONPATH={tmp_path}:$PYTHONPATH\n"
    code = "from uav_gazebo_msgs.srv import Takeoff; print(Takeoff._md5sum)"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == service_class("uav_gazebo_msgs/Takeoff")._md5sum


@pytest.mark.parametrize(
    "kind",
    [
        "nav_msgs/Odometry",
        "nav_msgs/Path",
        "tf2_msgs/TFMessage",
        "rosgraph_msgs/Clock",
        "sensor_msgs/Imu",
        "sensor_msgs/LaserScan",
        "sensor_msgs/NavSatFix",
        "sensor_msgs/Image",
        "sensor_msgs/CameraInfo",
        "sensor_msgs/PointCloud2",
        "visualization_msgs/MarkerArray",
    ],
)
def test_empty_plain_message_gives_the_default_message(kind):
    message_type = message_class(kind)
    assert make_message(message_type, {}) == message_type()


def test_every_type_of_field_is_filled():
    scan = make_message(
        message_class("sensor_msgs/LaserScan"), {"ranges": [1.0, 2.0], "range_max": 9.0}
    )
    assert (scan.ranges, scan.intensities, scan.range_max) == ([1.0, 2.0], [], 9.0)
    marker = make_message(
        message_class("visualization_msgs/Marker"),
        {"lifetime": -500_000_000, "points": [{"x": 1.0}, {}], "text": "deck"},
    )
    assert marker.lifetime.to_sec() == -0.5
    assert [point.x for point in marker.points] == [1.0, 0.0]
    assert marker.text == "deck"
    first, second = (make_message(message_class("nav_msgs/Odometry"), {}) for _ in range(2))
    assert first.pose.covariance is not second.pose.covariance


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda: make_message(message_class("nav_msgs/Odometry"), {"poze": {}}), "mean 'pose'"),
        (lambda: message_class("nav_msgs/Odometri"), "mean 'Odometry'"),
        (lambda: message_class("Odometry"), "write the package"),
        (lambda: message_class("no_such_msgs/Odometry"), "scripts/ros1-setup"),
    ],
)
def test_unknown_types_and_fields_are_refused(wrong, reason):
    with pytest.raises(KittiwakeError, match=reason):
        wrong()
