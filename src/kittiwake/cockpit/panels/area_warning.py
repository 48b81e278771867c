"""Warning before vehicles reach the border of the flight area, where they would be lost."""

import numpy as np
from jaxtyping import Bool, Float

from kittiwake.analysis.table import POSITION_WORLD_M, VELOCITY_WORLD_MPS
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.scene.extent import area_of
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import Selection
from kittiwake.scene.static_objects import ground_height_m

AHEAD_S, SIDE_SHARE = 2.0, 0.05
# slower vehicles do not approach a border
MIN_SPEED_MPS = 0.1
# a vehicle that was farther from all borders for this time is warned again
CLEAR_S = 3.0
BORDERS = ("west", "south", "lower", "east", "north", "upper")


class AreaWarning:
    """Notifications about vehicles that approach the border of the flight area.

    A vehicle approaches a border if it would reach it within ``AHEAD_S`` at its velocity, or moves
    towards it within ``SIDE_SHARE`` of the area's side. Each approach is notified once.
    """

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._follow(context.flight)

    def update(self, scene_state: SceneState) -> None:
        """Notify about vehicles that have begun to approach a border."""
        if self._context.flight is not self._flight:
            self._follow(self._context.flight)
        if scene_state.time_s < self._time_s:  # restarted
            self._last_s[:] = -np.inf
        self._time_s = scene_state.time_s
        motion = self._selection.of(scene_state)
        near = approaches(motion[:, :3], motion[:, 3:], *self._borders)
        near[:, 2] &= self._has_lower_border
        is_near = near.any(axis=1)
        begins = is_near & (scene_state.time_s - self._last_s > CLEAR_S)
        self._last_s[is_near] = scene_state.time_s
        if begins.any():
            self._notify(np.flatnonzero(begins), near)

    def _notify(self, numbers: np.ndarray, near: Bool[np.ndarray, "vehicles 6"]) -> None:
        first = int(numbers[0])
        border = int(np.argmax(near[first]))
        limit_m = np.concatenate(self._borders)[border]
        who = self._names[first] + (f" and {len(numbers) - 1} more" if len(numbers) > 1 else "")
        text = (
            f"{who}: near the {BORDERS[border]} border, {'xyz'[border % 3]} = {limit_m:g} m. "
            "Beyond it a vehicle is lost."
        )
        self._context.notify("Flight area", text, error=True)

    def _follow(self, flight: FlightInfo) -> None:
        self._flight, self._names = flight, list(flight.scenario.vehicles)
        columns = (*POSITION_WORLD_M, *VELOCITY_WORLD_MPS)
        self._selection = Selection(flight, self._names, columns)
        self._last_s = np.full(len(self._names), -np.inf)
        self._time_s = -np.inf
        self._borders = area_of(flight)
        # otherwise vehicles stand on the ground
        self._has_lower_border = bool(self._borders[0][2] > ground_height_m(flight))


def approaches(
    positions_world_m: Float[np.ndarray, "vehicles 3"],
    velocities_world_mps: Float[np.ndarray, "vehicles 3"],
    low_world_m: Float[np.ndarray, "3"],
    high_world_m: Float[np.ndarray, "3"],
) -> Bool[np.ndarray, "vehicles 6"]:
    """Return which of the borders (low x, y, z, then high) each vehicle inside approaches."""
    outwards_mps = np.concatenate([-velocities_world_mps, velocities_world_mps], axis=1)
    distances_m = np.concatenate(
        [positions_world_m - low_world_m, high_world_m - positions_world_m], axis=1
    )
    sides_m = np.tile(high_world_m - low_world_m, 2)
    near = (distances_m < AHEAD_S * outwards_mps) | (distances_m < SIDE_SHARE * sides_m)
    is_inside = (distances_m >= 0.0).all(axis=1, keepdims=True)
    return near & (outwards_mps > MIN_SPEED_MPS) & is_inside
