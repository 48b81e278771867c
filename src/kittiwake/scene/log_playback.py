"""Playback of a log: scene states at any time between its first and last row."""

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import (
    ADDED,
    POSITION_WORLD_M,
    REMOVED,
    STATUS,
    Table,
)
from kittiwake.core.errors import LogError
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.interpolated_rows import interpolated_row, pose_columns
from kittiwake.scene.scene_state import FlightInfo, SceneState

TRAIL_S = 5.0
# points of a trail
MAX_POINTS = 125
# larger positions have diverged
DIVERGED_M = 1e8

Positions = Float64[np.ndarray, "times 3"]


class LogPlayback:
    """Frames of a recorded flight.

    Raises:
        LogError: if the log has no rows, or other vehicles than the scenario.
    """

    def __init__(self, log: Log, scenario: Scenario) -> None:
        if set(log.names) != set(scenario.vehicles):
            message = (
                "The log has other vehicles than the scenario.yaml beside it. Restore the file "
                "that 'kittiwake run' wrote."
            )
            raise LogError(message)
        self.log = log
        self.tracks = {name: Track(log.tables[name]) for name in log.names}
        times = [track.times_s for track in self.tracks.values() if track.times_s.size]
        if not times:
            message = f"The log has no rows to show: {log.early_end or 'it is empty'}"
            raise LogError(message)
        self.span_s = float(min(t[0] for t in times)), float(max(t[-1] for t in times))
        seed = log.scenario.get("seed")
        columns = {name: log.columns(name) for name in log.names}
        self.flight = FlightInfo(
            scenario, seed if isinstance(seed, int) else scenario.seed, columns
        )
        self.events, self.early_end = log.events, log.early_end
        # of the vehicles that came or went in flight
        self._added_s, self._removed_s = (
            {event.vehicle: event.time_s for event in log.events if event.event == change}
            for change in (ADDED, REMOVED)
        )

    def scene_state(self, time_s: float) -> SceneState:
        """Return the scene state at a time; after its last row a vehicle keeps its state.

        It has no vehicle that is still to be added, or has been removed.
        """
        tracks = {
            name: track
            for name, track in self.tracks.items()
            if track.times_s.size
            and self._added_s.get(name, -np.inf) <= time_s <= self._removed_s.get(name, np.inf)
        }
        return SceneState(
            time_s,
            {name: track.row(time_s) for name, track in tracks.items()},
            {name: track.trail(time_s) for name, track in tracks.items()},
        )


class Track:
    """Log rows of a vehicle over time."""

    def __init__(self, table: Table) -> None:
        self.values = table.values
        self.times_s = table.part(("time_s",))[:, 0]
        self._poses = pose_columns(table.columns)
        positions = table.part(POSITION_WORLD_M)
        lost = np.nan_to_num(table.part((STATUS,))) != 0.0
        # positions of lost or diverged vehicles are invalid
        self._positions = np.where((np.abs(positions) < DIVERGED_M) & ~lost, positions, np.nan)

    def row(self, time_s: float) -> Float64[np.ndarray, " columns"]:
        """Return the row at a time, with interpolated poses."""
        number = max(0, int(np.searchsorted(self.times_s, time_s, side="right")) - 1)
        row = self.values[number]
        if number + 1 == len(self.values):
            return row.copy()
        interval_s = self.times_s[number + 1] - self.times_s[number]
        share = float(np.clip((time_s - self.times_s[number]) / interval_s, 0.0, 1.0))
        return interpolated_row(row, self.values[number + 1], share, self._poses)

    def positions_world_m(self, times_s: Float64[np.ndarray, " times"]) -> Positions:
        """Return interpolated positions; NaN where unknown or lost."""
        if not self.times_s.size:
            return np.full((len(times_s), 3), np.nan)
        found = [np.interp(times_s, self.times_s, axis) for axis in self._positions.T]
        return np.stack(found, axis=1)

    def trail(self, time_s: float) -> Positions:
        """Return the positions of the last seconds up to a time, oldest first."""
        begin = max(time_s - TRAIL_S, float(self.times_s[0]))
        positions = self.positions_world_m(np.linspace(begin, max(time_s, begin), MAX_POINTS))
        return positions[np.isfinite(positions).all(axis=1)]
