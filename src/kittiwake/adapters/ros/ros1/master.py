"""Whether a ROS 1 master can be joined."""

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from xmlrpc.client import ServerProxy

from typing_extensions import override

from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError

if TYPE_CHECKING:
    from kittiwake.adapters.ros.ros1.node import Ros1Node

# how long a master may take to answer
PATIENCE_S = 2.0
# how often it is looked whether it is still there
LOOKS_S = 1.0
# when it counts as dead: if it cannot be reached so often in a row, or does not answer in time
MISSES, LATE_MISSES = 2, 10


def check_place(name: str) -> None:
    """Raises ``RosError`` unless a master answers that has no living node of this name."""
    rosgraph = library("rosgraph")
    own_name = rosgraph.names.load_mappings(sys.argv).get("__name", name)
    full_name = rosgraph.names.get_ros_namespace() + own_name
    uri = rosgraph.get_master_uri()
    said = _Answers(uri, full_name)
    if not said.master:
        message = f"no ROS master answers at {uri} (ROS_MASTER_URI). Start one with: roscore"
        raise RosError(message)
    if said.namesake:
        message = (
            f"the master at {uri} has a node {full_name}, which a second one of this name would "
            f"end. End it yourself with: rosnode kill {full_name}"
        )
        raise RosError(message)


class MasterWatch(threading.Thread):
    """Asks the master again and again whether it is there, as no node of ROS 1 does by itself.

    Args:
        node: which says what happens, and has its publishers, subscribers and services registered
            again at another master.
        waits: whether to wait for another master; the node leaves ROS otherwise.
    """

    def __init__(self, node: "Ros1Node", *, waits: bool) -> None:
        super().__init__(name="watch of the ROS master", daemon=True)
        self._node, self._waits = node, waits
        self._uri = library("rosgraph").get_master_uri()
        # before anything else can happen to it; None if it answers late
        self._known = self._answers().pid

    @override
    def run(self) -> None:
        known = self._known
        is_there, missed, late = True, 0, 0
        while not self._node.left.wait(LOOKS_S):
            answers = self._answers()
            pid = answers.pid
            missed = missed + 1 if answers.refused else 0
            late = 0 if pid is not None else late + 1
            known = pid if known is None else known
            # another one has no node registered, also where nobody missed the one before
            is_gone = missed >= MISSES or late >= LATE_MISSES or pid not in (None, known)
            if is_gone and is_there:
                is_there = False
                died = f"the ROS master at {self._uri} has died"
                self._node.error(f"{died}; {self._what_now()}")
                if not self._waits:
                    self._node.left_because = died
                    self._node.left.set()
                    return
            if not is_there and pid is not None:
                is_there, known = True, pid
                try:
                    self._register()
                except (OSError, library("rosgraph").MasterException):
                    is_there = False  # it has died again
                    continue
                self._node.warn(f"registered at the ROS master that answers at {self._uri} now")

    def _what_now(self) -> str:
        return "the flight goes on, and waits for another" if self._waits else "the flight ends"

    def _answers(self) -> "_Answers":
        return _Answers(self._uri, self._node.name)

    def _register(self) -> None:
        """Tells the master of all that the node has, and the node of those who publish for it."""
        rosgraph, rospy = library("rosgraph"), library("rospy")
        registration = library("rospy.impl.registration")
        master, uri = rosgraph.Master(self._node.name, self._uri), rospy.get_node_uri()
        topics = registration.get_topic_manager()
        for topic, kind in topics.get_publications():
            master.registerPublisher(topic, kind, uri)
        for topic, kind in topics.get_subscriptions():
            publishers = master.registerSubscriber(topic, kind, uri)
            with ServerProxy(uri) as own:
                own.publisherUpdate("/master", topic, publishers)
        for service, service_uri in registration.get_service_manager().get_services():
            master.registerService(service, service_uri, uri)
        self._node.store_gains()


class _Answers(threading.Thread):
    """Who answered in time. Looking names up and connecting may take minutes by itself."""

    def __init__(self, uri: str, node: str) -> None:
        super().__init__(daemon=True)
        self.master = self.namesake = False
        self.refused = False
        self.pid: int | None = None
        self._uri, self._node = uri, node
        self.start()
        self.join(PATIENCE_S)

    @override
    def run(self) -> None:
        # whatever goes wrong, it is not a master that answers
        with suppress(Exception):
            with ServerProxy(self._uri) as master:
                try:
                    answer: Any = master.getPid(self._node)
                except ConnectionError:
                    self.refused = True
                    return
                self.pid, self.master = int(answer[2]), True
                found: Any = master.lookupNode(self._node, self._node)
            _, _, node_uri = found
            with ServerProxy(node_uri) as node:
                node.getPid(self._node)
                self.namesake = True
