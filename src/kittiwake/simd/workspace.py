"""Memory of a kernel for arrays that do not fit into registers, used again once they are unused."""

from bisect import insort
from dataclasses import dataclass, field

ALIGNMENT = 64


@dataclass
class Workspace:
    """Places in one block of memory, each of which is reserved and later released.

    Attributes:
        size: number of bytes that were reserved at once, at most.
    """

    size: int = 0
    _free: list[tuple[int, int]] = field(default_factory=list)
    _reserved: dict[int, int] = field(default_factory=dict)

    def reserve(self, count: int) -> int:
        """Return the first of so many bytes."""
        count = -(-count // ALIGNMENT) * ALIGNMENT
        for index, (start, length) in enumerate(self._free):
            if length >= count:
                del self._free[index]
                if length > count:
                    insort(self._free, (start + count, length - count))
                self._reserved[start] = count
                return start
        start = self.size
        if self._free and sum(self._free[-1]) == self.size:
            start = self._free.pop()[0]
        self.size = start + count
        self._reserved[start] = count
        return start

    def release(self, start: int) -> None:
        """Let others use the bytes that begin here."""
        count = self._reserved.pop(start)
        insort(self._free, (start, count))
        merged: list[tuple[int, int]] = []
        for place, length in self._free:
            if merged and sum(merged[-1]) == place:
                merged[-1] = (merged[-1][0], merged[-1][1] + length)
            else:
                merged.append((place, length))
        self._free = merged
