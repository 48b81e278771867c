"""Words in a picture: what is shown, when, how fast, and what happens."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8
from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont

INK, HALO = (255, 255, 255, 255), (20, 30, 40, 170)
# of the picture's height
LARGE, SMALL, MARGIN = 0.038, 0.026, 0.035
# of a font's height
RIM, LINE = 0.08, 1.3

Rgb = tuple[int, int, int]
Picture = UInt8[np.ndarray, "height width 3"]


class Label(NamedTuple):
    """A name beside a place in the picture, in its color."""

    text: str
    column: float
    row: float
    rgb: Rgb


class Caption(NamedTuple):
    """A title, what is beside it, lines of news and names."""

    title: str
    beside: str
    news: Sequence[str] = ()
    labels: Sequence[Label] = ()


def captioned(picture: Picture, caption: Caption) -> Picture:
    """The picture with words in it."""
    height, width = picture.shape[:2]
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image, "RGBA")
    large, small = (max(1, round(share * height)) for share in (LARGE, SMALL))
    margin = MARGIN * height
    for label in _apart(caption.labels, _font(small)):
        if 0 <= label.column < width and 0 <= label.row < height:
            place = label.column, label.row
            _write(draw, place, label.text, _font(small), anchor="mb", halo=(*label.rgb, 220))
    _write(draw, (margin, margin), caption.title, _font(large), anchor="la")
    _write(draw, (width - margin, margin), caption.beside, _font(large), anchor="ra")
    for number, line in enumerate(reversed(caption.news)):
        place = margin, height - margin - 1.5 * small * number
        _write(draw, place, line, _font(small), anchor="ld")
    return np.asarray(image)


def _write(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    font: ImageFont.FreeTypeFont,
    *,
    anchor: str,
    halo: tuple[int, int, int, int] = HALO,
) -> None:
    # a dark rim, since sky, ground and vehicles are behind
    rim = max(1, round(RIM * font.size))
    draw.text(place, text, INK, font, anchor=anchor, stroke_width=rim, stroke_fill=halo)


def _apart(labels: Sequence[Label], font: ImageFont.FreeTypeFont) -> list[Label]:
    """One above the other where they would lie on each other, the lowest first."""
    placed: list[Label] = []
    for label in sorted(labels, key=lambda one: -one.row):
        row, wide = label.row, font.getlength(label.text)
        for other in placed:
            beside = abs(label.column - other.column) > 0.55 * (wide + font.getlength(other.text))
            if not beside and abs(row - other.row) < LINE * font.size:
                row = other.row - LINE * font.size
        placed.append(label._replace(row=row))
    return placed


@lru_cache(maxsize=8)
def _font(size_px: int) -> ImageFont.FreeTypeFont:
    """The one that comes with matplotlib, so that pictures are the same everywhere."""
    return ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size_px)
