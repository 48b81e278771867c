"""CSV files with a table of their columns: numbers, units, axes, and every mistake."""

import math
import re

import numpy as np
import pytest

from kittiwake.analysis.flight_logs import read_flight_log
from kittiwake.core.errors import LogError

ROWS = "t_us,throttle,gyro,north,up,mode\n1000,100,90,5,1,a\n2000,200,45,6,2,b\n3000,300,0,7,4,c\n"
TABLE = """\
time: {column: t_us, unit: us}
columns:
  cmd_throttle: {column: throttle, scale: 0.001, offset: -0.1}
  wx_radps: {column: gyro, unit: deg/s}
"""


@pytest.fixture
def read(tmp_path):
    def read(rows=ROWS, table=TABLE):
        (tmp_path / "flight.csv").write_text(rows, encoding="utf-8")
        if isinstance(table, str):
            (tmp_path / "table.yaml").write_text(table, encoding="utf-8")
            table = tmp_path / "table.yaml"
        return read_flight_log(tmp_path / "flight.csv", table)

    return read


def columns(text, head="time: {column: t_us, unit: us}\n"):
    return f"{head}columns:\n  {text}\n"


def refused(read, message, **given):
    with pytest.raises(LogError) as error:
        read(**given)
    assert message in str(error.value)


def test_columns_are_scaled_and_converted(read):
    log = read()
    assert log.source == "flight.csv"
    assert log.signals["cmd_throttle"].time_s == pytest.approx([0.0, 1e-3, 2e-3], abs=1e-15)
    assert log.signals["cmd_throttle"].values == pytest.approx([0.0, 0.1, 0.2], abs=1e-15)
    assert log.signals["wx_radps"].values == pytest.approx(np.radians([90.0, 45.0, 0.0]))
    assert log.dropped == {}


def test_a_mapping_is_a_table(read):
    log = read(table={"time": {"column": "t_us", "unit": "us"}, "columns": {"z_m": "up"}})
    assert log.signals["z_m"].values.tolist() == [1.0, 2.0, 4.0]
    wrong = {"time": {"column": "t_us"}, "columns": {"z_m": "upp"}}
    refused(read, "columns: columns.z_m: flight.csv has no column 'upp'", table=wrong)


def test_parts_of_an_attitude_may_be_constant(read):
    """A boat with a compass alone; headings of 90 to 0 degrees are yaws of 0 to 90."""
    level = "roll_rad: {value: 0}\n  pitch_rad: {value: 0}\n  "
    axes = "world_axes: ned\nbody_axes: frd\nattitude: euler_zyx\n"
    head = f"time: {{column: t_us, unit: us}}\n{axes}"
    log = read(table=columns(f"{level}yaw_rad: {{column: gyro, unit: deg}}", head))
    yaws = np.radians([0.0, 45.0, 90.0])
    assert log.signals["qw"].values == pytest.approx(np.cos(yaws / 2.0))
    assert log.signals["qz"].values == pytest.approx(np.sin(yaws / 2.0))
    assert log.signals["qx"].values == pytest.approx(np.zeros(3), abs=1e-15)
    still = f"{level}yaw_rad: {{value: 0}}\n  z_m: up"
    log = read(table=columns(still, head))
    assert log.signals["qz"].time_s == pytest.approx([0.0, 2e-3])
    assert log.signals["qz"].values == pytest.approx(np.full(2, math.sqrt(0.5)))


def test_the_start_can_be_kept(read):
    kept = "time: {column: t_us, unit: us, keep_start: true}\n"
    log = read(table=columns("z_m: up", kept))
    assert log.signals["z_m"].time_s == pytest.approx([1e-3, 2e-3, 3e-3])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_and_comments_are_found(read, delimiter):
    rows = "# recorded today\n" + ROWS.replace(",", delimiter).replace("\n2000", "\n# here\n\n2000")
    assert read(rows).signals["wx_radps"].values.size == 3


def test_a_header_of_own_names_needs_no_table(read):
    log = read("time_s,x_m,qw,qx,qy,qz,cmd_throttle\n5,1,1,0,0,0,0.5\n6,2,1,0,0,0,0.6\n", None)
    assert log.signals["x_m"].values.tolist() == [1.0, 2.0]
    assert log.signals["x_m"].time_s.tolist() == [0.0, 1.0]


