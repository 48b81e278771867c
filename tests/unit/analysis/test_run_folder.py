"""A run's folder."""

import errno
import json
import os
import shutil
import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests import interrupts
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.analysis import run_folder
from kittiwake.analysis.flown_scenario import copy_name, data_files
from kittiwake.analysis.log import Log
from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.output_file import WRITTEN_FILE, digest, write_text
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.runtime import recorded_flight
from kittiwake.runtime.flight_record import FlightOutcome
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.runtime.recorder import Recorder
from kittiwake.runtime.row_layout import RowLayout
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.load import load_scenario

COLUMNS = (*STATE_COLUMNS, "status")
SUMMARY = {"scenario": "s", "seed": 1, "status": "completed", "steps": 5, "vehicles": {}}


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("hover-pelican")


@pytest.fixture
def former(tmp_path):
    """The folder of a run that has ended."""
    text = dump_document({"name": "former", "vehicles": {}})
    (tmp_path / "scenario.yaml").write_text(text)
    files = {"scenario.yaml": digest(tmp_path / "scenario.yaml")}
    Recorder(tmp_path / "log.mcap", {"gull": ("time_s",)}, {}, files).close()
    (tmp_path / "summary.json").write_text(json.dumps(SUMMARY))
    write_text(tmp_path / "overview.png", "a picture")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_of_several_runs_begun_at_the_same_time_gets_a_folder_of_its_own(tmp_path):
    usual = tmp_path / "runs" / "keep-spot-20260101-000000"

    def begin(number):
        with run_folder.results_folder(None, usual) as folder:
            (folder / f"{number}").touch()
        return folder

    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(begin, range(8)))
    assert len(set(folders)) == 8
    assert all(len(list(folder.iterdir())) == 1 for folder in folders)
    assert {folder.name for folder in folders} == {
        usual.name,
        *(f"{usual.name}-{number}" for number in range(2, 9)),
    }


def test_a_named_folder_is_used_existing_or_not(tmp_path):
    for _ in range(2):
        with run_folder.results_folder(tmp_path / "a" / "b", tmp_path / "usual") as folder:
            assert folder == tmp_path / "a" / "b"


@pytest.mark.parametrize("error", [ScenarioError, KeyboardInterrupt])
@pytest.mark.parametrize("out", ["a/b", None])
def test_a_run_that_is_refused_or_interrupted_leaves_no_empty_folder(
    out, error, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(Simulation, "flight", refuse)
    arguments = [] if out is None else ["--out", out]
    assert kittiwake_does("run", "hover-pelican", *arguments).status != 0
    assert list(tmp_path.iterdir()) == []


def test_a_refused_run_leaves_existing_files(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    with (
        pytest.raises(ZeroDivisionError),
        run_folder.results_folder(folder / "new", folder / "usual"),
    ):
        raise ZeroDivisionError
    assert folder.is_dir()
    assert not (folder / "new").exists()


@pytest.mark.parametrize("name", ["scenario.yaml", "summary.json", "log.mcap", "overview.png"])
def test_a_run_refuses_to_replace_a_file_that_no_run_has_written(name, tmp_path):
    (tmp_path / name).write_text("name: mine  # a comment\n")
    before = contents(tmp_path)
    answer = kittiwake_does("run", "hover-pelican", "--out", tmp_path)
    assert answer.status == 2
    assert answer.err.count("\n") == 1
    assert f"'{tmp_path / name}' was not written by a run or has been changed" in answer.err
    assert "--out" in answer.err
    assert contents(tmp_path) == before


def test_a_scenario_in_the_folder_that_is_flown_into_is_not_replaced(tmp_path):
    file = tmp_path / "scenario.yaml"
    file.write_text("# mine\nextends: no\nname: mine\nvehicles: {p: {model: pelican}}\n")
    text = file.read_text()
    assert kittiwake_does("run", file, "--out", tmp_path, "--duration", 1).status == 2
    assert file.read_text() == text


def test_a_former_run_may_be_replaced(former, scenario):
    run_folder.refuse_foreign_files(former, {})


def test_a_former_run_without_digests_may_be_replaced(former, scenario):
    (former / "log.mcap").unlink()
    Recorder(former / "log.mcap", {"gull": ("time_s",)}, {}).close()
    run_folder.refuse_foreign_files(former, {})
    with (former / "scenario.yaml").open("a") as file:
        file.write("# a comment\n")
    with pytest.raises(
        LogError, match=r"scenario\.yaml' was not written by a run or has been changed"
    ):
        run_folder.refuse_foreign_files(former, {})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scenario.yaml", dump_document({"name": "edited", "vehicles": {}})),
        ("summary.json", '{"results": [1, 2]}'),
        ("summary.json", "[]"),
        ("log.mcap", "rows"),
        ("overview.png", "a picture of mine"),
    ],
)
def test_changed_files_of_a_former_run_are_not_replaced(name, content, former, scenario):
    (former / name).write_text(content)
    with pytest.raises(LogError, match=name):
        run_folder.refuse_foreign_files(former, {})


