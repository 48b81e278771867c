"""Checks of the ROS 1 master: before a node starts, and while it runs."""

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING
from xmlrpc.client import ServerProxy

from typing_extensions import override

from kittiwake.adapters.ros.message_types import FieldValue
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError

if TYPE_CHECKING:
    from kittiwake.adapters.ros.ros1.node import Ros1Node

# how long a master may take to respond
RESPONSE_TIMEOUT_S = 2.0
# time between two checks of the master
CHECK_PERIOD_S = 1.0
# it counts as dead after so many refused connections, or so many timeouts, in a row
MAX_REFUSALS, MAX_TIMEOUTS = 2, 10


def check_master(name: str) -> None:
    """Raise ``RosError`` unless a master responds that has no living node of this name."""
    rosgraph = library("rosgraph")
    own_name = rosgraph.names.load_mappings(sys.argv).get("__name", name)
    full_name = rosgraph.names.get_ros_namespace() + own_name
    uri = rosgraph.get_master_uri()
    probe = _MasterProbe(uri, full_name)
    if not probe.master:
        message = f"no ROS master at {uri} (ROS_MASTER_URI). Start one with: roscore"
        raise RosError(message)
    if probe.namesake:
        message = (
            f"the master at {uri} already has a node {full_name}, which a second node of this name "
            f"would shut down. End it first: rosnode kill {full_name}"
        )
        raise RosError(message)


class MasterMonitor(threading.Thread):
    """Thread that checks whether the master is alive, which nodes of ROS 1 do not do themselves.

    Args:
        node: logs what happens; its publishers, subscribers and services are registered again at a
            new master.
        reconnect: if True, wait for a new master; otherwise stop the node.
    """

    def __init__(self, node: "Ros1Node", *, reconnect: bool) -> None:
        super().__init__(name="ROS master monitor", daemon=True)
        self._node, self._reconnect = node, reconnect
        self._uri = library("rosgraph").get_master_uri()
        # the first master's process, recorded at once; None if it responds late
        self._known_pid = self._probe().pid

    @override
    def run(self) -> None:
        known_pid = self._known_pid
        is_alive, refusals, timeouts = True, 0, 0
        while not self._node.stopped.wait(CHECK_PERIOD_S):
            probe = self._probe()
            pid = probe.pid
            refusals = refusals + 1 if probe.refused else 0
            timeouts = 0 if pid is not None else timeouts + 1
            known_pid = pid if known_pid is None else known_pid
            # a new master has no nodes registered, even if the end of the old one went unnoticed
            is_replaced = pid not in (None, known_pid)
            is_gone = refusals >= MAX_REFUSALS or timeouts >= MAX_TIMEOUTS or is_replaced
            if is_gone and is_alive:
                is_alive = False
                died = f"the ROS master at {self._uri} has died"
                self._node.error(f"{died}; {self._consequence()}")
                if not self._reconnect:
                    self._node.stop_reason = died
                    self._node.stopped.set()
                    return
            if not is_alive and pid is not None:
                is_alive, known_pid = True, pid
                try:
                    self._register()
                except (OSError, library("rosgraph").MasterException):
                    is_alive = False  # it has died again
                    continue
                self._node.warn(f"registered at the new ROS master at {self._uri}")

    def _consequence(self) -> str:
        if self._reconnect:
            return "the flight continues and waits for another master"
        return "the flight ends"

    def _probe(self) -> "_MasterProbe":
        return _MasterProbe(self._uri, self._node.name)

    def _register(self) -> None:
        """Register all topics and services of the node, and connect it to publishers."""
        rosgraph, rospy = library("rosgraph"), library("rospy")
        registration = library("rospy.impl.registration")
        master, uri = rosgraph.Master(self._node.name, self._uri), rospy.get_node_uri()
        topics = registration.get_topic_manager()
        for topic, type_name in topics.get_publications():
            master.registerPublisher(topic, type_name, uri)
        for topic, type_name in topics.get_subscriptions():
            publishers = master.registerSubscriber(topic, type_name, uri)
            with ServerProxy(uri) as own:
                own.publisherUpdate("/master", topic, publishers)
        for service, service_uri in registration.get_service_manager().get_services():
            master.registerService(service, service_uri, uri)
        self._node.store_gains()


class _MasterProbe(threading.Thread):
    """Query of a master, in a thread, since looking up names and connecting may take minutes.

    Attributes:
        master: True if the master responded in time.
        namesake: True if a living node of the same name responded in time.
        refused: True if the connection was refused.
        pid: process of the master; None without a response.
    """

    def __init__(self, uri: str, node: str) -> None:
        super().__init__(daemon=True)
        self.master = self.namesake = False
        self.refused = False
        self.pid: int | None = None
        self._uri, self._node = uri, node
        self.start()
        self.join(RESPONSE_TIMEOUT_S)

    @override
    def run(self) -> None:
        # any error means that no master responds
        with suppress(Exception):
            with ServerProxy(self._uri) as master:
                try:
                    answer: FieldValue = master.getPid(self._node)
                except ConnectionError:
                    self.refused = True
                    return
                self.pid, self.master = int(answer[2]), True
                found: FieldValue = master.lookupNode(self._node, self._node)
            _, _, node_uri = found
            with ServerProxy(node_uri) as node:
                node.getPid(self._node)
                self.namesake = True
