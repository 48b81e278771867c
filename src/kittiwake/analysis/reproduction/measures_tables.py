"""Measures of flights against tables of published figures, row by row."""

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction.measures import measure
from kittiwake.analysis.reproduction.quantities import Series, quantity
from kittiwake.analysis.reproduction.reference_tables import reference_column
from kittiwake.core.errors import LogError


def _differences(
    log: Log, name: str, table: str, column: str, first_row: int, period: float
) -> Series:
    """Return a quantity minus a column, from a row of the log on; the short way round."""
    _, values = quantity(log, name)
    published = reference_column(table, column)
    own = values[first_row : first_row + len(published)]
    if len(own) != len(published):
        message = f"{len(own)} rows of the log beside {len(published)} of {table}"
        raise LogError(message)
    difference = own - published
    return difference - (period * np.round(difference / period) if period else 0.0)


@measure
def largest_difference(
    log: Log,
    quantity: str,
    table: str,
    column: str,
    *,
    first_row: int = 0,
    period: float = 0.0,
) -> float:
    """Return the largest difference of a quantity and a published column, row by row.

    Angles of which whole turns do not count have their turn as ``period``.
    """
    return float(np.abs(_differences(log, quantity, table, column, first_row, period)).max())


@measure
def mean_square_difference(
    log: Log,
    quantity: str,
    table: str,
    column: str,
    *,
    first_row: int = 0,
    period: float = 0.0,
) -> float:
    """Return the mean squared difference of a quantity and a published column, row by row."""
    return float(np.mean(_differences(log, quantity, table, column, first_row, period) ** 2))


@measure
def largest_time_difference_s(log: Log, table: str, column: str) -> float:
    """Return the largest difference of the times of a log and of a table."""
    return float(np.abs(_differences(log, "time_s", table, column, 0, 0.0)).max())
