"""Files of moving pictures, read back."""

import os
import signal
import sys
from functools import partial

import numpy as np
import pytest
from PIL import Image
from tests.unit.film.film_reader import read_film

from kittiwake.core.errors import LogError, MissingExtraError
from kittiwake.film.film_file import ffmpeg, write_gif, write_mp4
from kittiwake.runtime.interrupt import interrupts

SIZE = (48, 64, 3)


def pictures(count=12):
    """From dark to bright."""
    return (np.full(SIZE, 10 + 18 * number, np.uint8) for number in range(count))


def test_an_mp4_has_the_pictures_their_size_and_their_time(tmp_path):
    write_mp4(tmp_path / "film.mp4", pictures(), 25.0)
    shown = read_film(tmp_path / "film.mp4")
    assert shown.frames.shape == (12, *SIZE)
    assert shown.fps == 25.0
    assert shown.duration_s == pytest.approx(12 / 25.0, abs=0.02)
    assert (shown.codec, shown.colors) == ("h264", "yuv420p")
    brightness = shown.frames.mean(axis=(1, 2, 3))
    assert brightness == pytest.approx([10 + 18 * number for number in range(12)], abs=4.0)


def test_an_mp4_begins_with_its_index_so_that_it_plays_while_loading(tmp_path):
    write_mp4(tmp_path / "film.mp4", pictures(), 25.0)
    data = (tmp_path / "film.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_gif_has_the_pictures_and_their_time(tmp_path):
    write_gif(tmp_path / "film.gif", list(pictures()), pictures(), 12.5)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 12
        assert film.size == (64, 48)
        shown = []
        for number in range(film.n_frames):
            film.seek(number)
            assert film.info["duration"] == 80
            shown.append(np.asarray(film.convert("RGB")).mean())
        assert film.info["loop"] == 0
    assert shown == pytest.approx([10 + 18 * number for number in range(12)], abs=3.0)


@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
def test_a_film_that_fails_halfway_leaves_the_former_one(tmp_path, name):
    def failing():
        yield from pictures(3)
        message = "drawn no more"
        raise RuntimeError(message)

    (tmp_path / name).write_text("former", encoding="utf-8")
    write = write_mp4 if name.endswith("mp4") else partial(write_gif, samples=list(pictures(2)))
    with pytest.raises(RuntimeError, match="drawn no more"):
        write(tmp_path / name, pictures=failing(), fps=25.0)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "former"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_film_that_a_signal_ends_leaves_no_unfinished_file(number, tmp_path):
    def ended():
        yield from pictures(3)
        os.kill(os.getpid(), number)
        yield from pictures(3)

    with interrupts(), pytest.raises(KeyboardInterrupt):
        write_mp4(tmp_path / "film.mp4", ended(), 25.0)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_ffmpeg_are_reported(tmp_path):
    odd = (np.zeros((47, 63, 3), np.uint8) for _ in range(3))
    with pytest.raises(LogError, match=r"ffmpeg could not write .*film\.mp4"):
        write_mp4(tmp_path / "film.mp4", odd, 25.0)
    assert not list(tmp_path.iterdir())


def test_without_ffmpeg_the_extra_and_the_other_format_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"kittiwake\[film\]'.*--format gif needs none"):
        ffmpeg()
