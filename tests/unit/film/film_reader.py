"""Films read back by ffmpeg itself: the reader of imageio-ffmpeg forks and leaves files open."""

import re
import subprocess
from typing import NamedTuple

import imageio_ffmpeg
import numpy as np


class Film(NamedTuple):
    """Metadata and pictures of a film file."""

    codec: str
    colors: str
    fps: float
    duration_s: float
    frames: np.ndarray


def read_film(path):
    """Of an MP4."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    command = [program, "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    # what is read, not what is written
    said = done.stderr.decode().split("Output #0")[0]
    codec, colors = re.search(r"Video: (\w+).*?, (\w+)", said).groups()
    across, down = map(int, re.search(r", (\d+)x(\d+)", said).groups())
    hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", said).groups()
    fps = float(re.search(r"([\d.]+) fps", said).group(1))
    duration_s = 3600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, down, across, 3)
    return Film(codec, colors, fps, duration_s, frames)
