"""Pages of teams: paths from above, and flock metrics over time."""

from pathlib import Path

import numpy as np

from kittiwake.analysis.flock import ARRIVED_M, History, Series, Team, history, teams_of
from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.analysis.plots.map_path import MapPath
from kittiwake.analysis.plots.maps import END, START, PlanPanel, map_limits, path_entries
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import PlotLine, TimePanel
from kittiwake.analysis.plots.style import GRAY, HUES, INK, REPORT, PageFigure, PlotStyle
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.scenario.load import load_recorded

# maximum number of members whose paths are drawn
MAX_PATHS = 100
GOLDEN = 0.618033988749895
MAP_SHARE = 0.5


def save_flock_pages(
    log: Log, folder: Path, *, style: PlotStyle = REPORT, file_format: str = "png"
) -> list[Path]:
    """Write ``flock-TEAM.png`` for each team of a run."""
    scenario = load_recorded(folder / SCENARIO_FILE)
    written: list[Path] = []
    for team in teams_of(scenario):
        flown = history(log, team)
        if len(flown.time_s):
            written.append(folder / f"flock-{team.name}.{file_format}")
            draw_flock(log, team, flown, style).save(written[-1])
    return written


def draw_flock(log: Log, team: Team, flown: History, style: PlotStyle = REPORT) -> PageFigure:
    """Draw paths from above at the left, and metrics of the team over time at the right."""
    drawn = [team.members[place] for place in _spread(len(team.members))]
    paths = _paths(log, team, flown, drawn)
    points = np.concatenate([path.points_world_m for path in paths])
    low, high = map_limits(points[np.isfinite(points).all(axis=1)])
    reach = f"connectivity within {team.reach_m:g} m"
    time_s, graphs_s = flown.time_s, flown.graph_time_s
    panels = (
        _centroid_panel(team, flown),
        TimePanel(
            "distance\n(m)",
            (
                PlotLine("cohesion radius", time_s, flown.radius_m, HUES[0]),
                PlotLine("smallest distance", time_s, flown.nearest_m, HUES[5]),
            ),
            base=0.0,
        ),
        _share_panel("order parameter, while they move", time_s, flown.order),
        _share_panel(reach, graphs_s, flown.connectivity),
    )
    count = f"{len(team.members)} members"
    more = f" · {len(drawn)} of them drawn" if len(drawn) < len(team.members) else ""
    return compose(
        PlotPage(
            title=f"Team {team.name}",
            notes=(count + more,),
            columns=(
                PanelColumn((PlanPanel(tuple(paths), low, high, width_share=MAP_SHARE),)),
                PanelColumn(panels, 0.9),
            ),
            key=tuple(path_entries(paths)),
        ),
        style,
    )


def _paths(log: Log, team: Team, flown: History, drawn: list[str]) -> list[MapPath]:
    member = {"color": HUES[0], "linewidth": 0.7, "alpha": 0.5}
    marks = {"color": HUES[0], "markeredgecolor": HUES[0], "markersize": 4.0}
    paths: list[MapPath] = []
    for name in drawn:
        places = log.tables[name].part(POSITION_WORLD_M)
        paths.append(MapPath(places, member))
        paths.append(MapPath(places[:1], START | marks, "start"))
        paths.append(MapPath(places[-1:], END | marks, "end"))
    centroid = {"color": HUES[1], "linewidth": 1.6}
    paths.append(MapPath(flown.middle_world_m, centroid, "centroid"))
    if team.target_world_m is not None:
        cross = {"marker": "+", "color": INK, "markersize": 12.0, "linestyle": "", "zorder": 3.0}
        paths.append(MapPath(team.target_world_m[None], cross, "target"))
    return paths


def _spread(members: int) -> list[int]:
    """Return indices spread by the golden ratio, as regular steps may pick one side of a grid."""
    if members <= MAX_PATHS:
        return list(range(members))
    return sorted({int(members * (i * GOLDEN % 1.0)) for i in range(MAX_PATHS)})


def _centroid_panel(team: Team, flown: History) -> TimePanel:
    if team.target_world_m is None:
        lines = tuple(
            PlotLine(axis, flown.time_s, values, hue)
            for values, axis, hue in zip(flown.middle_world_m.T, "xyz", HUES, strict=False)
        )
        return TimePanel("centroid\n(m)", lines)
    distance_m = flown.target_distance_m(team.target_world_m)
    limit_m = np.full_like(distance_m, ARRIVED_M)
    lines = (
        PlotLine("centroid", flown.time_s, distance_m, HUES[1]),
        PlotLine(f"arrived: {ARRIVED_M:g} m", flown.time_s, limit_m, GRAY, "setpoint"),
    )
    return TimePanel("to target\n(m)", lines, base=0.0)


def _share_panel(title: str, time_s: Series, share: Series) -> TimePanel:
    lines = (PlotLine("", time_s, share, HUES[2]),)
    return TimePanel("", lines, title=title, span=(-0.03, 1.06))
