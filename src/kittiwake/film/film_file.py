"""Files of moving pictures: MP4 by ffmpeg, GIF by Pillow."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from kittiwake.analysis.output_file import output_file
from kittiwake.core.errors import LogError, MissingExtraError
from kittiwake.core.extras import optional

# constant quality: lower is better and larger, 18 cannot be told from the original
QUALITY, PRESET = "20", "veryfast"
PALETTE_COLORS = 255

Picture = UInt8[np.ndarray, "height width 3"]


def write_mp4(path: Path, pictures: Iterator[Picture], fps: float) -> None:
    """H.264 that browsers play, from its first byte on.

    Raises:
        MissingExtraError: without imageio-ffmpeg.
        LogError: if ffmpeg cannot write the file.
    """
    program = ffmpeg()
    first = next(pictures)
    height, width = first.shape[:2]
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}"]
    wanted = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", QUALITY, "-preset", PRESET]
    whole = ["-movflags", "+faststart", "-f", "mp4"]
    with output_file(path) as unfinished, TemporaryFile() as told:
        # of imageio-ffmpeg only the program: its own call forks, which JAX warns of
        command = [program, "-y", "-loglevel", "error", *given, "-i", "-", *wanted, *whole]
        process = Popen([*command, str(unfinished)], stdin=PIPE, stderr=told)
        assert process.stdin is not None
        try:
            for picture in chain([first], pictures):
                process.stdin.write(np.ascontiguousarray(picture).data)
            process.stdin.close()
        except BrokenPipeError:
            pass
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            status = process.wait()
        if status != 0:
            told.seek(0)
            said = told.read().decode(errors="replace").strip().splitlines()
            message = f"ffmpeg could not write {path}: {said[-1] if said else f'status {status}'}"
            raise LogError(message)


def ffmpeg() -> str:
    """The program, asked for before a long film is drawn.

    Raises:
        MissingExtraError: without imageio-ffmpeg; the message has what needs none.
    """
    try:
        return str(optional("imageio_ffmpeg", "film").get_ffmpeg_exe())
    except (MissingExtraError, RuntimeError) as error:
        message = f"{error}. --format gif needs none" if _can_draw() else str(error)
        raise MissingExtraError(message) from None


def _can_draw() -> bool:
    """Whether there is what draws the pictures of either format."""
    try:
        optional("mujoco", "film")
    except (MissingExtraError, ImportError, AttributeError, RuntimeError, OSError):
        return False  # MuJoCo asks for a graphics library as it is imported
    return True


def write_gif(
    path: Path, samples: Sequence[Picture], pictures: Iterator[Picture], fps: float
) -> None:
    """One palette for all pictures, made of samples of them."""
    palette = _palette(samples)
    drawn = (
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
    )
    first = next(drawn)
    with output_file(path) as unfinished:
        first.save(
            unfinished,
            save_all=True,
            append_images=drawn,
            duration=round(1000.0 / fps),
            loop=0,
            optimize=False,
        )


def _palette(samples: Sequence[Picture]) -> Image.Image:
    beside = Image.fromarray(np.concatenate(samples, axis=1))
    return beside.quantize(PALETTE_COLORS, method=Image.Quantize.MEDIANCUT)
