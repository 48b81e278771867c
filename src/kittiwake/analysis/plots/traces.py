"""Selection of vehicles and rows of a log for drawing, and of losses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.probed import mapping_in
from kittiwake.analysis.table import (
    LEGS,
    POSITION_WORLD_M,
    SETPOINT_WORLD_M,
    STATE_COLUMNS,
    STATUS,
    VELOCITY_WORLD_MPS,
    Event,
    Table,
    estimated_state,
)

MAX_VEHICLES = 100
MAX_ROWS = 2000
# larger numbers are those of a diverging vehicle, whose squares and pixels would overflow
MEANINGLESS = 1e8
# a diverging vehicle is drawn up to these multiples of its median distance from the start and of
# its median speed, as its last positions would otherwise dominate the map
DIVERGED_FACTOR = 10.0
DIVERGED_LEAST = 10.0

WIND_WORLD_MPS = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")

# share of rows with a new setpoint above which it counts as moving
MOVING_SHARE = 0.2

COUNTED = re.compile(r"(?P<entry>.+)-(?P<number>\d+)")

LOSSES = ("lost", "diverged")

Rows = Float64[np.ndarray, "rows part"]
Series = Float64[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Loss:
    """Time, reason and position of a loss; the position is NaN if none was finite."""

    time_s: float
    reason: str
    position_world_m: Float64[np.ndarray, "3"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Trace of one vehicle for drawing.

    Attributes:
        name: the vehicle's name.
        place: its index among all vehicles of the log.
        step: the number of logged rows per drawn row.
        table: the drawn rows; NaN for numbers that are not meaningful.
        loss: the loss of the vehicle, if any.
        partner_world_m: the positions of the vehicle whose deck it follows; None without one.
        ground_m: the height of the ground.
        legs_world_m: waypoints that are no setpoints in the log; None without such.
    """

    name: str
    place: int
    step: int
    table: Table
    loss: Loss | None
    partner_world_m: Rows | None = None
    ground_m: float = 0.0
    legs_world_m: Rows | None = None

    @property
    def time_s(self) -> Series:
        """Times of the rows."""
        return self.table.part(("time_s",))[:, 0]

    @property
    def position_world_m(self) -> Rows:
        """Positions of the vehicle."""
        return self.table.part(POSITION_WORLD_M)

    @property
    def setpoint_world_m(self) -> Rows:
        """Setpoint positions; NaN without one."""
        return self.table.part(SETPOINT_WORLD_M)

    @property
    def estimate(self) -> "Trace":
        """Trace of the estimated states in place of the true ones."""
        return replace(self, table=estimated_state(self.table))

    @property
    def cross_track_m(self) -> Series:
        """Distance to the leg from the previous setpoint to this one; NaN without legs.

        The first leg starts at the vehicle's first position. Only guidance with a waypoint counter
        and without a moving setpoint has legs.
        """
        ends = self.setpoint_world_m
        reached = np.nan_to_num(self.table.part((LEGS,))[:, 0]).astype(int)
        if self.legs_world_m is not None:
            ends = self.legs_world_m[np.minimum(reached, len(self.legs_world_m) - 1)]
        distance_m = np.full(len(ends), np.nan)
        known = np.flatnonzero(np.isfinite(ends).all(axis=1))
        new = np.any(np.diff(ends[known], axis=0, prepend=np.nan) != 0.0, axis=1)
        moving = np.count_nonzero(new) > MOVING_SHARE * len(known) + 1
        if len(known) and not moving and reached.any():
            places = np.concatenate([self.position_world_m[known[:1]], ends[known[new]]])
            leg, at = np.cumsum(new), self.position_world_m[known]
            distance_m[known] = _distance_to_leg(at, places[leg - 1], places[leg])
        return distance_m

    def has(self, columns: Iterable[str]) -> bool:
        """Return True if each of these columns has a finite number."""
        return bool(np.isfinite(self.table.part(columns)).any(axis=0).all())


def _distance_to_leg(positions_m: Rows, starts_m: Rows, ends_m: Rows) -> Series:
    """Return the distance of each place from the straight line between two ends."""
    along = ends_m - starts_m
    length2 = np.sum(along**2, axis=1)
    share = np.sum((positions_m - starts_m) * along, axis=1) / np.where(length2 > 0.0, length2, 1.0)
    nearest = starts_m + np.clip(share, 0.0, 1.0)[:, None] * along
    return np.linalg.norm(positions_m - nearest, axis=1)


