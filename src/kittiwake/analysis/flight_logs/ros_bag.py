"""Bags of ROS 1 and ROS 2, read by the library rosbags.

A column is a topic and a field of its messages: ``/imu.angular_velocity.x``,
``/odometry.pose.covariance[0]``. Times are those of recording in nanoseconds, or a field of type
``Time``, such as ``header.stamp``.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kittiwake.analysis.flight_logs.recorded import (
    RecordedColumns,
    RecordedSignal,
    reading,
    refuse_large,
)
from kittiwake.core.errors import LogError
from kittiwake.core.extras import import_optional

EXTRA = "bags"
METADATA_FILE = "metadata.yaml"
KIND = "a ROS bag"
PART = re.compile(r"(\w+)((?:\[\d+\])*)")
SECOND_NS = 1_000_000_000
# levels of messages within messages whose fields are listed
MAX_DEPTH = 6
# the end of a message's fields without the one that is given
ABSENT = object()

# names of attributes, and indices of elements
FieldPath = tuple[str | int, ...]


class _Field(NamedTuple):
    """Requested column, and the path of its field."""

    column: str
    path: FieldPath


def read(path: Path, columns: Collection[str], time: str) -> RecordedColumns:
    """Return the given columns of a bag; an array without the given element has no sample.

    Raises:
        MissingExtraError: if the library rosbags is not installed.
        LogError: if the bag cannot be read, or a column is no number.
    """
    highlevel = import_optional("rosbags.highlevel", EXTRA)
    typesys = import_optional("rosbags.typesys", EXTRA)
    for file in path.iterdir() if path.is_dir() else [path]:
        refuse_large(file)
    # bags of SQLite hold no definitions of messages before ROS 2 Jazzy
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    with reading(path, KIND), highlevel.AnyReader([path], default_typestore=store) as bag:
        fields = _fields_by_topic(columns, {connection.topic for connection in bag.connections})
        signals = _signals(path, bag, fields, _field_path(time) if time else ())
        names = [*_all_columns(bag)]
    return RecordedColumns(signals, lambda: names)


def _fields_by_topic(columns: Collection[str], topics: Collection[str]) -> dict[str, list[_Field]]:
    """Return the requested fields of each topic; the topic's first slash may be left out."""
    found: dict[str, list[_Field]] = defaultdict(list)
    for column in dict.fromkeys(columns):
        topic, _, field = column.partition(".")
        topic = topic if topic in topics else f"/{topic}"
        path = _field_path(field)
        if topic in topics and path:
            found[topic].append(_Field(column, path))
    return found


def _field_path(field: str) -> FieldPath:
    """Return the names and indices of a field; empty if it is not written correctly."""
    path: list[str | int] = []
    for part in field.split("."):
        found = PART.fullmatch(part)
        if found is None or part.startswith("_"):
            return ()
        path.append(found[1])
        path += [int(index) for index in re.findall(r"\d+", found[2])]
    return tuple(path)


def _signals(
    path: Path, bag: Any, fields: dict[str, list[_Field]], time: FieldPath
) -> dict[str, RecordedSignal]:
    times: dict[str, list[float]] = defaultdict(list)
    values: dict[str, list[float]] = defaultdict(list)
    connections = [one for one in bag.connections if one.topic in fields]
    for connection, ns, content in bag.messages(connections) if connections else ():
        message = bag.deserialize(content, connection.msgtype)
        stamp = _stamp(path, connection.topic, message, time) if time else ns
        for column, field in fields[connection.topic]:
            value = _value(message, field)
            if value is not ABSENT:
                times[column].append(stamp)
                values[column].append(_number(path, column, value))
    return {
        column: RecordedSignal(np.array(times[column]), np.array(values[column], np.float64))
        for column in times
    }


def _value(message: Any, field: FieldPath) -> Any:
    """Return a field of a message; NaN for an element after the end of an array."""
    value = message
    for part in field:
        if isinstance(part, str):
            value = getattr(value, part, ABSENT)
        elif isinstance(value, list | np.ndarray):
            value = value[part] if part < len(value) else np.nan
        else:
            return ABSENT
    return value


def _number(path: Path, column: str, value: Any) -> float:
    if isinstance(value, bool | int | float | np.number | np.bool):
        return float(value)
    if isinstance(value, list | np.ndarray):
        message = f"{path.name}: '{column}' is an array; name an element, such as '{column}[0]'"
    else:
        message = f"{path.name}: '{column}' is no number but {type(value).__name__}"
    raise LogError(message)


def _stamp(path: Path, topic: str, message: Any, time: FieldPath) -> int | float:
    """Return a time in nanoseconds if it is of the type ``Time``, else as recorded."""
    value = _value(message, time)
    if hasattr(value, "sec") and hasattr(value, "nanosec"):
        return int(value.sec) * SECOND_NS + int(value.nanosec)
    written = ".".join(map(str, time))
    if value is ABSENT:
        message = (
            f"{path.name}: messages of '{topic}' have no field '{written}', the column of times"
        )
        raise LogError(message)
    return _number(path, f"{topic}.{written}", value)


def _all_columns(bag: Any) -> Iterator[str]:
    """Yield the columns of a bag, with the first element of each array."""
    for connection in bag.connections:
        for field in _all_fields(bag, connection.msgtype, 0):
            yield f"{connection.topic}.{field}"


def _all_fields(bag: Any, type_name: str, depth: int) -> Iterator[str]:
    nodes = import_optional("rosbags.interfaces", EXTRA).Nodetype
    for name, (node, detail) in bag.typestore.fielddefs[type_name][1]:
        suffix = ""
        if node in (nodes.ARRAY, nodes.SEQUENCE):
            (node, detail), suffix = detail[0], "[0]"
        if node == nodes.NAME and depth < MAX_DEPTH:
            for field in _all_fields(bag, detail, depth + 1):
                yield f"{name}{suffix}.{field}"
        elif node == nodes.BASE and detail[0] != "string":
            yield name + suffix
