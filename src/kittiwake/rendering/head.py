"""Mesh of a turning head with an ultrasonic sensor that points along x."""

from functools import lru_cache

import numpy as np

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, box, merge, revolved

RGB = (30, 180, 160)
# chosen: dimensions of a common sensor board with two transducers
BOARD_M, TRANSDUCER_M, TRANSDUCER_LENGTH_M, OFFSET_M = (0.006, 0.046, 0.02), 0.008, 0.014, 0.013


@lru_cache(maxsize=1)
def head_mesh() -> ColoredMesh:
    """Return a board with two transducers."""
    profile = np.array(
        [
            (0.0, 0.0),
            (TRANSDUCER_M, 0.0),
            (TRANSDUCER_M, TRANSDUCER_LENGTH_M),
            (0.0, TRANSDUCER_LENGTH_M),
        ]
    )
    upright = revolved(profile, 12)
    transducer = Shape(upright.vertices_m[:, [2, 0, 1]], upright.faces)
    transducers = [transducer.at((0.003, side * OFFSET_M, 0.0)) for side in (1.0, -1.0)]
    return merge(box(BOARD_M), *transducers).colored(RGB)
