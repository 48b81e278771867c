"""Pages of estimates: truth and estimate at the left, errors with estimated bands at the right.

The error is true minus estimated. Below is the normalized estimation error squared (NEES) of
``analysis.consistency`` over time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kittiwake.analysis.consistency import Consistency, consistency, nees_bounds, nees_of
from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.estimated_quantities import (
    EstimatedQuantity,
    estimated_quantities,
    share_within,
)
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import (
    BAND_OPACITY,
    AbstractPanel,
    PlotLine,
    TextPanel,
    TimePanel,
)
from kittiwake.analysis.plots.quantities import DEVIATIONS
from kittiwake.analysis.plots.style import (
    CURVES,
    GRAY,
    HUES,
    INK,
    REPORT,
    PageFigure,
    PlotStyle,
    shortened,
)
from kittiwake.analysis.plots.traces import (
    Trace,
    find_losses,
    select_traces,
    time_span_s,
    without_limits,
)
from kittiwake.analysis.probed import entry_of
from kittiwake.analysis.summary import in_digits

ERROR_COLOR, ESTIMATE_COLOR, NEES_COLOR = HUES[:3]
BELOW = "estimate below the truth"
MAX_NAME, TITLE_WIDTH = 60, 48
NO_BREAK = "\N{NO-BREAK SPACE}"
NO_COVARIANCE = "no covariance in the log: neither bands nor NEES"
NEES_TEXT = (
    "NEES: the squared errors, divided by their estimated\n"
    "covariance. Above the band the errors are larger than\n"
    "estimated, below it smaller."
)


@dataclass(frozen=True, eq=False)
class PanelGroup:
    """Rows of panels at the left and at the right, and their entries of the key."""

    rows: tuple[tuple[AbstractPanel, AbstractPanel], ...]
    key: tuple[Artist, ...]


def save_estimation_pages(
    log: Log, folder: Path, *, style: PlotStyle = REPORT, file_format: str = "png"
) -> list[Path]:
    """Write ``estimation-VEHICLE.png`` for each vehicle whose estimate is not the truth.

    A narrow style has one file for each group of panels: ``estimation-VEHICLE-position.png``,
    ``-velocity``, ``-attitude`` and, with a covariance, ``-nees``.
    """
    written: list[Path] = []
    for name, figure in draw_estimation_pages(log, style):
        written.append(folder / f"estimation-{name}.{file_format}")
        figure.save(written[-1])
    return written


def draw_estimation_pages(log: Log, style: PlotStyle = REPORT) -> Iterator[tuple[str, PageFigure]]:
    """Yield the pages with their names: the vehicle, and the group of panels in a narrow style."""
    for trace in select_traces(log, find_losses(log)):
        found = consistency(log.tables[trace.name])
        if found is None:
            continue
        groups = panel_groups(trace, found)
        notes = _notes(log, trace, found)
        if style.wide:
            yield trace.name, _draw_groups(trace, notes, [*groups.values()], style)
            continue
        for name, group in groups.items():
            yield f"{trace.name}-{name}", _draw_groups(trace, notes, [group], style)


def panel_groups(trace: Trace, found: Consistency) -> dict[str, PanelGroup]:
    """Return the groups of panels: position, velocity, attitude, and NEES with a covariance."""
    groups = {
        name: _group(name, trace, quantities)
        for name, quantities in estimated_quantities(trace.table).items()
    }
    return groups if found.nees_mean is None else groups | {"nees": _nees_group(trace, found)}


def _draw_groups(
    trace: Trace, notes: tuple[str, ...], groups: Sequence[PanelGroup], style: PlotStyle
) -> PageFigure:
    rows = [row for group in groups for row in group.rows]
    columns = [*zip(*rows, strict=True)]
    if not style.wide:
        # a paper has explanations in its caption
        columns = [tuple(panel for row in rows for panel in row if panel.over_time)]
    span_s = time_span_s([trace])
    return compose(
        PlotPage(
            title=f"Estimate of {shortened(trace.name, MAX_NAME)}",
            notes=notes,
            columns=tuple(PanelColumn(column, 1.0, span_s) for column in columns),
            key=tuple({e.get_label(): e for group in groups for e in group.key}.values()),
            alarms=notes[:1] if trace.loss is not None else (),
            in_rows=True,
        ),
        style,
    )


def _group(name: str, trace: Trace, quantities: Sequence[EstimatedQuantity]) -> PanelGroup:
    """Return the rows of three quantities; the first one has titles, with the size of errors."""
    # lines break between the quantities only
    sizes = ", ".join(f"{one.name}{NO_BREAK}{in_digits(one.rms)}" for one in quantities)
    sizes += f"{NO_BREAK}{quantities[0].unit}"
    exact = all(one.exact for one in quantities)
    titles = (
        name if name == "attitude" else f"{name} in the world",
        "" if exact else fill(f"RMS: {sizes}", TITLE_WIDTH),
    )
    key: list[Artist] = [
        Line2D([], [], label="truth", **CURVES["ideal"]),
        Line2D([], [], label="estimate", color=ESTIMATE_COLOR, **CURVES[BELOW]),
    ]
    if not exact:
        key.append(Line2D([], [], label="error: truth minus estimate", color=ERROR_COLOR))
    if any(np.isfinite(one.deviation).any() for one in quantities):
        label = f"±{DEVIATIONS:g} estimated standard deviations"
        key.append(Patch(label=label, color=ERROR_COLOR, alpha=BAND_OPACITY))
    rows = (
        _row(trace, one, titles if place == 0 else ("", "")) for place, one in enumerate(quantities)
    )
    return PanelGroup(tuple(rows), tuple(key))


def _row(
    trace: Trace, quantity: EstimatedQuantity, titles: tuple[str, str]
) -> tuple[AbstractPanel, AbstractPanel]:
    time_s, name, unit = trace.time_s, quantity.name, f"({quantity.unit})"
    values = (
        PlotLine("estimate", time_s, quantity.estimate, ESTIMATE_COLOR, BELOW),
        PlotLine("truth", time_s, quantity.truth, INK, "ideal"),
    )
    left = TimePanel(f"{name}\n{unit}", values, titles[0], listed=False, marks=_marks(trace))
    if quantity.exact:
        return left, TextPanel(f"{name}: no error")
    width = DEVIATIONS * quantity.deviation
    band = (-width, width) if np.isfinite(width).any() else None
    error = PlotLine("error", time_s, quantity.error, ERROR_COLOR, band=band)
    label = f"{name} error\n{unit}"
    return left, TimePanel(label, (error,), titles[1], listed=False, marks=_marks(trace))


def _nees_group(trace: Trace, found: Consistency) -> PanelGroup:
    values, count = nees_of(trace.table)
    low, high = nees_bounds(1, count)
    interval = (np.full_like(values, low), np.full_like(values, high))
    mean = np.full_like(values, count)
    lines = (
        PlotLine("", trace.time_s, mean, GRAY, "setpoint", interval),
        PlotLine("NEES", trace.time_s, values, NEES_COLOR),
    )
    inside = f"{_percent(found.nees_inside)} in the band"
    title = f"NEES of {count} errors: mean {in_digits(found.nees_mean or 0.0)}, {inside}"
    panel = TimePanel("NEES", lines, title, listed=False, marks=_marks(trace), logarithmic=True)
    key = (
        Line2D([], [], label="NEES", color=NEES_COLOR),
        Line2D([], [], label=f"its mean if consistent: {count}", color=GRAY, **CURVES["setpoint"]),
        Patch(label="95 % interval of the NEES", color=GRAY, alpha=BAND_OPACITY),
    )
    return PanelGroup(((TextPanel(NEES_TEXT), panel),), key)


def _marks(trace: Trace) -> tuple[tuple[float, bool], ...]:
    return () if trace.loss is None else ((trace.loss.time_s, True),)


def _notes(log: Log, trace: Trace, found: Consistency) -> tuple[str, ...]:
    """Return a line about a loss, and one about the errors."""
    loss, given = trace.loss, entry_of(log, trace.name).get("estimator")
    name = given.get("type") if isinstance(given, dict) else given
    whole = estimated_quantities(log.tables[trace.name])
    within = share_within([one for group in whole.values() for one in group], DEVIATIONS)
    inside = f"{_percent(within)} of all errors within {DEVIATIONS:g} deviations"
    parts = [
        f"estimator: {name}" if isinstance(name, str) else "",
        f"position error RMS {in_digits(found.position_rms_m)} m",
        f"largest {in_digits(found.position_max_m)} m",
        NO_COVARIANCE if within is None else f"{inside} (consistent: 99.7 %)",
        f"one row in {trace.step} drawn" if trace.step > 1 else "",
    ]
    errors = " · ".join(part for part in parts if part)
    if loss is None:
        return (errors,)
    return (f"{without_limits(loss.reason)} at {loss.time_s:.4g} s", errors)


def _percent(share: float | None) -> str:
    return "unknown share" if share is None else f"{100.0 * share:.3g} %"
