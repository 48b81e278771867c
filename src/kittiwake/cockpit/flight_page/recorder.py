"""Recording of a flight in the cockpit's scene, by viser's scene serializer.

Whatever ``SceneNodes`` draws is recorded. viser repeats each message in each frame; here messages
that create the scene are kept once, and the others become tracks of one attribute each.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import zstandard
from jaxtyping import Float64

from kittiwake.cockpit.browser_camera import ASIDE, aim_at_all
from kittiwake.cockpit.flight_page.tracks import SceneTrack
from kittiwake.cockpit.layers import Options
from kittiwake.cockpit.node_factory import NodeFactory
from kittiwake.cockpit.scene_nodes import SceneNodes
from kittiwake.cockpit.server import PageServer
from kittiwake.cockpit.theme import LIGHT, configure_sky
from kittiwake.scene.lines import color_of
from kittiwake.scene.log_playback import LogPlayback

Progress = Callable[[int, int], None]

# frames per second, and number of frames, at most
MAX_HZ, MAX_FRAMES = 25.0, 4000
# numbers of all frames together, of which each takes about a byte of the file
MAX_NUMBERS = 8_000_000
# segments of the paths of all vehicles together, and of one path
MAX_SEGMENTS, MAX_PATH_SEGMENTS = 8000, 1500
# field of view for which the first picture is framed, that of a narrow window
VIEW_RAD = 0.9
# of fleets, whose whole paths would take too many segments
PATH_SPAN_S = 5.0
PATH, PATH_WIDTH = "path", 2.0
UPDATE = "SceneNodeUpdateMessage"
# messages that set one attribute of a node, and the name of that attribute
SETTERS = {
    "SetPositionMessage": "position",
    "SetOrientationMessage": "wxyz",
    "SetSceneNodeVisibilityMessage": "visible",
}


def ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


class Keyframes(NamedTuple):
    """Values of an attribute that are no numbers, such as texts, from their frames on."""

    message: str
    node: str
    attribute: str
    frames: list[int]
    values: list[Any]


class RecordedScene(NamedTuple):
    """Scene of a flight.

    Attributes:
        times_s: the times of the frames.
        messages: viser's messages that create the scene, with arrays of NumPy.
        tracks: the values of attributes over time.
        keyframes: values over time that are no numbers.
        path_node: the name of the lines that show the paths of the vehicles.
        path_segments: the number of segments of each path.
        positions_world_m: positions of the vehicles, three numbers each.
        camera: the first position and target of the camera.
    """

    times_s: Float64[np.ndarray, " frames"]
    messages: list[dict[str, Any]]
    tracks: list[SceneTrack]
    keyframes: list[Keyframes]
    path_node: str
    path_segments: int
    positions_world_m: Float64[np.ndarray, "frames numbers"]
    camera: tuple[list[float], list[float]]


def record_scene(playback: LogPlayback, progress: Progress) -> RecordedScene:
    """Draw a flight frame by frame and return its scene.

    Args:
        playback: the flight.
        progress: receives the numbers of the drawn frames and of all frames.
    """
    names = list(playback.flight.scenario.vehicles)
    segments = min(MAX_PATH_SEGMENTS, max(4, MAX_SEGMENTS // max(1, len(names))))
    server = PageServer()
    try:
        # the page draws the whole paths by itself
        configure_sky(server.scene, playback.flight, LIGHT)
        scene = SceneNodes(server.scene, playback.flight, options=Options(trails=False))
        rgb = np.repeat([color_of(number) for number in range(len(names))], segments, axis=0)
        colors = np.repeat(rgb[:, None], 2, axis=1).astype(np.uint8)
        NodeFactory(server.scene, "/share").empty_lines(PATH, len(rgb), colors, PATH_WIDTH)
        times_s = frame_times_s(playback.span_s, _numbers_per_frame(server, scene, playback))
        serializer = server.get_scene_serializer()
        for number, time_s in enumerate(times_s):
            scene.draw(playback.scene_state(float(time_s)))
            serializer.insert_sleep(1.0)
            progress(number + 1, len(times_s))
        messages, tracks, keyframes = _sorted_messages(_decoded(serializer.serialize()))
    finally:
        server.stop()
    positions = [playback.tracks[name].positions_world_m(times_s) for name in names]
    aim = aim_at_all(playback.flight, np.array([own[0] for own in positions]), VIEW_RAD)
    return RecordedScene(
        times_s,
        messages,
        tracks,
        keyframes,
        f"/share/{PATH}",
        segments,
        np.concatenate(positions, axis=1),
        (
            (aim.target_world_m + aim.scale_m * ASIDE).tolist(),
            aim.target_world_m.tolist(),
        ),
    )


def frame_times_s(
    span_s: tuple[float, float], numbers_per_frame: int
) -> Float64[np.ndarray, " frames"]:
    """Return the times of the frames, whose rate decreases with duration and number of vehicles."""
    begin_s, end_s = span_s
    most = min(MAX_FRAMES, max(2, MAX_NUMBERS // max(1, numbers_per_frame)))
    frames = min(most, max(2, round((end_s - begin_s) * MAX_HZ) + 1))
    return np.linspace(begin_s, end_s, frames)


def _numbers_per_frame(server: PageServer, scene: SceneNodes, playback: LogPlayback) -> int:
    """Return how many numbers two successive frames change, by drawing them."""
    begin_s, end_s = playback.span_s
    scene.draw(playback.scene_state(begin_s))
    probe = server.get_scene_serializer()
    probe.insert_sleep(1.0)
    scene.draw(playback.scene_state(min(begin_s + 1.0 / MAX_HZ, end_s)))
    _, tracks, _ = _sorted_messages(
        [(time, message) for time, message in _decoded(probe.serialize()) if time > 0.0]
    )
    return sum(track.values.shape[1] for track in tracks)


def _decoded(recording: bytes) -> list[tuple[float, dict[str, Any]]]:
    """Return the messages of viser's file format, with their times and arrays of NumPy."""
    inner = zstandard.ZstdDecompressor().decompress(recording[8:])
    length = int.from_bytes(inner[:8], "little")
    content = msgspec.msgpack.decode(inner[8 : 8 + length])
    offsets, offset = [], 8 + length
    for size in content["binaryBufferLengths"]:
        offset += -offset % 8
        offsets.append((offset, size))
        offset += size

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            if "__binary_index" in value:
                start, size = offsets[value["__binary_index"]]
                return np.frombuffer(inner[start : start + size], value["dtype"])
            return {key: filled(one) for key, one in value.items()}
        return [filled(one) for one in value] if isinstance(value, list) else value

    return [(time, filled(message)) for time, message in content["messages"]]


