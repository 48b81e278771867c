"""Terminal tables of the metrics of a comparison."""

from collections.abc import Sequence
from typing import TypeAlias

from rich import box
from rich.table import Table

from kittiwake.analysis.comparison_table import ComparisonTable, comparison_pages
from kittiwake.cli.metrics import Metrics

Rows: TypeAlias = Sequence[Metrics]


def comparison_tables(rows: Rows, width: int) -> list[Table]:
    """Return tables for each vehicle, with a column for each compared controller.

    Args:
        rows: result of ``summaries``.
        width: width of the terminal in characters; further columns go into another table.
    """
    return [_table(page) for page in comparison_pages(rows, width)]


def _table(page: ComparisonTable) -> Table:
    table = Table(
        title=page.vehicle,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    first, *others = page.headings
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    for line in page.lines:
        table.add_row(*line)
    return table
