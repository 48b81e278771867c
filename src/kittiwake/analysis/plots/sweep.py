"""Page of a sweep: rate of success over what was varied, and the distribution of a result."""

import numpy as np
from matplotlib.axes import Axes

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
from kittiwake.analysis.sweep_results import SweepResults, groups_of, wilson

PICTURE = "sweep"
ROW_IN = 2.6
MAX_PANELS = 8
MAX_NAME = 60


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
    """Draw the rate of success over the varied numbers, a map of two, and a histogram.

    The numbers that matter most come first; the map is that of the first two.

    Args:
        results: the results of a sweep.
        condition: what a success is, as for ``SweepResults.succeeded``.
        style: size and arrangement.
    """
    succeeded = results.succeeded(condition)
    numbers = [*results.influences(condition)][: MAX_PANELS - 2]
    panels = len(numbers) + (len(numbers) >= 2) + 1
    columns = 2 if style.wide else 1
    rows = -(-panels // columns)
    with style.context():
        page = PageFigure(style, 0.6 + ROW_IN * rows)
        axes = page.subplots(rows, columns, squeeze=False).ravel()
        for name, ax in zip(numbers, axes, strict=False):
            _draw_rate(ax, name, results.column(name), succeeded)
        if len(numbers) >= 2:
            _draw_map(axes[len(numbers)], results, numbers[:2], succeeded)
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


def _draw_rate(ax: Axes, name: str, values: np.ndarray, succeeded: np.ndarray) -> None:
    """Draw the rate of success over a number, with the intervals of its bins."""
    centers, places = groups_of(values.astype(float))
    rates = [
        wilson(int(succeeded[places == place].sum()), int((places == place).sum()))
        for place in range(len(centers))
    ]
    shares = np.array([100.0 * one.share for one in rates])
    ends = np.array([(100.0 * one.low, 100.0 * one.high) for one in rates])
    ax.fill_between(centers, ends[:, 0], ends[:, 1], color=PALE, linewidth=0.0)
    ax.plot(centers, shares, color=HUES[0], marker="o", markersize=3.0)
    ax.set(ylim=(-3.0, 103.0), ylabel="success (%)", xlabel=shortened(name, MAX_NAME))


def _draw_map(ax: Axes, results: SweepResults, names: list[str], succeeded: np.ndarray) -> None:
    """Draw the rate of success over two numbers."""
    (x, across), (y, along) = (groups_of(results.column(name).astype(float)) for name in names)
    counts, good = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    np.add.at(counts, (along, across), 1.0)
    np.add.at(good, (along, across), succeeded.astype(float))
    shares = np.divide(100.0 * good, counts, out=np.full_like(good, np.nan), where=counts > 0.0)
    drawn = ax.pcolormesh(x, y, shares, vmin=0.0, vmax=100.0, cmap="viridis", shading="nearest")
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
