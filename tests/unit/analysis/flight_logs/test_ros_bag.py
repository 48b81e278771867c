"""Bags of ROS 1 and ROS 2, written by the library rosbags."""

import re

import numpy as np
import pytest

from kittiwake.analysis.flight_logs import read_flight_log
from kittiwake.core.errors import LogError

pytest.importorskip("rosbags", reason="rosbags is not installed")

from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

START_NS = 1_700_000_000_000_000_000
STEPS_NS = (0, 100_000_001, 200_000_000)
FORMS = ("flight.bag", "folder", "flight.mcap", "flight.db3")
TABLE = {
    "columns": {
        "wx_radps": {"column": "/gull/imu.angular_velocity.x", "unit": "deg/s"},
        "act_covariance": "gull/imu.orientation_covariance[4]",
        "act_speed_mps": "/gull/joints.velocity[1]",
        "act_on": "/gull/on.data",
    }
}


def messages(store, step):
    """Return the messages of one step by topic."""
    types = store.types
    vector = types["geometry_msgs/msg/Vector3"]
    second, ns = divmod(START_NS + 10 * STEPS_NS[step], 1_000_000_000)
    header = {"stamp": types["builtin_interfaces/msg/Time"](second, ns), "frame_id": "gull"}
    if "seq" in types["std_msgs/msg/Header"].__annotations__:
        header["seq"] = step
    head = types["std_msgs/msg/Header"](**header)
    imu = types["sensor_msgs/msg/Imu"](
        header=head,
        orientation=types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
        orientation_covariance=np.arange(9.0) + step,
        angular_velocity=vector(90.0 * step, 0.0, 0.0),
        angular_velocity_covariance=np.zeros(9),
        linear_acceleration=vector(0.0, 0.0, 9.81),
        linear_acceleration_covariance=np.zeros(9),
    )
    # the array has its second element from the second step on
    speeds = np.arange(float(step + 1))
    joints = types["sensor_msgs/msg/JointState"](head, ["a"], speeds, speeds, speeds)
    on = types["std_msgs/msg/Bool"](step > 0)
    return {"/gull/imu": imu, "/gull/joints": joints, "/gull/on": on}


def written(folder, form):
    """Return the path of a bag with three messages on each topic."""
    ros1 = form.endswith(".bag")
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_JAZZY)
    path = folder / form if ros1 else folder / "folder"
    plugin = StoragePlugin.MCAP if form.endswith(".mcap") else StoragePlugin.SQLITE3
    writer = Writer1(path) if ros1 else Writer2(path, version=8, storage_plugin=plugin)
    with writer as bag:
        connections = {
            topic: bag.add_connection(topic, message.__msgtype__, typestore=store)
            for topic, message in messages(store, 0).items()
        }
        serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
        for step, ns in enumerate(STEPS_NS):
            for topic, message in messages(store, step).items():
                content = serialize(message, message.__msgtype__)
                bag.write(connections[topic], START_NS + ns, content)
    return path if form in (path.name, "folder") else next(path.glob(f"*{form[-4:]}"))


@pytest.fixture(params=FORMS)
def bag(request, tmp_path):
    return written(tmp_path, request.param)


@pytest.fixture
def refused(tmp_path):
    def refused(message, column, **options):
        path = written(tmp_path, "flight.bag")
        with pytest.raises(LogError, match=re.escape(message)):
            read_flight_log(path, {"columns": {"act_a": column}, **options})

    return refused


@pytest.mark.slow
def test_fields_and_elements_are_columns(bag):
    log = read_flight_log(bag, TABLE)
    assert log.source == bag.name
    rates = log.signals["wx_radps"]
    # to the nanosecond, though the times begin in 2023
    assert rates.time_s == pytest.approx([0.0, 0.100000001, 0.2], abs=1e-15)
    assert rates.values == pytest.approx(np.radians([0.0, 90.0, 180.0]))
    assert log.signals["act_covariance"].values.tolist() == [4.0, 5.0, 6.0]
    assert log.signals["act_speed_mps"].values.tolist() == [1.0, 1.0]
    assert log.signals["act_on"].values.tolist() == [0.0, 1.0, 1.0]
    assert log.dropped == {"act_speed_mps": 1}


def test_times_can_be_those_of_the_headers(bag):
    table = {"time": {"column": "header.stamp"}, "columns": {"act_a": "/gull/joints.position[0]"}}
    times = read_flight_log(bag, table).signals["act_a"].time_s
    assert times == pytest.approx([0.0, 1.00000001, 2.0], abs=1e-15)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("/gull/imu.angular_velocity.w", "has no column '/gull/imu.angular_velocity.w'. Did you"),
        ("/gull/im.x", "columns: columns.act_a: flight.bag has no column '/gull/im.x'."),
        ("/gull/imu", "flight.bag has no column '/gull/imu'."),
        ("/gull/imu.__class__", "flight.bag has no column '/gull/imu.__class__'."),
        ("/gull/on.data[0]", "flight.bag has no column '/gull/on.data[0]'."),
        (
            "/gull/imu.header.frame_id",
            "flight.bag: '/gull/imu.header.frame_id' is no number but str",
        ),
        (
            "/gull/joints.position",
            "is an array; name an element, such as '/gull/joints.position[0]'",
        ),
        (
            "/gull/joints.position[9]",
            "flight.bag: '/gull/joints.position[9]' has no finite samples",
        ),
    ],
)
def test_a_wrong_column_is_refused(refused, column, message):
    refused(message, column)


def test_a_missing_time_is_refused(refused):
    message = "flight.bag: messages of '/gull/on' have no field 'header.stamp', the column of times"
    refused(message, "/gull/on.data", time={"column": "header.stamp"})


@pytest.mark.parametrize("name", ["a.bag", "a.mcap", "a.db3"])
@pytest.mark.parametrize("content", [b"", b"no bag " * 50])
def test_a_file_that_is_no_bag_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=re.escape(f"{name} cannot be read as a ROS bag: ")):
        read_flight_log(tmp_path / name, TABLE)
