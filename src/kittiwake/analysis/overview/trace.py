"""What of a log is drawn: so many vehicles and rows as an eye can tell apart, and finite ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview.partner import partner_of
from kittiwake.analysis.summary import SETPOINT_WORLD_M
from kittiwake.analysis.table import (
    LEGS,
    POSITION_WORLD_M,
    STATE_COLUMNS,
    STATUS,
    VELOCITY_WORLD_MPS,
    Event,
    Table,
    roll_pitch_yaw_deg,
)

MAX_VEHICLES = 100
MAX_ROWS = 2000
# Beyond this a number is on its way to infinity; squares and pixels of it would overflow.
MEANINGLESS = 1e8
# A diverging vehicle is drawn up to this many times its usual distance from the start, and speed;
# else its last instants would shrink all the rest to a point.
DIVERGED_FACTOR = 10.0
DIVERGED_LEAST = 10.0

WIND_WORLD_MPS = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")

COMMANDED_ATTITUDE = tuple(f"cmd_q_world_from_body_{part}" for part in "wxyz")

PHASE = "guidance.phase"
# of all rows; a set point that is new in more of them moves
MOVING_SHARE = 0.2

LOSSES = ("lost", "diverged")

Rows = Float64[np.ndarray, "rows part"]
Series = Float64[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Loss:
    """When, where and why a vehicle was lost; the place is NaN if it was never at a finite one."""

    time_s: float
    reason: str
    position_world_m: Float64[np.ndarray, "3"]


@dataclass(frozen=True, eq=False)
class Trace:
    """One vehicle as it is drawn.

    Attributes:
        name: the vehicle's.
        place: its place among all vehicles of the log, from 0.
        step: of each so many logged rows one is drawn.
        table: the rows drawn; NaN where nothing meaningful was logged.
        loss: how the vehicle was lost, if it was.
        partner_world_m: where the vehicle was whose deck it follows; None without one.
    """

    name: str
    place: int
    step: int
    table: Table
    loss: Loss | None
    partner_world_m: Rows | None = None

    @property
    def time_s(self) -> Series:
        """The rows' times."""
        return self.table.part(("time_s",))[:, 0]

    @property
    def position_world_m(self) -> Rows:
        """Where the vehicle was."""
        return self.table.part(POSITION_WORLD_M)

    @property
    def setpoint_world_m(self) -> Rows:
        """Where it was to be; NaN if no place was asked of it."""
        return self.table.part(SETPOINT_WORLD_M)

    @property
    def speed_mps(self) -> Series:
        """How fast it was."""
        return np.linalg.norm(self.table.part(VELOCITY_WORLD_MPS), axis=1)

    @property
    def wind_world_mps(self) -> Rows:
        """The air's velocity where it was, of all that moves the air."""
        return self.table.part(WIND_WORLD_MPS)

    @property
    def beside_partner_m(self) -> Series | None:
        """The horizontal distance to the partner; None without one."""
        if self.partner_world_m is None:
            return None
        return np.linalg.norm((self.position_world_m - self.partner_world_m)[:, :2], axis=1)

    @property
    def cross_track_m(self) -> Series | None:
        """The distance to the leg between the last set point and this one; None without legs.

        The first leg begins where the vehicle does. Only guidance that counts waypoints has legs,
        and no set point of it moves along with the vehicle.
        """
        if not np.nan_to_num(self.table.part((LEGS,))[:, 0]).any():
            return None
        ends = self.setpoint_world_m
        known = np.flatnonzero(np.isfinite(ends).all(axis=1))
        if not len(known):
            return None
        new = np.any(np.diff(ends[known], axis=0, prepend=np.nan) != 0.0, axis=1)
        if np.count_nonzero(new) > MOVING_SHARE * len(known) + 1:
            return None
        places = np.concatenate([self.position_world_m[known[:1]], ends[known[new]]])
        leg = np.cumsum(new)
        distance_m = np.full(len(ends), np.nan)
        distance_m[known] = _distance_to_leg(
            self.position_world_m[known], places[leg - 1], places[leg]
        )
        return distance_m

    @property
    def phase(self) -> Series:
        """Which part of its task it was at, by number; NaN for a task without parts."""
        return self.table.part((PHASE,))[:, 0]

    @property
    def commanded_roll_pitch_yaw_deg(self) -> Float64[np.ndarray, "rows 3"]:
        """The attitude that is commanded, in the same angles; NaN if none is."""
        return roll_pitch_yaw_deg(self.table.part(COMMANDED_ATTITUDE))

    @property
    def roll_pitch_yaw_deg(self) -> Float64[np.ndarray, "rows 3"]:
        """Its attitude in ZYX angles, yaw between -180 and 180."""
        return self.table.roll_pitch_yaw_deg

    def has(self, columns: Iterable[str]) -> bool:
        """Whether all these columns hold a number somewhere."""
        return bool(np.isfinite(self.table.part(columns)).any(axis=0).all())


def _distance_to_leg(places_m: Rows, starts_m: Rows, ends_m: Rows) -> Series:
    """Return the distance of each place from the straight line between two ends."""
    along = ends_m - starts_m
    length2 = np.sum(along**2, axis=1)
    share = np.sum((places_m - starts_m) * along, axis=1) / np.where(length2 > 0.0, length2, 1.0)
    nearest = starts_m + np.clip(share, 0.0, 1.0)[:, None] * along
    return np.linalg.norm(places_m - nearest, axis=1)


