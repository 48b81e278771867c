"""Description of a controller gain that can be changed in flight."""

from typing import NamedTuple


class Gain(NamedTuple):
    """Name, current value, allowed range and description of a gain."""

    name: str
    value: float
    low: float
    high: float
    description: str
