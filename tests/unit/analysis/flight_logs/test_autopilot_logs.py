"""Logs of PX4 and ArduPilot, written here and read back."""

import builtins
import math
import re
import struct

import numpy as np
import pytest
from tests.unit.analysis.flight_logs.written_logs import (
    dataflash,
    dataflash_format,
    dataflash_message,
    ulog,
    ulog_head,
    ulog_record,
)

from kittiwake.analysis.flight_logs import read_flight_log
from kittiwake.core.errors import LogError, MissingExtraError
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_euler
from kittiwake.geometry.quaternion import Quaternion

pytest.importorskip("pyulog", reason="the extra logs is not installed")
pytest.importorskip("pymavlink", reason="the extra logs is not installed")

US = "uint64_t", "timestamp"
ANGLES = (0.1, -0.2, 0.3)
NAN = math.nan
POSITION = ("vehicle_local_position", 0, [US, *(("float", axis) for axis in ("x", "y", "z"))])
BARO = [US, ("float", "pressure"), ("uint8_t[2]", "flags")]
BAROS = [
    ("sensor_baro", 0, BARO, [(1_000_000, 1.0, 1, 2), (2_000_000, 2.0, 3, 4)]),
    ("sensor_baro", 1, BARO, [(1_500_000, 3.0, 5, 6)]),
]
IMU = ("IMU", "QBffff", "TimeUS,I,GyrX,GyrY,GyrZ,AccX")


def own_attitude(angles):
    """Return the quaternion in own axes of angles of FRD in NED."""
    return np.array([float(part) for part in Quaternion.from_euler(swap_euler(EulerZYX(*angles)))])


def attitude_at(log, row):
    return np.array([log.signals[name].values[row] for name in ("qw", "qx", "qy", "qz")])


@pytest.fixture
def read(tmp_path):
    def read(content, columns=None, name="flight.ulg", **options):
        (tmp_path / name).write_bytes(content)
        return read_flight_log(tmp_path / name, columns and {"columns": columns, **options})

    return read


@pytest.fixture
def refused(read):
    def refused(message, *given, **options):
        with pytest.raises(LogError) as error:
            read(*given, **options)
        assert message in str(error.value)

    return refused


# PX4


def test_a_log_of_px4_needs_no_table(read):
    recorded = [float(part) for part in Quaternion.from_euler(EulerZYX(*ANGLES))]
    attitude = ("vehicle_attitude", 0, [US, ("float[4]", "q")], [(2_000_000, *recorded)])
    rates = ("vehicle_angular_velocity", 0, [US, ("float[3]", "xyz")], [(2_500_000, 1.0, 2.0, 3.0)])
    motors = ("actuator_motors", 0, [US, ("float[8]", "control")], [(3_000_000, 0.5, *7 * [NAN])])
    log = read(ulog([attitude, rates, motors, (*POSITION, [(4_000_000, 1.0, 2.0, -3.0)])]))
    # of single precision
    assert abs(attitude_at(log, 0) @ own_attitude(ANGLES)) == pytest.approx(1.0, abs=1e-7)
    assert [log.signals[f"w{axis}_radps"].values[0] for axis in "xyz"] == [1.0, -2.0, -3.0]
    assert [log.signals[f"{axis}_m"].values[0] for axis in "xyz"] == [2.0, 1.0, 3.0]
    assert log.signals["act_motor_0"].values.tolist() == [0.5]
    assert "act_motor_1" not in log.signals
    times = {name: log.signals[name].time_s[0] for name in ("qw", "wx_radps", "x_m")}
    assert times == pytest.approx({"qw": 0.0, "wx_radps": 0.5, "x_m": 2.0})


def test_instances_and_elements_of_ulog_are_columns(read):
    names = {"act_a": "sensor_baro.pressure", "act_b": "sensor_baro[1].pressure"}
    log = read(ulog(BAROS), names | {"act_c": "sensor_baro[0].flags[1]"})
    assert log.signals["act_a"].values.tolist() == [1.0, 2.0]
    assert log.signals["act_a"].time_s.tolist() == [0.0, 1.0]
    assert log.signals["act_b"].values.tolist() == [3.0]
    assert log.signals["act_b"].time_s.tolist() == [0.5]
    assert log.signals["act_c"].values.tolist() == [2.0, 4.0]


def test_times_of_ulog_can_be_another_field(read):
    fields = [US, ("uint64_t", "timestamp_sample"), ("float", "x")]
    rows = [(9, 1000, 1.0), (10, 3000, 2.0)]
    content = ulog([("imu", 0, fields, rows)])
    log = read(content, {"act_x": "imu.x"}, time={"column": "timestamp_sample", "unit": "ms"})
    assert log.signals["act_x"].time_s.tolist() == [0.0, 2.0]


