"""Bounds of a component's parameter, written as an annotation of its type.

``mass_kg: Annotated[Real, POSITIVE]`` is read by the scenario reader, which reports any other value
with file and line.
"""

from dataclasses import dataclass
from math import inf

from typing_extensions import override


@dataclass(frozen=True)
class Bounds:
    """An interval, closed unless ``open_below``."""

    low: float = -inf
    high: float = inf
    open_below: bool = False

    def contains(self, value: float) -> bool:
        """Return True if a value lies in the interval."""
        return (self.low < value if self.open_below else self.low <= value) and value <= self.high

    @override
    def __str__(self) -> str:
        if self.low == -inf:
            return f"at most {self.high:g}"
        if self.high == inf:
            return f"{'above' if self.open_below else 'at least'} {self.low:g}"
        return f"{'above' if self.open_below else 'from'} {self.low:g} to {self.high:g}"


POSITIVE = Bounds(low=0.0, open_below=True)
NOT_NEGATIVE = Bounds(low=0.0)
FRACTION = Bounds(low=0.0, high=1.0)
