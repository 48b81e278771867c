"""The turning head of a surface follower with its ultrasonic sensor; it looks along x."""

from functools import lru_cache

import numpy as np

from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Shape, box, joined, revolved

RGB = (30, 180, 160)
# chosen: a board with the two eyes of a common sensor
BOARD_M, EYE_M, EYE_LONG_M, APART_M = (0.006, 0.046, 0.02), 0.008, 0.014, 0.013


@lru_cache(maxsize=1)
def head_look() -> Look:
    """A board with two eyes."""
    profile = np.array([(0.0, 0.0), (EYE_M, 0.0), (EYE_M, EYE_LONG_M), (0.0, EYE_LONG_M)])
    upright = revolved(profile, 12)
    eye = Shape(upright.vertices_m[:, [2, 0, 1]], upright.faces)
    eyes = [eye.at((0.003, side * APART_M, 0.0)) for side in (1.0, -1.0)]
    return joined(box(BOARD_M), *eyes).look(RGB)