def test_an_input_file_of_the_same_name_is_not_replaced(tmp_path):
    inputs = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v\n0,0,0,0.6,0,11\n1,,,,,\n"
    (tmp_path / "inputs.csv").write_text(inputs)
    guidance = f"{{type: playback, file: {tmp_path / 'inputs.csv'}}}"
    loaded = load_scenario("hover-pelican", [f"vehicles.pelican.guidance={guidance}"])
    (copied,) = data_files(loaded)
    folder = tmp_path / "run"
    folder.mkdir()
    run_folder.refuse_foreign_files(folder, data_files(loaded))
    (folder / copied).write_text(inputs)
    run_folder.refuse_foreign_files(folder, data_files(loaded))
    (folder / copied).write_text("time_s,other\n")
    with pytest.raises(LogError, match=copied):
        run_folder.refuse_foreign_files(folder, data_files(loaded))


def test_a_folder_with_an_active_run_is_refused_to_another(tmp_path, scenario):
    with (
        run_folder.run_folder(tmp_path, scenario),
        pytest.raises(LogError, match="another run is active in"),
        run_folder.run_folder(tmp_path, scenario),
    ):
        pass
    with run_folder.run_folder(tmp_path, scenario):
        pass


class Rows(Flight):
    """A flight that is not compiled: one row a block, and something done behind each."""

    def __init__(self, behind):
        self.behind, self.seed, self.duration_s, self.rate_hz = behind, 0, 10.0, 10.0
        self.layout = RowLayout({"pelican": COLUMNS}, {"pelican": ()}, {}, {}, {})
        self.record = SimpleNamespace(outcome=FlightOutcome())

    def fly(self, sink, progress, stopped):
        for tick in range(100):
            sink.write({"pelican": np.full((1, len(COLUMNS)), tick / self.rate_hz)})
            self.outcome.steps = tick
            if stopped():
                self.mark_failed("stopped by the user")
                break
            self.behind(tick)
        return self.outcome


@pytest.fixture
def fly(monkeypatch, tmp_path):
    """Flies such rows into a folder."""
    simulation = kw.load("hover-pelican")
    monkeypatch.setattr(simulation, "summary", lambda log, flight: {
        "status": flight.outcome.status, "reason": flight.outcome.reason,
        "rows": len(log.values("pelican")),
    })  # fmt: skip
    monkeypatch.setattr(recorded_flight, "CHECK_S", 0.0)
    folder = tmp_path / "runs" / "here"
    folder.mkdir(parents=True)

    def flown(behind=lambda _: None):
        return fly_into(simulation, Rows(behind), folder)

    flown.folder = folder
    return flown


def test_a_vanished_folder_ends_the_flight_and_its_log_is_kept(fly):
    log = fly(lambda tick: tick == 20 and shutil.rmtree(fly.folder.parent))
    assert log.summary["status"] == "failed"
    assert log.summary["reason"] == f"the folder '{fly.folder}' vanished at 2.1 s"
    assert log.complete
    np.testing.assert_allclose(log.column("pelican", "time_s"), 0.1 * np.arange(22))
    assert {path.name for path in fly.folder.iterdir()} == {
        *("log.mcap", "scenario.yaml", "summary.json", WRITTEN_FILE)
    }


