import io
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mcap.reader import make_reader
from pyarrow import csv, parquet

from kittiwake.analysis.export import export_csv, export_mcap, export_parquet, write_csv
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Event, Table
from kittiwake.core.errors import LogError

COLUMNS = (*STATE_COLUMNS, "sensor.gps.x_m", "status")
AWKWARD = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e22, 1 / 3]


def bits(values):
    return np.ascontiguousarray(values, np.float64).view(np.uint64)


def table(seed, *, rows=2500, columns=COLUMNS):
    values = np.sin(1e3 * (seed + np.arange(rows * len(columns)))).reshape(rows, len(columns))
    values[:, 0] = 0.01 * np.arange(rows)
    values[: len(AWKWARD), 1] = AWKWARD[:rows]
    return Table(columns, values, ("x_m", "speed_mps"))


@pytest.fixture
def log():
    events = (Event(0.5, "pelican", "left the flight area"),)
    return Log({"pelican": table(0), "gull": table(1)}, events)


def test_csv_reads_back_bit_for_bit(log, tmp_path):
    paths = export_csv(log, tmp_path / "tables")
    assert paths == [tmp_path / "tables" / "pelican.csv", tmp_path / "tables" / "gull.csv"]
    for path, name in zip(paths, log.names, strict=True):
        frame = pandas.read_csv(path, dtype=float)
        assert tuple(frame.columns) == COLUMNS
        finite = ~np.isnan(log.values(name))  # text does not keep a NaN's sign and payload
        assert np.array_equal(bits(frame.to_numpy())[finite], bits(log.values(name))[finite])
        assert np.isnan(frame.to_numpy()[~finite]).all()


@given(hnp.arrays(np.float64, 50, elements=st.floats()))
@example(np.array([1e10, 9999999999.999998, 1e-4, 1e-5, 9.5e-7, 1e-6, 1e15, 1e22, -1.5e16, 5e-324]))
def test_csv_has_the_digits_that_arrow_writes(values):
    log = Log({"tern": Table(("x_m",), values[:, None])})
    with TemporaryDirectory() as folder:
        written = write_csv(log, "tern", Path(folder) / "tern.csv").read_bytes()
    stream = io.BytesIO()
    options = csv.WriteOptions(quoting_header="none")
    csv.write_csv(pyarrow.table({"x_m": values}), stream, options)
    assert written == stream.getvalue()


def test_csv_needs_no_library_of_an_extra(log, tmp_path, monkeypatch):
    for module in ("pandas", "pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(export_csv(log, tmp_path)) == 2


def test_a_column_that_would_break_the_header_is_refused(tmp_path):
    odd = Log({"tern": Table(("time_s", "x,y"), np.zeros((1, 2)))})
    with pytest.raises(LogError, match="the column name 'x,y' of 'tern' cannot be in the header"):
        export_csv(odd, tmp_path)


def test_csv_reads_back_with_numpy_too(log, tmp_path):
    [path, _] = export_csv(log, tmp_path)
    values = np.genfromtxt(path, delimiter=",", skip_header=1)
    assert np.array_equal(values, log.values("pelican"), equal_nan=True)


def test_the_csv_header_is_plain(log, tmp_path):
    [path, _] = export_csv(log, tmp_path)
    assert path.read_text().split("\n", 1)[0] == ",".join(COLUMNS)


@pytest.mark.parametrize("name", ["../escape", "/tmp/escape", "a/b", "../..", "a\\b", "a\0"])
def test_a_vehicle_name_cannot_lead_out_of_the_folder(tmp_path, name):
    with pytest.raises(LogError, match="cannot be a file's name"):
        export_csv(Log({name: table(0, rows=1)}), tmp_path / "deep" / "er")
    assert not list(tmp_path.iterdir())


def test_parquet_holds_all_vehicles_bit_for_bit(log, tmp_path):
    export_parquet(log, tmp_path / "log.parquet")
    together = parquet.read_table(tmp_path / "log.parquet").to_pandas()
    assert tuple(together.columns) == ("vehicle", *COLUMNS)
    for name in log.names:
        own = together[together["vehicle"] == name].drop(columns="vehicle")
        assert np.array_equal(bits(own.to_numpy()), bits(log.values(name)))


def test_parquet_holds_null_where_a_vehicle_lacks_a_column(tmp_path):
    boat = table(2, columns=(*STATE_COLUMNS, "act_rudder_rad", "status"))
    export_parquet(Log({"pelican": table(0), "boat": boat}), tmp_path / "log.parquet")
    together = parquet.read_table(tmp_path / "log.parquet")
    assert together["act_rudder_rad"].null_count == 2500
    assert together["sensor.gps.x_m"].null_count == 2500
    assert together["x_m"].null_count == 0


def test_an_exported_mcap_is_complete_and_reads_back_bit_for_bit(log, tmp_path):
    run, copy = tmp_path / "run", tmp_path / "copy"
    run.mkdir()
    copy.mkdir()
    (run / "scenario.yaml").write_text("name: x\n")
    export_mcap(log, run, copy / "log.mcap")
    again = Log.read(copy)
    assert again.complete
    assert again.events == log.events
    for name in log.names:
        assert again.columns(name) == log.columns(name)
        assert again.quantities(name) == log.quantities(name)
        assert np.array_equal(bits(again.values(name)), bits(log.values(name)))
    with (copy / "log.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        counts = reader.get_summary().statistics
        assert counts.message_count == 5001
        [attachment] = reader.iter_attachments()
        assert attachment.data == b"name: x\n"
        times = [message.log_time for _, _, message in reader.iter_messages()]
        assert times == sorted(times)


def test_an_export_never_overwrites_its_own_source(log, tmp_path):
    (tmp_path / "log.mcap").write_bytes(b"precious")
    with pytest.raises(LogError, match="Give another path"):
        export_mcap(log, tmp_path, tmp_path / "." / "log.mcap")
    assert (tmp_path / "log.mcap").read_bytes() == b"precious"


def test_events_are_plain_json_for_other_tools(log, tmp_path):
    export_mcap(log, tmp_path, tmp_path / "out.mcap")
    with (tmp_path / "out.mcap").open("rb") as stream:
        [(_, channel, message)] = make_reader(stream).iter_messages(topics=["/events"])
    assert channel.message_encoding == "json"
    assert message.log_time == 500_000_000
    assert json.loads(message.data) == {
        "time_s": 0.5,
        "vehicle": "pelican",
        "event": "left the flight area",
    }


def exports(log, path):
    """Each way to write one file there."""
    return [
        lambda: write_csv(log, "pelican", path),
        lambda: export_parquet(log, path),
        lambda: export_mcap(log, path.parent, path),
    ]


def test_a_file_in_a_missing_folder_is_refused_with_the_folder(log, tmp_path):
    for export in exports(log, tmp_path / "no" / "such" / "file"):
        with pytest.raises(LogError, match=r"there is no folder '.*no/such'\. Create it first"):
            export()


def test_a_folder_in_a_files_place_is_refused_with_a_name_in_it(log, tmp_path):
    for export in exports(log, tmp_path):
        with pytest.raises(LogError, match=r"is a folder\. Name a file in it, such as '.*/log'"):
            export()


def test_a_place_that_cannot_be_written_is_refused_with_the_reason(log, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LogError, match="cannot be written: Not a directory"):
        export_csv(log, tmp_path / "file" / "tables")
    for export in exports(log, tmp_path / ("x" * 300)):
        with pytest.raises(LogError, match=r"cannot be written: File name too long\. Name another"):
            export()
