"""A run's folder, or what is none."""

import shutil
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from tests.system.commands import kittiwake_does

from kittiwake.analysis.log import SCENARIO_FILE, SUMMARY_FILE
from kittiwake.analysis.output_file import LOG_FILE
from kittiwake.cockpit.recorded import recorded
from kittiwake.core.errors import LogError
from kittiwake.runtime.run_folder import fly_into
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a short flight."""
    folder = tmp_path_factory.mktemp("run")
    changes = ["time.duration_s=0.2", "seed=4"]
    simulation = Simulation(load_scenario("hover-angle-velocity", changes))
    fly_into(simulation, simulation.flight(), folder)
    return folder


@pytest.fixture
def folder(run, tmp_path):
    """A copy of it."""
    return shutil.copytree(run, tmp_path / "copy")


def test_a_run_can_be_looked_at(folder):
    reel = recorded(folder)
    assert reel.show.seed == 4
    assert reel.show.columns["drone"][:2] == ("time_s", "x_m")
    assert reel.span_s == pytest.approx((0.0, 0.2))
    assert len(reel.frame(0.1).rows["drone"]) == len(reel.show.columns["drone"])


def test_a_folder_without_a_log_is_none(tmp_path):
    with pytest.raises(LogError, match="holds no log.mcap"):
        recorded(tmp_path)


def test_a_log_without_its_scenario_is_none(folder):
    (folder / SCENARIO_FILE).unlink()
    with pytest.raises(LogError, match=r"holds no scenario.yaml, which says what was flown"):
        recorded(folder)


def test_a_scenario_of_another_flight_is_refused(folder):
    file = folder / SCENARIO_FILE
    file.write_text(file.read_text().replace("drone:", "auk:"))
    with pytest.raises(LogError, match="has other vehicles than the scenario.yaml beside it"):
        recorded(folder)


def test_what_is_no_log_is_refused(folder):
    (folder / LOG_FILE).write_bytes(b"no log")
    with pytest.raises(LogError):
        recorded(folder)


def test_a_run_that_was_cut_off_says_so_and_when(folder):
    log = folder / LOG_FILE
    whole = log.read_bytes()
    # up to the record that ends the data, and without the index behind it
    log.write_bytes(whole[: whole.rindex(b"\x0f\x04" + bytes(7))])
    (folder / SUMMARY_FILE).unlink()
    reel = recorded(folder)
    assert reel.early_end == "the recording was cut off at 0.2 s of 0.2 s"
    assert recorded(folder).frame(0.1).rows


def test_the_page_of_a_run_that_was_cut_off_says_so(folder, monkeypatch):
    pages = []

    @contextmanager
    def page(*given):
        pages.append(given)
        yield SimpleNamespace(wait=lambda: None)

    monkeypatch.setattr("kittiwake.cli.view.open_page", page)
    (folder / SUMMARY_FILE).unlink()
    answer = kittiwake_does("view", folder)
    assert answer.status == 0
    assert len(pages) == 1
    assert answer.err == f"Note: {folder}: the run was cut off at 0.2 s, and left no summary.\n"
