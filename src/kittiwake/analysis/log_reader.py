"""Reader of flight logs: MCAP records of ``log_format`` to tables and events.

This module parses records itself instead of using the library's reader. A log is read from start to
end, so no index is needed, of which the library would parse each entry. The library would also
allocate any length that a malicious file states, and accept an incomplete record as a short one.
"""

import json
import os
import struct
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from pathlib import Path, PurePath
from typing import BinaryIO

import numpy as np
import zstandard
from jaxtyping import Float64
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Metadata
from mcap.writer import MCAP0_MAGIC

from kittiwake.analysis.log_format import (
    CDR_LITTLE_ENDIAN,
    CHUNK_LIMIT_BYTES,
    EVENTS_TOPIC,
    FILES,
    LOG_LIMIT_BYTES,
    METADATA_NAME,
    NUMBER_BYTES,
    RECORD_LIMIT_BYTES,
    Layout,
    message_dtype,
    topic_of,
    unpack_layouts,
)
from kittiwake.analysis.table import Event, Table
from kittiwake.core.errors import LogError

RECORD_HEAD = struct.Struct("<BQ")
ENVELOPE_BYTES = 22
METADATA = {Opcode.METADATA, Opcode.DATA_END}
RELEVANT = {Opcode.CHUNK, Opcode.CHANNEL, Opcode.MESSAGE, Opcode.METADATA, Opcode.DATA_END}
UNREADABLE = (
    McapError,
    struct.error,
    zstandard.ZstdError,
    LookupError,
    OverflowError,
    TypeError,
    ValueError,
    RecursionError,
)

Record = tuple[int, bytes]


def read_log_file(path: Path) -> tuple[dict[str, Table], tuple[Event, ...], bool]:
    """Return the tables by vehicle, the events, and whether the recording is complete.

    Raises:
        LogError: if the file is not a log, is damaged, or requires too much memory.
    """
    try:
        with path.open("rb") as stream:
            return _read(stream)
    except LogError as error:
        message = f"'{path}' {error}"
        raise LogError(message) from error
    except OSError as error:
        message = f"'{path}' cannot be read: {error.strerror}"
        raise LogError(message) from error
    except UNREADABLE as error:
        message = f"'{path}' is damaged: it has an invalid MCAP record"
        raise LogError(message) from error


def files_beside(path: Path) -> dict[str, str] | None:
    """Return the SHA-256 of each file beside a log, as noted in the log.

    The result is None if the file is not a log of Kittiwake. Of several notes the last one counts.
    Names that lead out of the folder, which no run writes, are left out.
    """
    noted = None
    try:
        with path.open("rb") as stream:
            if stream.read(len(MCAP0_MAGIC)) != MCAP0_MAGIC:
                return None
            for opcode, body in _file_records(stream, METADATA):
                if opcode == Opcode.METADATA:
                    metadata = Metadata.read(_fields(body))
                    if metadata.name == METADATA_NAME:
                        unpack_layouts(metadata.metadata)
                        found = json.loads(metadata.metadata.get(FILES, "{}"))
                        noted = {
                            str(name): str(digest)
                            for name, digest in found.items()
                            if _is_below(str(name))
                        }
    except (LogError, OSError, AttributeError, *UNREADABLE):
        return noted
    return noted


def _is_below(name: str) -> bool:
    path = PurePath(name)
    return not path.is_absolute() and ".." not in path.parts


def _read(stream: BinaryIO) -> tuple[dict[str, Table], tuple[Event, ...], bool]:
    if stream.read(len(MCAP0_MAGIC)) != MCAP0_MAGIC:
        message = "is not an MCAP file"
        raise LogError(message)
    contents = _Contents()
    complete = False
    for opcode, body in _file_records(stream):
        if opcode == Opcode.DATA_END:
            complete = True
            break
        if opcode == Opcode.METADATA:
            contents.add_metadata(Metadata.read(_fields(body)))
        elif opcode == Opcode.CHUNK:
            contents.add(_chunk_records(_unpacked(Chunk.read(_fields(body)))))
        else:
            contents.add([(opcode, body)])
    return contents.tables(), tuple(contents.events), complete


