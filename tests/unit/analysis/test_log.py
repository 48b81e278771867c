import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kittiwake.analysis
from kittiwake.analysis.log import Log
from kittiwake.analysis.log_format import field_names
from kittiwake.analysis.table import STATE_COLUMNS, Event, Table
from kittiwake.core.errors import LogError

COLUMNS = (*STATE_COLUMNS, "cmd_throttle", "status")


def table(*, rows=5, columns=COLUMNS, first=0):
    values = np.arange(rows * len(columns), dtype=float).reshape(rows, len(columns))
    values[:, 0] = 0.1 * (first + np.arange(rows))
    return Table(columns, values, ("speed_mps",))


def test_a_log_answers_by_vehicle_and_column():
    log = Log({"pelican": table(), "gull": table(rows=2)})
    assert log.names == ("pelican", "gull")
    assert log.columns("gull") == COLUMNS
    assert log.quantities("gull") == ("speed_mps",)
    assert log.values("pelican").shape == (5, len(COLUMNS))
    assert np.array_equal(log.column("pelican", "y_m"), log.values("pelican")[:, 2])


def test_an_unknown_vehicle_is_refused_with_the_nearest_name():
    with pytest.raises(LogError, match="no vehicle 'pelikan'.*Did you mean 'pelican'"):
        Log({"pelican": table()}).values("pelikan")


def test_an_unknown_column_is_refused_with_the_nearest_name():
    with pytest.raises(LogError, match="no column 'qv'.*Did you mean 'q"):
        Log({"pelican": table()}).column("pelican", "qv")


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ("x", "Did you mean 'x_m'"),
        ("vy", "Did you mean 'vy_mps'"),
        ("pitch_deg", r"write log.euler_rad\('pelican'\)\[:, 1\]"),
    ],
)
def test_a_column_without_its_unit_is_found(given, instead):
    with pytest.raises(LogError, match=instead):
        Log({"pelican": table()}).column("pelican", given)


def test_a_frame_has_the_columns_in_order():
    frame = Log({"pelican": table()}).frame("pelican")
    assert tuple(frame.columns) == COLUMNS
    assert np.array_equal(frame.to_numpy(), table().values)


def test_the_dataset_groups_the_state_into_vectors_on_named_axes():
    log = Log({"a": table(), "b": table()})
    dataset = log.dataset
    assert dict(dataset.sizes) == {"time": 5, "vehicle": 2, "axis": 3, "quaternion": 4}
    position = dataset["position_world_m"].sel(vehicle="b", axis="y")
    assert np.array_equal(position, log.column("b", "y_m"))
    attitude = dataset["q_world_from_body"].sel(vehicle="a", quaternion="w")
    assert np.array_equal(attitude, log.column("a", "qw"))
    assert np.array_equal(dataset["cmd_throttle"].sel(vehicle="a"), log.column("a", "cmd_throttle"))


def test_the_dataset_holds_nan_where_vehicles_differ():
    with_extra = table(columns=(*STATE_COLUMNS, "sensor.gps.x_m", "status"), first=2)
    dataset = Log({"a": table(rows=3), "b": with_extra}).dataset
    assert dataset.sizes["time"] == 7  # 0.0 to 0.2 s and 0.2 to 0.6 s
    assert np.isnan(dataset["sensor.gps.x_m"].sel(vehicle="a")).all()
    present = np.isfinite(dataset["position_world_m"].sel(axis="x"))
    assert present.sel(vehicle="a").values.tolist() == [True] * 3 + [False] * 4
    assert present.sel(vehicle="b").values.tolist() == [False] * 2 + [True] * 5


def test_an_empty_log_has_an_empty_dataset():
    assert Log({}).dataset.sizes["time"] == 0


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(LogError, match="'.*nowhere' does not exist"):
        Log.read(tmp_path / "nowhere")


def test_a_folder_without_a_log_is_named(tmp_path):
    with pytest.raises(LogError, match=r"has no log\.mcap"):
        Log.read(tmp_path)


def test_importing_logs_imports_neither_jax_nor_pandas_nor_xarray():
    script = (
        "import sys\n"
        "from kittiwake.analysis import export, log, summary\n"
        "heavy = {'jax', 'pandas', 'xarray', 'pyarrow', 'scipy'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    source = Path(kittiwake.analysis.__file__).parents[2]
    environment = {"PYTHONPATH": str(source)}
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def test_ros_field_names_are_legal_and_distinct():
    given = ("sensor.GPS.x_m", "sensor_gps_x_m", "9lives", "...", "status", "a__b_")
    names = field_names(given)
    assert names == [
        "sensor_gps_x_m",
        "sensor_gps_x_m_2",
        "column_9lives",
        "column",
        "status",
        "a_b",
    ]


def test_many_equal_column_names_become_distinct_in_linear_time():
    # a set of a hundred thousand, each tried against all before it, would take half an hour
    names = field_names(["a"] * 100_000 + ["a_7"])
    assert names[1] == "a_2"
    assert len(set(names)) == 100_001


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scenario.yaml", "summary.json"])
@pytest.mark.parametrize("content", ["{", "[1, 2]", "\x00", "[" * 100_000])
def test_a_broken_companion_file_is_named(tmp_path, name, content):
    from kittiwake.runtime.recorder import Recorder

    with Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {}):
        pass
    (tmp_path / name).write_text(content)
    with pytest.raises(LogError, match=name.replace(".", r"\.")):
        Log.read(tmp_path)


