"""Panels: the few kinds of axes that all pages are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator
from typing_extensions import override

from kittiwake.analysis.plots.style import (
    CURVES,
    ESTIMATED,
    EXTREMES,
    GRAY,
    INK,
    MOST,
    SECOND_RUN,
    Looks,
    PlotStyle,
    fitting_columns,
    shortened,
)

# number of entries of a legend beside a panel, and their length
MAX_ENTRIES, WRAP = 6, 22
MANY_CURVES = 12
# range of a logarithmic scale up to which it has ticks between tenfold values
FEW_DECADES = 50.0
# kinds of curves with one entry for all of a panel
SHARED_KINDS = (ESTIMATED, "setpoint")
# kinds of bands without a curve
PERCENTILES = (MOST, EXTREMES)
# share of a narrow page that its panels are wide
PANEL_SHARE = 0.75
# shares of the largest value, and least value, below which changes are rounding
ROUNDING, LEAST_SPAN = 1e-3, 1e-4
BAND_OPACITY = 0.18
# height of the bar of contacts, as a share of the panel
CONTACT_SHARE = 0.06
# images with a larger aspect ratio are stretched
LONGEST = 4.0

LOSS: Looks = {"color": INK, "linewidth": 0.8}
EVENT: Looks = {"color": GRAY, "linewidth": 0.6, "linestyle": (0, (1, 2))}

Series = Float64[np.ndarray, " rows"]


class AbstractPanel:
    """Content of one axes."""

    projection: ClassVar[str | None] = None
    over_time: ClassVar[bool] = False
    names: tuple[str, ...] = ()

    def height_in(self, style: PlotStyle) -> float:
        """Return the height of the axes."""
        return style.row_in

    def draw(self, axes: Axes, style: PlotStyle) -> None:
        """Draw the content."""
        raise NotImplementedError

    def finish(self, axes: Axes) -> bool:
        """Draw what depends on the size of the axes; return True if it requires another layout."""
        del axes
        return False


@dataclass(frozen=True, eq=False)
class PlotLine:
    """Curve over time of a kind in ``CURVES``, with an optional band around it."""

    label: str
    time_s: Series
    values: Series
    color: str
    kind: str = "actual"
    band: tuple[Series, Series] | None = None

    @property
    def looks(self) -> Looks:
        """Arguments of matplotlib."""
        return {"color": self.color} | CURVES[self.kind]


@dataclass(frozen=True, eq=False)
class TimePanel(AbstractPanel):
    """Curves over time.

    Attributes:
        label: the label of the axis, with the unit.
        lines: the curves; those of one kind other than the actual values share a legend entry.
        title: a text above the axes.
        names: the names by which the panel is selected.
        notes: further texts in the legend.
        listed: whether a legend names the curves.
        shades: shaded spans of time: start, end and color.
        contacts: spans of time in contact with a surface.
        marks: vertical lines: time and whether it is a loss.
        ticks: labels of values in place of numbers.
        whole: whether all values are whole numbers.
        span: the limits of the values.
        base: the lower limit of the values.
        logarithmic: whether the scale of the values is logarithmic.
    """

    over_time: ClassVar[bool] = True

    label: str
    lines: tuple[PlotLine, ...]
    title: str = ""
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    listed: bool = True
    shades: tuple[tuple[float, float, str], ...] = ()
    contacts: tuple[tuple[float, float], ...] = ()
    marks: tuple[tuple[float, bool], ...] = ()
    ticks: Mapping[float, str] = field(default_factory=dict)
    whole: bool = False
    span: tuple[float, float] | None = None
    base: float | None = None
    logarithmic: bool = False

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        for begin_s, end_s, color in self.shades:
            axes.axvspan(begin_s, end_s, color=color, linewidth=0.0, zorder=0.5)
        for begin_s, end_s in self.contacts:
            axes.axvspan(begin_s, end_s, ymax=CONTACT_SHARE, color=INK, linewidth=0.0)
        for time_s, is_loss in self.marks:
            axes.axvline(time_s, zorder=1.5, **(LOSS if is_loss else EVENT))
        for line in self.lines:
            self._draw_line(axes, line)
        self._set_limits(axes)
        axes.set_ylabel(self.label, parse_math=False)
        axes.set_title(self.title, parse_math=False)
        if self.listed:
            draw_legend(axes, self._entries(), style)

    def _draw_line(self, axes: Axes, line: PlotLine) -> None:
        looks: Looks = {"alpha": 0.7 if len(self.lines) > MANY_CURVES else 1.0} | line.looks
        # a single sample between gaps would be invisible as a line
        alone = np.count_nonzero(np.isfinite(line.values)) == 1
        if line.band is not None:
            axes.fill_between(
                line.time_s, *line.band, color=line.color, alpha=BAND_OPACITY, linewidth=0.0
            )
        looks |= {"marker": "."} if alone else {}
        if line.kind not in PERCENTILES:
            axes.plot(line.time_s, line.values, **looks)

    def _set_limits(self, axes: Axes) -> None:
        """Set limits that never magnify rounding, and ticks."""
        if self.logarithmic:
            _set_logarithmic(axes)
            return
        low, high = axes.get_ylim()
        least = max(ROUNDING * max(abs(low), abs(high)), LEAST_SPAN)
        missing = max(least - (high - low), 0.0)
        axes.set_ylim(*(self.span or (low - missing / 2, high + missing / 2)))
        axes.set_ylim(bottom=self.base)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], integer=self.whole))
        if self.ticks:
            axes.set_yticks([*self.ticks], [*self.ticks.values()])

    def _entries(self) -> list[Artist]:
        """Return the legend's entries: a few curves, one of each shared kind, and the notes."""
        named = [line for line in self.lines if line.kind not in (*SHARED_KINDS, SECOND_RUN)]
        named = [line for line in named if line.label and not line.kind.startswith("ideal")]
        named.sort(key=lambda line: (line.kind in PERCENTILES, line.kind == EXTREMES))
        curves: list[Artist] = [
            Line2D([], [], label=line.label, **line.looks) for line in named[:MAX_ENTRIES]
        ]
        for kind in SHARED_KINDS:
            for line in [line for line in self.lines if line.kind == kind][:1]:
                looks: Looks = line.looks | {"color": GRAY}
                curves.append(Line2D([], [], label=line.label, **looks))
        more = len(named) - MAX_ENTRIES
        notes = ([f"and {more} more"] if more > 0 else []) + [*self.notes]
        if self.contacts:
            curves.append(Line2D([], [], label="contact", color=INK, linewidth=3.0))
        return [*curves, *(Line2D([], [], linestyle="", label=note) for note in notes)]


