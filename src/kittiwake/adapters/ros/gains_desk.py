"""The gains of all vehicles, where others change them."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.tuning import LiveGains
from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.session import Session

Show = Callable[[Mapping[str, float]], None]


class GainsDesk:
    """Offers gains; vehicles that one entry counts share them, and all show a change."""

    def __init__(self, node: RosNode, session: Session) -> None:
        self._node, self._session = node, session
        self._offered: dict[str, list[tuple[LiveGains, Show]]] = defaultdict(list)
        # a node in the middle of a change of its own takes no other one
        self._telling = ThreadPoolExecutor(1, "gains")

    def offer(self, vehicle: str, space: str) -> None:
        """Those of a vehicle, in its namespace, if it has any."""
        gains = LiveGains.of(self._session.course.scenario, vehicle)
        if not gains.shown:
            return
        namespace = f"{space}/gains"
        changed = partial(self._changed, gains, namespace)
        show = self._node.offer_gains(namespace, gains.shown, changed)
        self._offered[gains.entry].append((gains, show))

    def _changed(
        self, gains: LiveGains, namespace: str, wanted: dict[str, float]
    ) -> dict[str, float]:
        course = self._session.course
        before = gains.values(course)
        try:
            held = gains.change(course, wanted)
        except KittiwakeError as error:
            self._node.warn(f"{namespace}: {error}; nothing is changed")
            return before
        if held != before:
            self._telling.submit(self._tell, gains)
        return held

    def _tell(self, changed: LiveGains) -> None:
        for gains, show in self._offered[changed.entry]:
            if gains is changed:
                continue
            try:
                show(gains.values(self._session.course))
            # what goes wrong in this thread is seen by nobody else
            except Exception as error:
                self._node.error(f"gains of '{gains.vehicle}': {error!r}")
