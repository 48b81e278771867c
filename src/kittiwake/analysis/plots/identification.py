"""Page of an identification: measured and predicted values, and the residuals, before and after."""

from kittiwake.analysis.identification_result import IdentificationResult, Prediction
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import PlotLine, TimePanel
from kittiwake.analysis.plots.style import ALARM, GRAY, HUES, REPORT, PageFigure, PlotStyle

MAX_ROWS = 13
MAX_VALUES = 4


def draw_identification(result: IdentificationResult, style: PlotStyle = REPORT) -> PageFigure:
    """Draw the page of an identification, of its first quantities if there are very many."""
    shown = result.predictions[:MAX_ROWS]
    train, test = result.spans
    part = "fitted" if test is None else "held back"
    low, high = train if test is None else test
    values = [f"{own.name} {own.after:.4g} ± {own.largest_deviation:.2g}" for own in result.values]
    more = len(values) - MAX_VALUES
    listed = "; ".join(values[:MAX_VALUES]) + (f"; and {more} more" if more > 0 else "")
    return compose(
        PlotPage(
            title=f"Identification from {result.source}",
            notes=(
                f"{listed} (one standard deviation)",
                f"Windows of {result.window_s:g} s that were {part}, {low:g} to {high:g} s, each "
                "from its best start",
            ),
            columns=(
                PanelColumn(tuple(map(_values_panel, shown)), 2.0),
                PanelColumn(tuple(_residuals_panel(own) for own in shown), 1.0),
            ),
            in_rows=True,
        ),
        style,
    )


def _values_panel(own: Prediction) -> TimePanel:
    lines = (
        PlotLine("measured", own.time_s, own.measured, GRAY, "samples"),
        PlotLine("before", own.time_s, own.before, ALARM),
        PlotLine("after", own.time_s, own.after, HUES[0]),
    )
    return TimePanel("", lines, title=own.name, names=(own.name,))


def _residuals_panel(own: Prediction) -> TimePanel:
    """Return the residuals over time, with their root mean squares in the title."""
    lines = tuple(
        PlotLine("", own.time_s, values - own.measured, color, "samples")
        for values, color in ((own.before, ALARM), (own.after, HUES[0]))
    )
    return TimePanel("", lines, title="simulated - measured", listed=False)
