"""Export for Foxglove: typed messages, read back by the mcap package, and the layout."""

import base64
import json
from collections import defaultdict

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader

import kittiwake as kw
from kittiwake.adapters.foxglove.export import export_foxglove
from kittiwake.adapters.foxglove.schemas import SCHEMAS
from kittiwake.analysis.log import Log
from kittiwake.cockpit.recorded import recorded

SCENARIO = """
name: turned
time: {rate_hz: 100, duration_s: 1}
world:
  origin: {latitude_deg: 47.0, longitude_deg: 8.0, altitude_m: 400}
  obstacles:
    wall: {type: box, center_world_m: [0, 6, 3], sides_m: [20, 0.5, 6]}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [1, 2, 3], yaw_deg: 90}
    sensors: {scan: lidar-2d}
    guidance: {type: hold}
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The log, the messages by topic with their schemas and times, and the layout."""
    folder = tmp_path_factory.mktemp("turned")
    kw.Simulation(kw.Scenario.load(yaml.safe_load(SCENARIO))).run().save(folder)
    progress = []
    log = Log.read(folder)
    files = export_foxglove(
        log, recorded(folder), folder / "foxglove.mcap", lambda *counts: progress.append(counts)
    )
    assert progress[-1][0] == progress[-1][1] == len(progress)
    messages = defaultdict(list)
    with files.flight.open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages():
            content = json.loads(message.data) if channel.message_encoding == "json" else None
            messages[channel.topic].append((schema.name, message.log_time, content))
    return log, dict(messages), json.loads(files.layout.read_text())


def test_messages_have_foxglove_schemas(exported):
    _, messages, _ = exported
    kinds = {topic: found[0][0] for topic, found in messages.items() if topic != "/events"}
    assert kinds["/tf"] == "foxglove.FrameTransforms"
    assert kinds["/poses"] == "foxglove.PosesInFrame"
    assert kinds["/scene"] == "foxglove.SceneUpdate"
    assert kinds["/points"] == "foxglove.PointCloud"
    assert kinds["/drone/location"] == "foxglove.LocationFix"
    assert {kind for kind in kinds.values() if kind.startswith("foxglove.")} == set(SCHEMAS)


def test_messages_have_the_fields_of_their_schemas(exported):
    _, messages, _ = exported
    for found in messages.values():
        kind, _, content = found[0]
        if kind in SCHEMAS:
            assert content.keys() == SCHEMAS[kind]["properties"].keys()


def test_transforms_are_the_poses_of_the_log(exported):
    log, messages, _ = exported
    times_s = log.column("drone", "time_s")
    for _, time_ns, content in messages["/tf"]:
        (transform,) = content["transforms"]
        stamp = transform["timestamp"]
        assert stamp["sec"] * 10**9 + stamp["nsec"] == time_ns
        for axis in "xyz":
            logged = np.interp(time_ns * 1e-9, times_s, log.column("drone", f"{axis}_m"))
            assert transform["translation"][axis] == pytest.approx(logged, abs=1e-4)
    assert messages["/tf"][-1][1] == pytest.approx(1e9)


def test_a_yaw_of_ninety_degrees_turns_ahead_to_north(exported):
    _, messages, _ = exported
    (transform,) = messages["/tf"][0][2]["transforms"]
    q = transform["rotation"]
    assert (transform["parent_frame_id"], transform["child_frame_id"]) == ("world", "drone")
    assert [q[part] for part in "wxyz"] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5], abs=1e-6)


def test_shapes_of_a_vehicle_are_in_its_own_frame(exported):
    _, messages, _ = exported
    entities = {one["id"]: one for one in messages["/scene"][0][2]["entities"]}
    assert entities["drone"]["frame_id"] == "drone"
    assert entities["obstacle wall"]["frame_id"] == "world"
    for shape in entities["drone"]["triangles"]:
        place = [shape["pose"]["position"][axis] for axis in "xyz"]
        assert np.linalg.norm(place) < 0.6


def test_points_of_a_lidar_lie_on_the_wall(exported):
    _, messages, _ = exported
    content = messages["/points"][-1][2]
    points = np.frombuffer(base64.b64decode(content["data"]), "<f4").reshape(-1, 3)
    assert len(points)
    assert np.abs(points[:, 1] - 5.75).min() < 0.1


def test_location_begins_north_and_east_of_the_origin(exported):
    _, messages, _ = exported
    place = messages["/drone/location"][0][2]
    assert place["latitude"] == pytest.approx(47.0 + 2.0 / 111_170, abs=1e-7)
    assert place["longitude"] == pytest.approx(8.0 + 1.0 / 76_060, abs=1e-7)
    assert place["altitude"] == pytest.approx(403.0, abs=0.01)


def test_layout_shows_topics_that_exist(exported):
    log, messages, layout = exported
    scene = layout["configById"][layout["layout"]["first"]]
    assert set(scene["topics"]) <= set(messages)
    plots = [one for name, one in layout["configById"].items() if name.startswith("Plot!")]
    paths = [path["value"] for plot in plots for path in plot["paths"]]
    assert "/drone/log.z_m" in paths
    assert {path.partition(".")[0] for path in paths} == {"/drone/log"}
    assert len(messages["/drone/log"]) == len(log.values("drone"))


def test_every_panel_of_the_layout_is_placed(exported):
    _, _, layout = exported

    def placed(node):
        return {node} if isinstance(node, str) else placed(node["first"]) | placed(node["second"])

    assert placed(layout["layout"]) == set(layout["configById"])
