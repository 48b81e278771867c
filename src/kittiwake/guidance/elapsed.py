"""Times that are sums of steps, and so a rounding off what they should be."""

from kittiwake.geometry.scalar import Real

# a hundredth of a step forgives any rounding, of decimal times in files too
TOLERANCE_STEPS = 0.01


def elapsed_s(time_s: Real, dt_s: Real) -> Real:
    """A time to be compared with given ones: one that it misses by a rounding is over."""
    return time_s + TOLERANCE_STEPS * dt_s
