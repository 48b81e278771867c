"""A log as frames: what there is to see at any time between its first and its last row."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import POSITION_WORLD_M, Q_WORLD_FROM_BODY, STATUS, Table
from kittiwake.core.errors import LogError
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.frame import Frame, Show

TRAIL_S = 5.0
# of a trail
MOST_POINTS = 125
# beyond it a number is on its way to infinity
MEANINGLESS = 1e8

Places = Float64[np.ndarray, "times 3"]


class LogPlayback:
    """A flight that can be looked at from its start to its end.

    Raises:
        LogError: if the log has no rows, or not the vehicles of the scenario.
    """

    def __init__(self, log: Log, scenario: Scenario) -> None:
        if set(log.names) != set(scenario.vehicles):
            message = (
                "the log has other vehicles than the scenario.yaml beside it. Put back the one "
                "that 'kittiwake run' wrote."
            )
            raise LogError(message)
        self.tracks = {name: Track(log.tables[name]) for name in log.names}
        times = [track.times_s for track in self.tracks.values() if track.times_s.size]
        if not times:
            message = f"there is nothing to see: {log.early_end or 'the log holds no rows'}"
            raise LogError(message)
        self.span_s = float(min(t[0] for t in times)), float(max(t[-1] for t in times))
        seed = log.scenario.get("seed")
        columns = {name: log.columns(name) for name in log.names}
        self.show = Show(scenario, seed if isinstance(seed, int) else scenario.seed, columns)
        self.events, self.early_end = log.events, log.early_end

    def frame(self, time_s: float) -> Frame:
        """What there is at a time; after its last row a vehicle stays as it was."""
        there = {name: track for name, track in self.tracks.items() if track.times_s.size}
        return Frame(
            time_s,
            {name: track.row(time_s) for name, track in there.items()},
            {name: track.trail(time_s) for name, track in there.items()},
        )


class Track:
    """A vehicle's rows over time."""

    def __init__(self, table: Table) -> None:
        self.values = table.values
        self.times_s = table.part(("time_s",))[:, 0]
        self._place = _indices(table, POSITION_WORLD_M)
        self._attitude = _indices(table, Q_WORLD_FROM_BODY)
        places = table.part(POSITION_WORLD_M)
        lost = np.nan_to_num(table.part((STATUS,))) != 0.0
        # a place that a model has never been at means nothing
        self._places = np.where((np.abs(places) < MEANINGLESS) & ~lost, places, np.nan)

    def row(self, time_s: float) -> Float64[np.ndarray, " columns"]:
        """The last one until a time, moved on towards the next one."""
        number = max(0, int(np.searchsorted(self.times_s, time_s, side="right")) - 1)
        row = self.values[number].copy()
        if number + 1 == len(self.values):
            return row
        following = self.values[number + 1]
        between = self.times_s[number + 1] - self.times_s[number]
        share = float(np.clip((time_s - self.times_s[number]) / between, 0.0, 1.0))
        row[self._place] += share * (following[self._place] - row[self._place])
        row[self._attitude] = _turned(row[self._attitude], following[self._attitude], share)
        return row

    def places_world_m(self, times_s: Float64[np.ndarray, " times"]) -> Places:
        """Where it was at times; NaN where it is not known, or lost."""
        if not self.times_s.size:
            return np.full((len(times_s), 3), np.nan)
        found = [np.interp(times_s, self.times_s, axis) for axis in self._places.T]
        return np.stack(found, axis=1)

    def trail(self, time_s: float) -> Places:
        """Where it was in the last seconds, oldest first, and where it is."""
        begin = max(time_s - TRAIL_S, float(self.times_s[0]))
        places = self.places_world_m(np.linspace(begin, max(time_s, begin), MOST_POINTS))
        return places[np.isfinite(places).all(axis=1)]


def _indices(table: Table, columns: Sequence[str]) -> list[int]:
    return [table.columns.index(column) for column in columns]


def _turned(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """A quaternion between two near ones, the short way."""
    towards = other if float(one @ other) >= 0.0 else -other
    mixed = one + share * (towards - one)
    length = float(np.linalg.norm(mixed))
    return mixed / length if length > 0.0 else one
