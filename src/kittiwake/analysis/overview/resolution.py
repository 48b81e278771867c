"""Minimum span of an axis by unit, so that plots do not magnify rounding."""

from typing import TypeAlias

Limits: TypeAlias = tuple[float, float]

# smallest relevant span by unit, for fine instruments and a vehicle of 30 g: a centimeter, a tenth
# of a degree, the weight of a tenth of a gram, and its torque at a lever of 1 cm. Rounding errors
# are far smaller, also in single precision.
LEAST_SPANS = {
    "m": 0.01,
    "m/s": 0.01,
    "m/s²": 0.01,
    "deg": 0.1,
    "deg/s": 0.1,
    "rad/s": 1.0,
    "N": 1e-3,
    "N m": 1e-5,
    "V": 0.01,
    "A": 0.01,
    "W": 0.01,
    "Hz": 0.1,
    "Pa": 1.0,
    "K": 0.1,
    "s": 1e-3,
    "": 0.01,
}
# margin, so that tick labels at the ends do not touch those of the next axis
AIR = 1.2
# changes below this share of the axis are negligible
LEVEL = 0.01


def readable_limits(limits: Limits, unit: str) -> Limits:
    """Return an axis' limits, widened to the minimum span of the unit."""
    low, high = limits
    missing = max(AIR * LEAST_SPANS[unit] - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


def negligible(size: float, unit: str) -> bool:
    """Return True if a value is not visible on the narrowest axis of its unit."""
    return size <= LEVEL * LEAST_SPANS[unit]