def test_repeated_times_are_left_out_and_counted(read):
    log = read(ulog([(*POSITION, [(5, 1.0, 0.0, 0.0), (5, 2.0, 0.0, 0.0), (6, 3.0, NAN, 0.0)])]))
    assert log.signals["y_m"].values.tolist() == [1.0, 3.0]
    assert log.signals["x_m"].values.tolist() == [0.0]
    assert log.dropped == {"x_m": 2, "y_m": 1, "z_m": 1}


def test_a_log_that_was_cut_off_is_read_up_to_there(read):
    content = ulog([(*POSITION, [(1, 1.0, 0.0, 0.0), (2, 2.0, 0.0, 0.0)])])
    assert read(content[:-3]).signals["y_m"].values.tolist() == [1.0]


def test_a_time_that_goes_back_is_refused(refused):
    content = ulog([(*POSITION, [(7, 1.0, 0.0, 0.0), (5, 2.0, 0.0, 0.0)])])
    message = "flight.ulg: the time of 'vehicle_local_position.x' goes back from 7 to 5, after 1 "
    refused(message, content)


def test_an_unknown_column_of_ulog_is_refused_with_the_nearest_one(refused):
    message = (
        "columns: columns.act_a: flight.ulg has no column 'sensor_baro.pressur'. Did you mean "
        "'sensor_baro.pressure'? Allowed: sensor_baro.flags[0], "
    )
    refused(message, ulog(BAROS), {"act_a": "sensor_baro.pressur"})


def test_a_log_without_known_columns_asks_for_a_table(refused):
    message = "flight.ulg: has none of the columns of px4.yaml. Give a table of its columns: "
    refused(message, ulog(BAROS))


def test_a_missing_time_of_ulog_is_refused(refused):
    message = "flight.ulg: 'sensor_baro' has no field 'stamp' of times. Allowed: flags[0], "
    refused(message, ulog(BAROS), {"act_a": "sensor_baro.pressure"}, time={"column": "stamp"})


def test_parts_of_an_attitude_have_the_same_times(refused):
    fields = [US, ("float[4]", "q")]
    topics = [
        ("one", 0, fields, [(1, 1.0, 0.0, 0.0, 0.0)]),
        ("other", 0, fields, [(2, *4 * [0.0])]),
    ]
    names = {"qw": "one.q[0]", "qx": "one.q[1]", "qy": "one.q[2]", "qz": "other.q[3]"}
    refused("columns: columns.qw: the parts of an attitude must be recorded", ulog(topics), names)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "flight.ulg: is not a ULog file"),
        (b"time_s,x_m\n0,1\n0,1\n0,1", "flight.ulg: is not a ULog file"),
        (
            ulog_head() + struct.pack("<HB", 60_000, 0) + bytes(9),
            "is damaged: a definition of 60000",
        ),
        (ulog_head() + ulog_record("I", b"abcdef")[:-2], "flight.ulg: is cut off within its def"),
        (ulog(BAROS, [("a", "a[65535] b;")]), "'a' has more than 4096 fields, the most allowed"),
        (
            ulog(BAROS, [("a", "b[999] x;"), ("b", "float[999] y;")]),
            "'a' has more than 4096 fields",
        ),
        (ulog(BAROS) + ulog_record("D", b"\x09\x00\x01"), "flight.ulg: is damaged: it has records"),
    ],
)
def test_a_damaged_ulog_is_refused(refused, content, message):
    refused(message, content, {"act_a": "sensor_baro.pressure"})


def test_the_output_of_a_parser_is_not_shown(read, capfd):
    read(ulog(BAROS) + ulog_record("S", b"\0"), {"act_a": "sensor_baro.pressure"})
    assert capfd.readouterr() == ("", "")


# ArduPilot


def test_a_log_of_ardupilot_needs_no_table(read):
    degrees = [round(100.0 * math.degrees(angle)) for angle in ANGLES]
    content = dataflash(
        [
            ("ATT", "Qccc", "TimeUS,Roll,Pitch,Yaw", [(1_000_000, *degrees)]),
            ("RATE", "Qfff", "TimeUS,R,P,Y", [(1_100_000, 10.0, 20.0, 30.0)]),
            ("XKF1", "QBfff", "TimeUS,I,PN,PE,PD", [(1_200_000, 0, 1.0, 2.0, -3.0)]),
            ("RCOU", "QHH", "TimeUS,C1,C2", [(1_300_000, 1100, 1900)]),
        ]
    )
    log = read(content, name="flight.bin")
    # the log has hundredths of a degree
    assert abs(attitude_at(log, 0) @ own_attitude(ANGLES)) == pytest.approx(1.0, abs=1e-8)
    rates = [log.signals[f"w{axis}_radps"].values[0] for axis in "xyz"]
    assert rates == pytest.approx(np.radians([10.0, -20.0, -30.0]))
    assert [log.signals[f"{axis}_m"].values[0] for axis in "xyz"] == [2.0, 1.0, 3.0]
    assert log.signals["act_output_2_s"].values == pytest.approx([1.9e-3])
    assert log.signals["act_output_2_s"].time_s == pytest.approx([0.3])


