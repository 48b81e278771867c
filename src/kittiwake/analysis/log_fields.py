"""Fields of log messages: single columns, or the columns of an image as one array.

An image of 640 x 480 has up to a million columns, whose names would be longer than their rows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import prod

import numpy as np

# numbers of axes of an array: rows and columns, optionally colors
AXES = (2, 3)
# pattern of the name of an array's first column
FIRST = re.compile(r"(.+?)((?:_0){2,3})((?:_[a-z]\w*)?)", re.ASCII)


@dataclass(frozen=True)
class LogField:
    """Column, or array of columns such as ``depth_0_1_m`` with name ``depth`` and ending ``_m``."""

    name: str
    shape: tuple[int, ...] = ()
    ending: str = ""

    @property
    def count(self) -> int:
        """Number of columns."""
        return prod(self.shape)

    def columns(self) -> Iterator[str]:
        """Return the names of the columns in C order."""
        if not self.shape:
            return iter((self.name,))
        places = ("_".join(map(str, place)) for place in np.ndindex(self.shape))
        return (f"{self.name}_{place}{self.ending}" for place in places)


def as_fields(columns: tuple[str, ...]) -> list[LogField]:
    """Return the minimum number of fields for these columns in this order."""
    fields: list[LogField] = []
    place = 0
    while place < len(columns):
        fields.append(_array_at(columns, place) or LogField(columns[place]))
        place += fields[-1].count
    return fields


def as_columns(fields: Iterable[LogField]) -> tuple[str, ...]:
    """Return the names of all columns of fields."""
    return tuple(column for field in fields for column in field.columns())


def _array_at(columns: tuple[str, ...], place: int) -> LogField | None:
    """Return the array that begins at an index, if there is one."""
    first = FIRST.fullmatch(columns[place])
    if first is None:
        return None
    name, ending = first.group(1), first.group(3)
    axes = first.group(2).count("_")
    before, until = len(name) + 1, -len(ending) or None
    alike = takewhile(
        lambda column: column.startswith(f"{name}_") and column.endswith(ending),
        (columns[i] for i in range(place, len(columns))),
    )
    last = [columns[place], *alike][-1][before:until].split("_")
    if len(last) != axes or not all(number.isdecimal() for number in last):
        return None
    found = LogField(name, tuple(int(number) + 1 for number in last), ending)
    if found.count > len(columns) - place:
        return None
    same = all(a == b for a, b in zip(found.columns(), columns[place:], strict=False))
    return found if same else None
