"""Optional layers of the scene: functions that draw a scene state."""

from collections.abc import Callable

import numpy as np
import viser

from kittiwake.cockpit.layer_options import Layer, Options
from kittiwake.cockpit.node_factory import NodeFactory, set_visible, update_node
from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.lines import (
    MAX_ANNOTATED,
    POSITION,
    Links,
    Segments,
    Setpoints,
    Trails,
    WindArrows,
    route_segments,
    sphere_mesh,
)
from kittiwake.scene.planned_route import planned_positions_world_m
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import Selection
from kittiwake.scene.sensor_beams import SensorBeams, cone_mesh
from kittiwake.scene.static_objects import ground_height_m, has_water_surface

ROUTE_RGB, REACHED_RGB, SETPOINT_RGB = (90, 130, 90), (170, 185, 170), (60, 170, 90)
# lanes of a survey are seen against water in the colors of its field
ROUTE_ON_WATER_RGB = (250, 240, 205)
WIND_RGB, LINK_RGB = (60, 130, 220), (120, 180, 235)
RAY_RGB, FIELD_RGB = (235, 110, 100), (90, 100, 115)
# line widths in pixels
TRAIL_WIDTH, THIN_WIDTH, ROUTE_WIDTH, ARROW_WIDTH = 2.5, 1.0, 1.5, 2.5
# relative to the largest vehicle: waypoint markers and the arrow of a wind of 1 m/s; relative to
# its own vehicle: setpoint markers
WAYPOINT_SHARE, WIND_SHARE, SETPOINT_SHARE = 0.08, 0.3, 0.07
# smallest waypoint marker relative to the widest side of the extent
MIN_WAYPOINT_SHARE = 0.002
LABEL_SCALE = 0.9
# for a vehicle without a size
MIN_VEHICLE_M = 0.1
EDGES_OF_FIELD = 8


