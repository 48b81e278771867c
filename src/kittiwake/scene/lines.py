"""Lines of the scene: trails, wind arrows, radio links, setpoints and routes.

The number of segments is constant, so that a drawing is updated in place; invisible segments have
zero length.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Rgb, capsule
from kittiwake.scene.scene_state import EqualTrails, FlightInfo, SceneState
from kittiwake.scene.selection import Selection

POSITION = ("x_m", "y_m", "z_m")
WIND = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")
SETPOINT = (
    "setpoint.position_x_world_m",
    "setpoint.position_y_world_m",
    "setpoint.position_z_world_m",
)
# colors of vehicles, in turn
COLORS: tuple[Rgb, ...] = (
    (31, 119, 200),
    (232, 108, 30),
    (44, 150, 70),
    (200, 50, 70),
    (130, 90, 190),
    (120, 85, 70),
    (214, 90, 170),
    (90, 110, 120),
    (150, 150, 30),
    (20, 160, 180),
)
# segments of all trails and marks together, and of one trail
MAX_SEGMENTS, MAX_TRAIL_SEGMENTS = 6000, 150
PALE_RGB, PALEST = np.array([214, 222, 230]), 0.3
# largest number of vehicles with wind arrows, labels and setpoints
MAX_ANNOTATED = 30
# largest number of vehicles with radio links
MAX_LINKED = 16
ARROW_HEAD = 0.25
# half a mark relative to its vehicle's length, in a direction from which nobody looks
HALF_MARK = 0.05 * np.array([0.48, 0.6, 0.64])

Segments = Float[np.ndarray, "segments 2 3"]


def color_of(number: int) -> Rgb:
    """Return the color of a vehicle by its index in the scenario."""
    return COLORS[number % len(COLORS)]


class Trails:
    """Recent paths of all vehicles, paler towards the past."""

    def __init__(self, vehicles: Sequence[str], rgbs: Sequence[Rgb] | None = None) -> None:
        self._names = list(vehicles)
        self.segments_per_trail = min(
            MAX_TRAIL_SEGMENTS, max(4, MAX_SEGMENTS // max(1, len(self._names)) - 1)
        )
        colors = rgbs or [color_of(number) for number in range(len(self._names))]
        share = np.linspace(PALEST, 1.0, self.segments_per_trail + 1)[None, :, None]
        blend = PALE_RGB * (1.0 - share) + np.array(colors, float).reshape(-1, 1, 3) * share
        self.rgb = (
            np.stack([blend[:, :-1], blend[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.uint8)
        )
        # unknown trails have zero length
        self._known = np.zeros((len(self._names), self.segments_per_trail + 1, 3))

    def segments(self, scene_state: SceneState) -> Segments:
        """Return the segments of all trails, vehicle by vehicle."""
        together = self._sampled_together(scene_state.trails)
        if together is not None:
            self._known = together
        else:
            for number, name in enumerate(self._names):
                trail = scene_state.trails.get(name)
                if trail is not None and len(trail):
                    self._known[number] = trail[self._samples(len(trail))]
        points = np.nan_to_num(self._known)
        return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)

    def _sampled_together(
        self, trails: Mapping[str, Float[np.ndarray, "points 3"]]
    ) -> Float[np.ndarray, "vehicles samples 3"] | None:
        """Return the points of trails of equal length, which is much faster; None for others."""
        if isinstance(trails, EqualTrails):
            return trails.sampled(self._names, self.segments_per_trail + 1)
        there = [trails[name] for name in self._names if name in trails]
        lengths = {len(trail) for trail in there}
        if len(there) < len(self._names) or len(lengths) != 1 or lengths == {0}:
            return None
        together = np.concatenate(there).reshape(len(there), -1, 3)
        return together[:, self._samples(together.shape[1])]

    def _samples(self, points: int) -> np.ndarray:
        return np.linspace(0, points - 1, self.segments_per_trail + 1).round().astype(int)


def mark_segments(
    positions_world_m: Float[np.ndarray, "vehicles 3"], lengths_m: Float[np.ndarray, " vehicles"]
) -> Segments:
    """Return segments within vehicles, which are dots on the screen if drawn wider than long."""
    half = lengths_m[:, None] * HALF_MARK
    return np.stack([positions_world_m - half, positions_world_m + half], axis=1)


class WindArrows:
    """Wind velocity at each vehicle, as arrows of a shaft and two head lines."""

    def __init__(self, flight: FlightInfo, meters_for_mps: float) -> None:
        self.vehicles = list(flight.scenario.vehicles)[:MAX_ANNOTATED]
        self._selection = Selection(flight, self.vehicles, (*POSITION, *WIND))
        self._scale = meters_for_mps

    def segments(self, scene_state: SceneState) -> Segments:
        """Return three segments per vehicle."""
        values = np.nan_to_num(self._selection.of(scene_state))
        start, arrow = values[:, :3], values[:, 3:] * self._scale
        tip = start + arrow
        aside = np.cross(arrow, [0.0, 0.0, 1.0]) * (0.5 * ARROW_HEAD)
        back = tip - ARROW_HEAD * arrow
        ends = [(start, tip), (tip, back + aside), (tip, back - aside)]
        return np.stack([np.stack(pair, axis=1) for pair in ends], axis=1).reshape(-1, 2, 3)


class Links:
    """Radio links between vehicles within range; none for large fleets."""

    def __init__(self, flight: FlightInfo) -> None:
        radio = flight.scenario.world.radio
        names = list(flight.scenario.vehicles)
        few = radio is not None and len(names) <= MAX_LINKED
        self._selection = Selection(flight, names if few else [], POSITION)
        self._range_m = 0.0 if radio is None else float(getattr(radio.component, "range_m", 0.0))
        self._first, self._second = np.triu_indices(len(names) if few else 0, 1)

    @property
    def pairs(self) -> int:
        """Number of segments."""
        return len(self._first)

    def segments(self, scene_state: SceneState) -> Segments:
        """Return one segment per pair; zero length out of range."""
        positions = self._selection.of(scene_state)
        first, second = positions[self._first], positions[self._second]
        near = np.linalg.norm(first - second, axis=1) <= self._range_m
        ends = np.where(near[:, None], second, first)
        return np.nan_to_num(np.stack([first, ends], axis=1))


class Setpoints:
    """Position setpoints of vehicles, and lines to them."""

    def __init__(self, flight: FlightInfo) -> None:
        self.vehicles = list(flight.scenario.vehicles)[:MAX_ANNOTATED]
        self._selection = Selection(flight, self.vehicles, (*POSITION, *SETPOINT))

    def at(
        self, scene_state: SceneState
    ) -> tuple[Float[np.ndarray, "n 3"], Bool[np.ndarray, " n"], Segments]:
        """Return setpoint positions, a mask of the valid ones, and lines from the vehicles."""
        values = self._selection.of(scene_state)
        there = np.asarray(np.isfinite(values).all(axis=1))
        place, goal = np.nan_to_num(values[:, :3]), np.nan_to_num(values[:, 3:])
        goal = np.where(there[:, None], goal, place)
        return goal, there, np.stack([place, goal], axis=1)


def route_segments(positions_world_m: Float[np.ndarray, "positions 3"]) -> Segments:
    """Return the segments between consecutive positions."""
    return np.stack([positions_world_m[:-1], positions_world_m[1:]], axis=1)


def sphere_mesh(rgb: Rgb, opacity: float = 1.0) -> ColoredMesh:
    """Return a sphere of radius 1 m."""
    return capsule(1.0, 0.0, 12).colored(rgb, opacity)
