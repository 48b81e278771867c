"""Controllers of Python files on the command line: run, check, compare and plot."""

import json

import pytest
from tests.system.commands import kittiwake_does

CODE = """
import kittiwake as kw

class MyController:
    rate_hz = 50

    def __init__(self, gain=2.0, fails_at_s=9.0):
        self.gain, self.fails_at_s = gain, fails_at_s

    def update(self, t_s, setpoint, estimate):
        if t_s > self.fails_at_s:
            raise RuntimeError("the valve is stuck")
        error = setpoint.position_world_m - estimate.position_world_m
        return kw.AccelerationYaw(error * self.gain - 2.0 * estimate.velocity_world_mps, 0.0)
"""
SCENARIO = """
name: own
time: {rate_hz: 100, duration_s: 0.5}
vehicles:
  h:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 5]}
    guidance: {type: hold, position_world_m: [0.5, 0, 5.5]}
    controller: {file: mine.py, class: MyController, gain: 3}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(SCENARIO, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["run", "check", "view", "serve"])
def test_code_that_is_not_allowed_ends_with_status_2(folder, command):
    mode = ["--joystick"] if command == "serve" else []
    answer = kittiwake_does(command, "own.yaml", *mode)
    assert answer.status == 2
    assert "own.yaml:10: vehicles.h.controller: 'mine.py' holds code" in answer.err
    assert "--allow-code DIR" in answer.err
    assert not (folder / "runs").exists()


@pytest.mark.slow
def test_a_run_keeps_its_code_and_can_be_repeated_and_plotted(folder):
    assert kittiwake_does("check", "own.yaml", "--allow-code", folder).status == 0
    first = kittiwake_does("run", "own.yaml", "--allow-code", ".", "--out", "a", "--json")
    assert first.status == 0
    assert kittiwake_does("plot", "a").status == 0
    assert (folder / "a" / "h-controller-mine.py").read_text(encoding="utf-8") == CODE
    refused = kittiwake_does("run", "a/scenario.yaml")
    assert refused.status == 2
    assert "--allow-code" in refused.err
    again = kittiwake_does("run", "a/scenario.yaml", "--allow-code", "a", "--out", "b", "--json")
    flown = [json.loads(answer.out)["vehicles"]["h"] for answer in (first, again)]
    assert flown[0] == flown[1]


@pytest.mark.slow
def test_a_run_keeps_the_modules_that_its_code_imports(folder):
    beside = "from gains.own import GAIN\nfrom names import NAME\n"
    (folder / "mine.py").write_text(beside + CODE.replace("2.0 *", "GAIN *"), encoding="utf-8")
    (folder / "names.py").write_text("NAME = 1\n", encoding="utf-8")
    (folder / "gains").mkdir()
    (folder / "gains" / "__init__.py").touch()
    (folder / "gains" / "own.py").write_text("GAIN = 2.5\n", encoding="utf-8")
    first = kittiwake_does("run", "own.yaml", "--allow-code", ".", "--out", "a", "--json")
    assert first.status == 0, first.err
    for name in ("names.py", "gains/__init__.py", "gains/own.py", "mine.py"):
        (folder / name).unlink()
    again = kittiwake_does("run", "a/scenario.yaml", "--allow-code", "a", "--out", "b", "--json")
    assert again.status == 0, again.err
    flown = [json.loads(answer.out)["vehicles"]["h"] for answer in (first, again)]
    assert flown[0] == flown[1]
    assert (folder / "b" / "gains" / "own.py").is_file()
    # once more into the same folder
    assert kittiwake_does("run", "a/scenario.yaml", "--allow-code", "a", "--out", "b").status == 0


@pytest.mark.slow
def test_an_exception_ends_a_run_as_failed_with_a_readable_log(folder):
    items = ["--set", "vehicles.h.controller.fails_at_s=0.3"]
    answer = kittiwake_does("run", "own.yaml", "--allow-code", ".", "--out", "a", *items)
    assert answer.status == 1
    summary = json.loads((folder / "a" / "summary.json").read_text(encoding="utf-8"))
    assert summary["status"] == "failed"
    assert summary["reason"].startswith("MyController of 'h' at 0.32 s: RuntimeError: the valve")
    assert summary["duration_s"] == 0.32
    assert kittiwake_does("export", "a", "--to", "csv").status == 0
    rows = (folder / "a" / "h.csv").read_text(encoding="utf-8").splitlines()
    assert rows[-1].startswith("0.32,")


@pytest.mark.slow
def test_compare_flies_a_class_of_a_file_beside_registered_names(folder):
    plain = SCENARIO.replace("{file: mine.py, class: MyController, gain: 3}", "position")
    (folder / "plain.yaml").write_text(plain, encoding="utf-8")
    names = "position,mine.py:MyController,lee"
    answer = kittiwake_does("compare", "plain.yaml", "--controllers", names, "--json", "--out", "c")
    assert answer.status == 0, answer.err
    assert [row["controllers"] for row in json.loads(answer.out)] == names.split(",")
    for wrong, message in {
        "mine.py:Your": "no controller 'Your' in mine.py",
        "mine:MyController": "such as mine.py:MyController",
        "none.py:MyController": "cannot read 'none.py'",
    }.items():
        refused = kittiwake_does("compare", "plain.yaml", "--controllers", f"lee,{wrong}")
        assert refused.status == 2
        assert message in refused.err
