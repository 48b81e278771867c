"""Loading of run folders, and refusal of invalid ones."""

import shutil

import pytest
from tests.system.commands import kittiwake_does

from kittiwake.analysis.log import SCENARIO_FILE, SUMMARY_FILE
from kittiwake.analysis.output_file import LOG_FILE
from kittiwake.cockpit.recorded import recorded
from kittiwake.core.errors import LogError
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Folder of a short flight."""
    folder = tmp_path_factory.mktemp("run")
    changes = ["time.duration_s=0.2", "seed=4"]
    simulation = Simulation(load_scenario("hover-angle-velocity", changes))
    fly_into(simulation, simulation.flight(), folder)
    return folder


@pytest.fixture
def folder(run, tmp_path):
    """Copy of the run folder."""
    return shutil.copytree(run, tmp_path / "copy")


def test_a_run_folder_is_loaded(folder):
    playback = recorded(folder)
    assert playback.flight.seed == 4
    assert playback.flight.columns["drone"][:2] == ("time_s", "x_m")
    assert playback.span_s == pytest.approx((0.0, 0.2))
    assert len(playback.scene_state(0.1).rows["drone"]) == len(playback.flight.columns["drone"])


def test_a_folder_without_a_log_is_refused(tmp_path):
    with pytest.raises(LogError, match="has no log.mcap"):
        recorded(tmp_path)


def test_a_log_without_its_scenario_is_refused(folder):
    (folder / SCENARIO_FILE).unlink()
    with pytest.raises(LogError, match=r"contains no scenario.yaml, the scenario of the flight"):
        recorded(folder)


def test_a_scenario_of_another_flight_is_refused(folder):
    file = folder / SCENARIO_FILE
    file.write_text(file.read_text().replace("drone:", "auk:"))
    with pytest.raises(LogError, match="has other vehicles than the scenario.yaml beside it"):
        recorded(folder)


def test_an_invalid_log_is_refused(folder):
    (folder / LOG_FILE).write_bytes(b"no log")
    with pytest.raises(LogError):
        recorded(folder)


def test_a_truncated_run_reports_its_end(folder):
    log = folder / LOG_FILE
    whole = log.read_bytes()
    # cut before the data end record and the index
    log.write_bytes(whole[: whole.rindex(b"\x0f\x04" + bytes(7))])
    (folder / SUMMARY_FILE).unlink()
    playback = recorded(folder)
    assert playback.early_end == "the recording was cut off at 0.2 s of 0.2 s"
    assert recorded(folder).scene_state(0.1).rows


def test_the_view_command_reports_a_truncated_run(folder, monkeypatch):
    pages = []
    monkeypatch.setattr("kittiwake.cli.view._show_flights", lambda *given, **_: pages.append(given))
    (folder / SUMMARY_FILE).unlink()
    answer = kittiwake_does("view", folder, "--quiet", "--no-browser", "--port", 0)
    assert answer.status == 0
    assert len(pages) == 1
    assert answer.err == f"Warning: {folder}: the run was cut off at 0.2 s and has no summary.\n"
