"""A run's events as thin vertical lines through all time series, named above them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from kittiwake.analysis.overview.look import GREY, INK, SMALL, shortened, width_in
from kittiwake.analysis.overview.series import LEFT, RIGHT
from kittiwake.analysis.overview.trace import LOSSES
from kittiwake.analysis.table import Event

MAX_LINES = 60
LABEL_ROWS = 3
FIRST_ROW_PT, ROW_PT = 4.0, 10.5
MARGIN_IN = 0.08
MAX_CHARACTERS = 46


@dataclass(frozen=True)
class Moment:
    """What happened at one time."""

    time_s: float
    label: str
    grave: bool


def moments(events: Sequence[Event], *, many: bool) -> list[Moment]:
    """Events in order of time; those of the same kind at the same time are one."""
    alike: dict[tuple[float, str], list[str]] = defaultdict(list)
    for event in events:
        if np.isfinite(event.time_s):
            alike[event.time_s, event.event].append(event.vehicle)
    return [
        Moment(time_s, _label(what, who, many=many), what.startswith(LOSSES))
        for (time_s, what), who in sorted(alike.items())
    ]


def draw_events(panels: Sequence[Axes], events: Sequence[Event], *, many: bool) -> tuple[int, int]:
    """Lines at the gravest and then the earliest events, and labels where there is room.

    Returns:
        How many moments there are, and how many of them are labelled.
    """
    found = moments(events, many=many)
    low, high = panels[0].get_xlim()
    found = [moment for moment in found if low <= moment.time_s <= high]
    ranked = sorted(found, key=lambda moment: (not moment.grave, moment.time_s))
    for moment in ranked[:MAX_LINES]:
        for axes in panels:
            axes.axvline(
                moment.time_s,
                color=INK if moment.grave else GREY,
                linewidth=1.0 if moment.grave else 0.6,
                linestyle="-" if moment.grave else (0, (1, 2)),
                zorder=1.5,
            )
    return len(found), _draw_labels(panels[0], ranked[:MAX_LINES])


def _label(what: str, who: Sequence[str], *, many: bool) -> str:
    if not many:
        return shortened(what, MAX_CHARACTERS)
    subject = who[0] if len(who) == 1 else f"{len(who)} vehicles"
    return shortened(f"{subject} {what}", MAX_CHARACTERS)


def _draw_labels(axes: Axes, ranked: Sequence[Moment]) -> int:
    """Labels in the lowest row that still has room; one that finds none is left out."""
    low, high = axes.get_xlim()
    width = RIGHT - LEFT
    taken: list[list[tuple[float, float]]] = [[] for _ in range(LABEL_ROWS)]
    drawn = 0
    for moment in ranked:
        own = width_in(moment.label)
        middle = (moment.time_s - low) / (high - low) * width
        start = float(np.clip(middle - own / 2, 0.0, max(width - own, 0.0)))
        row = next((i for i, row in enumerate(taken) if _free(row, start, start + own)), None)
        if row is None:
            continue
        taken[row].append((start, start + own))
        axes.annotate(
            moment.label,
            xy=((start + own / 2) / width, 1.0),
            xycoords="axes fraction",
            xytext=(0.0, FIRST_ROW_PT + row * ROW_PT),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=SMALL,
            fontweight="bold" if moment.grave else "normal",
            color=INK if moment.grave else GREY,
            parse_math=False,
        )
        drawn += 1
    return drawn


def _free(row: Sequence[tuple[float, float]], start: float, end: float) -> bool:
    return all(end + MARGIN_IN < left or right + MARGIN_IN < start for left, right in row)
