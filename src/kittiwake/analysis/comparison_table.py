"""Tables of the metrics of a comparison: a line for each metric, a column for each controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from kittiwake.analysis.comparison_metrics import OF_STEP, SHOWN, Spread
from kittiwake.scenario.variants import AND

# spaces between two columns by which the number of columns is found, and those in a text
PADDING, GAP = 2, 3


@dataclass(frozen=True)
class ComparisonTable:
    """Table of one vehicle.

    Attributes:
        vehicle: name of the vehicle.
        titles: titles of the lines.
        columns: the columns, each with its heading first, which may have several lines.
    """

    vehicle: str
    titles: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns; that of the titles is empty."""
        return ("", *(heading for heading, *_ in self.columns))

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Lines below the headings, the title first."""
        return list(zip(self.titles, *(cells for _, *cells in self.columns), strict=True))

    def text(self) -> str:
        """Return the table as plain text, as a terminal shows it."""
        # headings stand on the line, so that missing lines are above
        broken = [heading.split("\n")[::-1] for heading in self.headings]
        head = [*zip_longest(*broken, fillvalue="")][::-1]
        widths = [max(map(len, cells)) for cells in zip(*head, *self.lines, strict=True)]
        rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
        above, below = ([_padded(line, widths) for line in part] for part in (head, self.lines))
        return "\n".join([self.vehicle, "", *above, f" {rule}", *below, ""])


def comparison_pages(rows: Sequence[dict[str, Any]], width: float) -> list[ComparisonTable]:
    """Return tables for each vehicle, with a column for each compared controller.

    Args:
        rows: result of ``summaries``.
        width: width of a table in characters; further columns go into another table.
    """
    vehicles = dict.fromkeys(row["vehicle"] for row in rows)
    return [
        ComparisonTable(name, titles, tuple(columns))
        for name in vehicles
        for titles, columns in _pages([row for row in rows if row["vehicle"] == name], width)
    ]


def _pages(
    rows: Sequence[dict[str, Any]], width: float
) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Return for each table the titles of its lines and the columns that fit beside them."""
    shown = {
        name: title
        for name, title in SHOWN.items()
        if any(row[one] is not None for row in rows for one in _shown_with(name))
    }
    titles = (*shown.values(), "completed")
    pages: list[list[tuple[str, ...]]] = []
    left = 0.0
    for row in rows:
        column = _column(row, list(shown))
        needed = PADDING + max(len(line) for cell in column for line in cell.split("\n"))
        if not pages or needed > left:
            pages.append([])
            left = width - max(map(len, titles)) - PADDING
        pages[-1].append(column)
        left -= needed
    return [(titles, page) for page in pages]


def _shown_with(name: str) -> tuple[str, ...]:
    """Return the metrics with which one is shown: a step that does not settle has a line, too."""
    return OF_STEP if name in OF_STEP else (name,)


def _column(row: dict[str, Any], shown: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a column: the name, broken at each plus, and the metrics."""
    return (
        row["controllers"].replace(AND, f"{AND}\n"),
        *(_cell(row[name], row["flights"]) for name in shown),
        f"{row['completed']} of {row['flights']}",
    )


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


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    (first, *others), (first_width, *other_widths) = cells, widths
    right = [cell.rjust(width) for cell, width in zip(others, other_widths, strict=True)]
    return (" " + (" " * GAP).join([first.ljust(first_width), *right])).rstrip()
