"""Pictures of teams: paths from above, and flock metrics over time."""

from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kittiwake.analysis.flock import ARRIVED_M, History, Team, history, teams_of
from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.analysis.overview import look
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.scenario.load import load_scenario

PAGE_IN = (13.0, 7.5)
# maximum number of members whose paths are drawn
MAX_PATHS = 100
GOLDEN = 0.618033988749895


def save_flock_pages(log: Log, folder: Path) -> list[Path]:
    """Write ``flock-TEAM.png`` for each team of a run."""
    scenario = load_scenario(str(folder / SCENARIO_FILE))
    written: list[Path] = []
    with style.context(["default", look.SETTINGS]):
        for team in teams_of(scenario):
            flown = history(log, team)
            if len(flown.time_s):
                written.append(folder / f"flock-{team.name}.png")
                look.save(draw_flock(log, team, flown), written[-1])
    return written


def draw_flock(log: Log, team: Team, flown: History) -> Figure:
    """Draw paths from above at the left, and metrics of the team over time at the right."""
    figure = look.PageFigure(PAGE_IN)
    grid = figure.add_gridspec(
        4, 2, width_ratios=(1.15, 1.0), left=0.07, right=0.98, bottom=0.08, top=0.88, hspace=0.35
    )
    _draw_paths(figure.add_subplot(grid[:, 0]), log, team, flown)
    rows = [figure.add_subplot(grid[0, 1])]
    rows += [figure.add_subplot(grid[i, 1], sharex=rows[0]) for i in range(1, 4)]
    _draw_middle(rows[0], team, flown)
    _draw_distances(rows[1], flown)
    _draw_share(rows[2], flown.time_s, flown.order, "order parameter, while they move")
    reach = f"connectivity within {team.reach_m:g} m"
    _draw_share(rows[3], flown.graph_time_s, flown.connectivity, reach)
    for axes in rows[:-1]:
        axes.tick_params(labelbottom=False)
    rows[-1].set_xlabel("time (s)")
    figure.text(0.07, 0.95, f"Team {team.name}", size=look.LARGE, weight="bold")
    members = f"{len(team.members)} members"
    figure.text(0.07, 0.915, members, size=look.NORMAL, color=look.GRAY)
    return figure


def _draw_paths(axes: Axes, log: Log, team: Team, flown: History) -> None:
    drawn = [team.members[place] for place in _spread(len(team.members))]
    for name in drawn:
        x, y, _ = log.tables[name].part(POSITION_WORLD_M).T
        axes.plot(x, y, color=look.HUES[0], linewidth=0.7, alpha=0.5)
        axes.plot(x[:1], y[:1], ".", color=look.GRAY, markersize=4)
        axes.plot(x[-1:], y[-1:], "o", color=look.HUES[0], markersize=4)
    axes.plot(*flown.middle_world_m[:, :2].T, color=look.HUES[1], linewidth=1.6, label="middle")
    if team.target_world_m is not None:
        axes.plot(
            *team.target_world_m[:2], "+", color=look.INK, markersize=12, label="target", zorder=3
        )
    axes.plot([], [], ".", color=look.GRAY, label="start")
    axes.plot([], [], "o", color=look.HUES[0], markersize=4, label="end")
    if len(drawn) < len(team.members):
        axes.plot([], [], " ", label=f"{len(drawn)} of {len(team.members)} drawn")
    axes.set(xlabel="east (m)", ylabel="north (m)")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="upper left", frameon=False, fontsize=look.SMALL)


def _spread(members: int) -> list[int]:
    """Return indices spread by the golden ratio, as regular steps may pick one side of a grid."""
    if members <= MAX_PATHS:
        return list(range(members))
    return sorted({int(members * (i * GOLDEN % 1.0)) for i in range(MAX_PATHS)})


def _draw_middle(axes: Axes, team: Team, flown: History) -> None:
    if team.target_world_m is None:
        for values, axis, hue in zip(flown.middle_world_m.T, "xyz", look.HUES, strict=False):
            axes.plot(flown.time_s, values, color=hue, label=axis)
        axes.set_ylabel("middle (m)")
        _draw_legend(axes)
        return
    axes.plot(flown.time_s, flown.target_distance_m(team.target_world_m), color=look.HUES[1])
    arrived = f"arrived: {ARRIVED_M:g} m"
    axes.axhline(ARRIVED_M, color=look.GRAY, linewidth=0.8, linestyle="--", label=arrived)
    _draw_legend(axes)
    axes.set_ylabel("middle to\ntarget (m)")
    axes.set_ylim(bottom=0.0)


def _draw_distances(axes: Axes, flown: History) -> None:
    axes.plot(flown.time_s, flown.radius_m, color=look.HUES[0], label="cohesion radius")
    axes.plot(flown.time_s, flown.nearest_m, color=look.HUES[5], label="smallest distance")
    axes.set_ylabel("distance (m)")
    axes.set_ylim(bottom=0.0)
    _draw_legend(axes)


def _draw_legend(axes: Axes) -> None:
    """Draw the legend above the axes, beside the curves."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 0.97),
        borderaxespad=0.0,
        ncols=3,
        frameon=False,
        fontsize=look.SMALL,
    )


def _draw_share(axes: Axes, time_s: np.ndarray, share: np.ndarray, title: str) -> None:
    axes.plot(time_s, share, color=look.HUES[2])
    axes.set_ylim(-0.03, 1.06)
    axes.set_title(title, size=look.SMALL, color=look.GRAY, loc="left", pad=3)