@pytest.mark.parametrize("name", ["scenario.yaml", "summary.json"])
def test_a_broken_companion_files_line_is_named_but_its_content_is_not(tmp_path, name):
    from kittiwake.runtime.recorder import Recorder

    with Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {}):
        pass
    (tmp_path / name).write_text('{"seed": 3,\n"password": ]tern')
    with pytest.raises(LogError) as refused:
        Log.read(tmp_path)
    assert "see its line 2. Remove it" in str(refused.value)
    assert "password" not in str(refused.value)
    assert "tern" not in str(refused.value)


def test_repr_of_a_log_is_one_line():
    tables = {f"gull-{n}": table(rows=1200) for n in range(3)}
    log = Log(tables, (Event(0.5, "gull-1", "reached 1"),), summary={"status": "completed"})
    end_s = log.column("gull-0", "time_s")[-1]
    assert repr(log) == (
        f"<Log of 3 vehicles (gull-0 to gull-2), 1,200 rows, {len(COLUMNS)} columns, "
        f"up to {end_s:g} s, 1 event, completed>"
    )
    assert repr(Log({"a": table(rows=2)}, complete=False)).startswith("<Log of a, 2 rows, ")
    assert repr(Log({})) == "<Log of 0 vehicles, 0 rows, 0 columns, up to 0 s, 0 events>"


def test_companion_files_are_read(tmp_path):
    from kittiwake.runtime.recorder import Recorder

    with Recorder(tmp_path / "log.mcap", {"a": COLUMNS}, {}):
        pass
    (tmp_path / "scenario.yaml").write_text("name: keep-spot\n")
    (tmp_path / "summary.json").write_text(json.dumps({"seed": 3}))
    log = Log.read(tmp_path)
    assert log.scenario == {"name": "keep-spot"}
    assert log.summary == {"seed": 3}
    assert log.values("a").shape == (0, len(COLUMNS))


PLANNED = {"time": {"duration_s": 60.0}}
STOPPED = {"status": "failed", "reason": "stopped by the user at 5 s"}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (Log({}, (), PLANNED, {"status": "completed"}), None),
        (Log({}), None),
        (Log({}, (), PLANNED, complete=False), "the recording was cut off before its first row"),
        (
            Log({"gull": table(columns=("time_s",))}, (), PLANNED, complete=False),
            "the recording was cut off at 0.4 s of 60 s",
        ),
        (
            Log({"gull": table(columns=("time_s",))}, (), PLANNED),
            "the run was cut off at 0.4 s and has no summary",
        ),
        (
            Log({"gull": table(columns=("time_s",))}, (), PLANNED, STOPPED),
            "the run ended early: stopped by the user at 5 s",
        ),
    ],
)
def test_a_log_says_how_and_when_a_run_ended_early(log, expected):
    assert log.early_end == expected


def test_angles_of_a_log_are_those_of_its_quaternions():
    rolls = np.array([-0.4, 0.0, 1.2])
    columns = dict.fromkeys(COLUMNS, np.zeros(3)) | {
        "qw": np.cos(rolls / 2),
        "qx": np.sin(rolls / 2),
    }
    log = Log({"pelican": Table(COLUMNS, np.stack([*columns.values()], axis=1))})
    angles = log.euler_rad("pelican")
    np.testing.assert_allclose(angles, np.stack([rolls, 0 * rolls, 0 * rolls], axis=1), atol=1e-15)
    with pytest.raises(
        LogError, match=r"no column 'yaw_rad'.*write log.euler_rad\('pelican'\)\[:, 2\]"
    ):
        log.column("pelican", "yaw_rad")


def test_a_number_is_neither_vehicle_nor_column():
    log = Log({"pelican": table()})
    with pytest.raises(LogError, match="`name`: got 1; must be the name of a vehicle"):
        log.column(1, "x_m")
    with pytest.raises(LogError, match="`column`: got 2; must be the name of a column"):
        log.column("pelican", 2)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("time_s", r"Write log.column\('pelican', 'time_s'\) or log.frame\('pelican'\)"),
        ("pelican", r"Write log.frame\('pelican'\)"),
        ("nothing", "no attribute 'nothing'$"),
    ],
)
def test_an_attribute_that_a_log_lacks_is_refused_with_its_method(name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(Log({"pelican": table()}), name)
