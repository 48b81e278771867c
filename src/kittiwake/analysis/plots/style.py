"""Styles of the pictures, for a report or for a column of a paper, and their files.

All settings are here, so that a picture does not depend on the user's matplotlib configuration.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib import colormaps, rcParams, style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.textpath import text_to_path

from kittiwake.analysis.output_file import output_file
from kittiwake.core.errors import LogError, did_you_mean

DPI = 170
POINTS_PER_INCH = 72.0
# height of a row of text, in sizes of the text
ROW_FACTOR = 1.4
# width of a legend's sample and of the gap to the next entry
HANDLE_IN = 0.5
FORMATS = ("png", "pdf", "svg")

# Okabe and Ito (2008), "Color Universal Design": distinguishable with any color vision. Their
# yellow is left out, as it is too pale for a thin line on white.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#4D4D4D")
INK, GRAY, PALE, ALARM = "#1A1A1A", "#6B6B6B", "#D9D9D9", "#A4262C"
HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.5, foreground="white")]

# arguments of matplotlib
Looks = dict[str, Any]

# bands of percentiles of many vehicles
MOST, EXTREMES = "most vehicles", "all vehicles"
# lines of the curves over time by kind
SECOND_RUN, ESTIMATED = "second run", "estimate"
CURVES: dict[str, Looks] = {
    "actual": {"zorder": 2.0},
    "setpoint": {"linewidth": 1.1, "linestyle": (0, (1.0, 1.2)), "zorder": 2.5},
    SECOND_RUN: {"linestyle": (0, (5.0, 2.0)), "zorder": 2.2},
    ESTIMATED: {"linewidth": 0.8, "alpha": 0.5, "zorder": 1.9},
    "estimate below the truth": {"linewidth": 1.8},
    MOST: {"linewidth": 6.0, "alpha": 0.33},
    EXTREMES: {"linewidth": 6.0, "alpha": 0.18},
    "samples": {"linestyle": "", "marker": ".", "markersize": 2.5},
    "steps": {"linewidth": 2.2, "drawstyle": "steps-post"},
    "ideal": {"color": INK, "linewidth": 0.7, "zorder": 3.0},
    "ideal steps": {"color": INK, "linewidth": 0.7, "zorder": 3.0, "drawstyle": "steps-post"},
}


@dataclass(frozen=True)
class PlotStyle:
    """Size and arrangement of pictures.

    Attributes:
        name: the name on the command line.
        width_in: the width of a page.
        row_in: the height of a panel over time.
        font_pt: the size of text.
        titled: whether a page has title, notes and metrics.
        wide: whether columns of panels and legends have room beside each other.
    """

    name: str
    width_in: float
    row_in: float
    font_pt: float
    titled: bool
    wide: bool

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of matplotlib."""
        return {
            "font.size": self.font_pt,
            "axes.labelsize": self.font_pt,
            "axes.titlesize": self.font_pt,
            "axes.titlelocation": "left",
            "xtick.labelsize": self.font_pt,
            "ytick.labelsize": self.font_pt,
            "legend.fontsize": self.font_pt,
            "text.color": INK,
            "axes.edgecolor": GRAY,
            "axes.labelcolor": INK,
            "axes.linewidth": 0.8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.formatter.useoffset": False,
            "axes.formatter.limits": (-6, 7),
            "grid.color": PALE,
            "grid.linewidth": 0.6,
            "xtick.color": GRAY,
            "ytick.color": GRAY,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "legend.frameon": False,
            "legend.borderpad": 0.2,
            "legend.borderaxespad": 0.0,
            "legend.handlelength": 1.6,
            "legend.handletextpad": 0.6,
            "legend.labelspacing": 0.3,
            "legend.columnspacing": 1.4,
            "lines.linewidth": 1.3 if self.wide else 1.0,
            "lines.solid_joinstyle": "round",
            "lines.dash_capstyle": "round",
            # text of vector files stays text, and the same picture gives the same file
            "pdf.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "kittiwake",
            "figure.constrained_layout.w_pad": 0.06,
            "figure.constrained_layout.h_pad": 0.03,
        }

    def context(self) -> AbstractContextManager[None]:
        """Return the context in which everything is drawn and saved."""
        return style.context(["default", self.settings])


REPORT = PlotStyle("report", 12.0, 0.95, 9.0, titled=True, wide=True)
PAPER = PlotStyle("paper", 3.5, 0.85, 8.0, titled=False, wide=False)
STYLES = {one.name: one for one in (REPORT, PAPER)}


class PageFigure(Figure):
    """Figure of a page, which notebooks show as a picture although pyplot does not manage it."""

    def __init__(self, plot_style: PlotStyle, height_in: float) -> None:
        """Create an empty white page.

        Args:
            plot_style: the style, which determines the width.
            height_in: the height.
        """
        size_in = (plot_style.width_in, height_in)
        super().__init__(figsize=size_in, dpi=DPI, facecolor="white")
        FigureCanvasAgg(self)
        self.plot_style = plot_style

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page in the format that the file name ends with, or as PNG.

        Raises:
            LogError: if it cannot be written.
        """
        path = Path(path)
        file_format = path.suffix.removeprefix(".") or "png"
        undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
        with output_file(path) as unfinished, self.plot_style.context():
            if file_format == "png":
                self._write_png(unfinished)
            else:
                metadata = undated.get(file_format)
                self.savefig(unfinished, dpi=DPI, format=file_format, metadata=metadata)

    def _repr_png_(self) -> bytes:
        return self.png()

    def png(self) -> bytes:
        """Return the page as PNG."""
        picture = BytesIO()
        with self.plot_style.context():
            self._write_png(picture)
        return picture.getvalue()

    def _write_png(self, target: Path | BytesIO) -> None:
        # ``savefig`` draws once more before, for a layout that is already fixed
        FigureCanvasAgg(self).print_png(target)


def find_style(name: str) -> PlotStyle:
    """Return the style with this name.

    Raises:
        LogError: with the allowed names.
    """
    check_names("style", [name], STYLES)
    return STYLES[name]


def check_names(option: str, given: Sequence[str], allowed: Sequence[str] | dict[str, Any]) -> None:
    """Raise an error for the first name that is not allowed.

    Raises:
        LogError: with the nearest name and the allowed ones.
    """
    for name in given:
        if name not in allowed:
            message = f"`{option}`: got {name}; unknown. {did_you_mean(name, list(allowed))}"
            raise LogError(message)


def width_in(text: str) -> float:
    """Return the width of a line of text in the present size in inches."""
    font = FontProperties(size=rcParams["font.size"])
    width_pt, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return width_pt / POINTS_PER_INCH


def fitting_columns(labels: Sequence[str], room_in: float) -> int:
    """Return the number of columns of a legend that fit beside each other, at least one."""
    widest_in = max(map(width_in, labels), default=0.0)
    return max(1, min(len(labels), int(room_in / (widest_in + HANDLE_IN))))


def fleet_map() -> ListedColormap:
    """Return the color map of many vehicles, without the palest end of viridis."""
    return ListedColormap(colormaps["viridis"](range(0, 222)))


def fleet_colors(count: int) -> list[str]:
    """Return one color for each vehicle: distinct hues for a few, a scale for more."""
    if count <= len(HUES):
        return list(HUES[:count])
    scale = fleet_map()
    return [to_hex(scale(place / (count - 1))) for place in range(count)]


def shortened(text: str, length: int) -> str:
    """Return a text in one line of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
