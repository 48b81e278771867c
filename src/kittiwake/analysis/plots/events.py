"""Events of a run, named above the panels over time, and phases as shades behind them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.text import Text
from typing_extensions import override

from kittiwake.analysis.plots.panels import AbstractPanel
from kittiwake.analysis.plots.style import (
    GRAY,
    INK,
    POINTS_PER_INCH,
    ROW_FACTOR,
    Looks,
    PlotStyle,
    shortened,
)
from kittiwake.analysis.plots.traces import LOSSES, Trace, without_limits
from kittiwake.analysis.table import PHASE, Event

MAX_MARKS = 60
# with more waypoints, their times are not legible
MAX_WAYPOINTS = 20
WAYPOINT, NOT_FINISHED = "reached waypoint", "not finished"
# beginnings of the events that are always named, as losses are
IMPORTANT = ("touched down", "motors off", "turned over", "battery empty")
# words of failures, which are always named as well
FAILURES = (" fails", " jams")
# ranks of the other events, and of those that are named only if all others are
ORDINARY, LAST = 2, 3
# rows of names, and rows that only important events may open
MAX_ROWS, MORE_ROWS = 5, 12
# number of events of which names are tried
MAX_NAMES = 200
MAX_CHARACTERS = 70
# pixels between names in a row
GAP = 8.0
# colors of the phases, in turn
PHASE_COLORS = ("#FFFFFF", "#E3EEF7", "#FBE9DC", "#E1F2EB", "#F1E6F2", "#F7F1D5", "#E8E8E8")
MAX_PHASES, MAX_LABEL = 40, 40
# beginnings of events that do not start a phase
NOT_PHASES = (
    "reached waypoint",
    "touched down",
    "turned over",
    "battery empty",
    "not finished",
    "lost",
    "diverged",
)


@dataclass(frozen=True)
class Moment:
    """Events at one time; ``rank`` is 0 for a loss, and larger for less important events."""

    time_s: float
    label: str
    rank: int

    @property
    def is_loss(self) -> bool:
        """True if a vehicle was lost."""
        return self.rank == 0


def moments(events: Sequence[Event], *, many: bool) -> list[Moment]:
    """Return events by importance; equal events at the same time are one moment."""
    groups: dict[tuple[float, str], list[Event]] = defaultdict(list)
    for event in events:
        if np.isfinite(event.time_s):
            # the key has the reasons for losses
            in_short = many and event.event.startswith((*LOSSES, NOT_FINISHED))
            kind = event.event.partition(":")[0] if in_short else event.event
            groups[event.time_s, kind].append(event)
    found = [_moment(time_s, kind, group, many=many) for (time_s, kind), group in groups.items()]
    return sorted(found, key=lambda moment: (moment.rank, moment.time_s, moment.label))


def without_many_waypoints(events: Sequence[Event]) -> tuple[list[Event], int]:
    """Return the events without waypoints if those are many, and the number left out."""
    others = [event for event in events if not event.event.startswith(WAYPOINT)]
    waypoints = len(events) - len(others)
    return (others, waypoints) if waypoints > MAX_WAYPOINTS else (list(events), 0)


def _moment(time_s: float, kind: str, group: Sequence[Event], *, many: bool) -> Moment:
    label = without_limits(kind)
    if many:
        label = f"{group[0].vehicle if len(group) == 1 else f'{len(group):,} vehicles'} {label}"
    # the event of a step of a mission has the step's name in front
    of_step = kind.rpartition(": ")[2]
    if kind.startswith(LOSSES):
        rank = 0
    elif of_step.startswith(IMPORTANT) or any(word in kind for word in FAILURES):
        rank = 1
    else:
        rank = LAST if kind.startswith(NOT_FINISHED) else ORDINARY
    return Moment(time_s, shortened(label, MAX_CHARACTERS), rank)


@dataclass(frozen=True, eq=False)
class EventPanel(AbstractPanel):
    """Names of moments in order of importance, in rows in which none covers another."""

    over_time: ClassVar[bool] = True

    moments: tuple[Moment, ...]
    names: tuple[str, ...] = ("events",)

    @override
    def height_in(self, style: PlotStyle) -> float:
        return style.font_pt * ROW_FACTOR / POINTS_PER_INCH

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set_axis_off()

    @override
    def finish(self, axes: Axes) -> bool:
        low, high = axes.get_xlim()
        width = axes.get_window_extent().width
        shown = [moment for moment in self.moments if low <= moment.time_s <= high]
        placed: list[tuple[Text, float]] = []
        spans: list[tuple[float, float, int]] = []
        for place, moment in enumerate(shown[:MAX_NAMES]):
            text = self._text(axes, moment)
            mast = (moment.time_s - low) / (high - low) * width
            length = _cut(text, width)
            start = max(min(mast, width - length), 0.0)
            row = free_row((start, start + length), spans)
            unfinished = moment.rank == LAST and len(placed) < place
            if unfinished or row >= (MORE_ROWS if moment.rank < ORDINARY else MAX_ROWS):
                text.remove()
                continue
            spans.append((start, start + length, row))
            placed.append((text, mast / width))
        rows = 1 + max((row for *_, row in spans), default=0)
        for (text, mast), (start, _, row) in zip(placed, spans, strict=True):
            text.set_position((start / width, (row + 0.5) / rows))
            top = (row + 0.9) / rows
            looks: Looks = {"color": GRAY, "linewidth": 0.6, "clip_on": False}
            axes.plot([mast, mast], [0.0, top], transform=axes.transAxes, **looks)
        _make_room(axes, rows)
        if len(placed) == len(shown):
            return rows > 1
        axes.set_title(f"{len(placed):,} of {len(shown):,} events named", color=GRAY)
        return True

    def _text(self, axes: Axes, moment: Moment) -> Text:
        return axes.text(
            0.0,
            0.0,
            f" {moment.label}",
            transform=axes.transAxes,
            va="center",
            # lines of other events pass behind
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.0},
            color=INK if moment.rank < ORDINARY else GRAY,
            fontweight="bold" if moment.is_loss else "normal",
            parse_math=False,
        )


def _cut(text: Text, room: float) -> float:
    """Shorten a text until it fits, and return its width."""
    while (length := text.get_window_extent().width + GAP) > room and len(text.get_text()) > 2:
        text.set_text(f" {shortened(text.get_text(), len(text.get_text()) - 2)}")
    return length


def _make_room(axes: Axes, rows: int) -> None:
    """Make the axes as high as their rows, by smaller shares of all other panels."""
    place = axes.get_subplotspec()
    assert place is not None
    grid = place.get_gridspec()
    heights = np.array(grid.get_height_ratios(), float)
    heights[place.rowspan.start] *= rows
    grid.set_height_ratios(heights.tolist())


def free_row(span: tuple[float, float], others: Sequence[tuple[float, float, int]]) -> int:
    """Return the lowest row, from 0 upwards, in which a span covers none of the other ones."""
    start, end = span
    taken = {row for low, high, row in others if low < end and start < high}
    return next(row for row in range(len(taken) + 1) if row not in taken)


def phase_shades(traces: Sequence[Trace]) -> tuple[tuple[float, float, str], ...]:
    """Return start, end and color of the phases of the only vehicle that has some."""
    trace = _trace_with_phases(traces)
    if trace is None:
        return ()
    phase, time_s = np.nan_to_num(trace.table.part((PHASE,))[:, 0], nan=-1.0), trace.time_s
    begins = np.flatnonzero(np.diff(phase, prepend=np.nan) != 0.0)
    if len(begins) > MAX_PHASES:
        return ()
    ends = [*begins[1:], len(phase) - 1]
    return tuple(
        (
            float(time_s[begin]),
            float(time_s[end]),
            PHASE_COLORS[int(phase[begin]) % len(PHASE_COLORS)],
        )
        for begin, end in zip(begins, ends, strict=True)
    )


def phase_entries(traces: Sequence[Trace], events: Sequence[Event]) -> list[Artist]:
    """Return entries of the key for the colors of the phases."""
    trace = _trace_with_phases(traces)
    labels: dict[str, dict[str, None]] = {}
    for begin_s, _, color in phase_shades(traces):
        # the start is the first drawn row after the event
        before = [
            event.event
            for event in events
            if trace is not None
            and event.vehicle == trace.name
            and event.time_s <= begin_s
            and not event.event.startswith(NOT_PHASES)
        ]
        if before:
            labels.setdefault(color, {})[before[-1]] = None
    return [
        Patch(
            facecolor=color,
            edgecolor=GRAY,
            linewidth=0.4,
            label=shortened(" / ".join(words), MAX_LABEL),
        )
        for color, words in labels.items()
    ]


def _trace_with_phases(traces: Sequence[Trace]) -> Trace | None:
    """Return the vehicle with phases if there is exactly one."""
    found = [
        trace for trace in traces if (np.nan_to_num(trace.table.part((PHASE,))[:, 0]) > 0.0).any()
    ]
    return found[0] if len(found) == 1 else None
