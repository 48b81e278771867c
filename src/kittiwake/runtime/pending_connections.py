"""Bounded set of connections that have not identified themselves yet, fair between peers.

Each queue belongs to a port and a peer address. A new connection is always admitted; at the limit
the oldest of the longest queue is dropped, so a flood displaces only itself. Routers
drop from the longest queue under a flood in the same way (B. Suter et al., "Buffer management
schemes for supporting TCP in gigabit routers with per-flow queueing", IEEE Journal on Selected
Areas in Communications 17 (1999)).
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Line = TypeVar("Line", bound=Hashable)


class PendingConnections(Generic[Line]):
    """Connections of all ports in the order of opening; at most ``limit`` at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[Line, Hashable] = {}

    def __iter__(self) -> Iterator[Line]:
        return iter([*self._queues])

    def add(self, connection: Line, queue: Hashable) -> Line | None:
        """Add a connection to the queue of a port and a peer; return the one dropped, if any."""
        self._queues[connection] = queue
        if len(self._queues) <= self._limit:
            return None
        lengths = Counter(self._queues.values())
        longest = max(lengths.values())
        displaced = next(one for one, own in self._queues.items() if lengths[own] == longest)
        del self._queues[displaced]
        return displaced

    def discard(self, connection: Line) -> None:
        """Remove a connection that has identified itself or is closed."""
        self._queues.pop(connection, None)
