"""Maps of the fields that probes sampled: samples over the true field, and tracks."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.analysis.overview import look
from kittiwake.analysis.survey import ProbeSamples, TrueField, coverages, probe_samples
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.scenario import Scenario

PAGE_IN = (9.0, 7.0)
CELLS = 150
MAX_SAMPLES = 5000
# margin around the content, as a share of its size
AIR = 0.04
SHADES = "viridis"
# markers of vehicles, in turn
MARKERS = ("o", "s", "^", "D", "v", "P")
MAX_NAMED, MAX_NAME = 6, 14
SHORE: dict[str, Any] = {"color": look.INK, "linewidth": 1.0, "linestyle": (0, (5, 3))}
TRACK: dict[str, Any] = {"color": "white", "linewidth": 0.8, "alpha": 0.8}
SAMPLE: dict[str, Any] = {"color": look.GRAY, "markeredgecolor": "white", "linestyle": ""}


def save_survey_maps(log: Log, folder: Path) -> list[Path]:
    """Write ``survey-FIELD.png`` for each field with valid samples.

    The true field at the end of the flight is computed from the scenario in the folder.
    """
    found = [probe for probe in probe_samples(log) if len(probe.values)]
    if not found:
        return []
    scenario = load_scenario(str(folder / SCENARIO_FILE))
    written: list[Path] = []
    with style.context(["default", look.SETTINGS]):
        for name in dict.fromkeys(probe.field for probe in found):
            written.append(folder / f"survey-{name}.png")
            probes = [probe for probe in found if probe.field == name]
            look.save(draw_survey(log, scenario, probes), written[-1])
    return written


def draw_survey(log: Log, scenario: Scenario, probes: Sequence[ProbeSamples]) -> Figure:
    """Draw the map of the samples of probes of one field."""
    figure = look.PageFigure(PAGE_IN)
    axes: Axes = figure.add_axes((0.09, 0.08, 0.78, 0.76))
    patterns = coverages(scenario)
    waters = [pattern.water(scenario.world.origin) for pattern in patterns.values()]
    tracks = {probe.vehicle: _track(log, probe.vehicle) for probe in probes}
    corners = [*tracks.values(), *(np.asarray(water.exterior.coords) for water in waters)]
    low, high = _box(np.concatenate(corners))
    truth = _truth(log, scenario, probes, low, high)
    sampled = np.concatenate([probe.values for probe in probes])
    known = sampled if truth is None else np.concatenate([sampled, truth.ravel()])
    norm = Normalize(float(known.min()), float(known.max()))
    if truth is not None:
        extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
        axes.imshow(truth, origin="lower", extent=extent, norm=norm, cmap=SHADES, zorder=0.5)
    for water in waters:
        for ring in (water.exterior, *water.interiors):
            axes.plot(*np.asarray(ring.coords).T, zorder=1.0, **SHORE)
    for track in tracks.values():
        axes.plot(*track.T, zorder=1.5, **TRACK)
    markers = dict(zip(tracks, cycle(MARKERS), strict=False))
    for probe in probes:
        _draw_samples(axes, probe, norm, markers[probe.vehicle])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.grid(visible=False)
    axes.set(xlabel="east (m)", ylabel="north (m)")
    _draw_words(figure, probes, norm, surface=truth is not None)
    _draw_legend(figure, markers, with_shore=bool(waters))
    return figure


def _draw_legend(figure: Figure, markers: Mapping[str, str], *, with_shore: bool) -> None:
    """Draw the legend above the map, with the first few of many vehicles."""
    samples = [
        Line2D([], [], marker=marker, label=look.shortened(name, MAX_NAME), **SAMPLE)
        for name, marker in list(markers.items())[:MAX_NAMED]
    ]
    more = len(markers) - len(samples)
    rest = [Line2D([], [], linestyle="", label=f"and {more} more")] if more else []
    shore = [Line2D([], [], label="shore, less the margin", **SHORE)] if with_shore else []
    track = Line2D([], [], label="track", **TRACK)
    legend = figure.legend(
        handles=[*samples, *rest, track, *shore],
        loc="upper left",
        bbox_to_anchor=(0.085, 0.915),
        ncols=MAX_NAMED,
        fontsize=look.SMALL,
        # so that white tracks are visible
        facecolor=look.PALE,
        edgecolor="none",
        borderpad=0.3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_samples(axes: Axes, probe: ProbeSamples, norm: Normalize, marker: str) -> None:
    step = -(-len(probe.values) // MAX_SAMPLES)
    places = probe.positions_world_m[::step, :2]
    style: dict[str, Any] = {"s": 18.0, "linewidths": 0.3, "edgecolors": "white", "zorder": 2.0}
    shades = probe.values[::step]
    axes.scatter(*places.T, c=shades, marker=marker, norm=norm, cmap=SHADES, **style)


def _draw_words(
    figure: Figure, probes: Sequence[ProbeSamples], norm: Normalize, *, surface: bool
) -> None:
    name, unit = probes[0].field, probes[0].unit
    counts = ", ".join(f"{probe.vehicle} ({len(probe.values):,})" for probe in probes)
    title = look.shortened(f"{name}: samples of {counts}", 90)
    figure.text(0.09, 0.95, title, weight="bold", size=look.NORMAL + 2.5, parse_math=False)
    if surface:
        note = "In the background: the true field at the end of the flight, in the same colors."
        figure.text(0.09, 0.92, note, color=look.GRAY)
    bar = figure.colorbar(
        ScalarMappable(norm, SHADES), cax=figure.add_axes((0.9, 0.08, 0.02, 0.76))
    )
    bar.set_label(f"{name} ({unit})" if unit else name, parse_math=False)


def _track(log: Log, vehicle: str) -> np.ndarray:
    places = log.tables[vehicle].part(POSITION_WORLD_M)[:, :2]
    places = places[np.isfinite(places).all(axis=1)]
    return places[:: max(1, len(places) // MAX_SAMPLES)]


def _box(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = places.min(axis=0), places.max(axis=0)
    air = AIR * max(float((high - low).max()), 1.0)
    return low - air, high + air


def _truth(
    log: Log, scenario: Scenario, probes: Sequence[ProbeSamples], low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    """Return the true field from the south on; None if the world has no field of this name."""
    summary = log.summary or {}
    seed = summary.get("seed", scenario.seed)
    truth = TrueField.of(scenario, probes[0].field, int(seed), log)
    if truth is None:
        return None
    cell = float((high - low).max()) / CELLS
    columns, rows = (max(int(count), 1) for count in (high - low) / cell)
    x, y = np.meshgrid(
        low[0] + (np.arange(columns) + 0.5) * (high[0] - low[0]) / columns,
        low[1] + (np.arange(rows) + 0.5) * (high[1] - low[1]) / rows,
    )
    end_s = max(float(probe.time_s[-1]) for probe in probes)
    return truth.at(np.stack([x.ravel(), y.ravel()], axis=1), end_s).reshape(rows, columns)
