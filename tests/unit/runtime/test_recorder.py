import contextlib
import os
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from mcap.reader import make_reader
from mcap.writer import CompressionType, IndexType, Writer

import kittiwake.runtime.recorder
from kittiwake.analysis.log import Log
from kittiwake.analysis.log_format import CHUNK_LIMIT_BYTES, METADATA_NAME, pack_layouts
from kittiwake.analysis.table import Event
from kittiwake.core.errors import LogError
from kittiwake.runtime.recorder import Recorder

COLUMNS = ("time_s", "x_m", "sensor.GPS.x_m", "status")
QUANTITIES = ("speed_mps", "x_m")
SOURCE = str(Path(kittiwake.runtime.recorder.__file__).parents[2])


def rows(count, *, start=0, columns=4):
    values = np.sin(1e3 * np.arange(start * columns, (start + count) * columns, dtype=float))
    values = values.reshape(count, columns)
    values[:, 0] = 0.004 * (start + np.arange(count))
    return values


def record(folder, blocks=6, rows_per_block=50):
    """Record two vehicles, the second with NaN, -0 and infinity; returns what was recorded."""
    vehicles = {"pelican": COLUMNS, "gull 2": (*COLUMNS[:3], "act_rotor_radps", "status")}
    recorded = {name: [] for name in vehicles}
    with Recorder(folder / "log.mcap", vehicles, {"pelican": QUANTITIES}) as recorder:
        for block in range(blocks):
            start = block * rows_per_block
            one, other = (
                rows(rows_per_block, start=start),
                rows(rows_per_block, start=start, columns=5),
            )
            other[:3, 1] = np.nan, -0.0, np.inf
            recorder.write({"pelican": one, "gull 2": other})
            recorder.event(0.2 * block, "gull 2", f"block {block}")
            recorded["pelican"].append(one)
            recorded["gull 2"].append(other)
    return {name: np.concatenate(parts) for name, parts in recorded.items()}


def test_a_recording_reads_back_bit_for_bit(tmp_path):
    recorded = record(tmp_path)
    log = Log.read(tmp_path)
    assert log.names == ("pelican", "gull 2")
    assert log.columns("pelican") == COLUMNS
    assert log.quantities("pelican") == QUANTITIES
    assert log.quantities("gull 2") == ()
    assert log.complete
    assert log.events == tuple(Event(0.2 * k, "gull 2", f"block {k}") for k in range(6))
    for name, values in recorded.items():
        assert log.values(name).tobytes() == values.tobytes()


def test_a_recording_is_an_ordinary_indexed_mcap_file(tmp_path):
    record(tmp_path)
    with (tmp_path / "log.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        assert {channel.topic for channel in summary.channels.values()} == {
            "/pelican/log",
            "/gull 2/log",
            "/events",
        }
        assert summary.statistics.message_count == 2 * 300 + 6
        first = next(iter(reader.iter_messages(topics=["/pelican/log"], starting_at=400_000_000)))
    schema, channel, message = first
    assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
    assert schema.data == b"float64 time_s\nfloat64 x_m\nfloat64 sensor_gps_x_m\nfloat64 status\n"
    assert message.log_time == 400_000_000
    assert message.data[:4] == b"\x00\x01\x00\x00"
    assert struct.unpack("<4d", message.data[4:])[0] == pytest.approx(0.4, abs=1e-12)


def test_a_run_that_raises_leaves_a_complete_file(tmp_path):
    def fly():
        with Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {}) as recorder:
            recorder.write({"a": rows(3)})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fly()
    log = Log.read(tmp_path)
    assert log.complete
    assert len(log.values("a")) == 3


def test_a_closed_recorder_can_be_closed_again(tmp_path):
    recorder = Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {})
    recorder.close()
    recorder.close()
    assert Log.read(tmp_path).complete


def test_a_thousand_vehicles_of_one_kind_share_one_schema(tmp_path):
    names = [f"drone{k}" for k in range(1000)]
    with Recorder(tmp_path / "log.mcap", dict.fromkeys(names, COLUMNS), {}) as recorder:
        recorder.write({name: rows(2, start=k) for k, name in enumerate(names)})
    with (tmp_path / "log.mcap").open("rb") as stream:
        assert len(make_reader(stream).get_summary().schemas) == 2  # rows and events
    log = Log.read(tmp_path)
    assert all(np.array_equal(log.values(n), rows(2, start=k)) for k, n in enumerate(names))


