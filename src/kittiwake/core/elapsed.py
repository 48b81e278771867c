"""Comparison of accumulated times, which have rounding errors, with given ones."""

from kittiwake.geometry.scalar import Real

# a hundredth of a step covers any rounding error, also of decimal times in files
TOLERANCE_STEPS = 0.01


def elapsed_s(time_s: Real, dt_s: Real) -> Real:
    """Return the time plus a tolerance, for comparison with a given time."""
    return time_s + TOLERANCE_STEPS * dt_s
