"""Charts of a flight page: the panels over time of the overview, as numbers."""

from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.events import MAX_MARKS, moments, without_many_waypoints
from kittiwake.analysis.plots.legs import with_legs_of
from kittiwake.analysis.plots.panels import PlotLine
from kittiwake.analysis.plots.quantities import panels_over_time
from kittiwake.analysis.plots.style import ESTIMATED, fleet_colors
from kittiwake.analysis.plots.traces import find_losses, select_traces
from kittiwake.cockpit.flight_page.tracks import ArrayStore
from kittiwake.scenario.scenario import Scenario

# numbers of all lines together; more lines have fewer points
MAX_NUMBERS = 1_000_000
MIN_POINTS = 200
KINDS = {"setpoint": "setpoint", ESTIMATED: "estimate"}


def chart_panels(log: Log, scenario: Scenario, store: ArrayStore) -> list[dict[str, Any]]:
    """Store the curves of a log and return their panels for ``charts.js``."""
    traces = with_legs_of(select_traces(log, find_losses(log)), scenario)
    shades = fleet_colors(len(log.names))
    colors = [shades[trace.place] for trace in traces]
    panels = panels_over_time(traces, colors, {}, many=len(log.names) != 1)
    shown = [panel for panel, by_default in panels if by_default]
    count = sum(len(panel.lines) for panel in shown)
    points = max(MIN_POINTS, MAX_NUMBERS // max(1, 2 * count))
    return [
        {
            "label": panel.label.replace("\n", " "),
            "span": panel.span,
            "lines": [_line(line, points, store) for line in panel.lines],
        }
        for panel in shown
    ]


def marked_events(log: Log) -> list[dict[str, Any]]:
    """Return the events that the overview marks."""
    events, _ = without_many_waypoints(log.events)
    found = moments(events, many=len(log.names) != 1)[:MAX_MARKS]
    return [{"time": one.time_s, "label": one.label, "loss": one.is_loss} for one in found]


def _line(line: PlotLine, points: int, store: ArrayStore) -> dict[str, Any]:
    step = -(-len(line.values) // points)
    times, values = (np.asarray(one[::step], "<f4") for one in (line.time_s, line.values))
    return {
        "label": line.label,
        "color": to_hex(line.color),
        "kind": KINDS.get(line.kind, "actual"),
        "times": [store.add(times), times.nbytes],
        "values": [store.add(values), values.nbytes],
    }
