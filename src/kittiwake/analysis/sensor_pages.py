"""Pages of sensor plots for each vehicle: measurements and ideal values without errors.

Each quantity has one row over time: the samples at the left, the error at the right, with its mean
and standard deviation. A quantity of many numbers, such as the ranges of a lidar, is a map of them;
an image is some frames. If the log is slower than the sensor, only the newest sample of each row is
available.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview import look
from kittiwake.analysis.sensor_quantities import Quantity, check_sensors, quantities
from kittiwake.analysis.sensor_rows import MAX_SAMPLES, Half, draw_row

MAX_ROWS = 16
WIDTH_IN, ROW_IN, AXES_IN, BELOW_IN, TOP_IN, BOTTOM_IN = 14.0, 1.55, 0.95, 0.25, 0.85, 0.25
# from left to right: axes, and the color scales beside them
MEASURED_IN, ERROR_IN = (0.85, 7.85), (9.6, 13.0)
GAP_IN, SCALE_IN = 0.1, 0.13
LEFT_IN, HEADING_IN, LINE_IN = 0.2, 0.3, 0.2
MAX_NAME = 60

NOTES = (
    "Without errors: at the time of measuring. A latency delays both and is not an error here.",
    f"The newest sample of each row of the log; at most {MAX_SAMPLES:,} samples drawn.",
)


def save_sensor_pages(log: Log, folder: Path, wanted: Collection[str] = ()) -> list[Path]:
    """Write ``sensors-VEHICLE.png`` for each vehicle with sensors, and further pages if needed.

    Args:
        log: the log of the run.
        folder: the folder for the pages.
        wanted: the sensors to draw; all if empty.

    Returns:
        The files, in the order of the vehicles.

    Raises:
        LogError: if no vehicle has a wanted sensor; the message has the nearest name.
    """
    check_sensors(log, wanted)
    written: list[Path] = []
    with style.context(["default", look.SETTINGS]):
        for vehicle in log.names:
            found = quantities(log, vehicle, wanted)
            for page in range(pages(found)):
                written.append(folder / _file(log.names, vehicle, page))
                look.save(draw_page(vehicle, found, page), written[-1])
    return written


def pages(found: Sequence[Quantity]) -> int:
    """Return the number of pages for these quantities."""
    return -(-len(found) // MAX_ROWS)


def draw_page(vehicle: str, found: Sequence[Quantity], page: int = 0) -> Figure:
    """Draw the page with this number, from 0."""
    shown = found[page * MAX_ROWS : (page + 1) * MAX_ROWS]
    height_in = ROW_IN * len(shown) + TOP_IN + BOTTOM_IN
    figure = look.PageFigure((WIDTH_IN, height_in))
    span_s = _span_s(shown)
    rows: list[tuple[Half, Half]] = []
    for row, quantity in enumerate(shown):
        bottom_in = BOTTOM_IN + ROW_IN * (len(shown) - 1 - row) + BELOW_IN
        measured, errors = (_half(figure, sides, bottom_in) for sides in (MEASURED_IN, ERROR_IN))
        draw_row(measured, errors, quantity)
        rows.append((measured, errors))
    for column in zip(*rows, strict=True):
        over_time = [half.axes for half in column if half.axes.axison]
        for axes in over_time:
            axes.set_xlim(*span_s)
        for axes in over_time[-1:]:
            axes.set_xlabel("time (s)")
    number = f", page {page + 1} of {pages(found)}" if pages(found) > 1 else ""
    name = look.shortened(vehicle, MAX_NAME)
    heading = f"Sensors of {name}{number}: measured (in color) and without errors (dark lines)"
    heights_in = [height_in - HEADING_IN - LINE_IN * line for line in range(1 + len(NOTES))]
    places = [(LEFT_IN / WIDTH_IN, height / height_in) for height in heights_in]
    figure.text(*places[0], heading, weight="bold", size=look.NORMAL + 1.5, parse_math=False)
    for place, note in zip(places[1:], NOTES, strict=True):
        figure.text(*place, note, color=look.GRAY)
    return figure


def _file(names: Sequence[str], vehicle: str, page: int) -> str:
    if page == 0:
        return f"sensors-{vehicle}.png"
    own = f"{vehicle}-{page + 1}"
    # another vehicle may have this name
    return f"sensors-{vehicle}-page-{page + 1}.png" if own in names else f"sensors-{own}.png"


def _half(figure: Figure, sides_in: tuple[float, float], bottom_in: float) -> Half:
    """Return axes between two positions, with a color scale beside them."""
    width_in, height_in = figure.get_size_inches().tolist()
    left, right = sides_in

    def box(left: float, right: float) -> tuple[float, float, float, float]:
        size = (right - left) / width_in, AXES_IN / height_in
        return (left / width_in, bottom_in / height_in, *size)

    scale = right + GAP_IN
    return Half(figure.add_axes(box(left, right)), figure.add_axes(box(scale, scale + SCALE_IN)))


def _span_s(shown: Sequence[Quantity]) -> tuple[float, float]:
    """Return the time axis' limits: the first and the last sample, with a margin."""
    times = [quantity.time_s for quantity in shown if quantity.time_s.size]
    low = float(min((time_s[0] for time_s in times), default=0.0))
    high = float(max((time_s[-1] for time_s in times), default=1.0))
    air = 0.01 * (high - low) or 0.5
    return low - air, high + air