def _sorted_messages(
    recorded: list[tuple[float, dict[str, Any]]],
) -> tuple[list[dict[str, Any]], list[SceneTrack], list[Keyframes]]:
    """Return the messages that create the scene, and values of attributes over time."""
    creating: list[dict[str, Any]] = []
    values: dict[tuple[str, str, str], dict[int, Any]] = {}
    for time, message in recorded:
        kind, changes = message["type"], _changes(message)
        if changes is None:
            creating.append(message)
        for attribute, value in (changes or {}).items():
            values.setdefault((kind, message["name"], attribute), {})[round(time)] = value
    created = {one["name"]: one["props"] for one in creating if "props" in one}
    tracks: list[SceneTrack] = []
    keyframes: list[Keyframes] = []
    for key, by_frame in values.items():
        _, node, attribute = key
        initial = created.get(node, {}).get(attribute)
        found = by_frame if initial is None else {0: initial} | by_frame
        track = _track(key, found)
        if track is None:
            keyframes.append(Keyframes(*key, [*found], [*found.values()]))
        else:
            tracks.append(track)
    return creating, tracks, keyframes


def _track(key: tuple[str, str, str], by_frame: Mapping[int, Any]) -> SceneTrack | None:
    """Return the values of an attribute by frame; None if they are not equally many numbers."""
    rows = [row for row in map(_numbers, by_frame.values()) if row is not None]
    if len(rows) < len(by_frame) or len({row.shape for row in rows}) != 1:
        return None
    first = next(iter(by_frame.values()))
    dtype = first.dtype.str if isinstance(first, np.ndarray) else None
    return SceneTrack(*key, dtype, np.array([*by_frame], np.int32), np.stack(rows).astype(float))


def _changes(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the attributes that a message sets; None for a message of another kind."""
    if message["type"] == UPDATE:
        return message["updates"]
    # the root's orientation is part of the scene
    if message["type"] in SETTERS and message.get("name"):
        attribute = SETTERS[message["type"]]
        return {attribute: message[attribute]}
    return None


def _numbers(value: Any) -> np.ndarray | None:
    """Return the numbers of an array or a vector, flat; None for anything else."""
    if isinstance(value, np.ndarray):
        return value.ravel()
    if isinstance(value, list) and value and all(isinstance(one, int | float) for one in value):
        return np.array(value, float)
    return None