def test_cells_without_a_number_are_left_out_and_counted(read):
    log = read("time_s,x_m,y_m\n0,1,\n1,nan,5\n2,inf,6\n3,4,7\n", None)
    assert log.signals["x_m"].values.tolist() == [1.0, 4.0]
    assert log.signals["y_m"].time_s.tolist() == [1.0, 2.0, 3.0]
    assert log.dropped == {"x_m": 2, "y_m": 1}


def test_positions_of_ned_become_those_of_enu(read):
    table = columns(
        "x_m: north\n  z_m: {column: up, scale: -1}", "time: {column: t_us}\nworld_axes: ned\n"
    )
    log = read(table=table)
    assert set(log.signals) == {"y_m", "z_m"}
    assert log.signals["y_m"].values.tolist() == [5.0, 6.0, 7.0]
    assert log.signals["z_m"].values.tolist() == [1.0, 2.0, 4.0]


def test_angles_become_an_attitude(read):
    head = "attitude: euler_zyx\nworld_axes: ned\nbody_axes: frd\n"
    text = "roll_rad: {column: r, unit: deg}\n  pitch_rad: p\n  yaw_rad: y"
    log = read("time_s,r,p,y\n0,0,0,0\n1,90,0,0\n", columns(text, head))
    # nose to the north: FLU turned by 90 degrees in ENU
    half = math.sqrt(0.5)
    parts = [log.signals[name].values for name in ("qw", "qx", "qy", "qz")]
    assert np.array(parts)[:, 0] == pytest.approx([half, 0.0, 0.0, half], abs=1e-15)
    assert np.array(parts)[:, 1] == pytest.approx([0.5, 0.5, 0.5, 0.5], abs=1e-15)


def test_recorded_quaternions_are_normalized(read):
    log = read("time_s,qw,qx,qy,qz\n0,1.01,0,0,0\n", None)
    assert log.signals["qw"].values.tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x_m: norht",
            "table.yaml:3: columns.x_m: flight.csv has no column 'norht'. Did you mean 'north'?",
        ),
        (
            "x_mm: north",
            "table.yaml:3: columns.x_mm: not a column of Kittiwake; write x_m: {column: north",
        ),
        (
            "x_m: {column: north, unit: deg}",
            "columns.x_m.unit: got deg; cannot be the unit of 'x_m'. Allowed: cm, ft,",
        ),
        (
            "x_m: {column: north, unit: meter}",
            "table.yaml:3: columns.x_m.unit: got meter; unknown unit.",
        ),
        (
            "qw: {column: north, unit: deg}",
            "columns.qw.unit: got deg; cannot be the unit of 'qw'. Allowed: %, 1.",
        ),
        (
            "x_m: {column: north, sclae: 2}",
            "table.yaml:3: columns.x_m.sclae: there is no such key. Did you mean 'scale'?",
        ),
        (
            "x_m: {column: north, scale: two}",
            "table.yaml:3: columns.x_m.scale: 'two' is not allowed; must be a number",
        ),
        ("x_m: {unit: m}", "table.yaml:3: columns.x_m: give either a column, or the value of"),
        ("x_m: {column: x, value: 3}", "table.yaml:3: columns.x_m: give either a column, or"),
        ("x_m: 3", "table.yaml:3: columns.x_m: 3 is not allowed; must be a mapping {column"),
        ("roll_deg: roll", "write roll_rad: {column: roll, unit: deg} and attitude: euler_zyx."),
        ("wx_degps: p", "write wx_radps: {column: p, unit: deg/s}."),
        (
            "qw: north",
            "table.yaml:3: columns.qw: an attitude is qw, qx, qy, qz; missing: qx, qy, qz",
        ),
        ("yaw_rad: north", "table.yaml:3: columns.yaw_rad: requires `attitude: euler_zyx`"),
        ("cmd_throtle: throttle", "Did you mean 'cmd_throttle'?"),
        ("x_m: mode", "flight.csv:2: mode: 'a' is not a number"),
    ],
)
def test_a_wrong_column_is_refused(read, text, message):
    refused(read, message, table=columns(text))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("time: t_us\n", "must be a mapping {column: ..., unit: ..., keep_start: ...}"),
        ("time: {column: t, unit: us}\n", "flight.csv:1: there is no column 't' of times."),
        (
            "time: {column: t_us, unit: m}\n",
            "table.yaml:1: time.unit: got m; cannot be the unit of a time. Allowed: ms, ns, s, us.",
        ),
        (
            "times: {column: t_us}\n",
            "table.yaml:1: times: there is no such key. Did you mean 'time'?",
        ),
        ("world_axes: nde\n", "table.yaml:1: world_axes: 'nde' is not known. Did you mean 'ned'?"),
        ("body_axes: ned\n", "table.yaml:1: body_axes: 'ned' is not known. "),
        (
            "attitude: euler_zyx\n",
            "table.yaml:1: attitude: euler_zyx requires the columns roll_rad",
        ),
        ("time: [1\n", "table.yaml:"),
    ],
)
def test_a_wrong_head_is_refused(read, head, message):
    refused(read, message, table=columns("x_m: north", head))


