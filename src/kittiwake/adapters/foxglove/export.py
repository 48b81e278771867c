"""Export of a recorded flight for Foxglove: all rows of the log, and typed messages beside them.

Frames: ``world`` (ENU), and one for each vehicle by its name (FLU). Rotors do not turn, as a shape
is sent once and moves with its vehicle.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.foxglove.layout import layout
from kittiwake.adapters.foxglove.messages import (
    LINE_LIST,
    LINE_STRIP,
    WORLD,
    Message,
    entity,
    lines,
    location,
    point_cloud,
    pose,
    poses_in_world,
    transforms,
    triangles,
)
from kittiwake.adapters.foxglove.schemas import SCHEMAS
from kittiwake.analysis.export_map import geodetic_places, has_origin
from kittiwake.analysis.log import Log
from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.output_file import output_file, write_text
from kittiwake.rendering.parts import Poses
from kittiwake.rendering.rotation import composed, rotated
from kittiwake.scene.lines import color_of
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.scene_state import SceneState
from kittiwake.scene.selection import STATE, Selection
from kittiwake.scene.sensor_beams import SensorBeams
from kittiwake.scene.static_objects import static_lines, static_meshes

FLIGHT_FILE, LAYOUT_FILE = "foxglove.mcap", "foxglove-layout.json"
TRANSFORMS, POSES, SCENE, POINTS = "/tf", "/poses", "/scene", "/points"
# rate of poses, and number of poses of all vehicles together, at most
MAX_HZ, MAX_POSES = 25.0, 400_000
# larger fleets are drawn by the first part of their bodies only
MAX_DETAILED = 30
MAX_PATH_POINTS = 2000

Progress = Callable[[int, int], None]


class FoxgloveFiles(NamedTuple):
    """Written files."""

    flight: Path
    layout: Path


def export_foxglove(
    log: Log, playback: LogPlayback, path: Path, progress: Progress
) -> FoxgloveFiles:
    """Write a flight and, beside it, a layout for Foxglove.

    Args:
        log: the log.
        playback: the same flight.
        path: the MCAP file; the layout is ``foxglove-layout.json`` in its folder.
        progress: receives the numbers of the written poses and of all poses over time.

    Raises:
        LogError: if a file cannot be written.
    """
    layouts = {name: (log.columns(name), log.quantities(name)) for name in log.names}
    with output_file(path) as unfinished, unfinished.open("wb") as stream:
        writer = LogWriter(stream, layouts)
        _FlightScene(log, playback, writer).write(progress)
        writer.finish()
    topics = {"transforms": TRANSFORMS, "scene": SCENE, "points": POINTS}
    beside = path.with_name(LAYOUT_FILE)
    write_text(beside, json.dumps(layout(log, topics), indent=2) + "\n")
    return FoxgloveFiles(path, beside)


class _FlightScene:
    """Messages of a flight over time."""

    def __init__(self, log: Log, playback: LogPlayback, writer: LogWriter) -> None:
        self._log, self._playback, self._writer = log, playback, writer
        flight = playback.flight
        self._names = list(flight.scenario.vehicles)
        self._bodies = MovingBodies(flight)
        self._state = Selection(flight, self._names, STATE)
        self._beams = SensorBeams(flight)
        self._origin = flight.scenario.world.origin if has_origin(log) else None
        # platforms of the world, which belong to no vehicle
        self._platforms = [
            (number, f"{part.name} {instance + 1}")
            for number, part in enumerate(self._bodies.parts)
            for instance in range(0 if part.vehicles else part.instances)
        ]

    def write(self, progress: Progress) -> None:
        """Write all messages in order of time."""
        begin_s, end_s = self._playback.span_s
        most = max(2, MAX_POSES // len(self._names))
        times_s = np.linspace(begin_s, end_s, min(most, round((end_s - begin_s) * MAX_HZ) + 1))
        for event in self._log.events:
            self._writer.event(event)
        written_s = -np.inf
        for number, time_s in enumerate(times_s.tolist()):
            self._writer.write(self._rows(written_s, time_s))
            written_s = time_s
            for topic, kind, message in self._messages(time_s, first=number == 0):
                text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
                self._writer.message(topic, kind, SCHEMAS[kind], time_s, text)
            progress(number + 1, len(times_s))
        self._writer.write(self._rows(written_s, np.inf))

    def _rows(self, after_s: float, until_s: float) -> dict[str, Float64[np.ndarray, "_rows _c"]]:
        found = {}
        for name, track in self._playback.tracks.items():
            start, end = np.searchsorted(track.times_s, [after_s, until_s], side="right")
            found[name] = track.values[start:end]
        return found

    def _messages(self, time_s: float, *, first: bool) -> Iterator[tuple[str, str, Message]]:
        scene_state = self._playback.scene_state(time_s)
        values = self._state.of(scene_state)
        known = np.asarray(np.isfinite(values).all(axis=1))
        names = [name for name, there in zip(self._names, known, strict=True) if there]
        positions, q = values[known, :3], values[known, 3:]
        # vehicles are rigid here: their parts have the poses of the beginning
        bodies = self._bodies.poses(scene_state) if first or self._platforms else []
        yield (
            TRANSFORMS,
            "foxglove.FrameTransforms",
            transforms(time_s, *self._frames(names, positions, q, bodies)),
        )
        yield POSES, "foxglove.PosesInFrame", poses_in_world(time_s, positions, q)
        if first:
            yield SCENE, "foxglove.SceneUpdate", self._scene(time_s, scene_state, bodies)
        if self._beams.rays:
            starts, ends = self._beams.ray_segments(scene_state).transpose(1, 0, 2)
            hits = ends[(starts != ends).any(axis=1)]
            yield POINTS, "foxglove.PointCloud", point_cloud(time_s, hits)
        if self._origin is not None:
            places = geodetic_places(self._origin, positions)
            for name, place in zip(names, places, strict=True):
                yield f"/{name}/location", "foxglove.LocationFix", location(time_s, name, place)

    def _frames(
        self, names: Sequence[str], positions: np.ndarray, q: np.ndarray, bodies: Sequence[Poses]
    ) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Return the frames of vehicles and platforms with their poses."""
        parts = sorted({number for number, _ in self._platforms})
        places = [bodies[number].positions_world_m for number in parts]
        turns = [bodies[number].q_world_from_part for number in parts]
        frames = [*names, *(frame for _, frame in self._platforms)]
        return frames, np.concatenate([positions, *places]), np.concatenate([q, *turns])

    def _scene(self, time_s: float, scene_state: SceneState, bodies: Sequence[Poses]) -> Message:
        """Return the world, the shapes of the vehicles, and their paths."""
        flight = self._playback.flight
        here = pose(np.zeros(3))
        entities = [
            entity(time_s, WORLD, name, meshes=[triangles(mesh, here)])
            for name, mesh in static_meshes(flight)
        ]
        entities += [
            entity(
                time_s,
                WORLD,
                name,
                strokes=[lines(LINE_LIST, one.points_world_m.reshape(-1, 3), one.rgb)],
            )
            for name, one in static_lines(flight)
        ]
        entities += [
            entity(time_s, frame, frame, meshes=shapes)
            for frame, shapes in self._shapes(scene_state, bodies).items()
        ]
        entities += [self._path(time_s, number, name) for number, name in enumerate(self._names)]
        return {"deletions": [], "entities": entities}

    def _shapes(self, scene_state: SceneState, bodies: Sequence[Poses]) -> dict[str, list[Message]]:
        """Return the meshes of each frame, at their poses in it."""
        found: dict[str, list[Message]] = {}
        values = dict(zip(self._names, self._state.of(scene_state), strict=True))
        few = len(self._names) <= MAX_DETAILED
        for part, poses in zip(self._bodies.parts, bodies, strict=True):
            vehicles = [name for name in part.vehicles if np.isfinite(values[name]).all()]
            if not vehicles or len(vehicles) != len(part.vehicles):
                continue
            body = np.array([values[name] for name in vehicles])
            back = body[:, 3:] * (1.0, -1.0, -1.0, -1.0)
            places = rotated(back, poses.positions_world_m - body[:, :3])
            turns = composed(back, poses.q_world_from_part)
            for name, place, turn in zip(vehicles, places, turns, strict=True):
                shapes = found.setdefault(name, [])
                if few or not shapes:
                    shapes.append(triangles(part.mesh, pose(place, turn)))
        for number, frame in self._platforms:
            found[frame] = [triangles(self._bodies.parts[number].mesh, pose(np.zeros(3)))]
        return found

    def _path(self, time_s: float, number: int, name: str) -> Message:
        track = self._playback.tracks[name]
        points = track.positions_world_m(track.times_s)
        points = points[np.isfinite(points).all(axis=1)]
        points = points[:: max(1, -(-len(points) // MAX_PATH_POINTS))]
        stroke = lines(LINE_STRIP, points, color_of(number))
        return entity(time_s, WORLD, f"path of {name}", strokes=[stroke])