class Layers:
    """Factory of the layers of a flight; empty layers are left out."""

    def __init__(self, nodes: NodeFactory, flight: FlightInfo, options: Options) -> None:
        self._nodes, self._flight, self._options = nodes, flight, options

    def all(self) -> list[Layer]:
        """Return all layers except the trails."""
        return [
            *self.labels(),
            *self.setpoints(),
            *self.routes(),
            *self.wind(),
            *self.links(),
            *self.beams(),
        ]

    def trails(self, rgb: Rgb | None = None) -> Layer:
        """Return the layer of trails, in one color or in the colors of the vehicles."""
        names = list(self._flight.scenario.vehicles)
        trails = Trails(names, None if rgb is None else [rgb] * len(names))
        width = TRAIL_WIDTH if len(names) <= MAX_ANNOTATED else THIN_WIDTH
        handle = self._nodes.empty_lines("trails", len(trails.rgb), trails.rgb, width)
        return self._line_layer(handle, "trails", trails.segments)

    def labels(self) -> list[Layer]:
        """Return the layer of vehicle names and heights; none for a large fleet."""
        names = list(self._flight.scenario.vehicles)
        if len(names) > MAX_ANNOTATED:
            return []
        selection, nodes = Selection(self._flight, names, POSITION), self._nodes
        vehicles = self._flight.scenario.vehicles
        sizes = [vehicles[name].dynamics.size_body_m for name in names]
        # above the vehicle, clear of its rotors
        above = np.array([0.5 * float(size.z) + 0.1 * float(size.x) + 0.03 for size in sizes])
        aloft = [not vehicles[name].dynamics.is_vessel for name in names]
        ground_m = ground_height_m(self._flight)
        handles = [
            nodes.scene.add_label(
                f"{nodes.prefix}/labels/{name}",
                name,
                font_screen_scale=LABEL_SCALE,
                anchor="bottom-center",
            )
            for name in names
        ]

        def draw(scene_state: SceneState) -> None:
            places = np.nan_to_num(selection.of(scene_state))
            heights = places[:, 2] - ground_m
            places[:, 2] += above
            for name, handle, place, height_m, is_aloft in zip(
                names, handles, places, heights, aloft, strict=True
            ):
                set_visible(handle, visible=self._options.labels)
                if not self._options.labels:
                    continue
                handle.position = place
                shown = is_aloft and self._options.heights
                text = f"{name} · {height_m:z.1f} m" if shown else name
                if handle.text != text:
                    handle.text = text

        return [draw]

    def setpoints(self) -> list[Layer]:
        """Return the layer of position setpoints."""
        setpoints = Setpoints(self._flight)
        count, vehicles = len(setpoints.vehicles), self._flight.scenario.vehicles
        sizes = [float(vehicles[name].dynamics.size_body_m.x) for name in setpoints.vehicles]
        radii = SETPOINT_SHARE * np.maximum(sizes, MIN_VEHICLE_M)
        markers = self._nodes.batch("reference/setpoints", sphere_mesh(SETPOINT_RGB, 0.75), count)
        lines = self._nodes.empty_lines("reference/to setpoints", count, SETPOINT_RGB, THIN_WIDTH)

        def draw(scene_state: SceneState) -> None:
            visible = self._options.reference
            set_visible(markers, visible=visible)
            set_visible(lines, visible=visible)
            if visible:
                places, there, segments = setpoints.at(scene_state)
                radii_m = np.where(there, radii, 0.0)
                update_node(markers, batched_positions=places, batched_scales=radii_m)
                update_node(lines, points=segments)

        return [draw]

    def routes(self) -> list[Layer]:
        """Return the layer of planned routes; reached waypoints are pale."""
        vehicles, origin = self._flight.scenario.vehicles, self._flight.scenario.world.origin
        planned = {
            name: planned_positions_world_m(vehicles[name], origin)
            for name in list(vehicles)[:MAX_ANNOTATED]
        }
        routes = {name: places for name, places in planned.items() if len(places)}
        if not routes:
            return []
        waypoints = np.concatenate(list(routes.values()))
        wide = extent_of(self._flight).widest_m
        radius = max(WAYPOINT_SHARE * largest_m(self._flight), MIN_WAYPOINT_SHARE * wide)
        scales = np.full(len(waypoints), radius, np.float32)
        planned_rgb = ROUTE_ON_WATER_RGB if has_water_surface(self._flight) else ROUTE_RGB
        markers = self._nodes.batch(
            "reference/waypoints", sphere_mesh(planned_rgb), len(waypoints), batched_scales=scales
        )
        markers.batched_positions = waypoints.astype(np.float32)
        pieces = np.concatenate([route_segments(places) for places in routes.values()])
        lines = self._nodes.lines("reference/routes", pieces, planned_rgb, ROUTE_WIDTH)
        numbers = np.concatenate([np.arange(len(places)) for places in routes.values()])
        owners = np.repeat(np.arange(len(routes)), [len(places) for places in routes.values()])
        selection = Selection(self._flight, list(routes), ("guidance.legs",))

        def draw(scene_state: SceneState) -> None:
            visible = self._options.reference
            set_visible(markers, visible=visible)
            set_visible(lines, visible=visible)
            if visible:
                legs = np.nan_to_num(selection.of(scene_state)[:, 0])
                reached = (numbers < legs[owners])[:, None]
                rgb = np.where(reached, REACHED_RGB, planned_rgb).astype(np.uint8)
                update_node(markers, batched_colors=rgb)

        return [draw]

    def wind(self) -> list[Layer]:
        """Return the layer of wind arrows at the vehicles."""
        arrows = WindArrows(self._flight, WIND_SHARE * largest_m(self._flight))
        handle = self._nodes.empty_lines("wind", 3 * len(arrows.vehicles), WIND_RGB, ARROW_WIDTH)
        return [self._line_layer(handle, "wind", arrows.segments)]

    def links(self) -> list[Layer]:
        """Return the layer of radio links between vehicles in range."""
        links = Links(self._flight)
        if links.pairs == 0:
            return []
        handle = self._nodes.empty_lines("links", links.pairs, LINK_RGB, THIN_WIDTH)
        return [self._line_layer(handle, "links", links.segments)]

    def beams(self) -> list[Layer]:
        """Return the layers of sonar cones, light beams and camera fields of view."""
        beams, nodes = SensorBeams(self._flight), self._nodes
        layers = []
        if beams.cones:
            layers.append(self._cones(beams))
        if beams.rays:
            handle = nodes.empty_lines("beams/light", beams.rays, RAY_RGB, THIN_WIDTH)
            layers.append(self._line_layer(handle, "beams", beams.ray_segments))
        if beams.fields:
            pieces = EDGES_OF_FIELD * beams.fields
            handle = nodes.empty_lines("beams/fields", pieces, FIELD_RGB, THIN_WIDTH)
            layers.append(self._line_layer(handle, "beams", beams.field_segments))
        return layers

    def _cones(self, beams: SensorBeams) -> Layer:
        count = beams.cones
        handle = self._nodes.batch(
            "beams/sound",
            cone_mesh(),
            count,
            opacity=1.0,
            rgb=np.zeros((count, 3), np.uint8),
            batched_scales=np.ones((count, 3), np.float32),
            batched_opacities=np.zeros(count, np.float32),
        )

        def draw(scene_state: SceneState) -> None:
            set_visible(handle, visible=self._options.beams)
            if not self._options.beams:
                return
            cones = beams.cones_at(scene_state)
            update_node(
                handle,
                batched_positions=cones.poses.positions_world_m,
                batched_wxyzs=cones.poses.q_world_from_part,
                batched_scales=cones.scales,
                batched_colors=cones.rgb,
                batched_opacities=cones.opacities,
            )

        return draw

    def _line_layer(
        self,
        handle: viser.LineSegmentsHandle,
        option: str,
        segments: Callable[[SceneState], Segments],
    ) -> Layer:
        """Return a layer of lines, which are not computed while it is hidden."""

        def draw(scene_state: SceneState) -> None:
            visible = getattr(self._options, option)
            set_visible(handle, visible=visible)
            if visible:
                update_node(handle, points=segments(scene_state))

        return draw


def largest_m(flight: FlightInfo) -> float:
    """Return the length of the largest vehicle."""
    sizes = [vehicle.dynamics.size_body_m for vehicle in flight.scenario.vehicles.values()]
    return max([float(size.x) for size in sizes] + [MIN_VEHICLE_M])
