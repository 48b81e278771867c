"""Speed of a vehicle and wind at it, as a film states them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy.ndimage import uniform_filter1d

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import VELOCITY_WORLD_MPS, Table
from kittiwake.scene.lines import WIND

# span of flight time over which they are averaged
MEAN_S = 0.5
# a weaker wind has no arrow
CALM_MPS = 0.05

Rows = Float64[np.ndarray, "rows 3"]


class Readings(NamedTuple):
    """Mean velocities at the rows of a log."""

    time_s: Float64[np.ndarray, " rows"]
    wind_world_mps: Rows
    velocity_world_mps: Rows

    @classmethod
    def of(cls, log: Log, vehicles: Sequence[str]) -> "Readings | None":
        """Return the readings of the first of some vehicles with rows; None without one."""
        tables = (log.tables[name] for name in vehicles)
        table = next((found for found in tables if len(found.values)), None)
        if table is None:
            return None
        time_s = table.part(("time_s",))[:, 0]
        return cls(time_s, _mean(table, WIND), _mean(table, VELOCITY_WORLD_MPS))

    def wind_at(self, time_s: float) -> Float64[np.ndarray, "3"] | None:
        """Return the wind at a time; None in calm or unknown air."""
        wind = self._at(self.wind_world_mps, time_s)
        return wind if np.linalg.norm(wind[:2]) > CALM_MPS else None

    def speed_mps_at(self, time_s: float) -> float | None:
        """Return the speed at a time; None where it is unknown."""
        speed = float(np.linalg.norm(self._at(self.velocity_world_mps, time_s)))
        return speed if np.isfinite(speed) else None

    def _at(self, rows: Rows, time_s: float) -> Float64[np.ndarray, "3"]:
        return np.array([np.interp(time_s, self.time_s, axis) for axis in rows.T])


def _mean(table: Table, columns: Sequence[str]) -> Rows:
    time_s = table.part(("time_s",))[:, 0]
    rows = 1 + round(MEAN_S * (len(time_s) - 1) / max(float(np.ptp(time_s)), MEAN_S))
    return uniform_filter1d(table.part(columns), rows, axis=0, mode="nearest")
