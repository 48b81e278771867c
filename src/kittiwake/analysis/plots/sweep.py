"""Page of a sweep: rate of success over what was varied, and the distribution of a result.

Where all runs succeed or none does, the result over what was varied takes the place of the rate.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from kittiwake.analysis.column_labels import ColumnLabel, column_label
from kittiwake.analysis.plots.style import (
    ALARM,
    GRAY,
    HUES,
    PALE,
    REPORT,
    PageFigure,
    PlotStyle,
    shortened,
)
from kittiwake.analysis.sweep_results import Rate, SweepResults, groups_of

PICTURE = "sweep"
ROW_IN, NARROW_ROW_IN = 2.6, 2.0
# shares of the runs between which a band of results lies
BAND_PERCENT = (5.0, 50.0, 95.0)
MAX_PANELS = 8
MAX_NAME = 60
MAX_LABEL = 20
# parts of a path that tell nothing of its end
SECTIONS = frozenset(("vehicles", "parameters", "metrics"))


def save_picture(
    results: SweepResults,
    condition: str | None = None,
    *,
    style: PlotStyle = REPORT,
    file_format: str = "png",
) -> Path:
    """Write the page of a sweep into its folder, and return its path."""
    path = results.folder / f"{PICTURE}.{file_format}"
    draw_sweep(results, condition, style).save(path)
    return path


def draw_sweep(
    results: SweepResults, condition: str | None = None, style: PlotStyle = REPORT
) -> PageFigure:
    """Draw the rate of success over the varied values, a map of two, and a histogram.

    The values that matter most come first; the map is that of the first two.

    Args:
        results: the results of a sweep.
        condition: what a success is, as for ``SweepResults.succeeded``.
        style: size and arrangement.
    """
    succeeded = results.succeeded(condition)
    names = [*results.influences(condition)][: MAX_PANELS - 2]
    panels = len(names) + (len(names) >= 2) + 1
    columns = 2 if style.wide else 1
    rows = -(-panels // columns)
    column = results.deciding_column(condition)
    alike = column is not None and (succeeded.all() or not succeeded.any())
    with style.context():
        page = PageFigure(style, 0.6 + (ROW_IN if style.wide else NARROW_ROW_IN) * rows)
        axes = page.subplots(rows, columns, squeeze=False).ravel()
        for name, ax in zip(names, axes, strict=False):
            if alike:
                _draw_results(ax, results, name, str(column))
            else:
                _draw_rates(ax, name, results.rates(name, condition))
        if len(names) >= 2:
            _draw_map(axes[len(names)], results, names[:2], succeeded, column if alike else None)
        _draw_histogram(axes[panels - 1], results, condition, succeeded)
        for ax in axes[panels:]:
            ax.remove()
        if style.titled:
            rate = results.success(condition)
            title = (
                f"{rate.runs} runs: {rate.share:.1%} succeeded ({rate.low:.1%} to {rate.high:.1%}, "
                "95 % confidence)"
            )
            page.suptitle(title, x=0.01, ha="left")
        page.tight_layout()
    return page


def _draw_rates(ax: Axes, name: str, rates: dict[Any, Rate]) -> None:
    """Draw the rates of success over numbers, or for each text, with their intervals."""
    shares = np.array([(one.low, one.share, one.high) for one in rates.values()])
    _draw_bands(ax, name, [*rates], 100.0 * shares)
    ax.set(ylim=(-3.0, 103.0), ylabel="success (%)")


def _draw_results(ax: Axes, results: SweepResults, name: str, column: str) -> None:
    """Draw the median of a result over a varied value, and the band of most runs."""
    values, groups = groups_of(results.column(name))
    label = _label(column)
    numbers = label.factor * results.column(column).astype(float)
    parts = [numbers[(groups == group) & np.isfinite(numbers)] for group in range(len(values))]
    found = np.array(
        [np.percentile(part, BAND_PERCENT) if len(part) else np.full(3, np.nan) for part in parts]
    )
    _draw_bands(ax, name, values, found)
    ax.set(ylabel=shortened(label.text, MAX_NAME // 2))


def _draw_bands(
    ax: Axes, name: str, values: Sequence[Any], found: Float64[np.ndarray, "values 3"]
) -> None:
    """Draw low, middle and high numbers over varied numbers, or for each varied text."""
    low, middle, high = found.T
    places = _places(ax.xaxis, name, values)
    if isinstance(values[0], str):
        ax.vlines(places, low, high, color=PALE, linewidth=6.0)
        ax.plot(places, middle, color=HUES[0], marker="o", linestyle="none")
        ax.margins(x=0.5 / len(values))
    else:
        ax.fill_between(places, low, high, color=PALE, linewidth=0.0)
        ax.plot(places, middle, color=HUES[0], marker="o", markersize=3.0)


def _label(name: str) -> ColumnLabel:
    """Return the label of a key or of a result: the end of its path, after what it belongs to."""
    *path, last = name.split(".")
    label = column_label(last)
    owner = next((word for word in reversed(path) if word not in SECTIONS), "")
    return replace(label, prefix=owner and f"{owner.replace('_', ' ')}:")


def _places(axis: Axis, name: str, values: Sequence[Any]) -> Sequence[float]:
    """Return where values are on a labeled axis; texts are named there, one beside the other."""
    label = _label(name)
    axis.set_label_text(shortened(label.text, MAX_NAME))
    if not isinstance(values[0], str):
        return [label.factor * value for value in values]
    places = range(len(values))
    axis.set_ticks(places, labels=[shortened(text, MAX_LABEL) for text in values])
    return places


def _draw_map(
    ax: Axes, results: SweepResults, names: list[str], succeeded: np.ndarray, column: str | None
) -> None:
    """Draw the rate of success, or the mean of a result, over two varied values."""
    (x, across), (y, along) = (groups_of(results.column(name)) for name in names)
    counts, good = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    known = (across >= 0) & (along >= 0)
    places = along[known], across[known]
    np.add.at(counts, places, 1.0)
    if column is None:
        label, limits, numbers = "success (%)", (0.0, 100.0), 100.0 * succeeded
    else:
        own = _label(column)
        label, limits = own.text, (None, None)
        numbers = own.factor * results.column(column).astype(float)
    np.add.at(good, places, numbers[known].astype(float))
    means = np.divide(good, counts, out=np.full_like(good, np.nan), where=counts > 0.0)
    drawn = ax.pcolormesh(
        _places(ax.xaxis, names[0], x),
        _places(ax.yaxis, names[1], y),
        means,
        vmin=limits[0],
        vmax=limits[1],
        cmap="viridis",
        shading="nearest",
    )
    ax.figure.colorbar(drawn, ax=ax, label=shortened(label, MAX_NAME // 2))


def _draw_histogram(
    ax: Axes, results: SweepResults, condition: str | None, succeeded: np.ndarray
) -> None:
    """Draw the distribution of the column that decides, or of the tracking error."""
    column = results.deciding_column(condition)
    label = _label(str(column))
    values = label.factor * results.column(column).astype(float) if column else np.zeros(0)
    finite = np.isfinite(values)
    if not finite.any():
        ax.text(0.5, 0.5, "no run has a result", ha="center", color=GRAY, transform=ax.transAxes)
        ax.set_axis_off()
        return
    parts = [values[finite & succeeded], values[finite & ~succeeded]]
    ax.hist(parts, bins=30, stacked=True, color=[HUES[0], ALARM], label=["succeeded", "failed"])
    if all(map(len, parts)):
        ax.legend(frameon=False)
    ax.set(xlabel=shortened(label.text, MAX_NAME), ylabel="runs")
