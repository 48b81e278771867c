"""Gains of all vehicles, offered to other nodes."""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.tuning import LiveGains
from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.session import Session

Display = Callable[[Mapping[str, float]], None]


class GainServer:
    """Server of the gains of a flight.

    The vehicles of one scenario entry share their gains, and each of them displays a change.
    """

    def __init__(self, node: RosNode, session: Session) -> None:
        self._node, self._session = node, session
        self._offered: dict[str, list[tuple[LiveGains, Display]]] = defaultdict(list)
        # a parameter server rejects a change during a change of its own
        self._thread = ThreadPoolExecutor(1, "gains")
        self._thread_id: int | None = None
        # entries with changes that are not displayed yet
        self._pending: set[str] = set()

    def add(self, vehicle: str, vehicle_namespace: str) -> None:
        """Offer the gains of a vehicle, if it has any, in its namespace."""
        gains = LiveGains.of_vehicle(self._session.executor.requested_scenario, vehicle)
        if not gains.gains:
            return
        namespace = f"{vehicle_namespace}/gains"
        on_change = partial(self._on_change, gains, namespace)
        display = self._node.create_gain_server(namespace, gains.gains, on_change)
        self._offered[gains.entry].append((gains, display))

    def remove(self, vehicle: str) -> None:
        """Display no more changes of a vehicle's gains."""
        for entry, offered in self._offered.items():
            self._offered[entry] = [one for one in offered if one[0].vehicle != vehicle]

    def close(self) -> None:
        """Stop displaying changes."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _on_change(
        self, gains: LiveGains, namespace: str, requested: dict[str, float]
    ) -> dict[str, float]:
        executor = self._session.executor
        if threading.get_ident() == self._thread_id:
            # this call comes from displaying a value, which may be out of date already
            return gains.values(executor)
        try:
            accepted = gains.change(executor, requested)
        except KittiwakeError as error:
            self._node.warn(f"{namespace}: {error}; nothing is changed")
            raise
        if gains.entry not in self._pending:
            self._pending.add(gains.entry)
            self._thread.submit(self._display, gains.entry)
        return accepted

    def _display(self, entry: str) -> None:
        self._thread_id = threading.get_ident()
        self._pending.discard(entry)
        for gains, display in self._offered[entry]:
            try:
                display(gains.values(self._session.executor))
            # nothing else reports an error of this thread
            except Exception as error:
                self._node.error(f"gains of '{gains.vehicle}': {error!r}")
