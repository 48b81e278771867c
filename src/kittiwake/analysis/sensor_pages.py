"""A page for each vehicle with sensors: what they said, beside what they should have said.

A row a quantity, over time: to the left the samples on the truth, to the right the error, with its
mean and deviation. A quantity of many numbers, such as the ranges of a lidar, is a map of them.
Of a slower log than the sensor only the newest sample of each row is there to be shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float64
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview import look
from kittiwake.analysis.overview.inputs import UNITS

FRESH = "fresh"
# x, y, z or a place in an array, between two words or at the end
PART = re.compile(r"_(?:[wxyz]|\d+(?:_\d+)*)(?=_|$)")
# more numbers than these are a map
MAX_CURVES = 6
MAX_ROWS, MAX_SAMPLES = 16, 2_000
ROW_IN, WIDTH_IN, MARGIN_IN = 1.5, 14.0, 0.75

Samples = Float64[np.ndarray, "samples parts"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a sensor said of one quantity, in the unit in which it is shown.

    It holds the rows of the log in which something was new since the row before. ``ideal`` is None
    where no sensor without errors could be said to say anything.
    """

    title: str
    parts: tuple[str, ...]
    time_s: Float64[np.ndarray, " samples"]
    measured: Samples
    ideal: Samples | None


def save_sensor_pages(log: Log, folder: Path) -> list[Path]:
    """Write ``sensors-VEHICLE.png`` for each vehicle that has sensors.

    Returns:
        The files, in order of the vehicles.
    """
    pages = {name: quantities(log, name) for name in log.names}
    written: list[Path] = []
    with style.context(["default", look.SETTINGS]):
        for vehicle, found in pages.items():
            if found:
                written.append(folder / f"sensors-{vehicle}.png")
                draw_page(vehicle, found).savefig(written[-1], dpi=look.DPI, format="png")
    return written


def quantities(log: Log, vehicle: str) -> list[Quantity]:
    """What a vehicle's sensors measured, in the order of its columns."""
    columns = log.columns(vehicle)
    grouped: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        kind, _, rest = column.partition(".")
        sensor, _, name = rest.partition(".")
        if kind == "sensor" and name != FRESH:
            grouped.setdefault((sensor, PART.sub("", name, count=1)), []).append(name)
    return [
        _quantity(log, vehicle, sensor, base, parts) for (sensor, base), parts in grouped.items()
    ]


def _quantity(log: Log, vehicle: str, sensor: str, base: str, parts: Sequence[str]) -> Quantity:
    fresh: Bool[np.ndarray, " rows"] = log.column(vehicle, f"sensor.{sensor}.{FRESH}") > 0.0

    def read(kind: str) -> Samples:
        read = [log.column(vehicle, f"{kind}.{sensor}.{part}")[fresh] for part in parts]
        return np.stack(read, axis=1)

    words, _, ending = base.rpartition("_")
    unit, factor = UNITS.get(ending, ("", 1.0))
    said = f"{words} ({unit})" if unit else base
    known = f"ideal.{sensor}.{parts[0]}" in log.columns(vehicle)
    return Quantity(
        title=f"{sensor}: {said.replace('_', ' ')}",
        parts=tuple(parts),
        time_s=log.column(vehicle, "time_s")[fresh],
        measured=factor * read("sensor"),
        ideal=factor * read("ideal") if known else None,
    )


def draw_page(vehicle: str, found: Sequence[Quantity]) -> Figure:
    """All that fits on a page; what was left out is said at its foot."""
    shown = found[:MAX_ROWS]
    height_in = ROW_IN * len(shown) + 2.0 * MARGIN_IN
    figure = Figure(figsize=(WIDTH_IN, height_in), dpi=look.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(shown), 2, squeeze=False, sharex=True, width_ratios=(2.0, 1.0))
    for row, quantity in zip(axes.tolist(), shown, strict=True):
        _draw_row(figure, row, quantity)
    for last in axes[-1]:
        last.set_xlabel("time (s)")
    title = f"Sensors of {vehicle}: measured (dots) on the truth (lines), and the error"
    drawn = f"of each row of the log the newest sample, at most {MAX_SAMPLES:,} of them drawn"
    figure.suptitle(f"{title}; {drawn}", x=0.01, y=1.0 - 0.2 / height_in, ha="left", weight="bold")
    if len(found) > len(shown):
        left_out = ", ".join(quantity.title for quantity in found[MAX_ROWS:])
        figure.text(0.01, 0.005, f"Left out: {look.shortened(left_out, 150)}", size=look.SMALL)
    top, bottom = 1.0 - MARGIN_IN / height_in, MARGIN_IN / height_in
    figure.subplots_adjust(left=0.06, right=0.98, top=top, bottom=bottom, wspace=0.18, hspace=0.5)
    return figure


def _draw_row(figure: Figure, row: Sequence[Axes], quantity: Quantity) -> None:
    values, errors = row
    values.set_title(quantity.title, loc="left", size=look.NORMAL)
    if len(quantity.parts) > MAX_CURVES:
        _draw_map(figure, values, quantity.time_s, quantity.measured)
        if quantity.ideal is not None:
            _draw_map(figure, errors, quantity.time_s, quantity.measured - quantity.ideal)
        return
    thin = slice(None, None, max(1, -(-len(quantity.time_s) // MAX_SAMPLES)))
    time_s = quantity.time_s[thin]
    if not time_s.size:
        return
    said: list[str] = []
    for i, colour in zip(range(len(quantity.parts)), look.HUES, strict=False):
        label = _part_label(quantity, i)
        values.plot(time_s, quantity.measured[thin, i], ".", ms=2.5, color=colour, label=label)
        if quantity.ideal is None:
            continue
        values.plot(time_s, quantity.ideal[thin, i], "-", lw=0.9, color=colour)
        error = quantity.measured[:, i] - quantity.ideal[:, i]
        errors.plot(time_s, error[thin], ".", ms=2.0, color=colour)
        said.append(f"{label} {error.mean():.3g} ± {error.std():.3g}".strip())
    if len(quantity.parts) > 1:
        look.list_beside(values, values.get_lines()[:: 1 if quantity.ideal is None else 2])
    if quantity.ideal is None:
        errors.set_axis_off()
        return
    errors.set_title(f"error: {', '.join(said)}", loc="left", size=look.SMALL)
    look.few_ticks(values)
    look.few_ticks(errors, x=5)


def _draw_map(
    figure: Figure, axes: Axes, time_s: Float64[np.ndarray, " samples"], numbers: Samples
) -> None:
    step = max(1, -(-len(time_s) // MAX_SAMPLES))
    if len(time_s) < 2:
        return
    mesh = axes.pcolormesh(
        time_s[::step], np.arange(numbers.shape[1]), numbers[::step].T, shading="nearest"
    )
    figure.colorbar(mesh, ax=axes, pad=0.01)
    axes.set_ylabel("number")
    axes.grid(visible=False)


def _part_label(quantity: Quantity, place: int) -> str:
    found = PART.search(quantity.parts[place])
    return "" if found is None else found.group()[1:]
