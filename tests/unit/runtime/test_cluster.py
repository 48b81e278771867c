"""Sweeps by a Ray cluster: the rows of one process, whatever happens to its workers."""

import os
import signal

import pandas as pd
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.sweeps import cluster
from kittiwake.runtime.sweeps.cluster import SweepFiles
from kittiwake.runtime.sweeps.plan import SweepPlan
from kittiwake.runtime.sweeps.workers import Flights

GIVEN = {"seeds": 12, "overrides": {"time.duration_s": 0.1}}
VARIED = {"vehicles.pelican.start.yaw_deg": [0, 90]}


@pytest.fixture
def planned(tmp_path):
    """The flights of a sweep that has been flown by one process."""
    folder = tmp_path / "alone"
    kw.sweep("hover-pelican", VARIED, out=folder, **GIVEN)
    return Flights(folder, SweepPlan.read(folder))


def test_the_files_of_a_sweep_are_flown_on_another_machine(planned, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.tempfile, "gettempdir", lambda: str(tmp_path))
    files = SweepFiles.of(planned)
    assert set(files.content) == {"sweep.json", "scenario.yaml"}
    rows = cluster._fly(files, (3, 20))
    whole = pd.read_parquet(planned.folder / "runs.parquet")
    for row in rows:
        wanted = whole.iloc[row["run"]]
        assert all(wanted[name] == value for name, value in row.items() if value is not None)
    # unpacked once on each machine
    assert files.unpacked() == files.unpacked()


def test_another_version_is_refused(planned):
    files = SweepFiles.of(planned)._replace(version="0.0.1")
    with pytest.raises(ScenarioError, match=r"this machine 0\.0\.1; install the same version"):
        cluster._fly(files, (0,))


def test_large_files_and_code_are_not_sent(planned, monkeypatch):
    with pytest.raises(ScenarioError, match="code of a scenario is not sent"):
        SweepFiles.of(planned._replace(code=("/x",)))
    monkeypatch.setattr(cluster, "MAX_FILES_BYTES", 100)
    with pytest.raises(ScenarioError, match="are sent to a cluster"):
        SweepFiles.of(planned)


@pytest.mark.slow
def test_rows_are_those_of_one_process_though_a_worker_is_killed(planned, tmp_path):
    pytest.importorskip("ray")
    killed = []

    def progress(done, runs):
        if done > 0 and not killed:
            killed.extend(ray_workers()[:1])
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    result = kw.sweep(
        "hover-pelican",
        VARIED,
        out=tmp_path / "cluster",
        ray="local",
        workers=2,
        progress=progress,
        **GIVEN,
    )
    assert killed
    pd.testing.assert_frame_equal(result.table, pd.read_parquet(planned.folder / "runs.parquet"))


def ray_workers():
    """The process of each task that this process has begun."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline") as file:
                title = file.read()
        except (OSError, NotADirectoryError):
            continue
        if title.startswith("ray::_fly"):
            found.append(int(entry))
    return found


@pytest.mark.slow
def test_an_address_without_a_cluster_is_refused(tmp_path):
    pytest.importorskip("ray")
    with pytest.raises(ScenarioError, match="ray: cannot join '127.0.0.1:9'"):
        kw.sweep("hover-pelican", VARIED, out=tmp_path / "s", ray="127.0.0.1:9", **GIVEN)


def test_variables_of_the_user_are_kept(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    monkeypatch.delenv("RAY_OTHER", raising=False)
    with cluster._environment({"RAY_USAGE_STATS_ENABLED": "0", "RAY_OTHER": "2"}):
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
        assert os.environ["RAY_OTHER"] == "2"
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
    assert "RAY_OTHER" not in os.environ
