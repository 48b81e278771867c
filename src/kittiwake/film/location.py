"""Where a film is made: all that is in a picture of a flight, and the words in it."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt8

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview.look import shortened
from kittiwake.analysis.summary import SETPOINT_WORLD_M
from kittiwake.film.camera_path import body_m
from kittiwake.film.caption import Caption, Label, captioned
from kittiwake.rendering.look import Look
from kittiwake.rendering.offscreen_renderer import OffscreenRenderer, Polyline
from kittiwake.rendering.view import View
from kittiwake.scene.extent import extent_of
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.horizon import horizon_looks
from kittiwake.scene.lines import color_of
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.sensor_beams import FIELD_RGB, RAY_RGB, SensorBeams
from kittiwake.scene.sound_cones import SoundCones
from kittiwake.scene.static_objects import is_water, static_lines, static_looks
from kittiwake.scene.water import Sea, has_waves
from kittiwake.scene.wave_lines import wave_lines

# up to so many vehicles have names, a line along which they were to go, and trails that fade
NAMED, ROUTED, FADING = 12, 12, 30
# of film, for how long an event is told, and how many at once
TOLD_S, MOST_TOLD, LONGEST_EVENT = 4.0, 4, 90
# of trails, from the oldest to the newest part
FADES = (0.25, 0.5, 0.8, 0.95)
# of lines, in a picture of that height
TRAIL_PX, ROUTE_PX, STAGE_PX, DRAWN_FOR = 3.0, 1.5, 1.5, 720
ROUTE_RGB, ROUTE_OPACITY, RAY_OPACITY = (250, 250, 250), 0.75, 0.8
# of a vehicle's reach, how high above its middle its name is
NAME_ABOVE, NAME_PX = 0.6, 4.0

Picture = UInt8[np.ndarray, "height width 3"]


class Location:
    """A flight's place, set up to take pictures of one size.

    Raises:
        MissingExtraError: without the libraries that it draws with.
    """

    def __init__(self, reel: LogPlayback, log: Log, size: tuple[int, int]) -> None:
        self.reel, self.size = reel, size
        show = reel.show
        self.cast, self.beams = MovingBodies(show), SensorBeams(show)
        self.sound = SoundCones(self.beams)
        self.sea = Sea(show) if has_waves(show) else None
        standing = static_looks(show)
        sheet = [] if self.sea is None else [self._sheet(self.sea, show)]
        self.studio = OffscreenRenderer(
            [(part.look, part.instances) for part in self.cast.parts],
            [
                *(look for name, look in standing if not (sheet and is_water(name))),
                *horizon_looks(show, sheet[0].rgb if sheet else standing[0][1].rgb),
            ],
            *size,
            [*sheet, *self.sound.looks],
        )
        self.colors = {name: color_of(number) for number, name in enumerate(log.names)}
        self.scale = size[1] / DRAWN_FOR
        self.standing = [*self._stage_lines(), *self._routes(log)]
        self.reach = {name: body_m(self.cast, [name]) for name in log.names[: NAMED + 1]}

    def picture(self, time_s: float, view: View, speed: float) -> Picture:
        """With words in it."""
        frame = self.reel.frame(time_s)
        words = self.caption(time_s, speed)._replace(labels=self._labels(frame, view))
        return captioned(self.drawn(frame, view), words)

    def caption(self, time_s: float, speed: float) -> Caption:
        """What is said of a time, without the vehicles' names."""
        said = f"{time_s:.1f} s" if speed == 1.0 else f"{time_s:.1f} s   {speed:g}x"
        return Caption(self.reel.show.scenario.name, said, self._news(time_s, speed))

    def drawn(self, frame: Frame, view: View) -> Picture:
        """Without words."""
        poses = [(places, q) for places, q in self.cast.poses(frame)]
        lines = [*self.standing, *self._trails(frame), *self._rays(frame)]
        shapes = self.sound.shapes(frame)
        if self.sea is not None:
            water = self.sea.vertices_world_m(frame.time_s, view.look_at_world_m[:2])
            shapes = [water, *shapes]
            lines += wave_lines(water, STAGE_PX * self.scale)
        return self.studio.picture(poses, lines, view, shapes)

    def _sheet(self, sea: Sea, show: Show) -> Look:
        """The sea as one that shadows fall on."""
        center = extent_of(show).center_world_m[:2]
        return sea.look(self.reel.span_s[0], center)._replace(opacity=1.0)

    def _rays(self, frame: Frame) -> Iterator[Polyline]:
        """Beams of light, and the edges of what cameras see."""
        for piece in self.beams.ray_segments(frame):
            yield Polyline(piece, RAY_RGB, STAGE_PX * self.scale, RAY_OPACITY)
        for piece in self.beams.field_segments(frame):
            yield Polyline(piece, FIELD_RGB, STAGE_PX * self.scale)

    def _trails(self, frame: Frame) -> Iterator[Polyline]:
        fades = FADES if len(frame.trails) <= FADING else FADES[-2:-1]
        for name, trail in frame.trails.items():
            ends = np.linspace(0, max(0, len(trail) - 1), len(fades) + 1).round().astype(int)
            for begin, end, opacity in zip(ends[:-1], ends[1:], fades, strict=True):
                width = TRAIL_PX * self.scale
                yield Polyline(trail[begin : end + 1], self.colors[name], width, opacity)

    def _routes(self, log: Log) -> Iterator[Polyline]:
        """Where vehicles were to be, of few."""
        if len(log.names) > ROUTED:
            return
        for name in log.names:
            places = log.tables[name].part(SETPOINT_WORLD_M)
            places = places[np.isfinite(places).all(axis=1)]
            moved = np.diff(places, axis=0, prepend=np.nan).any(axis=1)
            if moved.sum() > 1:
                width = ROUTE_PX * self.scale
                yield Polyline(places[moved], ROUTE_RGB, width, ROUTE_OPACITY)

    def _stage_lines(self) -> Iterator[Polyline]:
        for _, lines in static_lines(self.reel.show):
            for piece in lines.points_world_m:
                yield Polyline(piece, lines.rgb, STAGE_PX * self.scale)

    def _news(self, time_s: float, speed: float) -> list[str]:
        told = [
            shortened(f"{event.time_s:.1f} s  {event.vehicle}: {event.event}", LONGEST_EVENT)
            for event in self.reel.events
            if 0.0 <= time_s - event.time_s < TOLD_S * speed
        ]
        return told[-MOST_TOLD:]

    def _labels(self, frame: Frame, view: View) -> list[Label]:
        """Names of vehicles, above them, of few."""
        names = [name for name in self.reach if name in frame.rows]
        if len(self.reach) > NAMED or len(names) < 2:
            return []
        above = np.array([0.0, 0.0, 1.0])
        tops = np.stack(
            [frame.rows[name][1:4] + NAME_ABOVE * self.reach[name] * above for name in names]
        )
        places = view.pixels(tops, *self.size)
        return [
            Label(name, float(column), float(row) - NAME_PX * self.scale, self.colors[name])
            for name, (column, row) in zip(names, places, strict=True)
            if np.isfinite([column, row]).all()
        ]
