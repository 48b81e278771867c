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
LABEL_ROWS = 4
FIRST_ROW_PT, ROW_PT = 3.0, 10.5
MARGIN_IN = 0.1
MAX_CHARACTERS = 34
WIDTH, BEYOND_IN = RIGHT - LEFT, 1.5


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
                linewidth=0.8 if moment.grave else 0.6,
                linestyle="-" if moment.grave else (0, (1, 2)),
                zorder=1.5,
                clip_on=False,  # at an end of the flight, half of it would be
            )
    return len(found), _draw_labels(panels[0], ranked[:MAX_LINES])


def _label(what: str, who: Sequence[str], *, many: bool) -> str:
    if not many:
        return shortened(what, MAX_CHARACTERS)
    subject = who[0] if len(who) == 1 else f"{len(who)} vehicles"
    if what.startswith(LOSSES):  # the key beside the plan has the reason
        what = what.partition(":")[0]
    return shortened(f"{subject} {what}", MAX_CHARACTERS)


def _fitting(label: str, length: int) -> str:
    """A label in so many characters: without its reason if need be, which the key has too."""
    short = label if len(label) <= length else label.partition(":")[0]
    return shortened(short, length)


def _draw_labels(axes: Axes, ranked: Sequence[Moment]) -> int:
    """Labels of as many moments as fit, in the order of their rank, each at a line of its own."""
    low, high = axes.get_xlim()
    labels: list[str] = []
    chosen: list[Moment] = []
    flags: list[tuple[float, float]] = []
    rows: list[int] = []
    for moment in ranked:
        mast = (moment.time_s - low) / (high - low) * WIDTH
        label = _fitting(moment.label, int((WIDTH + BEYOND_IN - mast) / width_in(" ")))
        tried = flag_rows([*flags, (mast, width_in(label))])
        if max(tried) < LABEL_ROWS:
            rows, flags = tried, [*flags, (mast, width_in(label))]
            labels, chosen = [*labels, label], [*chosen, moment]
    for moment, label, row in zip(chosen, labels, rows, strict=True):
        axes.annotate(
            label,
            xy=(moment.time_s, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(2.5, FIRST_ROW_PT + row * ROW_PT),
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=SMALL,
            fontweight="bold" if moment.grave else "normal",
            color=INK if moment.grave else GREY,
            parse_math=False,
        )
        axes.annotate(
            "",
            xy=(moment.time_s, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0.0, FIRST_ROW_PT + (row + 0.8) * ROW_PT),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
        )
    return len(chosen)


def flag_rows(flags: Sequence[tuple[float, float]]) -> list[int]:
    """Rows, from 0 upwards, for labels to the right of their masts, so that no mast crosses one.

    Args:
        flags: where each mast stands, and how wide its label is.
    """
    rows: dict[int, int] = {}
    for own in sorted(range(len(flags)), key=lambda i: -flags[i][0]):
        start, width = flags[own]
        # what begins below this label must be lower, for its mast would cross
        reached = [
            row for other, row in rows.items() if flags[other][0] < start + width + MARGIN_IN
        ]
        rows[own] = max(reached, default=-1) + 1
    return [rows[own] for own in range(len(flags))]