KILLED = """
import sys
import numpy as np
from kittiwake.runtime.recorder import Recorder
recorder = Recorder(sys.argv[1], {"a": ("time_s", "x_m"), "b": ("time_s", "x_m")}, {})
block = 0
while True:
    rows = np.stack([np.arange(100.0) + 100.0 * block, np.full(100, float(block))], axis=1)
    recorder.write({"a": rows, "b": rows})
    block += 1
    print(block, flush=True)
"""


def test_a_killed_process_loses_no_block_that_it_had_written(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "log.mcap")]
    with subprocess.Popen(command, env={"PYTHONPATH": SOURCE}, stdout=subprocess.PIPE) as process:
        for _ in range(20):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        written = 20 + len(process.stdout.readlines())
    log = Log.read(tmp_path)
    assert not log.complete
    for name in "ab":
        # it may have died between writing a block and saying so
        assert len(log.values(name)) in (100 * written, 100 * (written + 1))
        assert np.array_equal(log.column(name, "time_s"), np.arange(float(len(log.values(name)))))


def test_a_file_cut_off_anywhere_holds_a_prefix(tmp_path):
    recorded = record(tmp_path, blocks=5, rows_per_block=20)
    whole = (tmp_path / "log.mcap").read_bytes()
    found = []
    for length in range(0, len(whole), 97):
        (tmp_path / "log.mcap").write_bytes(whole[:length])
        try:
            log = Log.read(tmp_path)
        except LogError:
            found.append(-1)
            continue
        counts = {len(log.values(name)) for name in log.names}
        assert len(counts) == 1  # blocks are whole for all vehicles
        for name in log.names:
            count = len(log.values(name))
            assert log.values(name).tobytes() == recorded[name][:count].tobytes()
        found.append(counts.pop())
    assert found == sorted(found)
    assert set(found) == {-1, 0, 20, 40, 60, 80, 100}


@pytest.mark.slow
def test_a_file_with_any_byte_changed_is_read_or_refused(tmp_path):
    record(tmp_path, blocks=2, rows_per_block=5)
    whole = (tmp_path / "log.mcap").read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        (tmp_path / "log.mcap").write_bytes(damaged)
        with contextlib.suppress(LogError):
            assert Log.read(tmp_path).names


@pytest.mark.parametrize("content", [b"", b"\x89MCAP", b"time_s,x_m\n0,0\n", b"\x00" * 1000])
def test_another_kind_of_file_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "log.mcap").write_bytes(content)
    with pytest.raises(LogError, match=r"log\.mcap' is not an MCAP file"):
        Log.read(tmp_path)


def write_mcap(path, fill, **options):
    with path.open("wb") as stream:
        writer = Writer(stream, **options)
        writer.start()
        fill(writer)
        writer.finish()


def test_another_programs_mcap_file_is_refused_in_a_sentence(tmp_path):
    write_mcap(tmp_path / "log.mcap", lambda writer: writer.add_metadata("other", {}))
    with pytest.raises(LogError, match="has no list of vehicles"):
        Log.read(tmp_path)


def append_record(path, opcode, body, *, length=None):
    with path.open("ab") as stream:
        stream.write(struct.pack("<BQ", opcode, len(body) if length is None else length) + body)


def begun(tmp_path):
    """A recording that was cut off before its first block, ready to be continued by an attacker."""
    recorder = Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {})
    content = (tmp_path / "log.mcap").read_bytes()
    recorder.close()
    (tmp_path / "log.mcap").write_bytes(content)
    return tmp_path / "log.mcap"


@pytest.mark.parametrize("opcode", [0x06, 0x05, 0x04, 0x0C])
@pytest.mark.parametrize("length", [CHUNK_LIMIT_BYTES + 1, 2**40, 2**64 - 1])
def test_a_hostile_record_length_is_refused(tmp_path, opcode, length):
    append_record(begun(tmp_path), opcode, b"", length=length)
    with pytest.raises(LogError, match="states a record of"):
        Log.read(tmp_path)


def chunk(data, compression=b"zstd", size=0, crc=0):
    head = struct.pack("<QQQII", 0, 0, size, crc, len(compression))
    return head + compression + struct.pack("<Q", len(data)) + data


def test_a_chunk_that_unpacks_to_too_much_is_refused(tmp_path):
    bomb = zstandard.compress(bytes(CHUNK_LIMIT_BYTES + 1))
    append_record(begun(tmp_path), 0x06, chunk(bomb, size=10))
    with pytest.raises(LogError, match="states a chunk of"):
        Log.read(tmp_path)


