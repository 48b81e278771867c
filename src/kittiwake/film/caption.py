"""Captions in a picture: title, time, speed, events, names and marks."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8
from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont

INK, HALO = (255, 255, 255, 255), (20, 30, 40, 170)
# shares of the picture's height
LARGE, SMALL, MARGIN = 0.038, 0.026, 0.035
# shares of the font's height
RIM, LINE = 0.08, 1.3
# radius of a mark and width of its rim, as shares of the picture's height
MARK, MARK_RIM = 0.007, 0.0017
# height over width of a circle on the ground as the arrow shows it
FLAT = 0.6

Rgb = tuple[int, int, int]
Picture = UInt8[np.ndarray, "height width 3"]


class Label(NamedTuple):
    """A name at a position in the picture, outlined in its color."""

    text: str
    column: float
    row: float
    rgb: Rgb


class Mark(NamedTuple):
    """A dot at a position in the picture, in its color."""

    column: float
    row: float
    rgb: Rgb


class Arrow(NamedTuple):
    """Horizontal velocity as it is seen, to the right and downwards, with its text."""

    across: float
    down: float
    text: str


class Caption(NamedTuple):
    """Caption of a picture: a title, a text and lines at the right, events, names and marks.

    The arrow is below the lines.
    """

    title: str
    right: str
    events: Sequence[str] = ()
    labels: Sequence[Label] = ()
    lines: Sequence[str] = ()
    arrow: Arrow | None = None
    marks: Sequence[Mark] = ()


def captioned(picture: Picture, caption: Caption) -> Picture:
    """Return the picture with a caption in it."""
    height, width = picture.shape[:2]
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image, "RGBA")
    large, small = (max(1, round(share * height)) for share in (LARGE, SMALL))
    margin = MARGIN * height
    radius, rim = MARK * height, max(1, round(MARK_RIM * height))
    for mark in caption.marks:
        draw.circle((mark.column, mark.row), radius, (*mark.rgb, 255), INK, rim)
    for label in _stacked(caption.labels, _font(small)):
        if 0 <= label.column < width and 0 <= label.row < height:
            position = label.column, label.row
            _write(draw, position, label.text, _font(small), anchor="mb", halo=(*label.rgb, 220))
    _write(draw, (margin, margin), caption.title, _font(large), anchor="la")
    _write(draw, (width - margin, margin), caption.right, _font(large), anchor="ra")
    row = margin + LINE * large
    for line in caption.lines:
        _write(draw, (width - margin, row), line, _font(small), anchor="ra")
        row += LINE * small
    if caption.arrow is not None:
        right = width - margin, row + 0.5 * small
        _write(draw, right, caption.arrow.text, _font(small), anchor="rm")
        left = right[0] - _font(small).getlength(caption.arrow.text) - 2.0 * small
        _draw_arrow(draw, (left, right[1]), caption.arrow, small)
    for number, line in enumerate(reversed(caption.events)):
        position = margin, height - margin - 1.5 * small * number
        _write(draw, position, line, _font(small), anchor="ld")
    return np.asarray(image)


def _write(
    draw: ImageDraw.ImageDraw,
    position: tuple[float, float],
    text: str,
    font: ImageFont.FreeTypeFont,
    *,
    anchor: str,
    halo: tuple[int, int, int, int] = HALO,
) -> None:
    # a dark outline, for contrast with any background
    rim = max(1, round(RIM * font.size))
    draw.text(position, text, INK, font, anchor=anchor, stroke_width=rim, stroke_fill=halo)


def _draw_arrow(
    draw: ImageDraw.ImageDraw, middle: tuple[float, float], arrow: Arrow, half_px: float
) -> None:
    """Draw an arrow about its middle; one that is seen from its end is short."""
    along = np.array([arrow.across, arrow.down])
    along /= max(float(np.linalg.norm(along)), 1e-9)
    along[1] *= FLAT
    side = np.array([-along[1], along[0]])
    tip, tail = middle + half_px * along, middle - half_px * along
    neck = tip - 0.8 * half_px * along
    head = [tip, neck + 0.5 * half_px * side, neck - 0.5 * half_px * side]
    rim = max(1, round(RIM * half_px))
    for ink, more in ((HALO, 2 * rim), (INK, 0)):
        shaft = [tuple(tail.tolist()), tuple(neck.tolist())]
        draw.line(shaft, ink, max(2, round(0.2 * half_px)) + more)
        draw.polygon([tuple(corner.tolist()) for corner in head], INK, ink, max(1, more))


def _stacked(labels: Sequence[Label], font: ImageFont.FreeTypeFont) -> list[Label]:
    """Return the labels, lowest first, with overlapping ones stacked above each other."""
    placed: list[Label] = []
    for label in sorted(labels, key=lambda one: -one.row):
        row, width = label.row, font.getlength(label.text)
        for other in placed:
            apart = abs(label.column - other.column) > 0.55 * (width + font.getlength(other.text))
            if not apart and abs(row - other.row) < LINE * font.size:
                row = other.row - LINE * font.size
        placed.append(label._replace(row=row))
    return placed


@lru_cache(maxsize=8)
def _font(size_px: int) -> ImageFont.FreeTypeFont:
    """Return the font that matplotlib ships, so that pictures are the same everywhere."""
    return ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size_px)
