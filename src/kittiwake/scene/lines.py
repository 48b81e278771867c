"""What is drawn as lines beside the cast: trails, wind arrows, radio links, places to visit.

Each gives as many pieces at all times, so that a drawing is changed in place; what is not to be
seen has no length.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Rgb, capsule
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.selection import Selection

PLACE = ("x_m", "y_m", "z_m")
WIND = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")
SETPOINT = (
    "setpoint.position_x_world_m",
    "setpoint.position_y_world_m",
    "setpoint.position_z_world_m",
)
# vehicles are told apart by these, in turn
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
# of all trails together, and of one
MOST_PIECES, PIECES_OF_ONE = 6000, 150
PALE_RGB, PALEST = np.array([214, 222, 230]), 0.3
# of vehicles, so many have arrows of the wind, labels and the like
FEW = 30
# every pair of these may have a link
MOST_LINKED = 16
ARROW_HEAD = 0.25

Segments = Float[np.ndarray, "pieces 2 3"]


def color_of(number: int) -> Rgb:
    """Of a vehicle by its place in the scenario."""
    return COLORS[number % len(COLORS)]


class Trails:
    """Where all vehicles were in the last seconds, paler the longer ago."""

    def __init__(self, vehicles: Sequence[str], rgbs: Sequence[Rgb] | None = None) -> None:
        self._names = list(vehicles)
        self.pieces = min(PIECES_OF_ONE, max(4, MOST_PIECES // max(1, len(self._names))))
        given = rgbs or [color_of(number) for number in range(len(self._names))]
        share = np.linspace(PALEST, 1.0, self.pieces + 1)[None, :, None]
        blend = PALE_RGB * (1.0 - share) + np.array(given, float).reshape(-1, 1, 3) * share
        self.rgb = (
            np.stack([blend[:, :-1], blend[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.uint8)
        )
        # where there is none yet, it has no length
        self._known = np.zeros((len(self._names), self.pieces + 1, 3))

    def segments(self, frame: Frame) -> Segments:
        """Those of one vehicle after those of the other."""
        trails = [frame.trails.get(name) for name in self._names]
        lengths = {-1 if trail is None else len(trail) for trail in trails}
        if len(lengths) == 1 and min(lengths) > 0:
            there = [trail for trail in trails if trail is not None]
            together = np.concatenate(there).reshape(len(there), -1, 3)
            self._known = together[:, self._picked(together.shape[1])]
        else:
            for number, trail in enumerate(trails):
                if trail is not None and len(trail):
                    self._known[number] = trail[self._picked(len(trail))]
        points = np.nan_to_num(self._known)
        return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)

    def _picked(self, points: int) -> np.ndarray:
        return np.linspace(0, points - 1, self.pieces + 1).round().astype(int)


class WindArrows:
    """The air's velocity at each vehicle, as a shaft and two lines of its head."""

    def __init__(self, show: Show, meters_for_mps: float) -> None:
        self.vehicles = list(show.scenario.vehicles)[:FEW]
        self._selection = Selection(show, self.vehicles, (*PLACE, *WIND))
        self._scale = meters_for_mps

    def segments(self, frame: Frame) -> Segments:
        """Three pieces for each vehicle."""
        values = np.nan_to_num(self._selection.of(frame))
        start, way = values[:, :3], values[:, 3:] * self._scale
        tip = start + way
        aside = np.cross(way, [0.0, 0.0, 1.0]) * (0.5 * ARROW_HEAD)
        back = tip - ARROW_HEAD * way
        ends = [(start, tip), (tip, back + aside), (tip, back - aside)]
        return np.stack([np.stack(pair, axis=1) for pair in ends], axis=1).reshape(-1, 2, 3)


class Links:
    """Between vehicles that are near enough to hear each other by radio; none of a large flock."""

    def __init__(self, show: Show) -> None:
        radio = show.scenario.world.radio
        names = list(show.scenario.vehicles)
        few = radio is not None and len(names) <= MOST_LINKED
        self._selection = Selection(show, names if few else [], PLACE)
        self._range_m = 0.0 if radio is None else float(getattr(radio.component, "range_m", 0.0))
        self._one, self._other = np.triu_indices(len(names) if few else 0, 1)

    @property
    def pairs(self) -> int:
        """How many pieces there are."""
        return len(self._one)

    def segments(self, frame: Frame) -> Segments:
        """One for each pair."""
        places = self._selection.of(frame)
        one, other = places[self._one], places[self._other]
        near = np.linalg.norm(one - other, axis=1) <= self._range_m
        ends = np.where(near[:, None], other, one)
        return np.nan_to_num(np.stack([one, ends], axis=1))


class Setpoints:
    """Where vehicles are to be now, and a line to there."""

    def __init__(self, show: Show) -> None:
        self.vehicles = list(show.scenario.vehicles)[:FEW]
        self._selection = Selection(show, self.vehicles, (*PLACE, *SETPOINT))

    def at(self, frame: Frame) -> tuple[Float[np.ndarray, "n 3"], Bool[np.ndarray, " n"], Segments]:
        """The places, which of them there are, and the lines."""
        values = self._selection.of(frame)
        there = np.asarray(np.isfinite(values).all(axis=1))
        place, goal = np.nan_to_num(values[:, :3]), np.nan_to_num(values[:, 3:])
        goal = np.where(there[:, None], goal, place)
        return goal, there, np.stack([place, goal], axis=1)


def way_segments(places_world_m: Float[np.ndarray, "places 3"]) -> Segments:
    """From each place to the next."""
    return np.stack([places_world_m[:-1], places_world_m[1:]], axis=1)


def ball_look(rgb: Rgb, opacity: float = 1.0) -> Look:
    """Of a radius of one meter, to be scaled."""
    return capsule(1.0, 0.0, 12).look(rgb, opacity)
