"""Logs of Kittiwake itself as flight logs."""

import numpy as np
import pytest

from kittiwake.analysis.flight_logs import read_flight_log
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Table
from kittiwake.core.errors import LogError

COLUMNS = (*STATE_COLUMNS, "cmd_throttle", "setpoint.yaw_rad", "status")


@pytest.fixture
def table():
    values = np.arange(5.0 * len(COLUMNS)).reshape(5, len(COLUMNS))
    values[:, 0] = 2.0 + np.arange(5.0)
    values[:, COLUMNS.index("setpoint.yaw_rad")] = [np.nan, 1.0, 2.0, 3.0, 4.0]
    return Table(COLUMNS, values)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["", "log.mcap"])
def test_all_columns_of_a_run_are_signals_at_its_times(table, tmp_path, file):
    Log({"gull": table}).save(tmp_path / "run")
    log = read_flight_log(tmp_path / "run" / file)
    assert log.signals.keys() == set(COLUMNS[1:])
    assert log.signals["z_m"].time_s.tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert log.signals["z_m"].values.tolist() == table.part(("z_m",))[:, 0].tolist()
    assert log.dropped == {"setpoint.yaw_rad": 1}


def test_a_table_gives_columns_of_a_run_other_names(table, tmp_path):
    Log({"gull": table}).save(tmp_path)
    columns = {"cmd_throttle": {"column": "z_m", "scale": 0.5}}
    log = read_flight_log(tmp_path, {"columns": columns})
    assert log.signals["cmd_throttle"].time_s.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert log.signals["cmd_throttle"].values.tolist() == [0.5 * (3 + 17 * i) for i in range(5)]


def test_a_vehicle_of_several_is_chosen(table, tmp_path):
    other = Table(COLUMNS, table.values + 1.0)
    Log({"gull": table, "tern": other}).save(tmp_path / "run")
    log = read_flight_log(tmp_path / "run", vehicle="tern")
    assert log.signals["x_m"].values[0] == table.values[0, 1] + 1.0
    with pytest.raises(LogError, match="run has 2 vehicles; choose one by `vehicle`: gull, tern"):
        read_flight_log(tmp_path / "run")
    with pytest.raises(LogError, match="`vehicle`: run has no vehicle 'gul'. Did you mean 'gull'"):
        read_flight_log(tmp_path / "run", vehicle="gul")


@pytest.mark.slow
def test_a_log_without_rows_or_such_times_is_refused(table, tmp_path):
    Log({"gull": Table(COLUMNS, table.values[:0])}).save(tmp_path / "empty")
    with pytest.raises(LogError, match="empty: 'gull' has no rows"):
        read_flight_log(tmp_path / "empty")
    Log({"gull": table}).save(tmp_path / "run")
    with pytest.raises(LogError, match="run has no column 'times'. Did you mean 'time_s'?"):
        read_flight_log(tmp_path / "run", {"time": {"column": "times"}, "columns": {"x_m": "x_m"}})