def test_the_log_is_saved_elsewhere_if_the_folder_cannot_be_created_again(fly, monkeypatch):
    def vanish(tick):
        if tick == 20:
            shutil.rmtree(fly.folder.parent)
            fly.folder.parent.write_text("a file in its place")

    monkeypatch.setattr(tempfile, "tempdir", str(fly.folder.parents[1]))
    with pytest.raises(LogError, match="vanished and cannot be created again") as refused:
        fly(vanish)
    kept = Path(str(refused.value).split("'")[-2])
    assert len(Log.read(kept).values("pelican")) == 22
    assert (kept / "scenario.yaml").is_file()


def test_a_full_disk_ends_the_flight_and_its_log_is_kept(fly, monkeypatch):
    write = LogWriter.write

    def until_full(writer, block):
        if block["pelican"][0, 0] > 3.0:
            raise OSError(errno.ENOSPC, "no space")
        write(writer, block)

    monkeypatch.setattr(LogWriter, "write", until_full)
    with pytest.raises(LogError, match=r"log\.mcap' cannot be written: No space left on device"):
        fly()
    log = Log.read(fly.folder)
    assert len(log.values("pelican")) == 31
    assert log.summary["reason"] == "the log could not be written any further at 3 s"


def test_a_disk_that_is_full_at_the_start_leaves_no_file(fly, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(LogWriter, "__init__", full)
    with pytest.raises(LogError, match=r"log\.mcap' cannot be written: No space left on device"):
        fly()
    assert list(fly.folder.iterdir()) == []


def test_a_second_signal_does_not_wait_for_the_block_and_leaves_a_summary(fly):
    def insist(tick):
        if tick == 5:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with interrupts.heard(), pytest.raises(KeyboardInterrupt):
        fly(insist)
    log = Log.read(fly.folder)
    assert log.complete
    assert log.summary == {
        "status": "failed", "reason": "stopped by the user at 0.5 s", "rows": 6,
    }  # fmt: skip


def test_ctrl_c_interrupts_the_preparation_of_a_flight(tmp_path, monkeypatch):
    simulation = kw.load("hover-pelican")
    flight = object.__new__(Flight)  # one that is not compiled
    flight.seed, flight.duration_s = 0, 1.0
    flight.layout = RowLayout({"pelican": ("time_s",)}, {"pelican": ()}, {}, {}, {})

    write = run_folder.write_scenario

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGINT)
        write(*given)

    monkeypatch.setattr(recorded_flight, "write_scenario", interrupted)
    monkeypatch.setattr(Flight, "fly", lambda *_: pytest.fail("it has begun"))
    with interrupts.heard(), pytest.raises(KeyboardInterrupt):
        fly_into(simulation, flight, tmp_path)
    # the folder can be flown into again
    run_folder.refuse_foreign_files(tmp_path, {})


def test_only_unchanged_files_are_removed(former):
    outside = former.parent / "outside.csv"
    outside.write_text("rows")
    for name in ("gull.csv", "film.mp4", "read.csv"):
        write_text(former / name, "rows")
    (former / "film.mp4").write_text("cut by me")
    (former / "notes.csv").write_text("rows")
    with (former / WRITTEN_FILE).open("a") as notes:
        for line in (["../outside.csv", digest(outside)], ["gone.csv", "0"], 3):
            notes.write(json.dumps(line) + "\n")
    run_folder.remove_products(former, [former / "read.csv"])
    assert {path.name for path in former.iterdir()} == {
        *("scenario.yaml", "summary.json", "film.mp4", "notes.csv", "read.csv", WRITTEN_FILE),
    }
    assert outside.exists()


def test_a_log_that_names_files_outside_its_folder_copies_none_of_them(tmp_path):
    folder, secret = tmp_path / "run", tmp_path / "secret.txt"
    folder.mkdir()
    secret.write_text("not of this run")
    (folder / "scenario.yaml").write_text(dump_document({"name": "s", "vehicles": {}}))
    files = {"../secret.txt": digest(secret), str(secret): digest(secret)}
    Recorder(folder / "log.mcap", {"gull": ("time_s",)}, {}, files).close()
    log = Log.read(folder)
    assert log.portable.files == {}
    (tmp_path / "deep").mkdir()
    log.save(tmp_path / "deep" / "copy")
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"copy"}


def test_the_copy_of_a_copy_keeps_its_name():
    path = ("world", "wind", "file")
    copied = copy_name(path, Path("wind.csv"))
    assert copied == "wind-wind.csv"
    assert copy_name(path, Path(copied)) == copied
