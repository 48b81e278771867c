"""Flights that ROS nodes take part in, for ``kittiwake serve``."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from kittiwake.adapters.ros.bridge import Bridge
    from kittiwake.adapters.ros.node import RosNode
    from kittiwake.analysis.log import Log
    from kittiwake.runtime.loop import Flight
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
    follow: "Callable[[Flight], Callable[[float], None]]",
) -> "Log":
    """One flight into a folder; one that is begun anew takes its place.

    It stands still until all that a node can ask for takes effect at once.
    """
    from kittiwake.adapters.ros.bridge import TELLS_HZ, Bridge
    from kittiwake.runtime.clock import Clock
    from kittiwake.runtime.session import Session

    node = _node(kind)
    try:
        bridge = Bridge(node)
        session = Session(scenario, Clock(speed), bridge.watch, TELLS_HZ)
        session.clock.paused = True
        with _opened_when_ready(session, bridge, node):
            while True:
                log = session.fly(folder, follow)
                if not session.wanted_again:
                    return log
                session.begin_again()
    finally:
        node.close()


def _node(kind: RosKind) -> "RosNode":
    if kind == "ros1":
        from kittiwake.adapters.ros.ros1.node import Ros1Node

        return Ros1Node()
    from kittiwake.adapters.ros.ros2.node import Ros2Node

    return Ros2Node()


@contextmanager
def _opened_when_ready(session: "Session", bridge: "Bridge", node: "RosNode") -> Generator[None]:
    """Opens the bridge beside the flight, which ends if that cannot be, or when the node leaves."""

    def open_bridge() -> None:
        try:
            while not (session.course.ready or session.over):
                time.sleep(LOOKS_S)
            if session.over:
                return
            bridge.open(session)
        except BaseException:
            session.close()
            raise
        names = ", ".join(session.course.scenario.vehicles)
        said = f"flying {session.course.scenario.name}: {names}"
        node.inform(said)
        typer.echo(said, err=True)
        session.clock.paused = False
        while not session.over:
            if node.left.wait(LOOKS_S):
                session.close()

    with ThreadPoolExecutor(1, "opening") as pool:
        opening = pool.submit(open_bridge)
        try:
            yield
        finally:
            session.close()
        opening.result()
