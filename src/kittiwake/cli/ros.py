"""Flights that ROS nodes take part in, for ``kittiwake serve``."""

import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from kittiwake.adapters.ros.bridge import Bridge
    from kittiwake.adapters.ros.node import RosNode
    from kittiwake.analysis.log import Log
    from kittiwake.runtime.loop import Follow
    from kittiwake.runtime.session import Session
    from kittiwake.scenario.scenario import Scenario

RosKind = Literal["ros1", "ros2"]
# how often it looks whether the flight is ready for orders
LOOKS_S = 0.05


def fly_by_ros(
    scenario: "Scenario",
    kind: RosKind,
    speed: float,
    folder: "Path",
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """One flight into a folder; one that is begun anew takes its place.

    It stands still until all that a node can ask for takes effect at once. One that fails waits
    for somebody to begin it anew.
    """
    from kittiwake.adapters.ros.bridge import Bridge, blocks_hz
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session

    node = _node(kind, waits=scenario.ros.without_master == "wait")
    bridge = Bridge(node)
    try:
        session = Session(scenario, RealTimeClock(speed), bridge.watch, blocks_hz(scenario.ros))
        session.clock.paused = True
        with progress as follow, _opened_when_ready(session, bridge, node):
            while True:
                log = session.fly(folder, follow)
                if not (session.wanted_again or _begins_anew(session, log, node)):
                    return log
                session.begin_again()
    finally:
        bridge.close()
        node.close()


def _begins_anew(session: "Session", log: "Log", node: "RosNode") -> bool:
    """Whether a flight that has failed is begun anew, for which it waits."""
    from kittiwake.runtime.interrupt import stop_requests
    from kittiwake.runtime.loop import STOPPED

    reason = (log.summary or {})["reason"] or ""
    if session.over or not reason or reason.startswith(STOPPED):
        return False
    node.error(f"the flight has failed: {reason}. Begin anew with /gazebo/reset_world")
    with stop_requests() as stopped:
        while not (session.wanted_again or session.over or stopped()):
            time.sleep(LOOKS_S)
        return session.wanted_again and not (session.over or stopped())


def _node(kind: RosKind, *, waits: bool) -> "RosNode":
    if kind == "ros1":
        from kittiwake.adapters.ros.ros1.node import Ros1Node

        node = Ros1Node()
        node.watch_master(waits=waits)
        return node
    from kittiwake.adapters.ros.ros2.node import Ros2Node

    return Ros2Node()


@contextmanager
def _opened_when_ready(session: "Session", bridge: "Bridge", node: "RosNode") -> Generator[None]:
    """Opens the bridge beside the flight, which ends if that cannot be, or when the node leaves."""

    def open_bridge() -> None:
        try:
            while not (session.executor.prepared or session.over):
                time.sleep(LOOKS_S)
            if session.over:
                return
            bridge.open(session)
        except BaseException:
            session.close()
            raise
        names = ", ".join(session.executor.scenario.vehicles)
        said = f"flying {session.executor.scenario.name}: {names}"
        node.inform(said)
        typer.echo(said, err=True)
        session.clock.paused = False
        while not session.over:
            if node.left.wait(LOOKS_S):
                session.close(node.left_because)

    with ThreadPoolExecutor(1, "opening") as pool:
        opening = pool.submit(open_bridge)
        try:
            yield
        finally:
            session.close()
        opening.result()
