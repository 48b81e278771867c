"""``kittiwake compare`` as users meet it: a table, a picture, figures, and refusals."""

import contextlib
import csv
import io
import json
import sys
from typing import NamedTuple

import numpy as np
import pytest
from matplotlib import image

import kittiwake.cli.compare
from kittiwake.cli import main

SCENARIO = """
name: hops
time: {rate_hz: 100, duration_s: 4}
vehicles:
  tern:
    model: rigid-body
    start: {position_world_m: [0, 0, 5]}
    guidance: {type: hold, position_world_m: [0.5, 0, 5.5]}
  gull:
    model: rigid-body
    start: {position_world_m: [0, 9, 5]}
    guidance: {type: curve, centre_world_m: [0, 9, 5], drift_world_mps: [0.1, 0, 0]}
"""
NOISE = ("--noise", "position_m=0.02", "--noise", "attitude_deg=0.1")


class Answer(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


def compared(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["kittiwake", "compare", *map(str, arguments)])
        patch.setattr(kittiwake.cli.compare, "keep_compiled", lambda: None)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                status = 0
            except SystemExit as ended:
                status = ended.code or 0
    return Answer(status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    file = tmp_path_factory.mktemp("scenario") / "hops.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="module")
def comparison(scenario, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    options = ("--controllers", "position,lee", "--seeds", 2, *NOISE, "--out", folder)
    return folder, compared(scenario, *options)


def test_a_table_names_vehicles_controllers_and_figures(comparison):
    folder, answer = comparison
    assert answer.status == 0, answer.err
    for word in ("tern", "gull", "position", "lee", "settling time (s)", "2 of 2", str(folder)):
        assert word in answer.out
    assert answer.err == ""


def test_the_file_has_a_row_for_each_flight_of_each_vehicle(comparison):
    folder, _ = comparison
    with (folder / "comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2
    steps = {row["controllers"]: row for row in rows if row["vehicle"] == "tern"}
    # lee's loop at 2 rad/s and more damping is another one than position's at 1.5
    assert float(steps["lee"]["rise_time_s"]) != float(steps["position"]["rise_time_s"])
    moving = [row for row in rows if row["vehicle"] == "gull"]
    assert {row["rise_time_s"] for row in moving} == {""}
    assert all(0.0 < float(row["tracking_rms_m"]) < 0.1 for row in moving)


def test_the_picture_shows_something(comparison):
    folder, _ = comparison
    pixels = image.imread(folder / "comparison.png")
    assert pixels.shape[1] > 1000
    assert np.std(pixels) > 0.05


def test_figures_alone_are_an_array(scenario, tmp_path):
    options = ("--set", "time.duration_s=0.5", "--json", "--out", tmp_path)
    answer = compared(scenario, "--controllers", "position", *options)
    rows = json.loads(answer.out)
    assert [row["vehicle"] for row in rows] == ["tern", "gull"]
    assert rows[0]["settling_time_s"] is None
    assert set(rows[0]) >= {"controllers", "seed", "status", "overshoot_percent", "roughness_x_m"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--controllers", "kemperr"), "Did you mean 'kemper'?"),
        (("--controllers", "position,position"), "different names"),
        (("--controllers", ","), "different names"),
        (("--controllers", "mixer"), "RotorSpeeds"),
        (("--controllers", "position", "--noise", "position=1"), "there is no such key"),
        (("--controllers", "position", "--noise", "position_m"), "KEY=VALUE"),
        (("--controllers", "position", "--set", "vehicles.tren.model=os4"), "tren"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_message(options, said, scenario, tmp_path):
    answer = compared(scenario, *options, "--out", tmp_path)
    assert answer.status == 2
    assert said in answer.err
    assert "Traceback" not in answer.err