def test_instances_of_dataflash_are_columns(read):
    rows = [(1_000_000, 0, 1.0, 0.0, 0.0, 0.0), (1_000_000, 1, 2.0, 0.0, 0.0, 0.0)]
    rows += [(2_000_000, 0, 3.0, 0.0, 0.0, 0.0), (2_500_000, 1, 4.0, 0.0, 0.0, 0.0)]
    names = {"wx_radps": "IMU.GyrX", "act_a": "IMU[1].GyrX", "act_b": "IMU[0].GyrX"}
    log = read(dataflash([(*IMU, rows)]), names, "flight.bin")
    assert log.signals["wx_radps"].values.tolist() == [1.0, 3.0]
    assert log.signals["act_a"].values.tolist() == [2.0, 4.0]
    assert log.signals["act_a"].time_s.tolist() == [0.0, 1.5]
    assert log.signals["act_b"].values.tolist() == [1.0, 3.0]


def test_padding_and_a_cut_message_end_a_dataflash_log(read):
    content = dataflash([("A", "Qf", "TimeUS,x", [(1, 1.0), (2, 2.0)])])
    assert read(content[:-2], {"act_x": "A.x"}, "a.bin").signals["act_x"].values.tolist() == [1.0]
    padded = read(content + bytes(200), {"act_x": "A.x"}, "b.bin")
    assert padded.signals["act_x"].values.tolist() == [1.0, 2.0]


def test_no_other_file_is_opened_and_no_socket(read, monkeypatch, tmp_path):
    read(dataflash([("A", "Qf", "TimeUS,x", [(1, 1.0)])]), {"act_x": "A.x"}, "flight.bin")
    opened = []
    original = builtins.open
    monkeypatch.setattr(
        builtins, "open", lambda *a, **k: opened.append(str(a[0])) or original(*a, **k)
    )
    monkeypatch.setattr("socket.socket", None)
    read_flight_log(tmp_path / "flight.bin", {"columns": {"act_x": "A.x"}})
    assert {*opened} <= {str(tmp_path / "flight.bin"), "/dev/null"}


LONG = bytes(600)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "flight.bin: is not a DataFlash log"),
        (
            dataflash_format(1, "A", "Qf", "TimeUS,x", 0),
            "is damaged: 'A' states a length of 0 bytes",
        ),
        (
            dataflash_format(1, "A", "Qf", "TimeUS,x", 2),
            "is damaged: 'A' states a length of 2 bytes",
        ),
        (dataflash_format(1, "A", "Q!", "TimeUS,x"), "is damaged: 'A' states a length of 12 bytes"),
        (
            dataflash_format(1, "A", "Qf", "TimeUS,x") + dataflash_format(1, "A", "QB", "TimeUS,x"),
            "is damaged: 'A' states a length of 12 bytes",
        ),
        (dataflash([]) + LONG, "flight.bin: is damaged at byte 178: no message begins there"),
        (dataflash([]) + dataflash_message(9, "Q", 1) + LONG, "flight.bin: is damaged at byte 178"),
    ],
)
def test_a_damaged_dataflash_log_is_refused(refused, content, message):
    refused(message, content, {"act_a": "A.x"}, name="flight.bin")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("A.y", "flight.bin has no column 'A.y'. Did you mean 'A.x'?"),
        ("B.x", "flight.bin has no column 'B.x'."),
        ("A", "flight.bin has no column 'A'."),
        ("A.s", "flight.bin: 'A.s' is no number but str"),
        ("A[1].x", "flight.bin has no column 'A[1].x'."),
    ],
)
def test_a_wrong_column_of_dataflash_is_refused(refused, column, message):
    content = dataflash([("A", "QfN", "TimeUS,x,s", [(1, 1.0, b"text")])])
    refused(message, content, {"act_a": column}, name="flight.bin")


def test_a_missing_time_of_dataflash_is_refused(refused):
    content = dataflash([("A", "Qf", "TimeUS,x", [(1, 1.0)])])
    message = "flight.bin: 'A' has no field 'TimeMS' of times. Did you mean 'TimeUS'?"
    refused(message, content, {"act_a": "A.x"}, name="flight.bin", time={"column": "TimeMS"})


@pytest.mark.parametrize(("name", "package"), [("a.ulg", "pyulog"), ("a.bin", "pymavlink")])
def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch, name, package):
    (tmp_path / name).touch()

    def missing(given):
        raise ModuleNotFoundError(name=given)

    monkeypatch.setattr("kittiwake.core.extras.import_module", missing)
    message = re.escape(f"this needs {package}. Install it with: pip install 'kittiwake[logs]'")
    with pytest.raises(MissingExtraError, match=message):
        read_flight_log(tmp_path / name)
