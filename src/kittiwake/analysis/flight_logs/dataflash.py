"""DataFlash logs of ArduPilot, read by the library pymavlink.

A column is a message and a field: ``ATT.Roll``; of messages with instances, ``IMU.GyrX`` and
``IMU[0].GyrX`` are those of the first one. Fields are in the units of the log's own definitions,
which the library applies. The structure of the file is checked before: the library would repeat a
message without a length forever.
"""

import re
import struct
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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

TIME = "TimeUS"
KIND = "a DataFlash log"
MODULE = "pymavlink.DFReader"
HEAD, HEAD_BYTES = b"\xa3\x95", 3
FORMAT_TYPE = 0x80
FORMAT = struct.Struct("<BB4s16s64s")
FORMAT_BYTES = HEAD_BYTES + FORMAT.size
# blocks of the memory of an autopilot that are not full
MAX_PADDING_BYTES = 528
COLUMN = re.compile(r"(\w+)(?:\[(\d+)\])?\.(\w+)")


class _Column(NamedTuple):
    """Requested column."""

    written: str
    instance: int
    field: str


def read(path: Path, columns: Collection[str], time: str) -> RecordedColumns:
    """Return the given columns of a DataFlash log.

    Raises:
        MissingExtraError: if the library pymavlink is not installed.
        LogError: if the file cannot be read or is damaged, or a column is no number.
    """
    library = import_optional(MODULE, EXTRA)
    time = time or TIME
    refuse_large(path)
    with reading(path, KIND):
        _check_structure(path, library.FORMAT_TO_STRUCT)
        with library.DFReader_binary(str(path), zero_time_base=True) as log:
            formats = {one.name: one for one in log.formats.values()}
            wanted = _columns_by_message(columns, formats)
            for name in wanted:
                _check_time(path, name, formats[name].columns, time)
            signals = _signals(path, log, wanted, time)
    names = [f"{name}.{field}" for name, one in formats.items() for field in one.columns]
    return RecordedColumns(signals, lambda: names)


def _columns_by_message(
    columns: Collection[str], formats: Mapping[str, Any]
) -> dict[str, list[_Column]]:
    found: dict[str, list[_Column]] = defaultdict(list)
    for column in dict.fromkeys(columns):
        parts = COLUMN.fullmatch(column)
        if parts and parts[1] in formats and parts[3] in formats[parts[1]].columns:
            found[parts[1]].append(_Column(column, int(parts[2] or 0), parts[3]))
    return found


def _check_time(path: Path, name: str, fields: Collection[str], time: str) -> None:
    if time not in fields:
        known = did_you_mean(time, fields)
        message = f"{path.name}: '{name}' has no field '{time}' of times. {known}"
        raise LogError(message)


def _signals(
    path: Path, log: Any, wanted: Mapping[str, list[_Column]], time: str
) -> dict[str, RecordedSignal]:
    times: dict[str, list[float]] = defaultdict(list)
    values: dict[str, list[float]] = defaultdict(list)
    while (message := log.recv_match(type=set(wanted), strict=True)) is not None:
        instance_field = message.fmt.instance_field
        instance = getattr(message, instance_field) if instance_field else 0
        for column in wanted.get(message.get_type(), ()):
            if column.instance == instance:
                times[column.written].append(getattr(message, time))
                value = getattr(message, column.field)
                values[column.written].append(_number(path, column.written, value))
    return {
        column: RecordedSignal(np.array(times[column]), np.array(values[column], np.float64))
        for column in times
    }


def _number(path: Path, column: str, value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    message = f"{path.name}: '{column}' is no number but {type(value).__name__}"
    raise LogError(message)


def _check_structure(path: Path, sizes: Mapping[str, tuple[str, Any, Any]]) -> None:
    """Raise an error for a file that is not a sequence of messages of the lengths it states."""
    content = path.read_bytes()
    if not content.startswith(HEAD):
        message = f"{path.name}: is not a DataFlash log"
        raise LogError(message)
    lengths = {FORMAT_TYPE: FORMAT_BYTES}
    for at in _messages(path, content, lengths):
        if content[at + 2] == FORMAT_TYPE:
            kind, length, name, letters, _ = FORMAT.unpack_from(content, at + HEAD_BYTES)
            expected = _length(letters, sizes)
            if length != expected or lengths.setdefault(kind, length) != length:
                shown = name.split(b"\0")[0].decode("ascii", "replace")
                message = f"{path.name}: is damaged: '{shown}' states a length of {length} bytes"
                raise LogError(message)


def _messages(path: Path, content: bytes, lengths: Mapping[int, int]) -> Iterator[int]:
    """Yield the offsets of messages, up to an incomplete one or padding at the end."""
    at = 0
    while at <= len(content) - HEAD_BYTES:
        length = lengths.get(content[at + 2], 0) if content.startswith(HEAD, at) else 0
        if not length:
            if len(content) - at > MAX_PADDING_BYTES:
                # the library would leave out the rest of the log
                message = f"{path.name}: is damaged at byte {at:,}: no message begins there"
                raise LogError(message)
            return
        if at + length <= len(content):
            yield at
        at += length


def _length(letters: bytes, sizes: Mapping[str, tuple[str, Any, Any]]) -> int:
    """Return the length of a message with fields of the given types; 0 for an unknown type."""
    types = letters.split(b"\0")[0].decode("ascii", "replace")
    if any(letter not in sizes for letter in types):
        return 0
    return HEAD_BYTES + struct.calcsize("<" + "".join(sizes[letter][0] for letter in types))
