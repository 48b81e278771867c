"""Page of a tuning: a flight before and after, the values, and the objective of each candidate."""

import numpy as np
from matplotlib.axes import Axes

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.style import ALARM, GRAY, HUES, INK, REPORT, PageFigure, PlotStyle
from kittiwake.analysis.table import POSITION_WORLD_M, SETPOINT_WORLD_M
from kittiwake.analysis.tuning_result import TuningResult

HEIGHT_IN = 7.2
MAX_BARS = 24
LABELS = ("before", "after")


def draw_tuning(result: TuningResult, style: PlotStyle = REPORT) -> PageFigure:
    """Draw the page of a tuning."""
    with style.context():
        page = PageFigure(style, HEIGHT_IN)
        axes = page.subplots(2, 2)
        name = _drawn_vehicle(result)
        _draw_paths(axes[0, 0], result.logs, name)
        _draw_errors(axes[0, 1], result.logs, name)
        _draw_objective(axes[1, 0], result)
        _draw_changes(axes[1, 1], result)
        (first, last), count = result.unseen, result.unseen[0].flights
        title = (
            f"{result.objective}: {first.value:.3g} before, {last.value:.3g} after, "
            f"mean of {count} flights with seeds that tuning did not use"
        )
        page.suptitle(title, x=0.01, ha="left")
        page.tight_layout()
    return page


def _drawn_vehicle(result: TuningResult) -> str:
    """Return the vehicle of the objective, or else of the first free value, or else the first."""
    names = result.logs[0].names
    keys = [result.objective.partition(".")[0], *(path.split(".")[1] for path in result.paths)]
    return next((key for key in keys if key in names), names[0])


def _draw_paths(ax: Axes, logs: tuple[Log, Log], name: str) -> None:
    setpoint = logs[1].tables[name].part(SETPOINT_WORLD_M)
    ax.plot(*setpoint[:, :2].T, color=INK, linewidth=0.9, linestyle=":", label="setpoint")
    for log, hue, label in zip(logs, (ALARM, HUES[0]), LABELS, strict=True):
        ax.plot(*log.tables[name].part(POSITION_WORLD_M)[:, :2].T, color=hue, label=label)
    ax.set(title=f"{name} from above", xlabel="east (m)", ylabel="north (m)")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend()


def _draw_errors(ax: Axes, logs: tuple[Log, Log], name: str) -> None:
    for log, hue, label in zip(logs, (ALARM, HUES[0]), LABELS, strict=True):
        table = log.tables[name]
        errors_m = table.part(POSITION_WORLD_M) - table.part(SETPOINT_WORLD_M)
        time_s = table.part(("time_s",))[:, 0]
        ax.plot(time_s, np.linalg.norm(errors_m, axis=1), color=hue, label=label)
    ax.set(title="distance to the setpoint", xlabel="time (s)", ylabel="m", ylim=(0.0, None))
    ax.legend()


def _draw_objective(ax: Axes, result: TuningResult) -> None:
    """Draw the objective of each candidate, and the best one up to then."""
    values = np.array([one.objective for one in result.evaluations])
    number = np.arange(1, len(values) + 1)
    known = np.isfinite(values)
    ax.plot(number[known], values[known], ".", color=GRAY, label="candidate")
    before, after = (score.value for score in result.seeds)
    improved = np.maximum if after > before else np.minimum
    worst = -np.inf if after > before else np.inf
    best = improved.accumulate(np.where(known, values, worst)) if len(values) else values
    ax.plot(number, np.where(np.isfinite(best), best, np.nan), color=HUES[0], label="best")
    if known.any() and values[known].min() > 0.0:
        ax.set_yscale("log")
    ax.set(title=f"{result.method}", xlabel="candidates", ylabel=result.objective)
    ax.legend()


def _draw_changes(ax: Axes, result: TuningResult) -> None:
    """Draw each value in multiples of the one before; of very many those that changed most."""
    pairs = [*zip(result.paths, result.before, result.after, strict=True)]
    ratios = [(path, after / before) for path, before, after in pairs if before * after > 0.0]
    ratios = sorted(ratios, key=lambda one: -abs(np.log(one[1])))[:MAX_BARS]
    names = [_short(path) for path, _ in ratios][::-1]
    factors = np.array([factor for _, factor in ratios][::-1])
    ax.barh(names, factors - 1.0, left=1.0, color=HUES[0])
    ax.axvline(1.0, color=INK, linewidth=0.8)
    if len(factors):
        ax.set_xscale("log")
    ax.set(title="tuned value / value before", xlabel="factor")


def _short(path: str) -> str:
    """Return the last parts of a path."""
    return ".".join(path.split(".")[-2:])
