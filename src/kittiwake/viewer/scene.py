"""A show in viser's scene: nodes that are made once, and changed in place at each frame."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.core.look import Look
from kittiwake.viewer.beams import Beams, cone_look
from kittiwake.viewer.cast import Cast, CastPart
from kittiwake.viewer.extent import extent_of
from kittiwake.viewer.frame import Frame, Show
from kittiwake.viewer.lines import (
    FEW,
    PLACE,
    Links,
    Setpoints,
    Trails,
    WindArrows,
    ball_look,
    way_segments,
)
from kittiwake.viewer.rotation import UPRIGHT
from kittiwake.viewer.route import planned_places_world_m
from kittiwake.viewer.selection import Selection
from kittiwake.viewer.shapes import Rgb, is_closed
from kittiwake.viewer.stage import WATER_SQUARES_RGB, is_water, stage, stage_lines
from kittiwake.viewer.water import OPACITY, Sea, has_waves

SKY_RGB, HORIZON_RGB = (168, 203, 232), (232, 240, 246)
SKY_PIXELS = (360, 640)
# of a picture's height from above, where the sky is as pale as it gets
HORIZON_SHARE = 0.4
GHOST_RGB, GHOST_OPACITY = (70, 120, 200), 0.35
WAY_RGB, REACHED_RGB, SETPOINT_RGB = (90, 130, 90), (170, 185, 170), (60, 170, 90)
WIND_RGB, LINK_RGB = (60, 130, 220), (120, 180, 235)
RAY_RGB, FIELD_RGB = (235, 110, 100), (90, 100, 115)
# in pixels
TRAIL_WIDTH, THIN_WIDTH, WAY_WIDTH, ARROW_WIDTH = 2.5, 1.0, 1.5, 2.5
# of the largest vehicle: balls at places, and the arrow of a wind of 1 m/s; of its own a goal's
PLACE_SHARE, WIND_SHARE, GOAL_SHARE = 0.08, 0.3, 0.07
# of the widest side of what is looked at, how large the ball at a place is at least
LEAST_SHARE = 0.002
FOG = (1.5, 6.0)
LABEL_SCALE = 0.9
# of a vehicle that does not say how large it is
LEAST_VEHICLE_M = 0.1
# from what is looked at to the camera: behind, to the right and above; of unit length
HOME_DIRECTION = np.array([-0.621, -0.661, 0.421])
AMBIENT = 1.9
# pieces of the stage that throw no shadow; nor do larger ones than these, which would blur them all
LOW, LARGEST_SHADOW_M = ("ground", "water", "terrain", "land"), 60.0


@dataclass
class Options:
    """Which layers are shown; counts at the next frame."""

    trails: bool = True
    labels: bool = True
    reference: bool = True
    beams: bool = True
    wind: bool = False
    links: bool = False


class Scene:
    """What a show looks like at a frame.

    As a ghost it is the cast and its trails alone, translucent and in one colour, beside another.
    """

    def __init__(
        self, scene: viser.SceneApi, show: Show, *, ghost: bool = False, name: str = ""
    ) -> None:
        self.options = Options()
        self._scene, self._show = scene, show
        self._prefix = f"/{name or ('ghost' if ghost else 'show')}"
        self._extent = extent_of(show)
        self._cast = Cast(show)
        self._parts = [self._part(part, ghost=ghost) for part in self._cast.parts]
        self._layers: list[Callable[[Frame], None]] = [self._trails(ghost=ghost)]
        if ghost:
            return
        self._sky()
        self._stand()
        if has_waves(show):
            self._layers.append(self._water())
        self._layers += [
            self._labels(),
            self._setpoints(),
            self._ways(),
            self._wind(),
            self._links(),
            *self._beams(),
        ]

    def draw(self, frame: Frame) -> None:
        """Everything as it is at a frame."""
        for handle, poses in zip(self._parts, self._cast.poses(frame), strict=True):
            handle.batched_positions = poses.positions_world_m.astype(np.float32)
            handle.batched_wxyzs = poses.q_world_from_part.astype(np.float32)
        for layer in self._layers:
            layer(frame)

    def remove(self) -> None:
        """Takes all of it away."""
        self._scene.remove_by_name(self._prefix)

    def _part(self, part: CastPart, *, ghost: bool) -> viser.BatchedMeshHandle:
        look = part.look
        if ghost:
            look = look._replace(rgb=GHOST_RGB, opacity=GHOST_OPACITY * look.opacity)
        return self._batch(f"cast/{part.name}", look, _upright(part.instances))

    def _batch(
        self, name: str, look: Look, q: Float[np.ndarray, "n 4"], **more: Any
    ) -> viser.BatchedMeshHandle:
        clear = look.opacity < 1.0
        return self._scene.add_batched_meshes_simple(
            f"{self._prefix}/{name}",
            look.vertices_m,
            look.faces,
            q,
            np.zeros((len(q), 3), np.float32),
            batched_colors=more.pop("rgb", look.rgb),
            opacity=more.pop("opacity", look.opacity if clear else None),
            flat_shading=True,
            # what is seen from outside only throws its shadow with its far side, not onto itself
            side="double" if clear else "front",
            cast_shadow=not clear,
            receive_shadow=not clear,
            **more,
        )

    def _stand(self) -> None:
        wet = has_waves(self._show)
        for name, look in stage(self._show):
            if wet and is_water(name):
                continue
            clear = look.opacity < 1.0
            wide = float(np.ptp(look.vertices_m, axis=0).max())
            dark = not clear and not name.startswith(LOW) and wide < LARGEST_SHADOW_M
            self._scene.add_mesh_simple(
                f"{self._prefix}/stage/{name}",
                look.vertices_m,
                look.faces,
                color=look.rgb,
                opacity=look.opacity if clear else None,
                flat_shading=True,
                side="front" if not clear and is_closed(look) else "double",
                cast_shadow=dark,
                receive_shadow=not clear,
            )
        for name, lines in stage_lines(self._show):
            self._segments(f"stage/{name}", lines.points_world_m, lines.rgb, THIN_WIDTH)

    def _sky(self) -> None:
        rows, columns = SKY_PIXELS
        share = np.minimum(np.linspace(0.0, 1.0 / HORIZON_SHARE, rows), 1.0)[:, None, None]
        sky = np.array(SKY_RGB) * (1.0 - share) + np.array(HORIZON_RGB) * share
        self._scene.set_background_image(
            np.broadcast_to(sky, (rows, columns, 3)).astype(np.uint8).copy()
        )
        # the light of a room would make everything pale
        self._scene.configure_environment_map(None)
        self._scene.add_light_hemisphere(
            f"{self._prefix}/light",
            sky_color=(255, 255, 255),
            ground_color=(150, 150, 140),
            intensity=AMBIENT,
        )
        wide = self._extent.widest_m
        self._scene.configure_fog(FOG[0] * wide, FOG[1] * wide, color=HORIZON_RGB)

    def _segments(
        self,
        name: str,
        points: Float[np.ndarray, "pieces 2 3"],
        rgb: Rgb | np.ndarray,
        width: float,
    ) -> viser.LineSegmentsHandle:
        return self._scene.add_line_segments(
            f"{self._prefix}/{name}",
            points.astype(np.float32),
            rgb,
            thickness=width,
            thickness_units="screen",
        )

    def _trails(self, *, ghost: bool) -> Callable[[Frame], None]:
        names = list(self._show.scenario.vehicles)
        trails = Trails(names, [GHOST_RGB] * len(names) if ghost else None)
        empty = np.zeros((len(trails.rgb), 2, 3))
        handle = self._segments("trails", empty, trails.rgb, TRAIL_WIDTH)
        return self._changing(handle, "trails", trails.segments)

    def _changing(
        self,
        handle: viser.LineSegmentsHandle,
        option: str,
        segments: Callable[[Frame], Float[np.ndarray, "pieces 2 3"]],
    ) -> Callable[[Frame], None]:
        """Lines of a layer, which are not computed while it is hidden."""

        def draw(frame: Frame) -> None:
            shown = getattr(self.options, option)
            _show(handle, shown=shown)
            if shown:
                handle.points = segments(frame).astype(np.float32)

        return draw

    def _water(self) -> Callable[[Frame], None]:
        sea = Sea(self._show)
        names = list(self._show.scenario.vehicles)
        selection = Selection(self._show, names, PLACE)
        centre = self._extent.centre_world_m[:2]
        handle = self._scene.add_mesh_simple(
            f"{self._prefix}/stage/waves",
            sea.vertices_world_m(0.0, centre).astype(np.float32),
            sea.faces,
            color=WATER_SQUARES_RGB,
            opacity=OPACITY,
            flat_shading=True,
            side="double",
            cast_shadow=False,
        )

        def draw(frame: Frame) -> None:
            places = selection.of(frame)[:, :2]
            known = places[np.isfinite(places).all(axis=1)]
            around = known.mean(axis=0) if len(known) else centre
            vertices = sea.vertices_world_m(frame.time_s, around)
            handle.vertices = vertices.astype(np.float32)

        return draw

    def _labels(self) -> Callable[[Frame], None]:
        names = list(self._show.scenario.vehicles)
        if len(names) > FEW:
            return _nothing
        selection = Selection(self._show, names, PLACE)
        vehicles = self._show.scenario.vehicles
        sizes = [vehicles[name].dynamics.size_body_m for name in names]
        # over the vehicle, clear of its rotors
        above = np.array([0.5 * float(size.z) + 0.25 * float(size.x) + 0.05 for size in sizes])
        handles = [
            self._scene.add_label(
                f"{self._prefix}/labels/{name}",
                name,
                font_screen_scale=LABEL_SCALE,
                anchor="bottom-center",
            )
            for name in names
        ]

        def draw(frame: Frame) -> None:
            places = np.nan_to_num(selection.of(frame))
            places[:, 2] += above
            for handle, place in zip(handles, places, strict=True):
                _show(handle, shown=self.options.labels)
                if self.options.labels:
                    handle.position = place

        return draw

    def _setpoints(self) -> Callable[[Frame], None]:
        goals = Setpoints(self._show)
        count = len(goals.vehicles)
        balls = self._batch("reference/goals", ball_look(SETPOINT_RGB, 0.75), _upright(count))
        lines = self._segments(
            "reference/to goals", np.zeros((count, 2, 3)), SETPOINT_RGB, THIN_WIDTH
        )
        vehicles = self._show.scenario.vehicles
        sizes = [float(vehicles[name].dynamics.size_body_m.x) for name in goals.vehicles]
        radii = GOAL_SHARE * np.maximum(sizes, LEAST_VEHICLE_M)

        def draw(frame: Frame) -> None:
            shown = self.options.reference
            _show(balls, shown=shown)
            _show(lines, shown=shown)
            if shown:
                places, there, segments = goals.at(frame)
                balls.batched_positions = places.astype(np.float32)
                balls.batched_scales = np.where(there, radii, 0.0).astype(np.float32)
                lines.points = segments.astype(np.float32)

        return draw

    def _ways(self) -> Callable[[Frame], None]:
        """The places that are planned, and lines between them; those that were reached are pale."""
        vehicles, origin = self._show.scenario.vehicles, self._show.scenario.world.origin
        planned = {
            name: planned_places_world_m(vehicles[name], origin) for name in list(vehicles)[:FEW]
        }
        ways = {name: places for name, places in planned.items() if len(places)}
        if not ways:
            return _nothing
        every = np.concatenate(list(ways.values()))
        radius = max(PLACE_SHARE * _largest_m(self._show), LEAST_SHARE * self._extent.widest_m)
        balls = self._batch("reference/places", ball_look(WAY_RGB), _upright(len(every)))
        balls.batched_positions = every.astype(np.float32)
        balls.batched_scales = np.full(len(every), radius, np.float32)
        pieces = np.concatenate([way_segments(places) for places in ways.values()])
        lines = self._segments("reference/ways", pieces, WAY_RGB, WAY_WIDTH)
        numbers = np.concatenate([np.arange(len(places)) for places in ways.values()])
        owners = np.repeat(np.arange(len(ways)), [len(places) for places in ways.values()])
        selection = Selection(self._show, list(ways), ("guidance.legs",))

        def draw(frame: Frame) -> None:
            shown = self.options.reference
            _show(balls, shown=shown)
            _show(lines, shown=shown)
            if shown:
                legs = np.nan_to_num(selection.of(frame)[:, 0])
                reached = (numbers < legs[owners])[:, None]
                rgb = np.where(reached, REACHED_RGB, WAY_RGB).astype(np.uint8)
                _change(balls, batched_colors=rgb)

        return draw

    def _wind(self) -> Callable[[Frame], None]:
        arrows = WindArrows(self._show, WIND_SHARE * _largest_m(self._show))
        empty = np.zeros((3 * len(arrows.vehicles), 2, 3))
        handle = self._segments("wind", empty, WIND_RGB, ARROW_WIDTH)
        return self._changing(handle, "wind", arrows.segments)

    def _links(self) -> Callable[[Frame], None]:
        links = Links(self._show)
        if links.pairs == 0:
            return _nothing
        handle = self._segments("links", np.zeros((links.pairs, 2, 3)), LINK_RGB, THIN_WIDTH)
        return self._changing(handle, "links", links.segments)

    def _beams(self) -> list[Callable[[Frame], None]]:
        beams, layers = Beams(self._show), []
        if beams.cones:
            layers.append(self._cones(beams))
        if beams.rays:
            handle = self._segments(
                "beams/light", np.zeros((beams.rays, 2, 3)), RAY_RGB, THIN_WIDTH
            )
            layers.append(self._changing(handle, "beams", beams.ray_segments))
        if beams.fields:
            empty = np.zeros((8 * beams.fields, 2, 3))
            handle = self._segments("beams/fields", empty, FIELD_RGB, THIN_WIDTH)
            layers.append(self._changing(handle, "beams", beams.field_segments))
        return layers

    def _cones(self, beams: Beams) -> Callable[[Frame], None]:
        count = beams.cones
        handle = self._batch(
            "beams/sound",
            cone_look(),
            _upright(count),
            opacity=1.0,
            rgb=np.zeros((count, 3), np.uint8),
            batched_scales=np.ones((count, 3), np.float32),
            batched_opacities=np.zeros(count, np.float32),
        )

        def draw(frame: Frame) -> None:
            _show(handle, shown=self.options.beams)
            if not self.options.beams:
                return
            cones = beams.cones_at(frame)
            handle.batched_positions = cones.poses.positions_world_m.astype(np.float32)
            handle.batched_wxyzs = cones.poses.q_world_from_part.astype(np.float32)
            handle.batched_scales = cones.scales.astype(np.float32)
            handle.batched_colors = cones.rgb
            handle.batched_opacities = cones.opacities.astype(np.float32)

        return draw


def _upright(count: int) -> Float[np.ndarray, "n 4"]:
    return np.tile(UPRIGHT.astype(np.float32), (count, 1))


def _change(handle: Any, **values: np.ndarray) -> None:
    """Sends only what differs from what is shown."""
    for name, value in values.items():
        if not np.array_equal(getattr(handle, name), value):
            setattr(handle, name, value)


def _nothing(frame: Frame) -> None:
    """The layer of a show that has none of its kind."""
    del frame


def _show(handle: Any, *, shown: bool) -> None:
    if handle.visible != shown:
        handle.visible = shown


def home_camera(show: Show, frame: Frame) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """From where everything that is flown is seen, and where to look: obliquely from behind."""
    names = list(show.scenario.vehicles)
    places = Selection(show, names, PLACE).of(frame)
    trails = [trail for trail in frame.trails.values() if len(trail)]
    every = np.concatenate([places, *trails])
    every = every[np.isfinite(every).all(axis=1)]
    if len(every) == 0:
        every = extent_of(show).centre_world_m[None]
    low, high = every.min(axis=0), every.max(axis=0)
    reach = max(0.7 * float(np.linalg.norm(high - low)), 1.8 * _largest_m(show))
    centre = 0.5 * (low + high)
    return centre + 1.3 * reach * HOME_DIRECTION, centre


def _largest_m(show: Show) -> float:
    """Of all vehicles, from one side to the other."""
    sizes = [vehicle.dynamics.size_body_m for vehicle in show.scenario.vehicles.values()]
    return max([float(size.x) for size in sizes] + [LEAST_VEHICLE_M])
