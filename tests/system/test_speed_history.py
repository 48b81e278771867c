"""The kernel of the speed limit flies, and the history of speeds takes each case once."""

import csv
import os
import shutil
from pathlib import Path

import pytest

from kittiwake.cli.bench import NAMES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROW = {
    **{"release": "1.0", "commit": "abc", "date": "2026-01-01", "machine": "one, 2 cores"},
    **{"case": "rollout-1", "steps_per_s": "10", "limit_steps_per_s": "40", "ratio": "0.25"},
}


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from limit import speed_limit

    return speed_limit


@pytest.fixture
def history(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import record_history

    return record_history


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no compiler")
def test_vehicles_of_the_kernel_reach_their_setpoint(limit, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with limit.compiled_kernel() as program:
        # 20 s of flight
        measured = limit.speed_limit(program, vehicles=64, steps=5_000, repeats=2)
    assert measured.threads == 1
    assert measured.steps_per_s > 0.0
    # single precision
    assert measured.farthest_m < 1e-3


def test_a_missing_compiler_is_named_with_what_to_install(limit, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(limit.NoCompilerError, match="apt install gcc"), limit.compiled_kernel():
        pass


def test_a_release_has_one_row_for_each_case(history, tmp_path):
    file = tmp_path / "history.csv"
    history.add_row(file, ROW)
    history.add_row(file, ROW | {"case": "rollout-100"})
    with pytest.raises(history.DuplicateRowsError, match=r"rollout-1 of 1\.0 already"):
        history.add_row(file, ROW | {"ratio": "0.5"})
    assert [row["ratio"] for row in history.read_history(file)] == ["0.25", "0.25"]
    history.add_row(file, ROW | {"ratio": "0.5"}, replace=True)
    rows = history.read_history(file)
    assert [(row["case"], row["ratio"]) for row in rows] == [
        ("rollout-100", "0.25"),
        ("rollout-1", "0.5"),
    ]
    assert os.listdir(tmp_path) == ["history.csv"]


def test_a_ratio_is_shown_beside_that_of_the_release_before(history):
    rows = [ROW | {"release": "0.9", "ratio": "0.2"}, ROW, ROW | {"case": "flock-1000"}]
    assert history.ratio_before(rows, ROW | {"release": "1.1"}) == 0.25
    assert history.ratio_before(rows, ROW) == 0.2
    assert history.ratio_before([], ROW) is None


def test_the_recorded_history_is_well_formed(history):
    with history.HISTORY.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = [*reader]
    assert tuple(reader.fieldnames) == history.COLUMNS
    assert len({(row["release"], row["case"]) for row in rows}) == len(rows)
    for row in rows:
        assert row["case"] in NAMES
        ratio = float(row["steps_per_s"]) / float(row["limit_steps_per_s"])
        assert float(row["ratio"]) == pytest.approx(ratio, rel=1e-3)
