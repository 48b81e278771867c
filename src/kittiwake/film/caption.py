"""Captions in a picture: title, time, speed, events and names."""

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

Rgb = tuple[int, int, int]
Picture = UInt8[np.ndarray, "height width 3"]


class Label(NamedTuple):
    """A name at a position in the picture, outlined in its color."""

    text: str
    column: float
    row: float
    rgb: Rgb


class Caption(NamedTuple):
    """Caption of a picture: a title, a text at the right, event lines and names."""

    title: str
    right: str
    events: Sequence[str] = ()
    labels: Sequence[Label] = ()


def captioned(picture: Picture, caption: Caption) -> Picture:
    """Return the picture with a caption in it."""
    height, width = picture.shape[:2]
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image, "RGBA")
    large, small = (max(1, round(share * height)) for share in (LARGE, SMALL))
    margin = MARGIN * height
    for label in _stacked(caption.labels, _font(small)):
        if 0 <= label.column < width and 0 <= label.row < height:
            position = label.column, label.row
            _write(draw, position, label.text, _font(small), anchor="mb", halo=(*label.rgb, 220))
    _write(draw, (margin, margin), caption.title, _font(large), anchor="la")
    _write(draw, (width - margin, margin), caption.right, _font(large), anchor="ra")
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
