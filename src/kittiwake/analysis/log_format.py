"""Layout of a flight log in an MCAP file, shared by writer and reader.

The file is a standard MCAP file (https://mcap.dev/spec), which Foxglove and PlotJuggler can open:

- a metadata record ``kittiwake`` directly after the header, with every vehicle's columns and
  validity quantities as JSON, so that it exists however early a process dies. Vehicles that are
  added in flight have further records of this name, before their first rows;
- a channel ``/NAME/log`` for each vehicle. A message is one row: a flat ROS 2 message of float64
  fields in CDR, whose four-byte header leaves eight-byte numbers aligned without padding, so that
  a message is that header and the row's bytes. ROS field names allow fewer characters than column
  names and are for display only. An image is one field, an array of fixed length, which has the
  same bytes; in the metadata its columns are one entry;
- a channel ``/events`` with JSON messages. It has a JSON schema because some versions of
  PlotJuggler refuse a channel without one. The file therefore names no profile, as all channels of
  the profile ``ros2`` must be CDR.

Message times are simulated nanoseconds. The recorder ends a chunk with every block, so that a
truncated file lacks its last block at most.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kittiwake.analysis.log_fields import AXES, LogField, as_columns, as_fields
from kittiwake.core.errors import LogError

METADATA_NAME = "kittiwake"
# keys in that record: the version of this layout; a log without it is of the first one
VERSION, FORMAT = "format", 1
# the SHA-256 of each file that the run wrote beside its log, by name
FILES = "files"
EVENTS_TOPIC = "/events"
EVENTS_SCHEMA = {
    "type": "object",
    "properties": {
        "time_s": {"type": "number"},
        "vehicle": {"type": "string"},
        "event": {"type": "string"},
    },
}

CDR_LITTLE_ENDIAN = 0x00000100
NUMBER_BYTES = 8
CHUNK_BYTES = 2**25
# limits on allocations by the reader. A chunk exceeds CHUNK_BYTES by one message at most; the rest
# allows for files that other tools have rewritten.
CHUNK_LIMIT_BYTES = 2**27
RECORD_LIMIT_BYTES = 2**25
LOG_LIMIT_BYTES = 2**32

Layout = tuple[tuple[str, ...], tuple[str, ...]]


def topic_of(name: str) -> str:
    """Return the topic of a vehicle's rows."""
    return f"/{name}/log"


def row_dtype(columns: tuple[str, ...]) -> np.dtype:
    """Return the dtype of a row as the payload of a message."""
    return np.dtype([("cdr", "<u4"), ("values", "<f8", (len(columns),))])


def message_dtype(columns: tuple[str, ...]) -> np.dtype:
    """Return the dtype of a message record with a row: MCAP's fields, then the payload."""
    envelope = [("channel", "<u2"), ("sequence", "<u4"), ("logged", "<u8"), ("published", "<u8")]
    return np.dtype([*envelope, ("row", row_dtype(columns))])


def message_definition(columns: tuple[str, ...]) -> bytes:
    """Return the ROS 2 message definition of a row."""
    fields = as_fields(columns)
    kinds = (f"float64[{field.count}]" if field.shape else "float64" for field in fields)
    names = field_names(field.name + field.ending for field in fields)
    return "".join(f"{kind} {name}\n" for kind, name in zip(kinds, names, strict=True)).encode()


def field_names(given: Iterable[str]) -> list[str]:
    """Return distinct ROS 2 field names: lower case, digits, single underscores, a letter first."""
    names: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for own in given:
        words = re.sub(r"[^a-z0-9]+", "_", own.lower()).strip("_")
        stem = words if words[:1].isalpha() else f"column_{words}".strip("_")
        name = stem
        while name in names:
            # no number is tried twice, so that many equal names take linear time
            counts[stem] += 1
            name = f"{stem}_{counts[stem] + 1}"
        names[name] = None
    return list(names)


def pack_layouts(layouts: Mapping[str, Layout]) -> dict[str, str]:
    """Return the metadata record, in which vehicles of equal columns share an entry."""
    distinct = list(dict.fromkeys(layouts.values()))
    kinds = [
        {"columns": [_packed(field) for field in as_fields(columns)], "quantities": quantities}
        for columns, quantities in distinct
    ]
    vehicles = {name: distinct.index(layout) for name, layout in layouts.items()}
    return {
        VERSION: json.dumps(FORMAT),
        "kinds": json.dumps(kinds),
        "vehicles": json.dumps(vehicles),
    }


def unpack_layouts(metadata: Mapping[str, str]) -> dict[str, Layout]:
    """Return every vehicle's columns and quantities from the metadata record.

    Raises:
        LogError: if the log is of another format.
        LookupError, TypeError, ValueError, RecursionError: if the record is invalid.
    """
    version = json.loads(metadata.get(VERSION, "1"))
    if version != FORMAT:
        message = f"is of format {version!r}; this version of Kittiwake reads format {FORMAT}"
        raise LogError(message)
    kinds = json.loads(metadata["kinds"])
    fields = [[_unpacked(entry) for entry in _listed(kind["columns"])] for kind in kinds]
    numbers = sum(field.count for own in fields for field in own)
    if numbers * NUMBER_BYTES > CHUNK_LIMIT_BYTES:
        message = f"{numbers} columns exceed the maximum of a row"
        raise ValueError(message)
    layouts = [
        (as_columns(own), tuple(_name(name) for name in _listed(kind["quantities"])))
        for own, kind in zip(fields, kinds, strict=True)
    ]
    return {name: layouts[kind] for name, kind in json.loads(metadata["vehicles"]).items()}


def _packed(field: LogField) -> Any:
    if not field.shape:
        return field.name
    return {"array": field.name, "shape": field.shape, "ending": field.ending}


def _unpacked(entry: Any) -> LogField:
    if not isinstance(entry, dict):
        return LogField(_name(entry))
    shape = tuple(_listed(entry["shape"]))
    if len(shape) not in AXES or not all(type(size) is int and size > 0 for size in shape):
        message = "an array has two or three axes, each with a size"
        raise ValueError(message)
    return LogField(_name(entry["array"]), shape, _name(entry["ending"]))


def _name(given: object) -> str:
    if not isinstance(given, str):
        message = "a name is expected"
        raise TypeError(message)
    return given


def _listed(given: object) -> list[Any]:
    if not isinstance(given, list):
        message = "a list is expected"
        raise TypeError(message)
    return given