def above_ground(setpoint_world_m: Rows, position_world_m: Rows, ground_m: float) -> Rows:
    """Return setpoints with NaN where they are below both the ground and the path.

    A landing moves its setpoint into the ground.
    """
    heights_m = position_world_m[np.isfinite(position_world_m).all(axis=1), 2]
    floor_m = min(ground_m, float(heights_m.min(initial=ground_m)))
    below = setpoint_world_m[:, 2] < floor_m
    return np.where(below[:, None], np.nan, setpoint_world_m)


def time_span_s(traces: Iterable[Trace]) -> tuple[float, float]:
    """Return the limits of the time axis: first and last row, with a minimum width."""
    times = np.concatenate([np.empty(0), *(trace.time_s for trace in traces)])
    times = times[np.isfinite(times)]
    if not times.size:
        return 0.0, 1.0
    low, high = float(times.min()), float(times.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def find_losses(log: Log) -> dict[str, Loss]:
    """Return the losses by vehicle, from events, the status, or the end of finite numbers."""
    events: dict[str, Event] = {}
    for event in log.events:
        if event.event.startswith(LOSSES):
            events.setdefault(event.vehicle, event)
    found = {name: _loss(log.tables[name], events.get(name)) for name in log.names}
    return {name: loss for name, loss in found.items() if loss is not None}


def without_limits(reason: str) -> str:
    """Return a reason without the violated limits, such as ``lost: z_m = -0.02``."""
    return reason.partition(" is not ")[0]


def without_value(reason: str) -> str:
    """Return a reason without the vehicle's own value, equal for all with the same limits."""
    found, _, limits = reason.partition(" is not ")
    quantity = found.partition(" = ")[0]
    return f"{quantity} is not {limits.partition(' (')[0]}" if limits else reason


def select_traces(log: Log, losses: Mapping[str, Loss], most: int = MAX_VEHICLES) -> list[Trace]:
    """Return at most so many vehicles to draw, in log order; up to half are lost ones."""
    names = log.names
    lost = [place for place, name in enumerate(names) if name in losses]
    chosen = set(range(len(names)))
    if len(names) > most:
        chosen = {lost[i] for i in _spread(len(lost), most // 2)}
        others = [place for place in range(len(names)) if place not in chosen]
        chosen |= {others[i] for i in _spread(len(others), most - len(chosen))}
    traces = [
        _trace(names[place], place, log.tables[names[place]], losses.get(names[place]))
        for place in sorted(chosen)
    ]
    given = mapping_in(log.scenario, "world").get("ground_z_m")
    ground_m = float(given) if isinstance(given, int | float) else 0.0
    return [replace(_with_partner(trace, log), ground_m=ground_m) for trace in traces]


def _with_partner(trace: Trace, log: Log) -> Trace:
    partner = partner_of(trace.name, log)
    if partner is None:
        return trace
    there = log.tables[partner]
    place = np.searchsorted(there.part(("time_s",))[:, 0], trace.time_s)
    known = place < len(there.values)
    found = there.part(POSITION_WORLD_M)[np.where(known, place, 0)]
    return replace(trace, partner_world_m=np.where(known[:, None], found, np.nan))


def partner_of(name: str, log: Log) -> str | None:
    """Return the vehicle whose deck a vehicle follows; None without one or for a platform."""
    vehicles: Mapping[str, Any] = mapping_in(log.scenario, "vehicles")
    counted = COUNTED.fullmatch(name)
    key, number = name, ""
    if name not in vehicles and counted is not None:
        key, number = counted["entry"], counted["number"]
    given = mapping_in(vehicles, key).get("partner")
    if not isinstance(given, str):
        return None
    return next((other for other in (given, f"{given}-{number}") if other in log.tables), None)


def _spread(count: int, wanted: int) -> list[int]:
    """Return at most ``wanted`` of the numbers below ``count``, from the first to the last."""
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
    """Return the rows in which a diverging vehicle is far from its median state."""
    position_m = table.part(POSITION_WORLD_M)
    far = np.zeros(len(position_m), bool)
    for vectors in (position_m - np.nan_to_num(position_m[:1]), table.part(VELOCITY_WORLD_MPS)):
        sizes = np.linalg.norm(vectors, axis=1)
        usual = float(np.median(sizes[np.isfinite(sizes)])) if np.isfinite(sizes).any() else 0.0
        far |= sizes > max(DIVERGED_FACTOR * usual, DIVERGED_LEAST)
    return far


def _loss(table: Table, event: Event | None) -> Loss | None:
    time_s = table.part(("time_s",))[:, 0]
    if event is not None:
        return Loss(event.time_s, event.event, _last_position(table, time_s <= event.time_s))
    row, reason = _verdict(table)
    if row is None:
        return None
    return Loss(float(time_s[row]), reason, _last_position(table, time_s <= time_s[row]))


def _verdict(table: Table) -> tuple[int | None, str]:
    """Return the first row after a vehicle was lost, and the reason."""
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