def test_a_chunk_that_hides_its_size_unpacks_to_no_more_than_it_states(tmp_path):
    packer = zstandard.ZstdCompressor(write_content_size=False)
    append_record(begun(tmp_path), 0x06, chunk(packer.compress(bytes(10**7)), size=10))
    with pytest.raises(LogError, match="is damaged"):
        Log.read(tmp_path)


def test_many_small_bombs_are_refused_together(tmp_path, monkeypatch):
    monkeypatch.setattr("kittiwake.analysis.log_reader.LOG_LIMIT_BYTES", 10**6)
    message = struct.pack("<BQHIQQ", 0x05, 22 + 1000, 99, 0, 0, 0) + bytes(1000)
    path = begun(tmp_path)
    for _ in range(20):
        append_record(path, 0x06, chunk(zstandard.compress(message * 100), size=103_100))
    with pytest.raises(LogError, match="unpacks to more than 1000000 bytes"):
        Log.read(tmp_path)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (chunk(b"", b"lz4"), "compressed with 'lz4'"),
        (chunk(b"abc", b"", crc=zlib.crc32(b"abc") ^ 1), "does not match its checksum"),
        (chunk(b"\x05" + struct.pack("<Q", 50) + b"abc", b""), "ends within a record"),
        (chunk(b"\x05\x01", b""), "is damaged"),
        (b"", "is damaged"),
    ],
)
def test_a_broken_chunk_is_named(tmp_path, body, sentence):
    append_record(begun(tmp_path), 0x06, body)
    with pytest.raises(LogError, match=sentence):
        Log.read(tmp_path)


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (b"\x00\x01\x00\x00" + bytes(24), "does not have 4 numbers"),
        (b"\x00\x00\x00\x00" + bytes(32), "not little-endian CDR"),
    ],
)
def test_a_row_of_another_form_is_named(tmp_path, payload, sentence):
    def fill(writer):
        writer.add_metadata(METADATA_NAME, pack_layouts({"a": (COLUMNS, ())}))
        channel = writer.register_channel("/a/log", "cdr", 0)
        writer.add_message(channel, 0, payload, 0)

    write_mcap(tmp_path / "log.mcap", fill)
    with pytest.raises(LogError, match=sentence):
        Log.read(tmp_path)


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kinds": "{", "vehicles": "{}"},
        {"kinds": "[1]", "vehicles": "{}"},
        {"kinds": '[{"columns": "abc", "quantities": []}]', "vehicles": "{}"},
        {"kinds": "[]", "vehicles": '{"a": 0}'},
        {"kinds": "[" * 100_000, "vehicles": "{}"},
    ],
)
def test_a_broken_list_of_vehicles_is_refused(tmp_path, metadata):
    write_mcap(tmp_path / "log.mcap", lambda writer: writer.add_metadata(METADATA_NAME, metadata))
    with pytest.raises(LogError, match="is damaged"):
        Log.read(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"use_chunking": False},
        {"compression": CompressionType.NONE},
        {"chunk_size": 100, "index_types": IndexType.NONE, "enable_crcs": False},
    ],
)
def test_logs_rewritten_by_other_tools_are_read(tmp_path, options):
    recorded = rows(30)

    def fill(writer):
        writer.add_metadata(METADATA_NAME, pack_layouts({"a": (COLUMNS, QUANTITIES)}))
        other = writer.register_channel("/camera", "json", 0)
        channel = writer.register_channel("/a/log", "cdr", 0)
        for row in recorded:
            writer.add_message(other, 0, b"{}", 0)
            writer.add_message(channel, 0, b"\x00\x01\x00\x00" + row.tobytes(), 0)

    write_mcap(tmp_path / "log.mcap", fill, **options)
    assert Log.read(tmp_path).values("a").tobytes() == recorded.tobytes()


@pytest.mark.slow
def test_thirty_thousand_rows_are_read_as_they_were_recorded(tmp_path):
    columns = ("time_s", *(f"c{k}" for k in range(39)))
    blocks = [rows(1000, start=1000 * k, columns=40) for k in range(30)]
    with Recorder(tmp_path / "log.mcap", {"a": columns}, {}) as recorder:
        for block in blocks:
            recorder.write({"a": block})
    assert np.array_equal(Log.read(tmp_path).values("a"), np.concatenate(blocks))
