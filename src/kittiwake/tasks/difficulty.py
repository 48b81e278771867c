"""How much of a curriculum's variety an episode has, from 0 to 1."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer


def check_difficulty(difficulty: Any) -> None:
    """Refuses what no difficulty can be; inside ``jit``, where it is not known, it cannot.

    Raises:
        ValueError: with what to give instead.
    """
    if isinstance(difficulty, Tracer):
        return
    given = difficulty
    if isinstance(given, jax.Array | np.ndarray) and given.shape == ():
        given = given.item()
    is_number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not is_number or not 0.0 <= float(given) <= 1.0:
        message = f"a difficulty of {given!r} is not allowed; give a number from 0 to 1"
        raise ValueError(message)
