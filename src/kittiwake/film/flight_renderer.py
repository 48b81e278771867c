"""Scene of a film: everything in a picture of a flight, with its caption."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import numpy as np
from jaxtyping import UInt8

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.style import shortened
from kittiwake.analysis.table import SETPOINT_WORLD_M
from kittiwake.film.camera_path import body_m
from kittiwake.film.caption import Arrow, Caption, Label, Mark, captioned
from kittiwake.film.readings import Readings
from kittiwake.rendering.antialiasing import antialiased
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.offscreen_renderer import SAMPLES, OffscreenRenderer, Polyline
from kittiwake.rendering.view import View
from kittiwake.scene.extent import extent_of
from kittiwake.scene.horizon import horizon_meshes
from kittiwake.scene.lines import color_of
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.sensor_beams import FIELD_RGB, RAY_RGB, SensorBeams
from kittiwake.scene.sound_cones import SoundCones
from kittiwake.scene.static_objects import is_water, static_lines, static_meshes
from kittiwake.scene.water import Sea, has_waves
from kittiwake.scene.wave_lines import wave_lines

# numbers of vehicles up to which names, routes and fading trails are drawn
MAX_NAMES, MAX_ROUTES, MAX_FADING_TRAILS = 12, 12, 30
# film time for which an event is shown, how many at once, and their length in characters
EVENT_S, MAX_EVENTS, MAX_EVENT_LENGTH = 4.0, 4, 90
# opacities of a trail's parts, the oldest first
FADES = (0.25, 0.5, 0.8, 0.95)
# line widths in a picture of the reference height
TRAIL_PX, ROUTE_PX, LINE_PX, REFERENCE_HEIGHT_PX = 3.0, 1.5, 1.5, 720
ROUTE_RGB, ROUTE_OPACITY, RAY_OPACITY = (250, 250, 250), 0.75, 0.8
# height of a name above its vehicle, in vehicle radii and additional pixels
NAME_ABOVE, NAME_PX = 0.6, 4.0
# radius in a picture of the reference height below which a vehicle has a mark
LEAST_PX = 4.0

Picture = UInt8[np.ndarray, "height width 3"]


class FlightRenderer:
    """Renderer of a flight's pictures in one size.

    Args:
        playback: the flight.
        log: its log.
        size: width and height in pixels.
        follow: the vehicle to look at; None for all.
        samples: the number of samples per pixel; 0 for none, whose edges films smooth afterwards.

    Raises:
        MissingExtraError: if a required library is missing.
    """

    def __init__(
        self,
        playback: LogPlayback,
        log: Log,
        size: tuple[int, int],
        follow: str | None = None,
        samples: int = SAMPLES,
    ) -> None:
        self.playback, self.size = playback, size
        flight = playback.flight
        self.bodies, self.beams = MovingBodies(flight), SensorBeams(flight)
        self.sound = SoundCones(self.beams)
        self.sea = Sea(flight) if has_waves(flight) else None
        static = static_meshes(flight)
        sheet = [] if self.sea is None else [self._sheet(self.sea, flight)]
        self.renderer = OffscreenRenderer(
            [(part.mesh, part.instances) for part in self.bodies.parts],
            [
                *(mesh for name, mesh in static if not (sheet and is_water(name))),
                *horizon_meshes(flight, sheet[0].rgb if sheet else static[0][1].rgb),
            ],
            *size,
            [*sheet, *self.sound.meshes],
            samples,
        )
        self.readings = Readings.of(log, log.names if follow is None else [follow])
        self.has_one = len(log.names) == 1 or follow is not None
        self.colors = {name: color_of(number) for number, name in enumerate(log.names)}
        self.scale = size[1] / REFERENCE_HEIGHT_PX
        self.static_polylines = [*self._static_lines(), *self._routes(log)]
        self.radii_m = {name: body_m(self.bodies, [name]) for name in log.names[: MAX_NAMES + 1]}
        self.largest_m = body_m(self.bodies, log.names)

    def pictures(
        self, times_s: Sequence[float], views: Sequence[View], speed: float
    ) -> Iterator[Picture]:
        """Yield the pictures at some times, with captions.

        The next one is rendered while one is smoothed, captioned and used.
        """
        rendered: Future[Picture] | None = None
        words = Caption("", "")
        for time_s, view in zip(times_s, views, strict=True):
            scene_state = self.playback.scene_state(time_s)
            following = self._render(scene_state, view)
            if rendered is not None:
                yield captioned(antialiased(rendered.result()), words)
            words = self._words(scene_state, view, speed)
            rendered = following
        if rendered is not None:
            yield captioned(antialiased(rendered.result()), words)

    def caption(self, time_s: float, speed: float) -> Caption:
        """Return title, time and events, which do not depend on the view."""
        text = f"{time_s:.1f} s" if speed == 1.0 else f"{time_s:.1f} s   {speed:g}x"
        return Caption(self.playback.flight.scenario.name, text, self._events(time_s, speed))

    def _words(self, scene_state: SceneState, view: View, speed: float) -> Caption:
        """Return the caption of a picture, with names, speed of one vehicle, and wind."""
        words = self.caption(scene_state.time_s, speed)
        words = words._replace(
            labels=self._labels(scene_state, view), marks=self.marks(scene_state, view)
        )
        if self.readings is None:
            return words
        flown_mps = self.readings.speed_mps_at(scene_state.time_s) if self.has_one else None
        lines = () if flown_mps is None else (f"{flown_mps:.1f} m/s",)
        wind = self.readings.wind_at(scene_state.time_s)
        if wind is None:
            return words._replace(lines=lines)
        right, up, _ = view.axes @ (wind * [1.0, 1.0, 0.0])
        arrow = Arrow(float(right), -float(up), f"wind {np.linalg.norm(wind):.1f} m/s")
        return words._replace(lines=lines, arrow=arrow)

    def drawn(self, scene_state: SceneState, view: View) -> Picture:
        """Return the picture of a scene state, with marks but no words."""
        marks = self.marks(scene_state, view)
        return captioned(self._render(scene_state, view).result(), Caption("", "", marks=marks))

    def _render(self, scene_state: SceneState, view: View) -> "Future[Picture]":
        poses = [(positions, q) for positions, q in self.bodies.poses(scene_state)]
        lines = [*self.static_polylines, *self._trails(scene_state), *self._rays(scene_state)]
        shapes = self.sound.shapes(scene_state)
        if self.sea is not None:
            water = self.sea.vertices_world_m(scene_state.time_s, view.look_at_world_m[:2])
            shapes = [water, *shapes]
            lines += wave_lines(water, LINE_PX * self.scale)
        return self.renderer.picture_later(poses, lines, view, shapes)

    def _sheet(self, sea: Sea, flight: FlightInfo) -> ColoredMesh:
        """Return the sea as an opaque mesh, which receives shadows."""
        center = extent_of(flight).center_world_m[:2]
        return sea.mesh(self.playback.span_s[0], center)._replace(opacity=1.0)

    def _rays(self, scene_state: SceneState) -> Iterator[Polyline]:
        """Yield light beams and the edges of cameras' fields of view."""
        for piece in self.beams.ray_segments(scene_state):
            yield Polyline(piece, RAY_RGB, LINE_PX * self.scale, RAY_OPACITY)
        for piece in self.beams.field_segments(scene_state):
            yield Polyline(piece, FIELD_RGB, LINE_PX * self.scale)

    def _trails(self, scene_state: SceneState) -> Iterator[Polyline]:
        fades = FADES if len(scene_state.trails) <= MAX_FADING_TRAILS else FADES[-2:-1]
        for name, trail in scene_state.trails.items():
            ends = np.linspace(0, max(0, len(trail) - 1), len(fades) + 1).round().astype(int)
            for begin, end, opacity in zip(ends[:-1], ends[1:], fades, strict=True):
                width = TRAIL_PX * self.scale
                yield Polyline(trail[begin : end + 1], self.colors[name], width, opacity)

    def _routes(self, log: Log) -> Iterator[Polyline]:
        """Yield the setpoint paths of the vehicles, if they are few."""
        if len(log.names) > MAX_ROUTES:
            return
        for name in log.names:
            positions = log.tables[name].part(SETPOINT_WORLD_M)
            positions = positions[np.isfinite(positions).all(axis=1)]
            moved = np.diff(positions, axis=0, prepend=np.nan).any(axis=1)
            if moved.sum() > 1:
                width = ROUTE_PX * self.scale
                yield Polyline(positions[moved], ROUTE_RGB, width, ROUTE_OPACITY)

    def _static_lines(self) -> Iterator[Polyline]:
        for _, lines in static_lines(self.playback.flight):
            for piece in lines.points_world_m:
                yield Polyline(piece, lines.rgb, LINE_PX * self.scale)

    def _events(self, time_s: float, speed: float) -> list[str]:
        events = [
            shortened(f"{event.time_s:.1f} s  {event.vehicle}: {event.event}", MAX_EVENT_LENGTH)
            for event in self.playback.events
            if 0.0 <= time_s - event.time_s < EVENT_S * speed
        ]
        return events[-MAX_EVENTS:]

    def marks(self, scene_state: SceneState, view: View) -> list[Mark]:
        """Return marks at the vehicles that are too far away to be seen."""
        names = [*scene_state.rows]
        if not names:
            return []
        places = np.stack([row[1:4] for row in scene_state.rows.values()])
        radii = np.array([self.radii_m.get(name, self.largest_m) for name in names])
        # the picture of a point that is a radius to the right
        at, beside = (
            view.pixels(one, *self.size) for one in (places, places + radii[:, None] * view.axes[0])
        )
        small = beside[:, 0] - at[:, 0] < LEAST_PX * self.scale
        return [
            Mark(float(at[k, 0]), float(at[k, 1]), self.colors[names[k]])
            for k in np.flatnonzero(small)
        ]

    def _labels(self, scene_state: SceneState, view: View) -> list[Label]:
        """Return the names of the vehicles, above them, if they are few."""
        names = [name for name in self.radii_m if name in scene_state.rows]
        if len(self.radii_m) > MAX_NAMES or len(names) < 2:
            return []
        above = np.array([0.0, 0.0, 1.0])
        tops = np.stack(
            [
                scene_state.rows[name][1:4] + NAME_ABOVE * self.radii_m[name] * above
                for name in names
            ]
        )
        positions = view.pixels(tops, *self.size)
        return [
            Label(name, float(column), float(row) - NAME_PX * self.scale, self.colors[name])
            for name, (column, row) in zip(names, positions, strict=True)
            if np.isfinite([column, row]).all()
        ]
