"""Events of a run as vertical lines through all time series, with labels above them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from kittiwake.analysis.overview.look import GRAY, INK, SMALL, shortened, width_in
from kittiwake.analysis.overview.series import LEFT, RIGHT
from kittiwake.analysis.overview.trace import LOSSES, without_limits
from kittiwake.analysis.table import Event

MAX_LINES = 60
# with more waypoints, their times are not legible
MAX_WAYPOINTS = 20
WAYPOINT, NOT_FINISHED = "reached waypoint", "not finished"
# beginnings of the events that matter most after losses
IMPORTANT = ("touched down", "motors off", "turned over", "battery empty")
# rank of events that have labels only if all others do
LAST = 3
LABEL_ROWS = 4
FIRST_ROW_PT, ROW_PT = 3.0, 10.5
MARGIN_IN = 0.1
MAX_CHARACTERS = 60
WIDTH, BEYOND_IN = RIGHT - LEFT, 1.5


@dataclass(frozen=True)
class Moment:
    """Events at one time, with a long and a short label.

    ``rank`` is 0 for a loss, and larger for less important events.
    """

    time_s: float
    label: str
    short: str
    rank: int

    @property
    def is_loss(self) -> bool:
        """True if a vehicle was lost."""
        return self.rank == 0


def moments(events: Sequence[Event], *, many: bool) -> list[Moment]:
    """Return events in order of time; equal events at the same time are one moment."""
    groups: dict[tuple[float, str], list[Event]] = defaultdict(list)
    for event in events:
        if np.isfinite(event.time_s):
            # the legend beside the plan has the reasons for losses
            in_short = many and event.event.startswith((*LOSSES, NOT_FINISHED))
            kind = event.event.partition(":")[0] if in_short else event.event
            groups[event.time_s, kind].append(event)
    return [
        _moment(time_s, kind, found, many=many) for (time_s, kind), found in sorted(groups.items())
    ]


def without_many_waypoints(events: Sequence[Event]) -> tuple[list[Event], int]:
    """Return the events without waypoints if those are many, and the number left out."""
    others = [event for event in events if not event.event.startswith(WAYPOINT)]
    waypoints = len(events) - len(others)
    return (others, waypoints) if waypoints > MAX_WAYPOINTS else (list(events), 0)


def draw_events(panels: Sequence[Axes], events: Sequence[Event], *, many: bool) -> tuple[int, int]:
    """Draw lines at the most important and earliest events, and as many labels as fit.

    Returns:
        The number of moments, and the number of labeled ones.
    """
    found = moments(events, many=many)
    low, high = panels[0].get_xlim()
    found = [moment for moment in found if low <= moment.time_s <= high]
    ranked = sorted(found, key=lambda moment: (moment.rank, moment.time_s))
    for moment in ranked[:MAX_LINES]:
        for axes in panels:
            axes.axvline(
                moment.time_s,
                color=INK if moment.is_loss else GRAY,
                linewidth=0.8 if moment.is_loss else 0.6,
                linestyle="-" if moment.is_loss else (0, (1, 2)),
                zorder=1.5,
                clip_on=False,  # a line at the end of the flight would be clipped by half
            )
    return len(found), _draw_labels(panels[0], ranked[:MAX_LINES])


def _moment(time_s: float, kind: str, found: Sequence[Event], *, many: bool) -> Moment:
    rank = _rank(kind)
    is_loss = rank == 0
    brief = kind.removeprefix("reached ")
    if many:
        subject = found[0].vehicle if len(found) == 1 else f"{len(found):,} vehicles"
        label, short = f"{subject} {kind}", f"{subject}: {brief}" if brief != kind else ""
    else:
        quantity, has_value, _ = kind.partition(" = ")
        short = quantity if has_value else kind.partition(":")[0]
        label, short = without_limits(kind), short if is_loss else brief
    label = shortened(label, MAX_CHARACTERS)
    return Moment(time_s, label, shortened(short or label, MAX_CHARACTERS), rank)


def _rank(kind: str) -> int:
    """Return the rank of an event: 0 for losses, then landings and failures, then others."""
    of_step = kind.rpartition(": ")[2]
    if kind.startswith(LOSSES):
        return 0
    if of_step.startswith(IMPORTANT):
        return 1
    return LAST if kind.startswith(NOT_FINISHED) else 2


def _draw_labels(axes: Axes, ranked: Sequence[Moment]) -> int:
    """Draw labels of as many moments as fit, by rank; returns their number."""
    low, high = axes.get_xlim()
    positions = [(moment.time_s - low) / (high - low) * WIDTH for moment in ranked]
    placed = _placed(ranked, positions, [moment.label for moment in ranked])
    if len(placed) < len(ranked):
        placed = max(
            placed, _placed(ranked, positions, [moment.short for moment in ranked]), key=len
        )
    if any(
        all(moment is not own for own, _, _ in placed) for moment in ranked if moment.rank < LAST
    ):
        placed = [flag for flag in placed if flag[0].rank < LAST]
    for moment, label, row in placed:
        axes.annotate(
            label,
            xy=(moment.time_s, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(2.5, FIRST_ROW_PT + row * ROW_PT),
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=SMALL,
            fontweight="bold" if moment.is_loss else "normal",
            color=INK if moment.is_loss else GRAY,
            parse_math=False,
        )
        axes.annotate(
            "",
            xy=(moment.time_s, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0.0, FIRST_ROW_PT + (row + 0.8) * ROW_PT),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": GRAY, "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
        )
    return len(placed)


def _placed(
    ranked: Sequence[Moment], positions: Sequence[float], labels: Sequence[str]
) -> list[tuple[Moment, str, int]]:
    """Return the moments whose labels fit, with their labels and rows."""
    chosen: list[tuple[Moment, str]] = []
    flags: list[tuple[float, float]] = []
    rows: list[int] = []
    for moment, position, wanted in zip(ranked, positions, labels, strict=True):
        label = _fitting(moment, wanted, WIDTH + BEYOND_IN - position)
        candidate_rows = flag_rows([*flags, (position, width_in(label, bold=moment.is_loss))])
        if max(candidate_rows) < LABEL_ROWS:
            rows, flags = candidate_rows, [*flags, (position, width_in(label, bold=moment.is_loss))]
            chosen.append((moment, label))
    return [(*pair, row) for pair, row in zip(chosen, rows, strict=True)]


def _fitting(moment: Moment, label: str, room_in: float) -> str:
    """Return the longest label that fits: the long one, the short one, or its beginning."""
    for fitting in (label, moment.short):
        if width_in(fitting, bold=moment.is_loss) <= room_in:
            return fitting
    longest = range(len(moment.short), 0, -1)
    cut = (shortened(moment.short, length) for length in longest)
    return next((text for text in cut if width_in(text, bold=moment.is_loss) <= room_in), "")


def flag_rows(flags: Sequence[tuple[float, float]]) -> list[int]:
    """Return rows from 0 upwards for labels at the right of event lines, without crossings.

    Args:
        flags: position of each event line, and width of its label.
    """
    rows: dict[int, int] = {}
    for own in sorted(range(len(flags)), key=lambda i: -flags[i][0]):
        start, width = flags[own]
        # labels of lines below this label must be lower, as the lines would cross it
        reached = [
            row for other, row in rows.items() if flags[other][0] < start + width + MARGIN_IN
        ]
        rows[own] = max(reached, default=-1) + 1
    return [rows[own] for own in range(len(flags))]
