"""What is drawn beside the cast and can be switched off: each a function that draws a frame."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import viser

from kittiwake.cockpit.nodes import Nodes, change, show
from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.lines import (
    FEW,
    PLACE,
    Links,
    Segments,
    Setpoints,
    Trails,
    WindArrows,
    ball_look,
    way_segments,
)
from kittiwake.scene.planned_route import planned_places_world_m
from kittiwake.scene.selection import Selection
from kittiwake.scene.sensor_beams import SensorBeams, cone_look

WAY_RGB, REACHED_RGB, SETPOINT_RGB = (90, 130, 90), (170, 185, 170), (60, 170, 90)
WIND_RGB, LINK_RGB = (60, 130, 220), (120, 180, 235)
RAY_RGB, FIELD_RGB = (235, 110, 100), (90, 100, 115)
# in pixels
TRAIL_WIDTH, THIN_WIDTH, WAY_WIDTH, ARROW_WIDTH = 2.5, 1.0, 1.5, 2.5
# of the largest vehicle: balls at places, and the arrow of a wind of 1 m/s; of its own a goal's
PLACE_SHARE, WIND_SHARE, GOAL_SHARE = 0.08, 0.3, 0.07
# of the widest side of what is looked at, how large the ball at a place is at least
LEAST_SHARE = 0.002
LABEL_SCALE = 0.9
# of a vehicle that does not say how large it is
LEAST_VEHICLE_M = 0.1
EDGES_OF_FIELD = 8

Layer = Callable[[Frame], None]


@dataclass
class Options:
    """Which layers are shown; counts at the next frame."""

    trails: bool = True
    labels: bool = True
    reference: bool = True
    beams: bool = True
    wind: bool = False
    links: bool = False


class Layers:
    """Makes the layers of a show; a layer of which a show has nothing is not made."""

    def __init__(self, nodes: Nodes, played: Show, options: Options) -> None:
        self._nodes, self._show, self._options = nodes, played, options

    def all(self) -> list[Layer]:
        """All but the trails."""
        return [
            *self.labels(),
            *self.goals(),
            *self.ways(),
            *self.wind(),
            *self.links(),
            *self.beams(),
        ]

    def trails(self, rgb: Rgb | None = None) -> Layer:
        """Each in the color of its vehicle, if not all in one."""
        names = list(self._show.scenario.vehicles)
        trails = Trails(names, None if rgb is None else [rgb] * len(names))
        width = TRAIL_WIDTH if len(names) <= FEW else THIN_WIDTH
        handle = self._nodes.empty_lines("trails", len(trails.rgb), trails.rgb, width)
        return self._changing(handle, "trails", trails.segments)

    def labels(self) -> list[Layer]:
        """The names of vehicles, if they are not too many."""
        names = list(self._show.scenario.vehicles)
        if len(names) > FEW:
            return []
        selection, nodes = Selection(self._show, names, PLACE), self._nodes
        vehicles = self._show.scenario.vehicles
        sizes = [vehicles[name].dynamics.size_body_m for name in names]
        # over the vehicle, clear of its rotors
        above = np.array([0.5 * float(size.z) + 0.1 * float(size.x) + 0.03 for size in sizes])
        handles = [
            nodes.scene.add_label(
                f"{nodes.prefix}/labels/{name}",
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
                show(handle, shown=self._options.labels)
                if self._options.labels:
                    handle.position = place

        return [draw]

    def goals(self) -> list[Layer]:
        """Where vehicles are to be now."""
        goals = Setpoints(self._show)
        count, vehicles = len(goals.vehicles), self._show.scenario.vehicles
        sizes = [float(vehicles[name].dynamics.size_body_m.x) for name in goals.vehicles]
        radii = GOAL_SHARE * np.maximum(sizes, LEAST_VEHICLE_M)
        balls = self._nodes.batch("reference/goals", ball_look(SETPOINT_RGB, 0.75), count)
        lines = self._nodes.empty_lines("reference/to goals", count, SETPOINT_RGB, THIN_WIDTH)

        def draw(frame: Frame) -> None:
            shown = self._options.reference
            show(balls, shown=shown)
            show(lines, shown=shown)
            if shown:
                places, there, segments = goals.at(frame)
                balls.batched_positions = places.astype(np.float32)
                change(balls, batched_scales=np.where(there, radii, 0.0).astype(np.float32))
                lines.points = segments.astype(np.float32)

        return [draw]

    def ways(self) -> list[Layer]:
        """The places that are planned, and lines between them; those that were reached are pale."""
        vehicles, origin = self._show.scenario.vehicles, self._show.scenario.world.origin
        planned = {
            name: planned_places_world_m(vehicles[name], origin) for name in list(vehicles)[:FEW]
        }
        ways = {name: places for name, places in planned.items() if len(places)}
        if not ways:
            return []
        every = np.concatenate(list(ways.values()))
        wide = extent_of(self._show).widest_m
        radius = max(PLACE_SHARE * largest_m(self._show), LEAST_SHARE * wide)
        scales = np.full(len(every), radius, np.float32)
        balls = self._nodes.batch(
            "reference/places", ball_look(WAY_RGB), len(every), batched_scales=scales
        )
        balls.batched_positions = every.astype(np.float32)
        pieces = np.concatenate([way_segments(places) for places in ways.values()])
        lines = self._nodes.lines("reference/ways", pieces, WAY_RGB, WAY_WIDTH)
        numbers = np.concatenate([np.arange(len(places)) for places in ways.values()])
        owners = np.repeat(np.arange(len(ways)), [len(places) for places in ways.values()])
        selection = Selection(self._show, list(ways), ("guidance.legs",))

        def draw(frame: Frame) -> None:
            shown = self._options.reference
            show(balls, shown=shown)
            show(lines, shown=shown)
            if shown:
                legs = np.nan_to_num(selection.of(frame)[:, 0])
                reached = (numbers < legs[owners])[:, None]
                rgb = np.where(reached, REACHED_RGB, WAY_RGB).astype(np.uint8)
                change(balls, batched_colors=rgb)

        return [draw]

    def wind(self) -> list[Layer]:
        """Arrows at the vehicles."""
        arrows = WindArrows(self._show, WIND_SHARE * largest_m(self._show))
        handle = self._nodes.empty_lines("wind", 3 * len(arrows.vehicles), WIND_RGB, ARROW_WIDTH)
        return [self._changing(handle, "wind", arrows.segments)]

    def links(self) -> list[Layer]:
        """Between those that hear each other."""
        links = Links(self._show)
        if links.pairs == 0:
            return []
        handle = self._nodes.empty_lines("links", links.pairs, LINK_RGB, THIN_WIDTH)
        return [self._changing(handle, "links", links.segments)]

    def beams(self) -> list[Layer]:
        """Cones of sound, beams of light, fields of cameras."""
        beams, nodes = SensorBeams(self._show), self._nodes
        layers = []
        if beams.cones:
            layers.append(self._cones(beams))
        if beams.rays:
            handle = nodes.empty_lines("beams/light", beams.rays, RAY_RGB, THIN_WIDTH)
            layers.append(self._changing(handle, "beams", beams.ray_segments))
        if beams.fields:
            pieces = EDGES_OF_FIELD * beams.fields
            handle = nodes.empty_lines("beams/fields", pieces, FIELD_RGB, THIN_WIDTH)
            layers.append(self._changing(handle, "beams", beams.field_segments))
        return layers

    def _cones(self, beams: SensorBeams) -> Layer:
        count = beams.cones
        handle = self._nodes.batch(
            "beams/sound",
            cone_look(),
            count,
            opacity=1.0,
            rgb=np.zeros((count, 3), np.uint8),
            batched_scales=np.ones((count, 3), np.float32),
            batched_opacities=np.zeros(count, np.float32),
        )

        def draw(frame: Frame) -> None:
            show(handle, shown=self._options.beams)
            if not self._options.beams:
                return
            cones = beams.cones_at(frame)
            handle.batched_positions = cones.poses.positions_world_m.astype(np.float32)
            handle.batched_wxyzs = cones.poses.q_world_from_part.astype(np.float32)
            handle.batched_scales = cones.scales.astype(np.float32)
            change(
                handle,
                batched_colors=cones.rgb,
                batched_opacities=cones.opacities.astype(np.float32),
            )

        return draw

    def _changing(
        self,
        handle: viser.LineSegmentsHandle,
        option: str,
        segments: Callable[[Frame], Segments],
    ) -> Layer:
        """Lines of a layer, which are not computed while it is hidden."""

        def draw(frame: Frame) -> None:
            shown = getattr(self._options, option)
            show(handle, shown=shown)
            if shown:
                handle.points = segments(frame).astype(np.float32)

        return draw


def largest_m(played: Show) -> float:
    """Of all vehicles, from one end to the other."""
    sizes = [vehicle.dynamics.size_body_m for vehicle in played.scenario.vehicles.values()]
    return max([float(size.x) for size in sizes] + [LEAST_VEHICLE_M])
