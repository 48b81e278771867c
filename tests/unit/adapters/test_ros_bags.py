"""Bags, read back by the library rosbags and, if installed, by the tools of ROS 1."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kittiwake.adapters.ros.messages.bags import write_rosbag1, write_rosbag2
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Table
from kittiwake.core.errors import LogError, MissingExtraError
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document

pytest.importorskip("rosbags", reason="rosbags is not installed")

from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.typesys import Stores, get_typestore

FLIGHT = """\
name: for-bags
time: {rate_hz: 100, duration_s: 5, log_rate_hz: 50}
world:
  obstacles:
    crate: {type: box, center_world_m: [6, 0, 2], sides_m: [1, 2, 4]}
ros: {ground_truth_hz: 10}
vehicles:
  gull: {model: hummingbird, sensors: {ahead: sonar-cone}}
  little-tern: {model: uav-gazebo}
"""
RATE_HZ, ROWS = 50.0, 126
SONAR = ("range_m", "valid", "fresh")
MOTION = (*STATE_COLUMNS, *(f"estimate.{name}" for name in STATE_COLUMNS[1:]))
DEBIAN = "/usr/lib/python3/dist-packages"


@pytest.fixture(scope="module")
def scenario():
    return build(parse_document(FLIGHT, "test.yaml"), Path())


def table(seed, columns):
    values = np.sin(seed + np.arange(float(ROWS * len(columns)))).reshape(ROWS, len(columns))
    values[:, 0] = np.arange(ROWS) / RATE_HZ
    return Table(columns, values)


@pytest.fixture(scope="module")
def log():
    gull = table(1.0, (*MOTION, *(f"sensor.ahead.{name}" for name in SONAR)))
    gull.values[:, -3:] = [2.5, 1.0, 0.0]
    gull.values[::5, -1] = 1.0
    return Log({"gull": gull, "little-tern": table(2.0, MOTION)})


def written(log, scenario, folder, form):
    """Return the times and messages of a bag by topic, all times, and its connections."""
    path = folder / "flight"
    if form == "rosbag1":
        write_rosbag1(log, scenario, path)
        store, reader = get_typestore(Stores.ROS1_NOETIC), Reader1(path)
        decode = store.deserialize_ros1
    else:
        write_rosbag2(log, scenario, path, form)
        store, reader = get_typestore(Stores.ROS2_JAZZY), Reader2(path)
        decode = store.deserialize_cdr
    found = {}
    with reader:
        times = []
        for connection, ns, data in reader.messages():
            times.append(ns)
            known = connection.msgtype in store.fielddefs
            message = decode(data, connection.msgtype) if known else None
            found.setdefault(connection.topic, []).append((ns, message))
        return found, times, {one.topic: one for one in reader.connections}


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rosbag1", "sqlite3", "mcap"])
def test_bag_round_trips_the_log(log, scenario, tmp_path, form):
    found, times, connections = written(log, scenario, tmp_path, form)
    assert times == sorted(times)
    assert times[0] == 1
    assert set(found) == {
        *("/clock", "/tf", "/tf_static", "/obstacles", "/gull/ahead"),
        *(f"/{name}/{topic}" for name in ("gull", "little_tern")
          for topic in ("odometry", "ground_truth/odometry", "path")),
    }  # fmt: skip
    assert connections["/gull/odometry"].msgtype == "nav_msgs/msg/Odometry"
    for name, namespace in (("gull", "gull"), ("little-tern", "little_tern")):
        odometry = found[f"/{namespace}/odometry"]
        assert len(odometry) == ROWS
        expected = [max(round(t * 1e9), 1) for t in log.column(name, "time_s")]
        assert [ns for ns, _ in odometry] == expected
        assert [stamp_of(message) for _, message in odometry] == expected
        for axis in "xyz":
            values = [getattr(message.pose.pose.position, axis) for _, message in odometry]
            assert np.array_equal(values, log.column(name, f"estimate.{axis}_m"))
            values = [getattr(message.twist.twist.linear, axis) for _, message in odometry]
            assert np.array_equal(values, log.column(name, f"estimate.v{axis}_mps"))
        assert odometry[0][1].child_frame_id == namespace
        assert len(found[f"/{namespace}/ground_truth/odometry"]) == 26
    assert len(found["/gull/ahead"]) == 26
    assert found["/gull/ahead"][0][1].range == 2.5
    assert len(found["/tf"]) == 2 * ROWS
    assert [message.clock.nanosec for _, message in found["/clock"][:3]] == [
        1,
        2 * 10**7,
        4 * 10**7,
    ]
    assert len(found["/clock"]) == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rosbag1", "sqlite3", "mcap"])
def test_static_topics_are_written_once_and_latched(log, scenario, tmp_path, form):
    found, _, connections = written(log, scenario, tmp_path, form)
    for topic in ("/tf_static", "/obstacles"):
        assert len(found[topic]) == 1
        options = connections[topic].ext
        if form == "rosbag1":
            assert options.latching == 1
        else:
            assert options.offered_qos_profiles[0].durability.name == "TRANSIENT_LOCAL"
    [(_, scene)] = found["/obstacles"]
    assert scene.markers[0].ns == "crate"
    assert (scene.markers[0].scale.x, scene.markers[0].scale.z) == (1.0, 4.0)
    if form != "rosbag1":
        [(_, frames)] = found["/tf_static"]
        assert [one.child_frame_id for one in frames.transforms] == ["gull/ahead"]


def test_progress_is_reported_for_each_window(log, scenario, tmp_path):
    calls = []
    write_rosbag1(log, scenario, tmp_path / "flight.bag", lambda *counts: calls.append(counts))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_only_bags_are_overwritten(log, scenario, tmp_path):
    write_rosbag1(log, scenario, tmp_path / "flight.bag")
    write_rosbag1(log, scenario, tmp_path / "flight.bag")
    for storage in ("mcap", "sqlite3"):
        write_rosbag2(log, scenario, tmp_path / "bag", storage)
    assert {path.name for path in (tmp_path / "bag").iterdir()} == {"bag.db3", "metadata.yaml"}
    (tmp_path / "bag" / "notes.txt").write_text("mine")
    with pytest.raises(LogError, match="not a bag of ROS 2; choose another path with -o"):
        write_rosbag2(log, scenario, tmp_path / "bag")
    assert (tmp_path / "bag" / "bag.db3").is_file()
    with pytest.raises(LogError, match="is a folder"):
        write_rosbag1(log, scenario, tmp_path)


def test_log_of_another_scenario_is_refused(log, scenario, tmp_path):
    other = Log({"gul": log.tables["gull"]})
    with pytest.raises(LogError, match=r"no vehicle 'gul'\..* Did you mean 'gull'"):
        write_rosbag1(other, scenario, tmp_path / "flight.bag")
    half = Log({"gull": Table(STATE_COLUMNS, np.zeros((1, len(STATE_COLUMNS))))})
    with pytest.raises(LogError, match=r"the log of 'gull' has no column 'estimate.x_m'"):
        write_rosbag2(half, scenario, tmp_path / "flight")
    assert not list(tmp_path.iterdir())


def test_empty_log_gives_a_bag_of_static_topics(log, scenario, tmp_path):
    empty = Log({"gull": Table(MOTION, np.empty((0, len(MOTION))))})
    found, _, _ = written(empty, scenario, tmp_path, "sqlite3")
    assert set(found) == {"/tf_static", "/obstacles"}


@pytest.mark.parametrize("write", [write_rosbag1, write_rosbag2])
def test_missing_rosbags_names_the_extra_to_install(log, scenario, tmp_path, monkeypatch, write):
    for module in ("rosbags.rosbag1", "rosbags.rosbag2"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kittiwake\[bags\]'"):
        write(log, scenario, tmp_path / "flight")


READ = """
import json, sys
sys.path.append(sys.argv[2])
import rosbag
times = {}
for topic, message, time in rosbag.Bag(sys.argv[1]).read_messages():
    times.setdefault(topic, []).append(time.to_nsec())
    if topic == "/gull/odometry":
        last = message
print(json.dumps([times, last.twist.twist.linear.z, last.child_frame_id]))
"""


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.skipif(not Path(DEBIAN, "rosbag").is_dir(), reason="rosbag of ROS 1 is not installed")
def test_rosbag_of_ros_1_reads_the_bag(log, scenario, tmp_path):
    path = tmp_path / "flight.bag"
    write_rosbag1(log, scenario, path)
    command = [sys.executable, "-W", "ignore", "-c", READ, path, DEBIAN]
    answer = subprocess.run(command, check=True, capture_output=True, timeout=60)
    times, upwards, frame = json.loads(answer.stdout)
    assert len(times["/gull/odometry"]) == ROWS
    assert times["/tf_static"] == [1]
    assert upwards == log.column("gull", "estimate.vz_mps")[-1]
    assert frame == "gull"
