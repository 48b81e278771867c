"""The gains of all vehicles, where others change them."""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.tuning import LiveGains
from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.session import Session

Show = Callable[[Mapping[str, float]], None]


class GainServer:
    """Offers gains; vehicles that one entry counts share them, and all show a change."""

    def __init__(self, node: RosNode, session: Session) -> None:
        self._node, self._session = node, session
        self._offered: dict[str, list[tuple[LiveGains, Show]]] = defaultdict(list)
        # a node in the middle of a change of its own takes no other one
        self._thread = ThreadPoolExecutor(1, "gains")
        self._thread_number: int | None = None
        # whose changes are to be shown still
        self._waiting: set[str] = set()

    def offer(self, vehicle: str, space: str) -> None:
        """Those of a vehicle, in its namespace, if it has any."""
        gains = LiveGains.of(self._session.executor.wanted, vehicle)
        if not gains.shown:
            return
        namespace = f"{space}/gains"
        changed = partial(self._changed, gains, namespace)
        show = self._node.offer_gains(namespace, gains.shown, changed)
        self._offered[gains.entry].append((gains, show))

    def close(self) -> None:
        """Shows nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _changed(
        self, gains: LiveGains, namespace: str, wanted: dict[str, float]
    ) -> dict[str, float]:
        executor = self._session.executor
        if threading.get_ident() == self._thread_number:
            # it is only shown, and may be out of date already
            return gains.values(executor)
        try:
            held = gains.change(executor, wanted)
        except KittiwakeError as error:
            self._node.warn(f"{namespace}: {error}; nothing is changed")
            raise
        if gains.entry not in self._waiting:
            self._waiting.add(gains.entry)
            self._thread.submit(self._tell, gains.entry)
        return held

    def _tell(self, entry: str) -> None:
        self._thread_number = threading.get_ident()
        self._waiting.discard(entry)
        for gains, show in self._offered[entry]:
            try:
                show(gains.values(self._session.executor))
            # what goes wrong in this thread is seen by nobody else
            except Exception as error:
                self._node.error(f"gains of '{gains.vehicle}': {error!r}")
