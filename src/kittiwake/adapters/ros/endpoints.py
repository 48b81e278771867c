"""Topics and services whose callers learn what is refused, by the log of ROS and by the answer."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kittiwake.adapters.ros.node import RefusedResponse, RosNode
from kittiwake.core.errors import KittiwakeError

EMPTY, TRIGGER = "std_srvs/Empty", "std_srvs/Trigger"
SET_STATE, GET_STATE = "gazebo_msgs/SetModelState", "gazebo_msgs/GetModelState"
# where the response of a service has room for a reason
REASONS = {TRIGGER: "message", SET_STATE: "status_message", GET_STATE: "status_message"}

Answer: TypeAlias = Mapping[str, Any]


class Endpoints:
    """Hands orders of others on."""

    def __init__(self, node: RosNode) -> None:
        self.node = node

    def hear(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Subscribes; what is refused again and again is told once."""
        last = ""

        def hear(message: Any) -> None:
            nonlocal last
            try:
                heard(message)
            except KittiwakeError as error:
                if str(error) != last:
                    last = str(error)
                    self._refuse(topic, last)
            else:
                last = ""

        self.node.subscribe(topic, kind, hear)

    def serve(self, name: str, kind: str, answer: Callable[[Any], Answer]) -> None:
        """Serves; the answer to what is refused is zeros, and the reason where it has room."""

        def serve(request: Any) -> Answer:
            try:
                return answer(request)
            except KittiwakeError as error:
                self._refuse(name, str(error))
                said = {REASONS[kind]: str(error)} if kind in REASONS else {}
                return RefusedResponse(str(error), said)

        self.node.serve(name, kind, serve)

    def order(self, name: str, do: Callable[[], None]) -> None:
        """A service without an answer."""

        def obey(_: Any) -> Answer:
            do()
            return {}

        self.serve(name, EMPTY, obey)

    def trigger(self, name: str, do: Callable[[], None]) -> None:
        """A service that answers whether it could be done."""

        def obey(_: Any) -> Answer:
            do()
            return {"success": True}

        self.serve(name, TRIGGER, obey)

    def _refuse(self, name: str, reason: str) -> None:
        self.node.warn(f"{name}: {reason}; nothing is changed")
