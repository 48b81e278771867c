"""ULog files of PX4, read by the library pyulog.

A column is a topic and a field: ``vehicle_attitude.q[0]``; further instances of a topic are
``sensor_baro[1].pressure``. The definitions at the start of a file are checked before the library
reads them: it would expand nested formats of any size, and repeat a damaged one forever.
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kittiwake.analysis.flight_logs.recorded import (
    EXTRA,
    RecordedColumns,
    RecordedSignal,
    reading,
    refuse_large,
)
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import import_optional

TIME = "timestamp"
KIND = "a ULog file"
MAGIC, HEADER_BYTES = b"ULog\x01\x125", 16
MESSAGE_HEAD = struct.Struct("<HB")
DEFINITIONS, FORMAT_DEFINITION, DATA_BEGINS = b"BFIMPQ", ord("F"), b"ALC"
# fields of a topic, with those of nested formats
MAX_FIELDS = 4096
MAX_DEFINITION_BYTES = 10_000
COLUMN = re.compile(r"(\w+)(?:\[(\d+)\])?\.(.+)")
FIELD = re.compile(r"(\w+)(?:\[(\d{1,5})\])? \S+")

# types and numbers of the fields of each format
Formats = Mapping[str, list[tuple[str, int]]]


def read(path: Path, columns: Collection[str], time: str) -> RecordedColumns:
    """Return the given columns of a ULog file.

    Raises:
        MissingExtraError: if the library pyulog is not installed.
        LogError: if the file cannot be read or is damaged, or a topic has no such times.
    """
    library = import_optional("pyulog", EXTRA)
    time = time or TIME
    refuse_large(path)
    topics = [found[1] for found in map(COLUMN.fullmatch, columns) if found]
    with reading(path, KIND), path.open("rb") as stream:
        _check_definitions(path, stream)
        stream.seek(0)
        log = library.ULog(stream, message_name_filter_list=topics)
    if log.file_corruption:
        message = f"{path.name}: is damaged: it has records that are no ULog"
        raise LogError(message)
    signals: dict[str, RecordedSignal] = {}
    for column in columns:
        topic, field = _find(log, column)
        if topic is not None and field in topic.data:
            times = _times(path, topic, time)
            signals[column] = RecordedSignal(times, topic.data[field].astype(np.float64))
    return RecordedColumns(signals, lambda: _all_columns(path, library))


def _find(log: Any, column: str) -> tuple[Any, str]:
    """Return the topic of a column and the name of its field; None if there is no such topic."""
    found = COLUMN.fullmatch(column)
    if found is None:
        return None, ""
    name, instance, field = found[1], int(found[2] or 0), found[3]
    topics = (one for one in log.data_list if (one.name, one.multi_id) == (name, instance))
    return next(topics, None), field


def _times(path: Path, topic: Any, time: str) -> np.ndarray:
    if time not in topic.data:
        known = did_you_mean(time, topic.data)
        message = f"{path.name}: '{topic.name}' has no field '{time}' of times. {known}"
        raise LogError(message)
    times = topic.data[time]
    # differences of unsigned numbers have no sign
    return times.astype(np.int64 if times.dtype.kind in "iu" else np.float64)


def _all_columns(path: Path, library: Any) -> list[str]:
    with reading(path, KIND), path.open("rb") as stream:
        topics = library.ULog(stream).data_list
    return [
        f"{topic.name}{f'[{topic.multi_id}]' if topic.multi_id else ''}.{field}"
        for topic in topics
        for field in topic.data
    ]


def _check_definitions(path: Path, stream: BinaryIO) -> None:
    """Raise an error for definitions that are damaged or too large."""
    if stream.read(HEADER_BYTES)[: len(MAGIC)] != MAGIC:
        message = f"{path.name}: is not a ULog file"
        raise LogError(message)
    formats: dict[str, list[tuple[str, int]]] = {}
    for definition in _format_definitions(path, stream):
        name, _, fields = definition.decode("utf-8", "ignore").partition(":")
        found = (FIELD.fullmatch(field) for field in fields.split(";"))
        formats[name] = [(one[1], max(int(one[2] or 1), 1)) for one in found if one]
    counts: dict[str, int] = {}
    for name in formats:
        if _field_count(name, formats, counts) > MAX_FIELDS:
            message = f"{path.name}: '{name}' has more than {MAX_FIELDS} fields, the most allowed"
            raise LogError(message)


def _format_definitions(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the definitions of formats, up to the first record of data."""
    while len(head := stream.read(MESSAGE_HEAD.size)) == MESSAGE_HEAD.size:
        length, kind = MESSAGE_HEAD.unpack(head)
        if kind in DATA_BEGINS:
            return
        if kind not in DEFINITIONS and not 0 < length <= MAX_DEFINITION_BYTES:
            message = f"{path.name}: is damaged: a definition of {length} bytes of an unknown kind"
            raise LogError(message)
        content = stream.read(length)
        if len(content) < length:
            message = f"{path.name}: is cut off within its definitions"
            raise LogError(message)
        if kind == FORMAT_DEFINITION:
            yield content


def _field_count(name: str, formats: Formats, counts: dict[str, int]) -> int:
    """Return the number of fields of a format, with those of nested ones.

    A format that contains itself has too many.
    """
    if name not in counts:
        counts[name] = MAX_FIELDS + 1  # while its own fields are counted
        counts[name] = sum(
            number * (_field_count(field, formats, counts) if field in formats else 1)
            for field, number in formats[name]
        )
    return counts[name]
