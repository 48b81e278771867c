"""Fast copies of frozen records."""

import gc
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any, TypeVar

import jax

from kittiwake.core.arrays import ArrayTree
from kittiwake.pytree import Module

Record = TypeVar("Record", bound=Module)


def replicate_with(record: Record, **columns: Sequence[ArrayTree]) -> list[Record]:
    """Return copies of a record, one for each row of values; they share the other fields.

    Args:
        record: the record to copy.
        columns: the values of some of its fields in all copies.

    Raises:
        AttributeError: if the record has no such field.
    """
    count = len(next(iter(columns.values())))
    return with_fields([record] * count, **columns)


def with_fields(records: Sequence[Record], **columns: Sequence[ArrayTree]) -> list[Record]:
    """Return copies of records of one class, with other values of some of their fields.

    Loops in C set the fields, since the constructor, which checks each of them, and a loop in
    Python would take many times as long.

    Args:
        records: the records to copy.
        columns: the values of these fields in all copies.

    Raises:
        AttributeError: if the records have no such field.
    """
    if not records:
        return []
    kind, fields = type(records[0]), vars(records[0])
    for name in columns.keys() - fields.keys():
        message = f"{kind.__name__} has no field '{name}'"
        raise AttributeError(message)
    with _paused_collection():
        copies = [object.__new__(kind) for _ in records]
        for name in fields:
            values = (
                columns[name] if name in columns else [getattr(record, name) for record in records]
            )
            deque(map(object.__setattr__, copies, repeat(name, len(copies)), values), maxlen=0)
    return copies


@contextmanager
def _paused_collection() -> Generator[None]:
    """Pause the garbage collector, which would scan a growing number of records many times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def distinct(objects: Iterable[Any]) -> dict[int, Any]:
    """Return each object once, by its identity, in the order of first occurrence."""
    every = [*objects]
    return dict(zip(map(id, every), every, strict=True))


def fresh_copy(record: Record) -> Record:
    """Return an equal copy of a record and of all records in it, none of which is shared."""
    return jax.tree.map(lambda leaf: leaf, record)
