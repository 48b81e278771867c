"""Check of the difficulty of an episode, the share of a curriculum's variation."""

import jax
import numpy as np
from jax.core import Tracer

from kittiwake.geometry.scalar import Real


def check_difficulty(difficulty: Real) -> None:
    """Check that a difficulty is from 0 to 1; values traced by ``jit`` are not checked.

    Raises:
        ValueError: for any other value.
    """
    if isinstance(difficulty, Tracer):
        return
    given = difficulty
    if isinstance(given, jax.Array | np.ndarray) and given.shape == ():
        given = given.item()
    is_number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not is_number or not 0.0 <= float(given) <= 1.0:
        message = f"difficulty: got {given!r}; must be a number from 0 to 1"
        raise ValueError(message)
