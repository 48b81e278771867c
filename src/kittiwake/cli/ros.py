"""Flights with ROS nodes as participants, for ``kittiwake serve``."""

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

RosVersion = Literal["ros1", "ros2"]
# period at which the state of the flight is polled
POLL_PERIOD_S = 0.05


def fly_by_ros(
    scenario: "Scenario",
    version: RosVersion,
    speed: float,
    folder: "Path",
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """Fly into a folder, again after each restart.

    The flight is paused until all requests of a node can take effect at once. A failed flight
    waits for a restart.
    """
    from kittiwake.adapters.ros.bridge import Bridge, block_rate_hz
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session

    node = _node(version, waits=scenario.ros.without_master == "wait")
    bridge = Bridge(node)
    try:
        rate_hz = block_rate_hz(scenario.ros)
        session = Session(scenario, RealTimeClock(speed), bridge.publish_block, rate_hz)
        session.clock.paused = True
        with progress as follow, _open_when_ready(session, bridge, node):
            while True:
                log = session.fly(folder, follow)
                if not (session.restart_requested or _wait_for_restart(session, log, node)):
                    return log
                session.prepare_restart()
    finally:
        bridge.close()
        node.close()


def _wait_for_restart(session: "Session", log: "Log", node: "RosNode") -> bool:
    """Wait for the restart of a failed flight; return False if there is none."""
    from kittiwake.analysis.run_outcome import STOPPED
    from kittiwake.runtime.interrupt import stop_requests

    reason = (log.summary or {})["reason"] or ""
    if session.closed or not reason or reason.startswith(STOPPED):
        return False
    node.error(f"the flight has failed: {reason}. Restart with /gazebo/reset_world")
    with stop_requests() as stopped:
        while not (session.restart_requested or session.closed or stopped()):
            time.sleep(POLL_PERIOD_S)
        return session.restart_requested and not (session.closed or stopped())


def _node(version: RosVersion, *, waits: bool) -> "RosNode":
    if version == "ros1":
        from kittiwake.adapters.ros.ros1.node import Ros1Node

        node = Ros1Node()
        node.watch_master(reconnect=waits)
        return node
    from kittiwake.adapters.ros.ros2.node import Ros2Node

    return Ros2Node()


@contextmanager
def _open_when_ready(session: "Session", bridge: "Bridge", node: "RosNode") -> Generator[None]:
    """Open the bridge during the flight; end the flight if that fails or the node leaves."""

    def open_bridge() -> None:
        try:
            while not (session.executor.ready or session.closed):
                time.sleep(POLL_PERIOD_S)
            if session.closed:
                return
            bridge.open(session)
        except BaseException:
            session.close()
            raise
        names = ", ".join(session.executor.scenario.vehicles)
        message = f"flying {session.executor.scenario.name}: {names}"
        node.info(message)
        typer.echo(message, err=True)
        session.clock.paused = False
        while not session.closed:
            if node.stopped.wait(POLL_PERIOD_S):
                session.close(node.stop_reason)

    with ThreadPoolExecutor(1, "opening") as pool:
        opening = pool.submit(open_bridge)
        try:
            yield
        finally:
            session.close()
        opening.result()
