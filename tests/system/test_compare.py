"""``kittiwake compare``: tables, pictures, figures, and errors."""

import contextlib
import csv
import io
import itertools
import json
import sys
from typing import NamedTuple

import numpy as np
import pytest
from matplotlib import image
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from rich.console import Console

import kittiwake.cli.compare
from kittiwake.analysis.comparison_metrics import summaries
from kittiwake.analysis.plots.comparison import draw_comparison
from kittiwake.analysis.response import ResponseMetrics, Trial
from kittiwake.analysis.table import SETPOINT_WORLD_M, STATE_COLUMNS, Table
from kittiwake.cli import main
from kittiwake.cli.comparison_table import comparison_tables

# in the air the landing gear changes only the time to compile
SCENARIO = """
name: hops
time: {rate_hz: 100, duration_s: 4}
vehicles:
  tern:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 5]}
    guidance: {type: hold, position_world_m: [0.5, 0, 5.5]}
  gull:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 9, 5]}
    guidance: {type: curve, center_world_m: [0, 9, 5], drift_world_mps: [0.1, 0, 0]}
"""
NOISE = ("--noise", "position_m=0.02", "--noise", "attitude_deg=0.1")


class Answer(NamedTuple):
    """Exit status and output of a command."""

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


@pytest.mark.parametrize("vehicle", ["tern", "gull"])
def test_each_vehicle_has_a_nonempty_picture(vehicle, comparison):
    folder, answer = comparison
    assert f"comparison-{vehicle}.png" in answer.out
    pixels = image.imread(folder / f"comparison-{vehicle}.png")
    assert pixels.shape[1] > 1000
    assert np.std(pixels) > 0.05


@pytest.mark.slow
def test_figures_alone_are_an_array(scenario, tmp_path):
    options = ("--set", "time.duration_s=0.5", "--json", "--out", tmp_path)
    answer = compared(scenario, "--controllers", "position", *options)
    rows = json.loads(answer.out)
    assert [row["vehicle"] for row in rows] == ["tern", "gull"]
    assert rows[0]["settling_time_s"] is None
    assert set(rows[0]) >= {"controllers", "seed", "status", "overshoot_percent", "roughness_x_m"}


def trial(controllers, seed, settling_time_s):
    """Return a flight of two seconds with a given settling time."""
    times = np.linspace(0.0, 2.0, 21)
    given = dict.fromkeys([*STATE_COLUMNS, *SETPOINT_WORLD_M], 0.0) | {"time_s": times, "qw": 1.0}
    values = np.stack([np.broadcast_to(v, times.shape) for v in given.values()], axis=1)
    found = ResponseMetrics(None, settling_time_s, None, 0.1 * seed, 12.0, None, {})
    return Trial(controllers, "tern", seed, "completed", found, Table(tuple(given), values))


NAMES = ["position", "lee", "position+attitude-rates+indi", "euler-attitude", "hoffmann", "kemper"]


@pytest.fixture(scope="module")
def many():
    """Return six controllers with three flights each, of which two settle."""
    return [
        trial(name, seed, {1: 12.3, 2: None, 3: 34.5}[seed]) for name in NAMES for seed in (1, 2, 3)
    ]


def test_narrow_tables_break_no_numbers_and_count_the_flights(many):
    file = io.StringIO()
    console = Console(file=file, width=80)
    console.print(*comparison_tables(summaries(many), 80))
    shown = file.getvalue()
    # (34.5 - 12.3) / 2 in one digit
    assert shown.count("23.4 ±10 (2 of 3)") == len(NAMES)
    assert "…" not in shown
    assert "e+" not in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_texts_of_a_picture_do_not_overlap(many):
    figure = draw_comparison(many)
    figure.draw_without_rendering()
    drawn = figure.canvas.get_renderer()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent(drawn)) for text in texts]
    page = figure.bbox
    wide = [(text, box) for text, box in boxes if len(text) > 6]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for _, box in wide)
    overlapping = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(wide, 2)
        if Bbox.intersection(a, b) is not None
    ]
    assert overlapping == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--controllers", "kemperr"), "Did you mean 'kemper'?"),
        (("--controllers", "position,position"), "different names"),
        (("--controllers", ","), "different names"),
        (("--controllers", "mixer"), "RotorSpeeds"),
        (("--controllers", "lee,{type: lee}"), "gains cannot be given here"),
        (("--controllers", "position", "--noise", "position=1"), "--noise position=1: position"),
        (("--controllers", "position", "--noise", "position_m"), "KEY=VALUE"),
        (("--controllers", "position", "--set", "vehicles.tren.model=os4"), "tren"),
    ],
)
def test_invalid_comparisons_are_refused_with_a_message(options, expected, scenario, tmp_path):
    folder = tmp_path / "results"
    answer = compared(scenario, *options, "--out", folder)
    assert answer.status == 2
    assert not folder.exists()
    assert expected in answer.err
    assert "Traceback" not in answer.err