class _Contents:
    """Content that has been read so far."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._layouts: dict[str, Layout] | None = None
        self._vehicles: dict[str, str] = {}
        self._topics: dict[int, str] = {}
        self._blocks: dict[str, list[np.ndarray]] = defaultdict(list)
        self._bytes = 0

    def add_metadata(self, metadata: Metadata) -> None:
        """Add the vehicles of a metadata record; of records with one name the first one counts."""
        if metadata.name != METADATA_NAME:
            return
        known = self._layouts or {}
        self._layouts = {**known, **unpack_layouts(metadata.metadata), **known}
        self._vehicles = {topic_of(name): name for name in self._layouts}
        kinds = {columns for columns, _ in self._layouts.values()}
        if sum(map(len, kinds)) * NUMBER_BYTES > CHUNK_LIMIT_BYTES:
            message = f"declares more columns than the {CHUNK_LIMIT_BYTES} bytes of its rows allow"
            raise LogError(message)

    def add(self, records: Iterable[Record]) -> None:
        """Add a group of records; channels of other programs are ignored."""
        bodies: dict[int, list[bytes]] = defaultdict(list)
        for opcode, body in records:
            if opcode == Opcode.MESSAGE:
                bodies[int.from_bytes(body[:2], "little")].append(body)
            elif opcode == Opcode.CHANNEL:
                channel = Channel.read(_fields(body))
                self._topics[channel.id] = channel.topic
        for channel_id, group in bodies.items():
            self._add_messages(self._topics.get(channel_id, ""), group)

    def tables(self) -> dict[str, Table]:
        """Return the tables of all vehicles from the blocks read so far."""
        if self._layouts is None:
            message = "has no list of vehicles: it is not a log of Kittiwake, or was cut off"
            raise LogError(message)
        return {
            name: Table(columns, _joined(self._blocks[name], len(columns)), quantities)
            for name, (columns, quantities) in self._layouts.items()
        }

    def _add_messages(self, topic: str, bodies: list[bytes]) -> None:
        self._bytes += sum(map(len, bodies))
        if self._bytes > LOG_LIMIT_BYTES:
            message = f"unpacks to more than {LOG_LIMIT_BYTES} bytes, the limit of the reader"
            raise LogError(message)
        if topic == EVENTS_TOPIC:
            self.events += [_event(body[ENVELOPE_BYTES:]) for body in bodies]
        elif topic in self._vehicles and self._layouts is not None:
            name = self._vehicles[topic]
            self._blocks[name].append(_rows(self._layouts[name][0], bodies))


def _file_records(stream: BinaryIO, relevant: Collection[int] = RELEVANT) -> Iterator[Record]:
    """Yield the relevant records of a file, without an incomplete one at its end."""
    size = os.fstat(stream.fileno()).st_size
    while len(head := stream.read(RECORD_HEAD.size)) == RECORD_HEAD.size:
        opcode, length = RECORD_HEAD.unpack(head)
        limit = CHUNK_LIMIT_BYTES if opcode == Opcode.CHUNK else RECORD_LIMIT_BYTES
        if opcode in relevant and length > limit:
            message = f"states a record of {length} bytes; the maximum is {limit}"
            raise LogError(message)
        if length > size - stream.tell():
            return
        if opcode in relevant:
            yield opcode, stream.read(length)
        else:
            stream.seek(length, os.SEEK_CUR)


def _chunk_records(content: bytes) -> Iterator[Record]:
    position, end = 0, len(content)
    while position < end:
        opcode, length = RECORD_HEAD.unpack_from(content, position)
        position += RECORD_HEAD.size
        if length > end - position:
            message = "is damaged: a chunk ends within a record"
            raise LogError(message)
        yield opcode, content[position : position + length]
        position += length


def _unpacked(chunk: Chunk) -> bytes:
    content = _decompressed(chunk)
    if chunk.uncompressed_crc not in (0, zlib.crc32(content)):
        message = "is damaged: a chunk does not match its checksum"
        raise LogError(message)
    return content


def _decompressed(chunk: Chunk) -> bytes:
    if chunk.compression == "":
        return chunk.data
    if chunk.compression != "zstd":
        message = f"is compressed with '{chunk.compression}'; write it with 'zstd' or without"
        raise LogError(message)
    # the library would allocate the size in the frame's own header
    size = max(chunk.uncompressed_size, zstandard.frame_content_size(chunk.data))
    if size > CHUNK_LIMIT_BYTES:
        message = f"states a chunk of {size} bytes; the maximum is {CHUNK_LIMIT_BYTES}"
        raise LogError(message)
    return zstandard.decompress(chunk.data, max_output_size=chunk.uncompressed_size)


def _rows(columns: tuple[str, ...], bodies: list[bytes]) -> Float64[np.ndarray, "rows columns"]:
    dtype = message_dtype(columns)
    if any(len(body) != dtype.itemsize for body in bodies):
        message = f"is damaged: a row does not have {len(columns)} numbers"
        raise LogError(message)
    payloads = np.frombuffer(b"".join(bodies), dtype)["row"]
    if (payloads["cdr"] != CDR_LITTLE_ENDIAN).any():
        message = "is damaged: a row is not little-endian CDR"
        raise LogError(message)
    return payloads["values"].astype(np.float64)


def _joined(blocks: list[np.ndarray], column_count: int) -> Float64[np.ndarray, "rows columns"]:
    return np.concatenate([np.empty((0, column_count)), *blocks])


def _event(payload: bytes) -> Event:
    content = json.loads(payload)
    return Event(float(content["time_s"]), str(content["vehicle"]), str(content["event"]))


def _fields(body: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(body))
