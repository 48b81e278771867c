"""Terminal tables of the metrics of a comparison."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from rich import box
from rich.table import Table

from kittiwake.analysis.comparison import SHOWN, Spread
from kittiwake.cli.metrics import Metrics
from kittiwake.scenario.variants import AND

# spaces between two columns
PADDING = 2

Rows: TypeAlias = Sequence[Metrics]


def comparison_tables(rows: Rows, width: int) -> list[Table]:
    """Return tables for each vehicle, with a column for each compared controller.

    Args:
        rows: result of ``summaries``.
        width: width of the terminal in characters; further columns go into another table.
    """
    vehicles = dict.fromkeys(row["vehicle"] for row in rows)
    return [
        _table(name, titles, columns)
        for name in vehicles
        for titles, columns in _pages([row for row in rows if row["vehicle"] == name], width)
    ]


def _pages(rows: Rows, width: int) -> list[tuple[list[str], list[list[str]]]]:
    """Return for each table the titles of its lines and the columns that fit beside them."""
    shown = {
        name: title for name, title in SHOWN.items() if any(row[name] is not None for row in rows)
    }
    titles = [*shown.values(), "completed"]
    pages: list[list[list[str]]] = []
    left = 0
    for row in rows:
        column = _column(row, list(shown))
        needed = PADDING + max(len(line) for cell in column for line in cell.split("\n"))
        if not pages or needed > left:
            pages.append([])
            left = width - max(map(len, titles)) - PADDING
        pages[-1].append(column)
        left -= needed
    return [(titles, page) for page in pages]


def _column(row: Metrics, shown: Sequence[str]) -> list[str]:
    """Return the cells of a column: the name, broken at each plus, and the metrics."""
    return [
        row["controllers"].replace(AND, f"{AND}\n"),
        *(_cell(row[name], row["flights"]) for name in shown),
        f"{row['completed']} of {row['flights']}",
    ]


def _table(vehicle: str, titles: Sequence[str], columns: Sequence[Sequence[str]]) -> Table:
    table = Table(
        title=vehicle,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for name, *_ in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for line in zip(titles, *(cells for _, *cells in columns), strict=True):
        table.add_row(*line)
    return table


def _cell(spread: Spread | None, flights: int) -> str:
    """Return the mean, the deviation over several seeds, and the number of flights."""
    if spread is None:
        return "-"
    if spread.known < 2:
        return spread.in_words(flights)
    mean, *count = spread.in_words(flights).split(" ", 1)
    return " ".join([mean, f"±{_one_digit(spread.deviation)}", *count])


def _one_digit(value: float) -> str:
    return np.format_float_positional(value, precision=1, fractional=False, trim="-")
