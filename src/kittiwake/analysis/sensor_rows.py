"""Row of a page with one sensor quantity: curves, steps, a map over time, or images."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from kittiwake.analysis.overview import look
from kittiwake.analysis.overview.inputs import NO_BREAK
from kittiwake.analysis.overview.series import cut_at_jumps
from kittiwake.analysis.sensor_quantities import Quantity, Samples

# quantities with more numbers are drawn as a map
MAX_CURVES = 6
MAX_SAMPLES = 2_000
FRAMES, ERROR_FRAMES = 6, 3
COLORS, ERROR_COLORS = "viridis", "RdBu_r"
# vertical spacing of flags, and the height of a raised one
FLAG_SPACING, FLAG_HEIGHT = 1.0, 0.7
MAX_TITLE, TITLE_WIDTH = 100, 58
# images with a larger aspect ratio are stretched
LONGEST = 4.0
LEAST_SHARE = 1e-7
IDEAL_STYLE: dict[str, Any] = {"color": look.INK, "linewidth": 0.7, "zorder": 3.0}

Times = Float64[np.ndarray, " samples"]


@dataclass(frozen=True, eq=False)
class Half:
    """Axes over time, and axes of a color scale beside them."""

    axes: Axes
    scale: Axes


def draw_row(measured: Half, errors: Half, quantity: Quantity) -> None:
    """Draw the measurements at the left, and the error at the right if there is one."""
    measured.scale.set_axis_off()
    errors.scale.set_axis_off()
    title = look.shortened(quantity.title + _mismatch_text(quantity), MAX_TITLE)
    measured.axes.set_title(title, loc="left", size=look.NORMAL, parse_math=False)
    if not quantity.time_s.size:
        _annotate(measured.axes, "nothing was measured")
        errors.axes.set_axis_off()
    elif quantity.shape is not None:
        _draw_frames(measured, quantity, quantity.measured, FRAMES)
        _draw_error(errors, quantity, many=True)
    elif len(quantity.parts) > MAX_CURVES:
        _draw_map(measured, quantity, quantity.measured)
        _draw_error(errors, quantity, many=True)
    else:
        _draw_curves(measured.axes, quantity)
        _draw_error(errors, quantity, many=False)


def _draw_curves(axes: Axes, quantity: Quantity) -> None:
    """Draw samples as dots, or flags and counts as steps, and the ideal values as a line."""
    offsets = _flag_offsets(quantity)
    scale = FLAG_HEIGHT if offsets.any() else 1.0
    look.few_ticks(axes)
    for numbers, dark in zip(quantity.series, (False, True), strict=True):
        if numbers is not None:
            _draw_numbers(axes, quantity, offsets + scale * numbers, dark=dark)
    if offsets.any():
        axes.set_yticks((offsets + FLAG_HEIGHT / 2).tolist(), quantity.parts)
        axes.set_ylim(-0.15, float(offsets.max()) + 1.0)
    elif quantity.flag:
        axes.set_ylim(-0.15, 1.15)
        axes.set_yticks([0.0, 1.0], ["no", "yes"])
    elif quantity.whole:
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    if np.isnan(quantity.series[0]).all():
        _annotate(axes, "never valid")
    if len(quantity.parts) > 1 and not offsets.any():
        look.list_beside(axes, _names(quantity))


def _flag_offsets(quantity: Quantity) -> Float64[np.ndarray, " parts"]:
    """Return the vertical offset of each part: flags are stacked, the first one on top."""
    count = len(quantity.parts)
    return FLAG_SPACING * np.arange(count, dtype=float)[::-1] if quantity.flag else np.zeros(count)


def _draw_numbers(axes: Axes, quantity: Quantity, numbers: Samples, *, dark: bool) -> None:
    thin = _thinned(quantity.time_s)
    for shown, color in zip(numbers[thin].T, look.HUES, strict=False):
        own = IDEAL_STYLE if dark else _style(quantity, color)
        # without the vertical line at a jump of an angle; dots need no cut
        drawn = cut_at_jumps(shown) if dark and quantity.unit == "deg" else shown
        if quantity.whole:
            axes.step(quantity.time_s[thin], shown, where="post", **own)
        else:
            axes.plot(quantity.time_s[thin], drawn, **own)


def _style(quantity: Quantity, color: str) -> dict[str, Any]:
    if quantity.whole:
        return {"color": color, "linewidth": 2.2}
    return {"color": color, "linestyle": "", "marker": ".", "markersize": 2.5}


def _names(quantity: Quantity) -> list[Line2D]:
    """Return the legend entries of curves, with larger dots."""
    return [
        Line2D([], [], marker="o", linestyle="", markersize=4.0, color=color, label=part)
        for part, color in zip(quantity.parts, look.HUES, strict=False)
    ]


def _draw_error(half: Half, quantity: Quantity, *, many: bool) -> None:
    error = quantity.error
    if error is None or _negligible(error, quantity.measured):
        half.axes.set_axis_off()
        if error is not None:
            _annotate(
                half.axes,
                "error below a ten-millionth" if np.nan_to_num(error).any() else "no error",
            )
        return
    title = fill(f"error: {_error_text(error, () if many else quantity.parts)}", TITLE_WIDTH)
    half.axes.set_title(title.replace(NO_BREAK, " "), loc="left", size=look.SMALL)
    if quantity.shape is not None:
        _draw_frames(half, quantity, error, ERROR_FRAMES, about_zero=True)
    elif many:
        _draw_map(half, quantity, error, about_zero=True)
    else:
        thin = _thinned(quantity.time_s)
        for i, color in zip(range(error.shape[1]), look.HUES, strict=False):
            half.axes.plot(quantity.time_s[thin], error[thin, i], ".", ms=2.0, color=color)
        look.few_ticks(half.axes, x=5)


def _negligible(error: Samples, measured: Samples) -> bool:
    """Return True if an error is so small that its curve would show rounding only."""
    known = np.isfinite(error)
    largest = np.abs(measured[known]).max(initial=0.0)
    return bool(np.abs(error[known]).max(initial=0.0) <= LEAST_SHARE * largest)


def _error_text(error: Samples, parts: tuple[str, ...]) -> str:
    """Return mean and standard deviation of each part, or of all numbers of many parts."""
    if not 0 < len(parts) <= 3:
        return f"{_spread(error)}, of all numbers"
    spreads = [f"{part} {_spread(own)}".strip() for part, own in zip(parts, error.T, strict=True)]
    return ", ".join(words.replace(" ", NO_BREAK) for words in spreads)


def _spread(error: Float64[np.ndarray, "..."]) -> str:
    known = error[np.isfinite(error)]
    return f"{known.mean():.3g} ± {known.std():.3g}" if known.size else "unknown"


def _mismatch_text(quantity: Quantity) -> str:
    """Return the share of wrong flags or counts as text."""
    if not quantity.whole or quantity.ideal is None or not quantity.measured.size:
        return ""
    wrong = float((quantity.measured != quantity.ideal).mean())
    return f" ({100.0 * wrong:.2g} % differ from without errors)" if wrong else ""


def _draw_map(
    half: Half, quantity: Quantity, numbers: Samples, *, about_zero: bool = False
) -> None:
    thin = _thinned(quantity.time_s)
    time_s, shown = quantity.time_s[thin], numbers[thin]
    if len(time_s) < 2:
        _annotate(half.axes, "measured once only")
        return
    colors, limits = _colors(numbers, quantity, about_zero=about_zero)
    half.axes.pcolormesh(
        time_s, np.arange(shown.shape[1]), shown.T, shading="nearest", cmap=colors, norm=limits
    )
    half.axes.set_ylabel("beam")
    half.axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    half.axes.grid(visible=False)
    _draw_scale(half, quantity, colors, limits)


def _draw_frames(
    half: Half, quantity: Quantity, numbers: Samples, count: int, *, about_zero: bool = False
) -> None:
    """Draw images at regular intervals from the first to the last, with their times below."""
    assert quantity.shape is not None
    colors, limits = _colors(numbers, quantity, about_zero=about_zero)
    rows, columns = quantity.shape[:2]
    half.axes.set_axis_off()
    last = len(quantity.time_s) - 1
    chosen = np.unique(np.linspace(0, last, count).round().astype(int)).tolist()
    for place, sample in enumerate(chosen):
        frame = half.axes.inset_axes((place / count, 0.0, 0.94 / count, 1.0))
        stretched = not 1.0 / LONGEST <= columns / rows <= LONGEST
        frame.imshow(
            _shown(numbers[sample].reshape(quantity.shape), limits),
            cmap=colors,
            norm=limits,
            interpolation="nearest",
            aspect="auto" if stretched else "equal",
        )
        frame.set_anchor("SW")
        frame.grid(visible=False)
        frame.set(xticks=[], yticks=[])
        frame.set_xlabel(f"{quantity.time_s[sample]:.4g} s", size=look.SMALL)
    if len(quantity.shape) == 2:
        _draw_scale(half, quantity, colors, limits)


def _shown(image: Float64[np.ndarray, "..."], limits: Normalize) -> Float64[np.ndarray, "..."]:
    """Return an image for a color scale, or a color image with values from 0 to 1."""
    if image.ndim == 2:
        return image
    low, high = limits.vmin or 0.0, limits.vmax or 1.0
    return np.clip(image if low >= 0.0 else (image - low) / (high - low), 0.0, 1.0)


def _colors(numbers: Samples, quantity: Quantity, *, about_zero: bool) -> tuple[str, Normalize]:
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if about_zero:
        most = max(abs(low), abs(high))
        return ERROR_COLORS, Normalize(-most, most)
    if quantity.flag:
        return COLORS, Normalize(0.0, 1.0)
    return COLORS, Normalize(low, high)


def _draw_scale(half: Half, quantity: Quantity, colors: str, limits: Normalize) -> None:
    half.scale.set_axis_on()
    figure = half.scale.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(ScalarMappable(limits, colors), cax=half.scale)
    bar.outline.set_visible(False)
    if quantity.flag:
        bar.set_ticks([0.0, 1.0], labels=["no", "yes"])
    else:
        bar.locator = MaxNLocator(4)
        bar.update_ticks()


def _thinned(time_s: Times) -> slice:
    return slice(None, None, max(1, -(-len(time_s) // MAX_SAMPLES)))


def _annotate(axes: Axes, words: str) -> None:
    axes.text(0.0, 0.5, words, transform=axes.transAxes, color=look.GRAY, size=look.SMALL)