def find_losses(log: Log) -> dict[str, Loss]:
    """How vehicles were lost, by name: an event says it, or the status, or numbers end."""
    told: dict[str, Event] = {}
    for event in log.events:
        if event.event.startswith(LOSSES):
            told.setdefault(event.vehicle, event)
    found = {name: _loss(log.tables[name], told.get(name)) for name in log.names}
    return {name: loss for name, loss in found.items() if loss is not None}


def without_limits(reason: str) -> str:
    """A reason without the limits that did not hold, such as ``lost: z_m = -0.02``."""
    return reason.partition(" is not ")[0]


def without_value(reason: str) -> str:
    """A reason as it is for all that left the same limits, without one's own value."""
    found, _, limits = reason.partition(" is not ")
    quantity = found.partition(" = ")[0]
    return f"{quantity} is not {limits.partition(' (')[0]}" if limits else reason


def select_traces(log: Log, losses: Mapping[str, Loss]) -> list[Trace]:
    """The vehicles to draw, in the log's order: half of the places are for lost ones first."""
    names = log.names
    lost = [place for place, name in enumerate(names) if name in losses]
    chosen = set(range(len(names)))
    if len(names) > MAX_VEHICLES:
        chosen = {lost[i] for i in _spread(len(lost), MAX_VEHICLES // 2)}
        others = [place for place in range(len(names)) if place not in chosen]
        chosen |= {others[i] for i in _spread(len(others), MAX_VEHICLES - len(chosen))}
    traces = [
        _trace(names[place], place, log.tables[names[place]], losses.get(names[place]))
        for place in sorted(chosen)
    ]
    return [_with_partner(trace, log) for trace in traces]


def _with_partner(trace: Trace, log: Log) -> Trace:
    partner = partner_of(trace.name, log)
    if partner is None:
        return trace
    there = log.tables[partner]
    place = np.searchsorted(there.part(("time_s",))[:, 0], trace.time_s)
    known = place < len(there.values)
    found = there.part(POSITION_WORLD_M)[np.where(known, place, 0)]
    return replace(trace, partner_world_m=np.where(known[:, None], found, np.nan))


def _spread(count: int, wanted: int) -> list[int]:
    """At most ``wanted`` of the numbers below ``count``, from the first to the last."""
    return np.linspace(0, count - 1, min(count, wanted)).round().astype(int).tolist()


def _trace(name: str, place: int, table: Table, loss: Loss | None) -> Trace:
    rows = len(table.values)
    step = max(1, ceil(rows / MAX_ROWS))
    drawn = np.arange(0, rows, step)
    if rows:
        drawn = np.union1d(drawn, rows - 1)
    values = np.where(np.abs(table.values[drawn]) < MEANINGLESS, table.values[drawn], np.nan)
    thinned = Table(table.columns, values, table.quantities)
    if loss is not None and loss.reason.startswith("diverged"):
        timeless = np.array([column != "time_s" for column in table.columns])
        values[_far(thinned)[:, None] & timeless] = np.nan
        last_m = _last_position(thinned, np.ones(len(values), bool))
        loss = replace(loss, position_world_m=last_m)
    return Trace(name, place, step, thinned, loss)


def _far(table: Table) -> Bool[np.ndarray, " rows"]:
    """In which rows a vehicle is on its way out of all reason."""
    position_m = table.part(POSITION_WORLD_M)
    known = position_m[np.isfinite(position_m).all(axis=1)]
    if not len(known):
        return np.zeros(len(position_m), bool)
    distance_m = np.linalg.norm(position_m - known[0], axis=1)
    speed_mps = np.linalg.norm(table.part(VELOCITY_WORLD_MPS), axis=1)
    return _excessive(distance_m) | _excessive(speed_mps)


def _excessive(values: Series) -> Bool[np.ndarray, " rows"]:
    known = values[np.isfinite(values)]
    usual = float(np.median(known)) if known.size else 0.0
    return values > max(DIVERGED_FACTOR * usual, DIVERGED_LEAST)


def _loss(table: Table, told: Event | None) -> Loss | None:
    time_s = table.part(("time_s",))[:, 0]
    if told is not None:
        return Loss(told.time_s, told.event, _last_position(table, time_s <= told.time_s))
    row, reason = _verdict(table)
    if row is None:
        return None
    return Loss(float(time_s[row]), reason, _last_position(table, time_s <= time_s[row]))


def _verdict(table: Table) -> tuple[int | None, str]:
    """The row from which on a vehicle was lost, and why."""
    status = np.nan_to_num(table.part((STATUS,))[:, 0])
    present = [column for column in STATE_COLUMNS if column in table.columns]
    finite = np.logical_and.reduce(np.isfinite(table.part(present)), axis=1)
    if status.any():
        row = int(np.flatnonzero(status)[0])
        judged = int(status[row]) - 1
        known = 0 <= judged < len(table.quantities)
        quantity = table.quantities[judged] if known else "a quantity"
        if quantity.startswith("non-finite"):
            return row, f"diverged: {quantity}"
        return row, f"lost: {quantity} outside its limits"
    if len(finite) and not finite[-1]:
        return int(np.flatnonzero(finite)[-1]) + 1 if finite.any() else 0, "diverged: not finite"
    return None, ""


def _last_position(table: Table, until: Bool[np.ndarray, " rows"]) -> Float64[np.ndarray, "3"]:
    position_m = table.part(POSITION_WORLD_M)[until]
    known = position_m[(np.abs(position_m) < MEANINGLESS).all(axis=1)]
    return known[-1] if len(known) else np.full(3, np.nan)
