"""Film files: MP4 by ffmpeg, GIF by Pillow."""

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
from kittiwake.core.extras import import_optional

# constant rate factor: lower is better and larger; 18 is visually lossless
QUALITY, PRESET = "20", "veryfast"
PALETTE_COLORS = 255

Picture = UInt8[np.ndarray, "height width 3"]


def write_mp4(path: Path, pictures: Iterator[Picture], fps: float) -> None:
    """Write H.264 that browsers play while they load it.

    Raises:
        MissingExtraError: without imageio-ffmpeg.
        LogError: if ffmpeg cannot write the file.
    """
    program = ffmpeg()
    first = next(pictures)
    height, width = first.shape[:2]
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}"]
    codec = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", QUALITY, "-preset", PRESET]
    target = ["-movflags", "+faststart", "-f", "mp4"]
    with output_file(path) as unfinished, TemporaryFile() as errors:
        # only the program of imageio-ffmpeg: its own call forks, of which JAX warns, does not check
        # the exit status, and prints the errors
        command = [program, "-y", "-loglevel", "error", *source, "-i", "-", *codec, *target]
        process = Popen([*command, str(unfinished)], stdin=PIPE, stderr=errors)
        with suppress(BrokenPipeError), process:
            assert process.stdin is not None
            try:
                for picture in chain([first], pictures):
                    process.stdin.write(np.ascontiguousarray(picture).data)
            except BrokenPipeError:  # ffmpeg has failed; its errors are reported below
                raise
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"status {process.returncode}"
            message = f"ffmpeg could not write {path}: {reason}"
            raise LogError(message)


def ffmpeg() -> str:
    """Return the path of ffmpeg; call it before a long film is drawn.

    Raises:
        MissingExtraError: without imageio-ffmpeg; the message names the format that needs none.
    """
    try:
        return str(import_optional("imageio_ffmpeg", "film").get_ffmpeg_exe())
    except (MissingExtraError, RuntimeError) as error:
        message = f"{error}. --format gif needs none" if _can_draw() else str(error)
        raise MissingExtraError(message) from None


def _can_draw() -> bool:
    """Return True if the renderer, which both formats need, is installed."""
    try:
        import_optional("mujoco", "film")
    except (MissingExtraError, ImportError, AttributeError, RuntimeError, OSError):
        return False  # MuJoCo loads a graphics library when it is imported
    return True


def write_gif(
    path: Path, samples: Sequence[Picture], pictures: Iterator[Picture], fps: float
) -> None:
    """Write a GIF with one palette, which is computed from samples of its pictures."""
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
