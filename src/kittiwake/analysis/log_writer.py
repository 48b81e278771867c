"""Writer of flight logs: rows and events to the MCAP records of ``log_format``."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from operator import itemgetter
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Float64
from mcap.writer import CompressionType, Writer

from kittiwake.analysis.log_format import (
    CDR_LITTLE_ENDIAN,
    CHUNK_BYTES,
    EVENTS_SCHEMA,
    EVENTS_TOPIC,
    FILES,
    METADATA_NAME,
    Layout,
    message_definition,
    pack_layouts,
    row_dtype,
    topic_of,
)
from kittiwake.analysis.table import Event


class LogWriter:
    """Writer of one log to a binary stream, which the caller closes."""

    def __init__(
        self,
        stream: BinaryIO,
        layouts: Mapping[str, Layout],
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Write the header of a log; ``files`` are the digests of the files beside it."""
        self._writer = Writer(stream, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        self._writer.start(library="kittiwake")
        beside = {FILES: json.dumps(files)} if files else {}
        self._writer.add_metadata(METADATA_NAME, pack_layouts(layouts) | beside)
        self._columns: dict[str, tuple[str, ...]] = {}
        self._channels: dict[str, int] = {}
        self._schemas: dict[tuple[str, ...], int] = {}
        self._json_schemas: dict[str, int] = {}
        self._json_channels: dict[str, int] = {}
        self._register_vehicles(layouts)
        self._events = self._register_events()
        stream.flush()

    def add_vehicles(
        self, layouts: Mapping[str, Layout], files: Mapping[str, str] | None = None
    ) -> None:
        """Declare vehicles that were added in flight; ``files`` are those beside the log now."""
        beside = {FILES: json.dumps(files)} if files else {}
        self._writer.add_metadata(METADATA_NAME, pack_layouts(layouts) | beside)
        self._register_vehicles(layouts)

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Add rows of vehicles, ordered by time, and flush them to the operating system."""
        messages = [message for name in block for message in self._messages(name, block[name])]
        messages.sort(key=itemgetter(0))
        for time_ns, channel, payload in messages:
            self._writer.add_message(channel, time_ns, payload, time_ns)
        self._writer.flush()

    def event(self, event: Event) -> None:
        """Add an event, which is flushed with the next block."""
        time_ns = round(event.time_s * 1e9)
        self._writer.add_message(self._events, time_ns, json.dumps(asdict(event)).encode(), time_ns)

    def message(
        self, topic: str, kind: str, schema: Mapping[str, Any], time_s: float, content: bytes
    ) -> None:
        """Add a message in JSON, whose topic and schema are declared with the first one."""
        if kind not in self._json_schemas:
            text = json.dumps({"title": kind, **schema}).encode()
            self._json_schemas[kind] = self._writer.register_schema(kind, "jsonschema", text)
        if topic not in self._json_channels:
            schema_id = self._json_schemas[kind]
            self._json_channels[topic] = self._writer.register_channel(topic, "json", schema_id)
        time_ns = round(time_s * 1e9)
        self._writer.add_message(self._json_channels[topic], time_ns, content, time_ns)

    def attach(self, name: str, media_type: str, content: bytes) -> None:
        """Add a file as an attachment."""
        self._writer.add_attachment(0, 0, name, media_type, content)

    def finish(self) -> None:
        """Add the index and the footer; nothing can be written after them."""
        self._writer.finish()

    def _messages(
        self, name: str, rows: Float64[np.ndarray, "_rows _columns"]
    ) -> Iterator[tuple[int, int, bytes]]:
        dtype = row_dtype(self._columns[name])
        packed = np.empty(len(rows), dtype)
        packed["cdr"] = CDR_LITTLE_ENDIAN
        packed["values"] = rows
        content, size, channel = packed.tobytes(), dtype.itemsize, self._channels[name]
        times_ns = np.rint(rows[:, 0] * 1e9).astype(np.int64).tolist()
        for index, time_ns in enumerate(times_ns):
            yield time_ns, channel, content[index * size : (index + 1) * size]

    def _register_vehicles(self, layouts: Mapping[str, Layout]) -> None:
        schemas = self._schemas
        for name, (columns, _) in layouts.items():
            if columns not in schemas:
                schema_name = f"kittiwake/msg/Row{len(schemas) + 1}"
                definition = message_definition(columns)
                schemas[columns] = self._writer.register_schema(schema_name, "ros2msg", definition)
            self._columns[name] = columns
            self._channels[name] = self._writer.register_channel(
                topic_of(name), "cdr", schemas[columns]
            )

    def _register_events(self) -> int:
        schema = self._writer.register_schema(
            "kittiwake.Event", "jsonschema", json.dumps(EVENTS_SCHEMA).encode()
        )
        return self._writer.register_channel(EVENTS_TOPIC, "json", schema)
