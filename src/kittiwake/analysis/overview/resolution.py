"""How finely a quantity is worth reading: what is drawn on an axis that spans no less."""

from typing import TypeAlias

Limits: TypeAlias = tuple[float, float]

# By unit: what the finest of the usual instruments, or a vehicle of 30 g, still makes something of
# (a centimeter, a tenth of a degree, a tenth of a gram's weight and that at a lever of 1 cm). The
# rounding of sums lies far below it, also in 32 bits.
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
# so that the ends, which are round numbers, stand inside and not at the next axis' ones
AIR = 1.2
# a line that moves by this share of its axis is as good as level
LEVEL = 0.01


def readable_limits(limits: Limits, unit: str) -> Limits:
    """An axis' limits, moved apart if they would magnify what nobody can use."""
    low, high = limits
    missing = max(AIR * LEAST_SPANS[unit] - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


def negligible(size: float, unit: str) -> bool:
    """Whether so much of a quantity cannot be told from nothing on its narrowest axis."""
    return size <= LEVEL * LEAST_SPANS[unit]
