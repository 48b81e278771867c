"""Maps of the fields that probes sampled: samples over the true field, and tracks."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.analysis.plots.map_path import MapPath
from kittiwake.analysis.plots.maps import PlanPanel, map_limits, path_entries
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import ColorScale
from kittiwake.analysis.plots.style import (
    INK,
    REPORT,
    PageFigure,
    PlotStyle,
    shortened,
)
from kittiwake.analysis.survey import (
    ProbeSamples,
    TrueField,
    coverages,
    interpolated,
    nearest_sample_m,
    probe_samples,
)
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.scenario.load import load_recorded
from kittiwake.scenario.scenario import Scenario

CELLS = 150
MAX_SAMPLES = 5000
# share of a map in the width of a page
MAP_SHARE = 0.4
# share of the spacing of lanes that a sample tells of, and lanes across a map without any
REACH, LANES_ACROSS = 0.75, 20.0
# markers of vehicles, in turn
MARKERS = ("o", "s", "^", "D", "v", "P")
MAX_NAMED, MAX_NAME = 6, 14
SHORE: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": "-", "zorder": 1.0}
WATER: dict[str, Any] = SHORE | {"linestyle": (0, (5, 3))}
LANES: dict[str, Any] = {"color": INK, "linewidth": 0.6, "linestyle": (0, (1, 2)), "zorder": 1.6}
TRACK: dict[str, Any] = {"color": "#D9D9D9", "linewidth": 0.8, "alpha": 0.9, "zorder": 1.5}
SAMPLE: dict[str, Any] = {"s": 18.0, "linewidths": 0.3, "edgecolors": "white", "zorder": 2.0}


def save_survey_maps(
    log: Log, folder: Path, *, style: PlotStyle = REPORT, file_format: str = "png"
) -> list[Path]:
    """Write ``survey-FIELD.png`` for each field with valid samples.

    The true field at the end of the flight is computed from the scenario in the folder.
    """
    found = [probe for probe in probe_samples(log) if len(probe.values)]
    if not found:
        return []
    scenario = load_recorded(folder / SCENARIO_FILE)
    written: list[Path] = []
    for name in dict.fromkeys(probe.field for probe in found):
        written.append(folder / f"survey-{name}.{file_format}")
        probes = [probe for probe in found if probe.field == name]
        draw_survey(log, scenario, probes, style).save(written[-1])
    return written


def draw_survey(
    log: Log, scenario: Scenario, probes: Sequence[ProbeSamples], style: PlotStyle = REPORT
) -> PageFigure:
    """Draw the map of the samples of probes of one field."""
    tracks = {probe.vehicle: _track(log, probe.vehicle) for probe in probes}
    shores = shore_paths(scenario)
    outlines = [shore.points_world_m for shore in shores]
    low, high = map_limits(np.concatenate([*tracks.values(), *outlines]))
    truth = _truth(log, scenario, probes, low, high)
    sampled = np.concatenate([probe.values for probe in probes])
    known = sampled if truth is None else np.concatenate([sampled, truth.ravel()])
    name, unit = probes[0].field, probes[0].unit.replace("ug/", "µg/")
    paths = [
        *shores,
        *_lanes(scenario),
        *(MapPath(track, TRACK, "track") for track in tracks.values()),
        *_samples(probes),
    ]
    colors = ColorScale.of(known, f"{name} ({unit})" if unit else name)
    counts = ", ".join(f"{probe.vehicle} ({len(probe.values):,})" for probe in probes)
    reach_m = _reach_m(scenario, low, high)
    mapped = _mapped(scenario, probes, low, high, reach_m)
    given = PlanPanel(tuple(paths), low, high, None, colors, truth, MAP_SHARE, ("samples",))
    made = PlanPanel(tuple(shores), low, high, None, colors, mapped, MAP_SHARE, ("map",))
    background = "" if truth is None else " over the true field at the end of the flight"
    return compose(
        PlotPage(
            title=f"{name}: samples of {counts}",
            notes=(
                f"Samples{background}, and the map that they give by inverse distances: white "
                f"where none is within {reach_m:.3g} m.",
            ),
            columns=(PanelColumn((given,)), PanelColumn((made,))),
            key=tuple(path_entries(paths)),
        ),
        style,
    )


def _reach_m(scenario: Scenario, low: np.ndarray, high: np.ndarray) -> float:
    """Return the distance up to which a sample tells of a place.

    It is a part of the widest spacing of lanes, so that a lane that was left out is seen.
    """
    spacings = [pattern.lane_spacing_m for pattern in coverages(scenario).values()]
    known = [float(spacing) for spacing in spacings if spacing is not None]
    return REACH * max(known, default=float((high - low).max()) / LANES_ACROSS)


def _mapped(
    scenario: Scenario,
    probes: Sequence[ProbeSamples],
    low: np.ndarray,
    high: np.ndarray,
    reach_m: float,
) -> np.ndarray:
    """Return the map from the samples, from the south on; NaN outside the water and in gaps."""
    cells, shape = _cells(low, high)
    places = np.concatenate([probe.positions_world_m[:, :2] for probe in probes])
    values = np.concatenate([probe.values for probe in probes])
    known = nearest_sample_m(places, cells) <= reach_m
    if waters := [one.water(scenario.world.origin) for one in coverages(scenario).values()]:
        import shapely

        known &= shapely.contains_xy(shapely.union_all(waters), *cells.T)
    found = np.full(len(cells), np.nan)
    if known.any():
        found[known] = interpolated(places, values, cells[known])
    return found.reshape(shape)


def shore_paths(scenario: Scenario) -> list[MapPath]:
    """Return the shores of all covered waters, and their borders at the margin from these."""
    origin = scenario.world.origin
    paths: list[MapPath] = []
    for pattern in coverages(scenario).values():
        waters = [(replace(pattern, margin_m=0.0).water(origin), SHORE, "shore")]
        if float(pattern.margin_m) > 0.0:
            waters.append((pattern.water(origin), WATER, "shore, less the margin"))
        for water, looks, label in waters:
            rings = (water.exterior, *water.interiors)
            paths += [MapPath(np.asarray(ring.coords)[:, :2], looks, label) for ring in rings]
    return paths


def _lanes(scenario: Scenario) -> list[MapPath]:
    """Return the planned lanes of all covered waters."""
    origin = scenario.world.origin
    return [
        MapPath(
            np.array([[float(p.x), float(p.y)] for p in pattern.positions_world_m(origin)]),
            LANES,
            "lanes",
        )
        for pattern in coverages(scenario).values()
    ]


def _samples(probes: Sequence[ProbeSamples]) -> list[MapPath]:
    """Return the samples with a marker for each vehicle, of which the first few are named."""
    markers = dict(zip(dict.fromkeys(p.vehicle for p in probes), cycle(MARKERS), strict=False))
    named = [*markers][:MAX_NAMED]
    more = len(markers) - len(named)
    paths: list[MapPath] = []
    for probe in probes:
        step = -(-len(probe.values) // MAX_SAMPLES)
        looks = SAMPLE | {"marker": markers[probe.vehicle]}
        label = shortened(probe.vehicle, MAX_NAME) if probe.vehicle in named else f"{more} more"
        values, places = probe.values[::step], probe.positions_world_m[::step, :2]
        paths.append(MapPath(places, looks, label, values=values))
    return paths


def _track(log: Log, vehicle: str) -> np.ndarray:
    places = log.tables[vehicle].part(POSITION_WORLD_M)[:, :2]
    places = places[np.isfinite(places).all(axis=1)]
    return places[:: max(1, len(places) // MAX_SAMPLES)]


def _truth(
    log: Log, scenario: Scenario, probes: Sequence[ProbeSamples], low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    """Return the true field from the south on; None if the world has no field of this name."""
    summary = log.summary or {}
    seed = summary.get("seed", scenario.seed)
    truth = TrueField.of(scenario, probes[0].field, int(seed), log)
    if truth is None:
        return None
    cells, shape = _cells(low, high)
    end_s = max(float(probe.time_s[-1]) for probe in probes)
    return truth.at(cells, end_s).reshape(shape)


def _cells(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the centers of the cells of a map, row by row from the south, and their shape."""
    cell = float((high - low).max()) / CELLS
    columns, rows = (max(int(count), 1) for count in (high - low) / cell)
    x, y = np.meshgrid(
        low[0] + (np.arange(columns) + 0.5) * (high[0] - low[0]) / columns,
        low[1] + (np.arange(rows) + 0.5) * (high[1] - low[1]) / rows,
    )
    return np.stack([x.ravel(), y.ravel()], axis=1), (rows, columns)
