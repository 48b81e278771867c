"""Page of a sweep: rate of success over what was varied, and the distribution of a result."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

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
ROW_IN = 2.6
MAX_PANELS = 8
MAX_NAME = 60
MAX_LABEL = 20


def save_picture(
    results: SweepResults,
    condition: str | None = None,
    *,
    style: PlotStyle = REPORT,
    file_format: str = "png",
) -> None:
    """Write the page of a sweep into its folder."""
    page = draw_sweep(results, condition, style)
    page.save(results.folder / f"{PICTURE}.{file_format}")


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
    with style.context():
        page = PageFigure(style, 0.6 + ROW_IN * rows)
        axes = page.subplots(rows, columns, squeeze=False).ravel()
        for name, ax in zip(names, axes, strict=False):
            _draw_rates(ax, name, results.rates(name, condition))
        if len(names) >= 2:
            _draw_map(axes[len(names)], results, names[:2], succeeded)
        _draw_histogram(axes[panels - 1], results, condition, succeeded)
        for ax in axes[panels:]:
            ax.remove()
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
    values = [*rates]
    places = _places(ax.xaxis, values)
    shares, low, high = (
        100.0 * np.array([(one.share, one.low, one.high) for one in rates.values()]).T
    )
    if isinstance(values[0], str):
        ax.vlines(places, low, high, color=PALE, linewidth=6.0)
        ax.plot(places, shares, color=HUES[0], marker="o", linestyle="none")
        ax.margins(x=0.5 / len(values))
    else:
        ax.fill_between(places, low, high, color=PALE, linewidth=0.0)
        ax.plot(places, shares, color=HUES[0], marker="o", markersize=3.0)
    ax.set(ylim=(-3.0, 103.0), ylabel="success (%)", xlabel=shortened(name, MAX_NAME))


def _places(axis: Axis, values: Sequence[Any]) -> Sequence[float]:
    """Return where values are on an axis; texts are named there, one beside the other."""
    if not isinstance(values[0], str):
        return values
    places = range(len(values))
    axis.set_ticks(places, labels=[shortened(text, MAX_LABEL) for text in values])
    return places


def _draw_map(ax: Axes, results: SweepResults, names: list[str], succeeded: np.ndarray) -> None:
    """Draw the rate of success over two varied values."""
    (x, across), (y, along) = (groups_of(results.column(name)) for name in names)
    counts, good = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    known = (across >= 0) & (along >= 0)
    places = along[known], across[known]
    np.add.at(counts, places, 1.0)
    np.add.at(good, places, succeeded[known].astype(float))
    shares = np.divide(100.0 * good, counts, out=np.full_like(good, np.nan), where=counts > 0.0)
    drawn = ax.pcolormesh(
        _places(ax.xaxis, x),
        _places(ax.yaxis, y),
        shares,
        vmin=0.0,
        vmax=100.0,
        cmap="viridis",
        shading="nearest",
    )
    ax.figure.colorbar(drawn, ax=ax, label="success (%)")
    ax.set(xlabel=shortened(names[0], MAX_NAME), ylabel=shortened(names[1], MAX_NAME // 2))


def _draw_histogram(
    ax: Axes, results: SweepResults, condition: str | None, succeeded: np.ndarray
) -> None:
    """Draw the distribution of the column that decides, or of the tracking error."""
    column = results.deciding_column(condition)
    values = results.column(column).astype(float) if column else np.zeros(0)
    finite = np.isfinite(values)
    if not finite.any():
        ax.text(0.5, 0.5, "no run has a result", ha="center", color=GRAY, transform=ax.transAxes)
        ax.set_axis_off()
        return
    parts = [values[finite & succeeded], values[finite & ~succeeded]]
    ax.hist(parts, bins=30, stacked=True, color=[HUES[0], ALARM], label=["succeeded", "failed"])
    ax.legend(frameon=False)
    ax.set(xlabel=shortened(str(column), MAX_NAME), ylabel="runs")