def _set_logarithmic(axes: Axes) -> None:
    """Set a logarithmic scale with ticks at tenfold values, and between them if these are few."""
    axes.set_yscale("log", nonpositive="mask")
    low, high = axes.get_ylim()
    between = (1.0, 2.0, 5.0) if high < FEW_DECADES * low else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=between, numticks=5))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def draw_legend(axes: Axes, entries: Sequence[Artist], style: PlotStyle) -> None:
    """Draw a legend beside the axes, or above them if there is no room; none for one curve."""
    if len(entries) < 2:
        return
    labels = [fill(str(entry.get_label()), WRAP) for entry in entries]
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    if not style.wide and axes.get_title(loc="left"):
        where = {"loc": "best"}
    elif not style.wide:
        columns = fitting_columns(labels, PANEL_SHARE * style.width_in)
        where = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": columns}
    legend = axes.legend(entries, labels, **where, markerscale=2.0)
    for text in legend.get_texts():
        text.set_parse_math(False)


@dataclass(frozen=True, eq=False)
class TextPanel(AbstractPanel):
    """Short text in place of axes, empty where there is nothing to draw."""

    text: str = ""

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set_axis_off()
        axes.text(0.0, 0.5, self.text, transform=axes.transAxes, color=GRAY, parse_math=False)


