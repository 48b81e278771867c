"""``kittiwake plot --film`` and ``--still`` of one short flight."""

import shutil
import sys

import numpy as np
import pytest
from PIL import Image
from tests.system.commands import kittiwake_does
from tests.unit.film.film_reader import read_film

from kittiwake.analysis.output_file import output_file
from kittiwake.core.errors import MissingExtraError
from kittiwake.rendering.offscreen_renderer import OffscreenRenderer

FLIGHT = """
name: short-hop
time: {rate_hz: 50, duration_s: 1}
world: {area: {x_m: [-9, 9], y_m: [-9, 9], z_m: [0, 9]}}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 0, 2]}
    controller: position
    guidance: {type: hold, position_world_m: [1, 0, 3]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("hop")
    (folder / "hop.yaml").write_text(FLIGHT, encoding="utf-8")
    answer = kittiwake_does("run", folder / "hop.yaml", "--out", folder / "run", "--quiet")
    assert answer.status == 0, answer.err
    return folder / "run"


@pytest.fixture(scope="module")
def graphics():
    try:
        OffscreenRenderer([], [], 16, 16)
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_a_run_becomes_a_film(run, graphics):
    answer = kittiwake_does("plot", run, "--film", "--width", 320)
    assert answer.status == 0, answer.err
    assert answer.out == f"The film is {run / 'film.mp4'}\n"
    shown = read_film(run / "film.mp4")
    assert shown.frames.shape[1:] == (180, 320, 3)
    assert shown.duration_s == pytest.approx(1.0, abs=0.06)


@pytest.mark.slow
def test_a_film_may_be_a_gif_of_a_part_and_slower(run, graphics):
    options = ["--format", "gif", "--width", 160, "--from", 0.2, "--until", 0.6, "--speed", 0.5]
    answer = kittiwake_does("plot", run, "--film", *options)
    assert answer.status == 0, answer.err
    with Image.open(run / "film.gif") as shown:
        assert shown.size == (160, 90)
        assert shown.n_frames == 11


def test_a_still_shows_its_time(run, graphics):
    answer = kittiwake_does("plot", run, "--still", 0.5, "--width", 320)
    assert answer.status == 0, answer.err
    assert answer.out == f"The picture is {run / 'still.png'}\n"
    with Image.open(run / "still.png") as picture:
        assert picture.size == (320, 180)
        assert np.ptp(np.asarray(picture)) > 100


def test_without_these_options_no_film_is_made(run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns("film.*", "still.png"))
    assert kittiwake_does("plot", folder).status == 0
    assert not list(folder.glob("film.*"))


@pytest.mark.slow
def test_a_new_run_in_the_folder_removes_the_films_of_the_former_one(run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run, folder)
    for name in ("film.mp4", "film.gif", "still.png"):
        with output_file(folder / name) as film:
            film.write_bytes(b"former")
    arguments = [run.parent / "hop.yaml", "--out", folder, "--quiet"]
    assert kittiwake_does("run", *arguments).status == 0
    assert not [*folder.glob("film.*"), *folder.glob("still.png")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--film", "--format", "avi"], "`--format`: got avi"),
        (["--film", "--width", "wide"], "`--width`: got wide"),
        (["--film", "--width", "3"], "must be from 160 to 3840 pixels"),
        (["--film", "--speed", "0"], "`--speed`: got 0"),
        (["--film", "--from", "5"], "the flight lasts from 0 to"),
        (["--film", "--follow", "dron"], "'drone'"),
        (["--film", "--sensor", "head"], "`--sensor`: not allowed with --film"),
        (["--still", "soon"], "`--still`: got soon"),
        (["--still", "9"], "nothing at 9 s"),
        (["--format", "gif"], "`--format`: requires --film"),
        (["--format", "pgn"], "`--format`: got pgn; unknown. Did you mean 'png'?"),
        (["--style", "papr"], "`--style`: got papr; unknown. Did you mean 'paper'?"),
        (["--only", "sped"], "`only`: got sped; unknown. Did you mean 'speed'?"),
        (["--film", "--only", "speed"], "`--only`: not allowed with --film"),
        (["--film", "--style", "paper"], "`--style`: not allowed with --film"),
        (["--only", "speed", "--sensor", "head"], "`--sensor`: not allowed with --only"),
        (["--still", "1", "--speed", "2"], "`--speed`: requires --film"),
        (["--width", "640"], "`--width`: requires --film"),
    ],
)
def test_invalid_options_are_refused_in_one_line(run, graphics, options, said):
    answer = kittiwake_does("plot", run, *options)
    assert answer.status == 2
    assert said in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert "unfinished" not in " ".join(path.name for path in run.iterdir())


def test_a_folder_without_a_log_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        answer = kittiwake_does("plot", folder, "--film", "--format", "gif")
        assert answer.status == 2
        assert "'kittiwake run' has written" in answer.err


def test_a_folder_without_its_scenario_is_refused(run, tmp_path):
    shutil.copyfile(run / "log.mcap", tmp_path / "log.mcap")
    answer = kittiwake_does("plot", tmp_path, "--film", "--format", "gif")
    assert answer.status == 2
    assert "holds no scenario.yaml" in answer.err


def test_without_ffmpeg_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    answer = kittiwake_does("plot", run, "--film")
    assert answer.status == 2
    assert "pip install 'kittiwake[film]'" in answer.err
    assert "--format gif needs none" in answer.err
