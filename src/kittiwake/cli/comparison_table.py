"""The figures of a comparison as a table for people."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table

from kittiwake.analysis.comparison import SHOWN
from kittiwake.analysis.summary import in_digits


def comparison_tables(rows: Sequence[dict[str, Any]]) -> list[Table]:
    """For each vehicle a table of what ``summaries`` gives: a column for each of the compared."""
    vehicles = dict.fromkeys(row["vehicle"] for row in rows)
    return [_table(name, [row for row in rows if row["vehicle"] == name]) for name in vehicles]


def _table(vehicle: str, rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(
        title=vehicle,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_column(row["controllers"], justify="right", overflow="fold")
    for name, title in SHOWN.items():
        if any(row[name] is not None for row in rows):
            table.add_row(title, *(_cell(row[name], row["flights"]) for row in rows))
    table.add_row("completed", *(f"{row['completed']} of {row['flights']}" for row in rows))
    return table


def _cell(value: tuple[float, float] | None, flights: int) -> str:
    """The mean, and the deviation over the seeds if there are several."""
    if value is None:
        return "-"
    mean, deviation = value
    return in_digits(mean) if flights == 1 else f"{in_digits(mean)} ± {deviation:.1g}"
