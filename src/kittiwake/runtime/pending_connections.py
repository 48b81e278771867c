"""Connections that have not said who they are: so many at most, and no crowd keeps others out.

Each queue belongs to a port and a peer address. A new connection always has a place; where there
is none left, the oldest of the longest queue gives way, so that a crowd displaces itself. Routers
drop from the longest queue under a flood in the same way (B. Suter et al., "Buffer management
schemes for supporting TCP in gigabit routers with per-flow queueing", IEEE Journal on Selected
Areas in Communications 17 (1999)).
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Line = TypeVar("Line", bound=Hashable)


class PendingConnections(Generic[Line]):
    """Connections of all ports in the order in which they were opened; ``most`` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: dict[Line, Hashable] = {}

    def __iter__(self) -> Iterator[Line]:
        return iter([*self._queues])

    def add(self, connection: Line, queue: Hashable) -> Line | None:
        """Takes one more, of a port and a peer; returns the one that gives way to it, if any."""
        self._queues[connection] = queue
        if len(self._queues) <= self._most:
            return None
        lengths = Counter(self._queues.values())
        longest = max(lengths.values())
        displaced = next(one for one, own in self._queues.items() if lengths[own] == longest)
        del self._queues[displaced]
        return displaced

    def discard(self, connection: Line) -> None:
        """It has said who it is, or is gone."""
        self._queues.pop(connection, None)
