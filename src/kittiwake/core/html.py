"""HTML by which notebooks show objects: a heading, and small tables.

It has no colors or fonts of its own, so that it fits light and dark pages. All text is escaped.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeAlias

# rows of a table that are shown; a fleet can have thousands of vehicles
MAX_ROWS = 20
# contents of a cell; None and an empty text are no fact
Cell: TypeAlias = str | float | None


def heading(kind: str, name: str, description: str = "") -> str:
    """Return the kind and the name of an object, and a line about it."""
    rest = f"<br>{escape(description)}" if description else ""
    return f"<p><strong>{escape(kind)} {escape(name)}</strong>{rest}</p>"


def fact_table(facts: Mapping[str, Cell]) -> str:
    """Return a table with a row for each name and value; empty values are left out."""
    rows = [
        f"<tr>{_cell('th', name, 'left')}{_cell('td', value, 'left')}</tr>"
        for name, value in facts.items()
        if value not in (None, "")
    ]
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def column_table(
    titles: Sequence[str], rows: Sequence[Sequence[Cell]], *, side: str = "right"
) -> str:
    """Return a table with titled columns, of which the first one names the rows.

    Args:
        titles: the titles; one of a quantity has its unit.
        rows: the cells of each row.
        side: the alignment of all columns but the first one.
    """
    body = "".join(f"<tr>{_row('td', row, side)}</tr>" for row in rows[:MAX_ROWS])
    head = f"<thead><tr>{_row('th', titles, side)}</tr></thead>"
    table = f"<table>{head}<tbody>{body}</tbody></table>"
    more = len(rows) - MAX_ROWS
    return table + (f"<p>and {more:,} more</p>" if more > 0 else "")


def frame(address: str, height_px: int) -> str:
    """Return a frame that shows the page at an address."""
    style = f"width: 100%; height: {height_px}px; border: 0"
    return f'<iframe src="{escape(address)}" style="{style}" allowfullscreen></iframe>'


def frame_of(page: str, height_px: int) -> str:
    """Return a frame that holds a page."""
    style = f"width: 100%; height: {height_px}px; border: 0"
    return f'<iframe srcdoc="{escape(page)}" style="{style}" allowfullscreen></iframe>'


def _row(tag: str, cells: Sequence[Cell], side: str) -> str:
    first, *others = cells
    return _cell("th", first, "left") + "".join(_cell(tag, other, side) for other in others)


def _cell(tag: str, content: Cell, side: str) -> str:
    lines = "<br>".join(escape(line) for line in str(content).split("\n"))
    return f'<{tag} style="text-align: {side}">{lines}</{tag}>'
