"""Table of one vehicle's flight, and events of a run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64

POSITION_WORLD_M = ("x_m", "y_m", "z_m")
SETPOINT_WORLD_M = tuple(f"setpoint.position_{axis}_world_m" for axis in "xyz")
Q_WORLD_FROM_BODY = ("qw", "qx", "qy", "qz")
VELOCITY_WORLD_MPS = ("vx_mps", "vy_mps", "vz_mps")
ANGULAR_VELOCITY_BODY_RADPS = ("wx_radps", "wy_radps", "wz_radps")

# angles that are computed from the quaternion
EULER = ("roll_rad", "pitch_rad", "yaw_rad")

# the first columns of every vehicle, in this order; the last one is STATUS
STATE_COLUMNS = (
    "time_s",
    *POSITION_WORLD_M,
    *Q_WORLD_FROM_BODY,
    *VELOCITY_WORLD_MPS,
    *ANGULAR_VELOCITY_BODY_RADPS,
)
STATUS = "status"
# prefix of the estimated state's columns
ESTIMATE_PREFIX = "estimate."

# counters: reached waypoints, and below landings, started faults and empty batteries
LEGS = "guidance.legs"
# phase of a vehicle's task
PHASE = "guidance.phase"
# flag of a completed task
FINISHED = "guidance.finished"
LANDINGS = "landings"
FAULTS = "faults"
EMPTY = "act_battery_empty"
CONTACT = "contact"
NEAREST_OBSTACLE = "nearest_obstacle_m"
# last landing: speed relative to the surface, flag of a deck, and distance from its center
TOUCH_SPEED = "touch_speed_mps"
TOUCHED_DECK = "touched_deck"
TOUCH_OFFSET = "touch_offset_m"

# events of vehicles that come and go in flight
ADDED, REMOVED = "added", "removed"


@dataclass(frozen=True, eq=False)
class Table:
    """Log of one vehicle, one row for each logged step.

    ``status`` is 0 where the model is valid, and k where the k-th of ``quantities`` (numbered from
    1) had left its range.
    """

    columns: tuple[str, ...]
    values: Float64[np.ndarray, "rows columns"]
    quantities: tuple[str, ...] = ()

    def part(self, columns: Iterable[str]) -> Float64[np.ndarray, "rows part"]:
        """Return columns side by side, with NaN for missing ones."""
        found = [self.columns.index(c) if c in self.columns else -1 for c in columns]
        values = self.values[:, found]
        values[:, [index < 0 for index in found]] = np.nan
        return values

    @property
    def roll_pitch_yaw_rad(self) -> Float64[np.ndarray, "rows 3"]:
        """Attitude in ZYX angles, yaw between -pi and pi."""
        return roll_pitch_yaw_rad(self.part(Q_WORLD_FROM_BODY))

    @property
    def roll_pitch_yaw_deg(self) -> Float64[np.ndarray, "rows 3"]:
        """Attitude in ZYX angles, yaw between -180 and 180."""
        return roll_pitch_yaw_deg(self.part(Q_WORLD_FROM_BODY))


def estimated_state(table: Table) -> Table:
    """Return a table with the estimated state in the columns of the true one."""
    state = frozenset(STATE_COLUMNS[1:])
    columns = tuple(
        f"true.{column}" if column in state else column.removeprefix(ESTIMATE_PREFIX)
        for column in table.columns
    )
    return replace(table, columns=columns)


def roll_pitch_yaw_deg(
    q_world_from_body: Float64[np.ndarray, "rows 4"],
) -> Float64[np.ndarray, "rows 3"]:
    """Return the ZYX angles of unit quaternions (w, x, y, z), yaw between -180 and 180."""
    return np.degrees(roll_pitch_yaw_rad(q_world_from_body))


def roll_pitch_yaw_rad(
    q_world_from_body: Float64[np.ndarray, "rows 4"],
) -> Float64[np.ndarray, "rows 3"]:
    """Return the ZYX angles of unit quaternions (w, x, y, z), yaw between -pi and pi."""
    w, x, y, z = q_world_from_body.T
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=1)


def lies_on_its_back(
    rows: Float64[np.ndarray, "rows 3"],
) -> Bool[np.ndarray, " rows"]:
    """Return True where a body touches a surface with its z axis pointing down.

    Args:
        rows: the columns ``qx``, ``qy`` and ``contact``.
    """
    x, y, contact = rows.T
    return (contact > 0.0) & (x * x + y * y > 0.5)


@dataclass(frozen=True)
class Event:
    """Event of a vehicle, in words."""

    time_s: float
    vehicle: str
    event: str


def at_common_times(
    tables: Iterable[Table], columns: tuple[str, ...]
) -> tuple[Float64[np.ndarray, " times"], Float64[np.ndarray, "times vehicles columns"]]:
    """Return all logged times and every vehicle's columns at them; NaN without a row.

    Vehicles of one run are logged at the same times, except after a recording was cut off.
    """
    tables = tuple(tables)
    logged = [table.part(("time_s",))[:, 0] for table in tables]
    times = np.unique(np.concatenate([np.empty(0), *logged]))
    gathered = np.full((times.size, len(tables), len(columns)), np.nan)
    for vehicle, (table, own) in enumerate(zip(tables, logged, strict=True)):
        gathered[np.searchsorted(times, own), vehicle] = table.part(columns)
    return times, gathered
