"""Whether a ROS 1 master can be joined."""

import sys
import threading
from contextlib import suppress
from typing import Any
from xmlrpc.client import ServerProxy

from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError

# how long a master may take to answer
PATIENCE_S = 2.0


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


class _Answers(threading.Thread):
    """Who answered in time. Looking names up and connecting may take minutes by itself."""

    def __init__(self, uri: str, node: str) -> None:
        super().__init__(daemon=True)
        self.master = self.namesake = False
        self._uri, self._node = uri, node
        self.start()
        self.join(PATIENCE_S)

    def run(self) -> None:
        # whatever goes wrong, it is not a master that answers
        with suppress(Exception):
            with ServerProxy(self._uri) as master:
                master.getPid(self._node)
                self.master = True
                found: Any = master.lookupNode(self._node, self._node)
            _, _, node_uri = found
            with ServerProxy(node_uri) as node:
                node.getPid(self._node)
                self.namesake = True
