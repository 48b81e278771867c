"""MAT-files: read back equal to the log, with names that Matlab accepts."""

import re

import numpy as np
import pytest
from scipy.io import loadmat
from typer.testing import CliRunner

import kittiwake as kw
from kittiwake.analysis.export_mat import KEYWORDS, export_mat, matlab_names
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Event, Table
from kittiwake.core.errors import LogError

LONG = "sensor.gnss." + "very_" * 20 + "x_m"
COLUMNS = (*STATE_COLUMNS, "sensor.gnss.x_m", LONG, LONG + "2", "end", "columns", "status")
VALID = re.compile("[A-Za-z][A-Za-z0-9_]{0,62}")


def table(seed, columns=COLUMNS, rows=40):
    values = np.sin(1e3 * (seed + np.arange(rows * len(columns)))).reshape(rows, len(columns))
    values[0, :4] = [np.nan, np.inf, -0.0, 5e-324]
    return Table(columns, values)


@pytest.fixture
def log():
    events = (Event(0.5, "gull-1", "left the flight area"),)
    return Log({"gull-1": table(0), "gull_1": table(1), "events": table(2)}, events)


def test_reads_back_equal_to_the_log(log, tmp_path):
    export_mat(log, tmp_path / "log.mat")
    found = loadmat(tmp_path / "log.mat", simplify_cells=True)
    variables = dict(zip(log.names, ["gull_1", "gull_1_2", "events_2"], strict=True))
    assert {name for name in found if not name.startswith("__")} == {*variables.values(), "events"}
    for name, variable in variables.items():
        struct = found[variable]
        assert [*struct["columns"]] == [*log.columns(name)]
        for i, field in enumerate(struct["fields"]):
            np.testing.assert_array_equal(struct[field], log.values(name)[:, i])
    assert found["events"]["time_s"] == 0.5
    assert found["events"]["vehicle"] == "gull-1"
    assert found["events"]["event"] == "left the flight area"


def test_fields_are_columns(log, tmp_path):
    export_mat(log, tmp_path / "log.mat")
    struct = loadmat(tmp_path / "log.mat")["gull_1"]
    assert struct["time_s"][0, 0].shape == (40, 1)


def test_an_image_is_one_array(tmp_path):
    columns = ("time_s", *(f"sensor.eye.depth_{i}_{j}_m" for i in range(2) for j in range(3)))
    log = Log({"gull": table(0, columns)})
    export_mat(log, tmp_path / "log.mat")
    struct = loadmat(tmp_path / "log.mat", simplify_cells=True)["gull"]
    assert struct["sensor_eye_depth_m"].shape == (40, 2, 3)
    np.testing.assert_array_equal(
        struct["sensor_eye_depth_m"].reshape(40, 6), log.values("gull")[:, 1:]
    )


def test_names_are_accepted_by_matlab():
    names = [*COLUMNS, "2nd", "été", "_x", "while", "x_while", "a-b", "a b", ""]
    valid = matlab_names(names)
    assert len({*valid}) == len(names)
    assert all(VALID.fullmatch(name) and name not in KEYWORDS for name in valid)
    assert valid[: len(STATE_COLUMNS)] == [*STATE_COLUMNS]


def test_a_log_without_rows_and_events_is_written(tmp_path):
    export_mat(Log({"gull": table(0, rows=1)}), tmp_path / "log.mat")
    assert loadmat(tmp_path / "log.mat", simplify_cells=True)["events"]["time_s"].size == 0


def test_a_file_that_cannot_be_written_is_a_log_error(log, tmp_path):
    with pytest.raises(LogError, match="missing"):
        export_mat(log, tmp_path / "missing" / "log.mat")


@pytest.mark.slow
def test_the_command_line_exports_a_run(tmp_path):
    from kittiwake.cli.app import app
    from kittiwake.runtime.recorded_flight import fly_into

    simulation = kw.load("hover-angle-velocity")
    fly_into(simulation, simulation.flight(duration_s=0.1), tmp_path)
    answer = CliRunner().invoke(app, ["export", str(tmp_path), "--to", "mat"])
    assert answer.exit_code == 0, answer.output
    log = kw.Log.read(tmp_path)
    (name,) = log.names
    struct = loadmat(tmp_path / "log.mat", simplify_cells=True)[matlab_names([name])[0]]
    for i, field in enumerate(struct["fields"]):
        np.testing.assert_array_equal(struct[field], log.values(name)[:, i])
