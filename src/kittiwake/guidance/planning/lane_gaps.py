"""Number of parallel lanes over a width."""

import math

from kittiwake.core.errors import ScenarioError

MAX_LANES = 1000
# relative tolerance of a whole number of spacings
SPACING_TOLERANCE = 1e-9


def gaps_over(width_m: float, spacing_m: float) -> int:
    """Return the number of gaps between lanes that fill a width.

    Raises:
        ScenarioError: if there would be too many lanes.
    """
    gaps = width_m / spacing_m
    if gaps > MAX_LANES - 1:
        message = (
            f"`lane_spacing_m`: got {spacing_m:g}, which is {gaps:.3g} lanes over a width of "
            f"{width_m:.6g} m; must be {MAX_LANES} lanes at most: write at least "
            f"{width_m / (MAX_LANES - 1):.3g}"
        )
        raise ScenarioError(message)
    return max(math.ceil(gaps - SPACING_TOLERANCE), 1)
