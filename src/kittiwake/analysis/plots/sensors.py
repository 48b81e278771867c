"""Pages of sensor plots for each vehicle: measurements and ideal values without errors.

Each quantity has one row over time: the samples at the left, the error at the right, with its mean
and standard deviation. A quantity of many numbers, such as the ranges of a lidar, is a map of them;
an image is some frames. If the log is slower than the sensor, only the newest sample of each row is
available.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import (
    AbstractPanel,
    ColorScale,
    FramesPanel,
    HeatmapPanel,
    PlotLine,
    TextPanel,
    TimePanel,
)
from kittiwake.analysis.plots.quantities import cut_at_jumps
from kittiwake.analysis.plots.sensor_quantities import (
    Samples,
    SensorQuantity,
    check_sensors,
    quantities,
)
from kittiwake.analysis.plots.style import HUES, REPORT, PageFigure, PlotStyle, shortened

MAX_ROWS = 8
# quantities with more numbers are drawn as a map
MAX_CURVES = 6
MAX_SAMPLES = 2_000
FRAMES, ERROR_FRAMES = 6, 3
# vertical spacing of flags, and the height of a raised one
FLAG_SPACING, FLAG_HEIGHT = 1.0, 0.7
YES_NO = {0.0: "no", 1.0: "yes"}
MAX_TITLE, TITLE_WIDTH, MAX_NAME = 80, 45, 60
LEAST_SHARE = 1e-7

NOTES = (
    "Without errors: at the time of measuring. A latency delays both and is not an error here.",
    f"The newest sample of each row of the log; at most {MAX_SAMPLES:,} samples drawn.",
)


def save_sensor_pages(
    log: Log,
    folder: Path,
    wanted: Collection[str] = (),
    *,
    style: PlotStyle = REPORT,
    file_format: str = "png",
) -> list[Path]:
    """Write ``sensors-VEHICLE.png`` for each vehicle with sensors, and further pages if needed.

    Args:
        log: the log of the run.
        folder: the folder for the pages.
        wanted: the sensors to draw; all if empty.
        style: the style of the pages.
        file_format: the format of the files.

    Returns:
        The files, in the order of the vehicles.

    Raises:
        LogError: if no vehicle has a wanted sensor; the message has the nearest name.
    """
    check_sensors(log, wanted)
    written: list[Path] = []
    for vehicle in log.names:
        found = quantities(log, vehicle, wanted)
        for page in range(pages(found)):
            written.append(folder / f"{_stem(log.names, vehicle, page)}.{file_format}")
            draw_page(vehicle, found, page, style).save(written[-1])
    return written


def pages(found: Sequence[SensorQuantity]) -> int:
    """Return the number of pages for these quantities."""
    drawn, unchanging = _split(found)
    return max(-(-len(drawn) // MAX_ROWS), min(len(unchanging), 1))


def draw_page(
    vehicle: str, found: Sequence[SensorQuantity], page: int = 0, style: PlotStyle = REPORT
) -> PageFigure:
    """Draw the page with this number, from 0."""
    drawn, unchanging = _split(found)
    shown = drawn[page * MAX_ROWS : (page + 1) * MAX_ROWS]
    number = f", page {page + 1} of {pages(found)}" if pages(found) > 1 else ""
    span_s = _span_s(shown)
    notes = (f"Always as without errors: {', '.join(unchanging)}",) if unchanging else ()
    return compose(
        PlotPage(
            title=f"Sensors of {shortened(vehicle, MAX_NAME)}{number}",
            notes=("Measured (in color) and without errors (dark lines)", *NOTES, *notes),
            columns=(
                PanelColumn(tuple(map(_measured_panel, shown)), 2.0, span_s),
                PanelColumn(tuple(map(_error_panel, shown)), 1.0, span_s),
            ),
            in_rows=True,
        ),
        style,
    )


def _split(found: Sequence[SensorQuantity]) -> tuple[list[SensorQuantity], list[str]]:
    """Return the quantities to draw, and flags and counts that never change or differ, as text."""
    drawn: list[SensorQuantity] = []
    unchanging: list[str] = []
    masked = [quantity for quantity in found if not quantity.valid.all()]
    for quantity in found:
        if any(quantity.validates(other) for other in masked):
            continue
        values = quantity.measured
        same = quantity.ideal is not None and bool((quantity.ideal == values).all())
        if quantity.whole and same and values.size and bool((values == values[0, 0]).all()):
            value = float(values[0, 0])
            text = YES_NO[value] if quantity.flag else f"{value:g}"
            unchanging.append(f"{quantity.title} {text}")
        else:
            drawn.append(quantity)
    return drawn, unchanging


def _stem(names: Sequence[str], vehicle: str, page: int) -> str:
    if page == 0:
        return f"sensors-{vehicle}"
    own = f"{vehicle}-{page + 1}"
    # another vehicle may have this name
    return f"sensors-{vehicle}-page-{page + 1}" if own in names else f"sensors-{own}"


def _span_s(shown: Sequence[SensorQuantity]) -> tuple[float, float]:
    """Return the time axis' limits: the first and the last sample, with a margin."""
    times = [quantity.time_s for quantity in shown if quantity.time_s.size]
    low = float(min((time_s[0] for time_s in times), default=0.0))
    high = float(max((time_s[-1] for time_s in times), default=1.0))
    air = 0.01 * (high - low) or 0.5
    return low - air, high + air


