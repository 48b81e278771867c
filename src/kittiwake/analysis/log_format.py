"""How a flight log is laid out in an MCAP file, shared by its writer and its reader.

The file is an ordinary MCAP file (https://mcap.dev/spec), as Foxglove and PlotJuggler open them:

- a metadata record ``kittiwake`` right behind the header, with every vehicle's columns and
  validity quantities as JSON, so that it is there however early a process dies;
- a channel ``/NAME/log`` for each vehicle. A message is one row: a flat ROS 2 message of float64
  fields in CDR, whose four-byte header leaves eight-byte numbers aligned without padding, so that
  a message is that header and the row's bytes. ROS field names are narrower than column names and
  are for display only;
- a channel ``/events`` with JSON messages. It has a JSON schema because versions of PlotJuggler
  refuse a channel that has none; and the file names no profile because of it, for all channels of
  the profile ``ros2`` are CDR.

Message times are simulated nanoseconds. The recorder ends a chunk with every block, so that a file
that was cut off anywhere lacks its last block at most.
"""

import json
import re
from collections.abc import Mapping

import numpy as np

METADATA_NAME = "kittiwake"
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
CHUNK_BYTES = 2**25
# The reader's bounds on what a file may make it allocate. A chunk is longer than CHUNK_BYTES by a
# message at most; the rest leaves room for files that other tools have re-written.
CHUNK_LIMIT_BYTES = 2**27
RECORD_LIMIT_BYTES = 2**25
LOG_LIMIT_BYTES = 2**32

Layout = tuple[tuple[str, ...], tuple[str, ...]]


def topic_of(name: str) -> str:
    """The topic of a vehicle's rows."""
    return f"/{name}/log"


def row_dtype(columns: tuple[str, ...]) -> np.dtype:
    """A row as the payload of a message."""
    return np.dtype([("cdr", "<u4"), ("values", "<f8", (len(columns),))])


def message_dtype(columns: tuple[str, ...]) -> np.dtype:
    """A row as the body of a message record: MCAP's fields, then the payload."""
    envelope = [("channel", "<u2"), ("sequence", "<u4"), ("logged", "<u8"), ("published", "<u8")]
    return np.dtype([*envelope, ("row", row_dtype(columns))])


def message_definition(columns: tuple[str, ...]) -> bytes:
    """The row as a ROS 2 message definition."""
    return "".join(f"float64 {name}\n" for name in field_names(columns)).encode()


def field_names(columns: tuple[str, ...]) -> list[str]:
    """Distinct ROS 2 field names: lower case, digits and single underscores, a letter first."""
    names: list[str] = []
    for column in columns:
        words = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")
        stem = words if words[:1].isalpha() else f"column_{words}".strip("_")
        name, count = stem, 1
        while name in names:
            count += 1
            name = f"{stem}_{count}"
        names.append(name)
    return names


def pack_layouts(layouts: Mapping[str, Layout]) -> dict[str, str]:
    """The metadata record: vehicles of one kind share an entry, so that a swarm's stays small."""
    distinct = list(dict.fromkeys(layouts.values()))
    kinds = [{"columns": columns, "quantities": quantities} for columns, quantities in distinct]
    vehicles = {name: distinct.index(layout) for name, layout in layouts.items()}
    return {"kinds": json.dumps(kinds), "vehicles": json.dumps(vehicles)}


def unpack_layouts(metadata: Mapping[str, str]) -> dict[str, Layout]:
    """Every vehicle's columns and quantities, from the metadata record.

    Raises:
        LookupError, TypeError, ValueError, RecursionError: if the record is not of this form.
    """
    kinds = [
        (_names(kind["columns"]), _names(kind["quantities"]))
        for kind in json.loads(metadata["kinds"])
    ]
    return {name: kinds[kind] for name, kind in json.loads(metadata["vehicles"]).items()}


def _names(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        message = "a list of names is expected"
        raise TypeError(message)
    return tuple(given)
