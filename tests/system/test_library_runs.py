"""Every library scenario is flown to its end."""

import json
import math

import pytest
from tests.system.commands import kittiwake_does

from kittiwake.scenario import library
from kittiwake.scenario.load import load_scenario
from kittiwake.tasks.make import KEY


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_run_completes_each_library_scenario(name, tmp_path):
    folder = tmp_path / "flight"
    answer = kittiwake_does("run", name, "--seed", 1, "--out", folder)
    assert answer.status == 0, answer.out + answer.err
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["reason"]) == ("completed", None)
    worth = summary["metrics"].get(KEY)
    assert (worth is not None) == (load_scenario(name).document.data.get(KEY) is not None)
    if worth is not None:
        assert math.isfinite(worth["return"])