def _measured_panel(quantity: SensorQuantity) -> AbstractPanel:
    never = " (never valid)" if np.isnan(quantity.series[0]).all() else ""
    title = shortened(quantity.title + _mismatch_text(quantity) + never, MAX_TITLE)
    if not quantity.time_s.size:
        return TextPanel(f"{quantity.title}: nothing was measured")
    if quantity.shape is None and len(quantity.parts) <= MAX_CURVES:
        return _curves_panel(quantity, title)
    scale = ColorScale.of(quantity.measured)
    if quantity.flag:
        scale = ColorScale(0.0, 1.0, ticks=YES_NO)
    return _colored_panel(title, quantity, quantity.series[0], scale, FRAMES)


def _curves_panel(quantity: SensorQuantity, title: str) -> TimePanel:
    """Return samples as dots, or flags and counts as steps, and the ideal values as a line."""
    count = len(quantity.parts)
    stacked = quantity.flag and count > 1
    # the first flag is on top
    offsets = FLAG_SPACING * np.arange(count)[::-1] if stacked else np.zeros(count)
    factor = FLAG_HEIGHT if stacked else 1.0
    lines: list[PlotLine] = []
    for numbers, source in zip(quantity.series, ("measured", "ideal"), strict=True):
        if numbers is not None:
            lines += _curves(quantity, offsets + factor * numbers, ideal=source == "ideal")
    ticks = YES_NO if quantity.flag else {}
    top = float(offsets.max()) + 1.0 if stacked else 1.15
    if stacked:
        ticks = dict(zip((offsets + FLAG_HEIGHT / 2).tolist(), quantity.parts, strict=True))
    return TimePanel(
        "",
        tuple(lines),
        title=title,
        listed=not stacked,
        ticks=ticks,
        whole=quantity.whole,
        span=(-0.15, top) if quantity.flag else None,
    )


def _curves(quantity: SensorQuantity, numbers: Samples, *, ideal: bool) -> list[PlotLine]:
    thin = _thinned(quantity)
    curve_kinds = ("ideal steps", "steps") if quantity.whole else ("ideal", "samples")
    lines = []
    for part, values, color in zip(quantity.parts, numbers[thin].T, HUES, strict=False):
        # without the vertical line at a jump of an angle; dots need no cut
        drawn = cut_at_jumps(values) if ideal and quantity.unit == "deg" else values
        lines.append(PlotLine(part, quantity.time_s[thin], drawn, color, curve_kinds[not ideal]))
    return lines


def _error_panel(quantity: SensorQuantity) -> AbstractPanel:
    error = quantity.error
    if error is None or not quantity.time_s.size:
        return TextPanel()
    if _negligible(error, quantity.measured):
        is_zero = not np.nan_to_num(error).any()
        return TextPanel("no error" if is_zero else "error below a ten-millionth")
    many = quantity.shape is not None or len(quantity.parts) > MAX_CURVES
    title = fill(f"error: {_error_text(error, () if many else quantity.parts)}", TITLE_WIDTH)
    if many:
        return _colored_panel(title, quantity, error, ColorScale.about_zero(error), ERROR_FRAMES)
    thin = _thinned(quantity)
    lines = [
        PlotLine("", quantity.time_s[thin], values, color, "samples")
        for values, color in zip(error[thin].T, HUES, strict=False)
    ]
    return TimePanel("", tuple(lines), title=title, listed=False)


def _negligible(error: Samples, measured: Samples) -> bool:
    """Return True if an error is so small that its curve would show rounding only."""
    known = np.isfinite(error)
    largest = np.abs(measured[known]).max(initial=0.0)
    return bool(np.abs(error[known]).max(initial=0.0) <= LEAST_SHARE * largest)


def _error_text(error: Samples, parts: tuple[str, ...]) -> str:
    """Return mean and standard deviation of each part, or of all numbers of many parts."""
    if not 0 < len(parts) <= 3:
        return f"{_spread(error)}, of all numbers"
    return ", ".join(
        f"{part} {_spread(own)}".strip() for part, own in zip(parts, error.T, strict=True)
    )


def _spread(error: Float64[np.ndarray, "..."]) -> str:
    known = error[np.isfinite(error)]
    return f"{known.mean():.3g} ± {known.std():.3g}" if known.size else "unknown"


def _mismatch_text(quantity: SensorQuantity) -> str:
    """Return the share of wrong flags or counts as text."""
    if not quantity.whole or quantity.ideal is None or not quantity.measured.size:
        return ""
    wrong = float((quantity.measured != quantity.ideal).mean())
    return f" ({100.0 * wrong:.2g} % differ from without errors)" if wrong else ""


def _colored_panel(
    title: str, quantity: SensorQuantity, numbers: Samples, colors: ColorScale, count: int
) -> AbstractPanel:
    """Return a map over time, or images at regular intervals from the first to the last."""
    if quantity.shape is not None:
        chosen = np.unique(np.linspace(0, len(quantity.time_s) - 1, count).round().astype(int))
        images = [numbers[sample].reshape(quantity.shape) for sample in chosen.tolist()]
        if len(quantity.shape) > 2:  # the colors themselves
            low = min(colors.low, 0.0)
            span = colors.high - low if low < 0.0 else 1.0
            images = [np.clip((image - low) / span, 0.0, 1.0) for image in images]
        return FramesPanel(title, quantity.time_s[chosen], images, colors)
    thin = _thinned(quantity)
    if len(quantity.time_s[thin]) < 2:
        return TextPanel(f"{title}: measured once only")
    return HeatmapPanel(title, quantity.time_s[thin], numbers[thin], colors)


def _thinned(quantity: SensorQuantity) -> slice:
    return slice(None, None, max(1, -(-len(quantity.time_s) // MAX_SAMPLES)))