def test_quaternions_are_refused_beside_angles(read):
    head = "attitude: euler_zyx\n"
    text = "roll_rad: north\n  pitch_rad: north\n  yaw_rad: north\n  qw: north"
    message = "table.yaml:6: columns.qw: not allowed with `attitude: euler_zyx`"
    refused(read, message, table=columns(text, head))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "flight.csv: has no line of names"),
        ("time_s,x_m\n", "flight.csv: has no rows"),
        ("time_s,x_m,x_m\n0,1,2\n", "flight.csv:1: two columns are named 'x_m'"),
        (
            "# a\ntime_s,x_m\n0,1\n0,2\n",
            "flight.csv:4: time_s must increase from row to row: got 0 after 0",
        ),
        (
            "time_s,x_m\n1,1\n0.5,2\n",
            "flight.csv:3: time_s must increase from row to row: got 0.5 after 1",
        ),
        ("time_s,x_m\n,1\n", "flight.csv:2: time_s must be a finite number"),
        ("time_s,x_m\n0,1,2\n", "flight.csv:2: 3 values below 2 names"),
        ("time_s;x_m\n0;1,5\n", "flight.csv:2: x_m: '1,5' is not a number; write a decimal point"),
        ("time_s,x_m\n0,\n", "flight.csv: 'x_m' has no finite samples"),
        (
            "time_s,x_n\n0,1\n",
            "flight.csv:1: 'x_n': not a column of Kittiwake. Did you mean 'x_m'?",
        ),
        ("time,x_m\n0,1\n", "flight.csv:1: 'time': not a column of Kittiwake."),
        (
            "time_s,qw,qx,qy,qz\n0,0,0,0,0\n",
            "flight.csv: the norm of qw, qx, qy, qz is 0; must be 1",
        ),
    ],
)
def test_a_wrong_file_of_own_names_is_refused(read, rows, message):
    refused(read, message, rows=rows, table=None)


def test_a_table_that_is_no_mapping_is_refused(read):
    refused(read, "table.yaml:1: a table of columns is a mapping", table="- 1\n")
    refused(read, "columns is missing", table="time: {unit: s}\n")
    refused(read, "columns: columns: ", table={"columns": {}})


def test_bytes_that_are_no_text_are_refused(tmp_path, read):
    (tmp_path / "raw.csv").write_bytes(b"time_s,x_m\n0,\xff\n")
    with pytest.raises(LogError, match=re.escape("raw.csv cannot be read as a CSV file: ")):
        read_flight_log(tmp_path / "raw.csv")


def test_a_missing_table_is_refused(tmp_path, read):
    with pytest.raises(LogError, match="none.yaml' cannot be read: No such file"):
        read(table=tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "does not exist. Give a flight log"),
        ("notes.txt", "is of an unknown format. The ends of names that are read: .csv, .mcap"),
        ("folder", "is neither a folder that 'kittiwake run' has written nor a bag of ROS 2"),
        ("flight.bag", "flight.bag: give a table of its columns: --columns TABLE.yaml"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, name, message):
    (tmp_path / "notes.txt").touch()
    (tmp_path / "flight.bag").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(LogError, match=re.escape(message)):
        read_flight_log(tmp_path / name)


def test_a_large_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("kittiwake.analysis.flight_logs.csv_log.MAX_BYTES", 2**20)
    (tmp_path / "large.csv").write_bytes(bytes(2**20 + 1))
    with pytest.raises(LogError, match="large.csv: larger than 1 MiB, the most that is read"):
        read_flight_log(tmp_path / "large.csv")


def test_a_vehicle_is_only_chosen_from_own_logs(tmp_path):
    (tmp_path / "flight.csv").write_text(ROWS)
    with pytest.raises(LogError, match="`vehicle`: only allowed for logs of Kittiwake"):
        read_flight_log(tmp_path / "flight.csv", vehicle="gull")
