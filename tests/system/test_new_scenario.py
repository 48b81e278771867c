"""``kittiwake new`` and ``kittiwake schema``, and versions of formats."""

import json

import pytest
from typer.testing import CliRunner

from kittiwake.analysis.log import _read_summary
from kittiwake.analysis.log_reader import read_log_file
from kittiwake.cli.app import app
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.scenario import library
from kittiwake.scenario.load import load_scenario


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    answer = CliRunner().invoke(app, words)
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer.output


@pytest.mark.slow
@pytest.mark.parametrize("source", ["hover-hummingbird", "survey-lake", "pelican-playback"])
def test_new_scenario_is_its_source_under_another_name(folder, source):
    assert run("new", "mine", "--from", source) == (
        f"mine.yaml: from {source}. Fly it: kittiwake run mine.yaml\n"
    )
    mine, original = load_scenario("mine.yaml"), load_scenario(source)
    assert mine.name == "mine"
    assert mine.document.data | {"name": source} == original.document.data


def test_comments_of_the_source_are_kept(folder):
    run("new", "mine", "--from", "keep-spot")
    text = (folder / "mine.yaml").read_text()
    assert "# QRSim's TaskKeepSpot" in text
    assert text.startswith("# mine: fly it with `kittiwake run mine.yaml`")


def test_a_file_is_never_replaced(folder):
    (folder / "mine.yaml").write_text("name: precious\n")
    with pytest.raises(ScenarioError, match=r"mine\.yaml exists already; choose another name"):
        run("new", "mine")
    assert (folder / "mine.yaml").read_text() == "name: precious\n"


@pytest.mark.parametrize("name", ["my scenario", "../mine", "1st"])
def test_a_name_that_no_scenario_may_have_is_refused(folder, name):
    with pytest.raises(ScenarioError, match="must begin with a letter"):
        run("new", name)
    assert not any(folder.iterdir())


def test_schema_is_printed_as_json():
    assert json.loads(run("schema"))["title"] == "Kittiwake scenario"


def test_library_names_are_completed():
    from kittiwake.cli.check import matching_names

    assert matching_names("hover-h") == ["hover-hummingbird"]
    assert matching_names("") == library.names()


def test_scenario_of_another_format_is_refused_by_its_number():
    with pytest.raises(ScenarioError, match="format 2 is not known; .* reads format 1"):
        load_scenario("hover-hummingbird", ["format=2"])


def test_summary_of_another_format_is_refused_by_its_number(tmp_path):
    (tmp_path / "summary.json").write_text('{"format": 2}')
    with pytest.raises(LogError, match="is of format 2; this version of Kittiwake reads format 1"):
        _read_summary(tmp_path / "summary.json")


def test_log_of_another_format_is_refused_by_its_number(tmp_path):
    from kittiwake.analysis import log_format
    from kittiwake.analysis.log_writer import LogWriter

    layout = {"h": (("time_s",), ())}
    for version, refused in ((2, True), (1, False)):
        path = tmp_path / f"{version}.mcap"
        with pytest.MonkeyPatch.context() as patch, path.open("wb") as stream:
            patch.setattr(log_format, "FORMAT", version)
            LogWriter(stream, layout).finish()
        if refused:
            with pytest.raises(LogError, match="is of format 2; .* reads format 1"):
                read_log_file(path)
        else:
            read_log_file(path)
