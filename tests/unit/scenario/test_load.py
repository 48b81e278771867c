"""Lookup of scenario files by name or path."""

import shutil
from pathlib import Path

import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import library
from kittiwake.scenario.document import read_document
from kittiwake.scenario.load import find, load_scenario


def test_a_plain_name_is_a_library_scenario():
    assert find("keep-spot") == library.FOLDER / "keep-spot.yaml"
    assert load_scenario("keep-spot").name == "keep-spot"


@pytest.mark.parametrize("written", ["keep-spot.yaml", "spot.yml", "folder/keep-spot"])
def test_an_ending_or_a_folder_makes_it_a_path(written):
    assert find(written) == Path(written)


def test_a_file_beside_the_user_does_not_take_a_library_name_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keep-spot").write_text("name: impostor\n", encoding="utf-8")
    assert load_scenario("keep-spot").name == "keep-spot"


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(ScenarioError) as refused:
        find("keep-spit")
    message = str(refused.value)
    assert "there is no library scenario 'keep-spit'" in message
    assert "Did you mean 'keep-spot'?" in message
    assert "ends in .yaml" in message


@pytest.mark.parametrize("written", ["nothing.yaml", "no/such/folder/x.yaml"])
def test_a_missing_file_is_refused(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match="cannot read .*No such file"):
        load_scenario(written)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="cannot read .*directory"):
        load_scenario(str(tmp_path))


def test_a_copy_of_a_library_file_is_the_same_scenario(tmp_path):
    copy = tmp_path / "mine.yml"
    shutil.copyfile(find("waypoint-tour"), copy)
    mine, original = load_scenario(str(copy)), load_scenario("waypoint-tour")
    assert mine.document.data == original.document.data
    assert mine.vehicles["pelican"] == original.vehicles["pelican"]


def test_overrides_are_applied_in_order():
    scenario = load_scenario("keep-spot", ["seed=3", "time.duration_s=5", "seed=4"])
    assert (scenario.seed, scenario.duration_s) == (4, 5.0)


def test_every_library_scenario_bears_its_files_name_and_says_what_it_is():
    summaries = library.summaries()
    assert sorted(summaries) == library.names()
    for name, summary in summaries.items():
        assert read_document(find(name)).data["name"] == name
        assert len(summary) > 20


def test_a_runs_folder_is_answered_with_the_scenario_in_it(tmp_path):
    (tmp_path / "scenario.yaml").write_text("name: x\n")
    with pytest.raises(
        ScenarioError, match="is a folder. Give the scenario in it: .*scenario.yaml"
    ):
        find(str(tmp_path))


def test_a_file_of_another_kind_is_refused_without_its_contents(tmp_path):
    (tmp_path / "scenario.yaml").write_text("name: x\n")
    (tmp_path / "summary.json").write_text('{"seed": 1, "password": "tern", "steps": 3}')
    with pytest.raises(ScenarioError) as refused:
        load_scenario(str(tmp_path / "summary.json"))
    message = str(refused.value)
    assert message.startswith("summary.json:1: this is not a scenario")
    assert message.endswith(f"Give {tmp_path / 'scenario.yaml'}.")
    assert "password" not in message
    assert "steps" not in message