@dataclass(frozen=True, eq=False)
class ColorScale:
    """Colors of values, with a label and ticks of their scale.

    Attributes:
        low: the lowest value.
        high: the highest value.
        colormap: the colors in matplotlib.
        label: the label of the scale.
        ticks: labels of values in place of numbers.
    """

    low: float
    high: float
    colormap: str = "viridis"
    label: str = ""
    ticks: Mapping[float, str] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Float64[np.ndarray, "..."], label: str = "") -> "ColorScale":
        """Return the colors for the range of values."""
        known = values[np.isfinite(values)]
        low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
        return cls(float(low), float(high), label=label)

    @classmethod
    def about_zero(cls, values: Float64[np.ndarray, "..."]) -> "ColorScale":
        """Return the colors for a range that is symmetric about zero."""
        most = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        return cls(-most, most, "RdBu_r")

    @property
    def looks(self) -> Looks:
        """Arguments of matplotlib."""
        return {"norm": Normalize(self.low, self.high), "cmap": self.colormap}

    def draw(self, axes: Axes) -> None:
        """Draw the scale beside axes."""
        figure = axes.get_figure(root=True)
        assert figure is not None
        bar = figure.colorbar(
            ScalarMappable(**self.looks), ax=axes, pad=0.01, fraction=0.05, aspect=25
        )
        bar.outline.set_visible(False)
        bar.ax.grid(visible=False)
        if self.ticks:
            bar.set_ticks([*self.ticks], labels=[*self.ticks.values()])
        bar.set_label(self.label, parse_math=False)


@dataclass(frozen=True, eq=False)
class HeatmapPanel(AbstractPanel):
    """Many numbers over time as colors, such as the ranges of a lidar."""

    over_time: ClassVar[bool] = True

    title: str
    time_s: Series
    values: Float64[np.ndarray, "rows parts"]
    colors: ColorScale

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set_title(self.title, parse_math=False)
        axes.pcolormesh(
            self.time_s,
            np.arange(self.values.shape[1]),
            self.values.T,
            shading="nearest",
            **self.colors.looks,
        )
        axes.set_ylabel("beam")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.grid(visible=False)
        self.colors.draw(axes)


@dataclass(frozen=True, eq=False)
class FramesPanel(AbstractPanel):
    """Some images of a sequence, with their times below."""

    title: str
    time_s: Series
    images: Sequence[Float64[np.ndarray, "..."]]
    colors: ColorScale

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set_title(self.title, parse_math=False)
        axes.set_axis_off()
        count = len(self.images)
        for place, (time_s, image) in enumerate(zip(self.time_s, self.images, strict=True)):
            frame = axes.inset_axes((place / count, 0.0, 0.94 / count, 1.0))
            rows, columns = image.shape[:2]
            stretched = not 1.0 / LONGEST <= columns / rows <= LONGEST
            frame.imshow(
                image,
                **self.colors.looks,
                interpolation="nearest",
                aspect="auto" if stretched else "equal",
            )
            frame.set_anchor("SW")
            frame.grid(visible=False)
            frame.set(xticks=[], yticks=[], xlabel=f"{time_s:.4g} s")
        if self.images[0].ndim == 2:
            self.colors.draw(axes)


@dataclass(frozen=True)
class Bar:
    """Bar with its label, its deviation and the text behind it."""

    label: str
    color: str
    value: float
    deviation: float
    text: str


@dataclass(frozen=True, eq=False)
class BarPanel(AbstractPanel):
    """Horizontal bars with texts behind them; ``labeled`` is True if they have labels."""

    title: str
    bars: tuple[Bar, ...]
    labeled: bool = True

    @override
    def height_in(self, style: PlotStyle) -> float:
        return 0.2 + 0.2 * len(self.bars)

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set_title(self.title, parse_math=False)
        for place, bar in enumerate(self.bars):
            axes.barh(place, bar.value, xerr=bar.deviation or None, color=bar.color, height=0.7)
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(3))
        labels = [shortened(bar.label, 36) if self.labeled else "" for bar in self.bars]
        axes.set_yticks(range(len(labels)), labels, parse_math=False)
        axes.set_ylim(len(self.bars) - 0.4, -0.6)

    @override
    def finish(self, axes: Axes) -> bool:
        texts = [
            axes.annotate(
                bar.text,
                (bar.value + bar.deviation, place),
                xytext=(4.0, 0.0),
                textcoords="offset points",
                va="center",
            )
            for place, bar in enumerate(self.bars)
        ]
        # the longest bar leaves room for its text
        widest = max(text.get_window_extent().width for text in texts) + 8.0
        room = max(0.25, 1.0 - widest / axes.get_window_extent().width)
        axes.set_xlim(0.0, max(bar.value + bar.deviation for bar in self.bars) / room or 1.0)
        return True
