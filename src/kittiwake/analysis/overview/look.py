"""Style of the pictures: page in inches, colors, fonts, axes and legends.

All settings are here, so that a picture does not depend on the user's matplotlib configuration.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from textwrap import fill

from matplotlib import colormaps, style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from kittiwake.analysis.output_file import output_file

PAGE_IN = (16.0, 9.0)
DPI = 130

# Okabe and Ito (2008), "Color Universal Design": distinguishable with any color vision. Their
# yellow is left out, as it is too pale for a thin line on white.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#4D4D4D")
INK, GRAY, PALE, ALARM = "#1A1A1A", "#6B6B6B", "#D9D9D9", "#A4262C"
SMALL, NORMAL, LARGE = 8.0, 9.0, 17.0
POINTS_PER_INCH = 72.0
WRAP = 18
# line pitch in a list beside axes: of its entries, and of further lines of an entry
ENTRY_IN, LINE_IN = 0.15, 0.13

SETTINGS = {
    "font.size": NORMAL,
    "text.color": INK,
    "axes.edgecolor": GRAY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "xtick.color": GRAY,
    "ytick.color": GRAY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "lines.linewidth": 1.3,
    "lines.solid_joinstyle": "round",
    "lines.dash_capstyle": "round",
}


class PageFigure(Figure):
    """Figure that notebooks show as a picture although pyplot does not manage it."""

    def __init__(self, size_in: tuple[float, float]) -> None:
        """Create an empty white page.

        Args:
            size_in: width and height in inches.
        """
        super().__init__(figsize=size_in, dpi=DPI, facecolor="white")
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        """Return the page as PNG for IPython's display."""
        picture = BytesIO()
        with style.context(["default", SETTINGS]):
            self.savefig(picture, dpi=DPI, format="png")
        return picture.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG file.

    Raises:
        LogError: if it cannot be written.
    """
    with output_file(path) as unfinished:
        figure.savefig(unfinished, dpi=DPI, format="png")


def box(left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
    """Return a rectangle, given by its edges in inches, in matplotlib's form."""
    width, height = PAGE_IN
    return left / width, bottom / height, (right - left) / width, (top - bottom) / height


def place(x_in: float, y_in: float) -> tuple[float, float]:
    """Return a point, given in inches, as fractions of the page."""
    return x_in / PAGE_IN[0], y_in / PAGE_IN[1]


def width_in(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """Return the width of a line of text in inches."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width_pt, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return width_pt / POINTS_PER_INCH


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


def few_ticks(axes: Axes, *, x: int = 8, y: int = 4) -> None:
    """Set the maximum number of intervals between round numbers on each axis."""
    axes.xaxis.set_major_locator(MaxNLocator(x, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(y, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))


def list_beside(
    axes: Axes,
    handles: Sequence[Artist],
    *,
    at: tuple[float, float] = (1.01, 1.0),
    wrap: int = WRAP,
) -> Legend | None:
    """Draw a legend with its upper left corner at axes coordinates; None if empty."""
    if not handles:
        return None
    labels = [_wrapped(str(handle.get_label()), wrap) for handle in handles]
    legend = axes.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=at,
        borderaxespad=0.0,
        borderpad=0.2,
        frameon=False,
        fontsize=SMALL,
        handlelength=1.6,
        handletextpad=0.6,
        labelspacing=0.35,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def listed_height_in(label: str) -> float:
    """Return the height in inches of an entry of a list beside axes."""
    return ENTRY_IN + LINE_IN * _wrapped(label, WRAP).count("\n")


def _wrapped(text: str, width: int) -> str:
    return "\n".join(fill(line, width) for line in text.splitlines())
