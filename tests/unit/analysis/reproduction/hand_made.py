"""Logs and publications without a flight."""

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.publication import (
    FigureLine,
    FigureMark,
    FigurePanel,
    Publication,
    PublishedFigure,
    PublishedFlight,
    PublishedItem,
    PublishedNumber,
    PublishedOrder,
)
from kittiwake.analysis.table import STATE_COLUMNS, Table

TIMES_S = np.linspace(0.0, 10.0, 1001)


def table(**columns):
    """A vehicle at rest and level, but for these columns."""
    given = dict.fromkeys(STATE_COLUMNS, 0.0) | {"time_s": TIMES_S, "qw": 1.0} | columns
    values = np.stack([np.broadcast_to(v, TIMES_S.shape) for v in given.values()], axis=1)
    return Table(tuple(given), values)


def log(**columns):
    return Log({"drone": table(**columns)})


def number(name="height", **fields):
    return PublishedNumber(name, {"type": "value", "quantity": "z_m"}, **fields)


def item(numbers=(), orders=(), figure=None, name="figure-1"):
    return PublishedItem(
        name=name,
        title="Height | width of <b>",
        place="Figure 1",
        page="modes.md",
        test="tests/test_nothing.py",
        notes=["A note with < and |."],
        numbers=[*numbers],
        orders=[*orders],
        figure=figure,
    )


def order(*names):
    return PublishedOrder("the least first", [*names], why="Nobody knows")


def figure(**panel):
    line = FigureLine("climb", "z_m", label="ours")
    given = {"label": "height (m)", "lines": [line], "marks": [FigureMark((1.0, 1.0), "here")]}
    return PublishedFigure([FigurePanel(**given | panel)])


def publication(*items):
    return Publication(
        name="made-up",
        title="A title & more",
        citation="Nobody, 1999",
        url="https://example.org/nobody",
        about="Nothing.",
        flights={"climb": PublishedFlight("hover")},
        items=[*items],
        notes=["Neither < nor | is markup."],
    )
