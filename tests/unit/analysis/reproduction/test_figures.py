"""Figures drawn again: spans, phases, sequences, maps and published points."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from tests.unit.analysis.reproduction.hand_made import TIMES_S, figure, item, log

from kittiwake.analysis.reproduction.figures import draw_figure
from kittiwake.analysis.reproduction.publication import (
    FigureLine,
    FigureMark,
    FigurePanel,
    PublishedFigure,
)

FLIGHTS = {
    "climb": log(
        **{"x_m": TIMES_S, "z_m": 0.1 * TIMES_S, "guidance.phase": np.floor(TIMES_S / 4.0)}
    )
}


def drawn(own):
    return draw_figure(item(figure=own), FLIGHTS, ())


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_are_drawn_within_the_span():
    (ax,) = drawn(figure(begin_s=2.0, end_s=6.0)).axes
    x = ax.lines[0].get_xdata()
    assert (x.min(), x.max()) == pytest.approx((2.0, 6.0))
    assert texts(ax) == ["ours", "published"]


def test_published_time_without_a_height_is_a_vertical_line():
    (ax,) = drawn(figure(marks=[FigureMark((7.0, None), "dip")])).axes
    assert list(ax.lines[1].get_xdata()) == [7.0, 7.0]


def test_phases_are_shaded_where_they_are():
    (ax,) = drawn(figure(phases=["up", "away", "down"])).axes
    assert {"up", "away", "down"} < {*texts(ax)}
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in ax.patches]
    assert np.ravel(spans) == pytest.approx([0.0, 4.0, 4.0, 8.0, 8.0, 10.0])


def test_sequence_shows_bodies_at_the_instants():
    line = FigureLine("climb", "z_m", body_m=(0.4, -0.1, 0.3))
    (ax,) = drawn(figure(lines=[line], over="x_m", instants_s=[1.0, 3.0, 5.0])).axes
    bodies = [p for p in ax.patches if isinstance(p, Rectangle)]
    assert [p.get_x() + 0.2 for p in bodies] == pytest.approx([1.0, 3.0, 5.0])
    assert [p.get_y() + 0.1 for p in bodies] == pytest.approx([0.1, 0.3, 0.5])
    assert [p.get_height() for p in bodies] == pytest.approx([0.4] * 3)
    shown = [text.get_text() for text in ax.texts]
    assert {"1 s", "3 s", "5 s"} <= {*shown}


def test_maps_have_equal_axes_and_stand_side_by_side():
    panel = FigurePanel("z (m)", [FigureLine("climb", "z_m")], over="x_m")
    one, other, below = drawn(PublishedFigure([panel, panel, panel])).axes
    assert one.get_aspect() == other.get_aspect() == below.get_aspect() == 1.0
    assert one.get_position().y0 == pytest.approx(other.get_position().y0)
    assert one.get_position().x1 < other.get_position().x0
    assert below.get_position().y1 < one.get_position().y0
