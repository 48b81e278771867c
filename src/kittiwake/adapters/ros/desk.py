"""Topics and services whose callers learn what is refused, by the log of ROS and by the answer."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kittiwake.adapters.ros.node import RosNode
from kittiwake.core.errors import KittiwakeError

EMPTY, TRIGGER = "std_srvs/Empty", "std_srvs/Trigger"

Answer: TypeAlias = Mapping[str, Any]


class Desk:
    """Hands orders of others on."""

    def __init__(self, node: RosNode) -> None:
        self.node = node

    def hear(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Subscribes; what is refused again and again is told once."""
        last = [""]

        def hear(message: Any) -> None:
            try:
                heard(message)
            except KittiwakeError as error:
                if str(error) != last[0]:
                    last[0] = str(error)
                    self.node.warn(f"{topic}: {error}; nothing is changed")
            else:
                last[0] = ""

        self.node.subscribe(topic, kind, hear)

    def serve(self, name: str, kind: str, answer: Callable[[Any], Answer]) -> None:
        """Serves; what is refused is answered as what a failure is: zeros."""

        def serve(request: Any) -> Answer:
            try:
                return answer(request)
            except KittiwakeError as error:
                self.node.warn(f"{name}: {error}; nothing is changed")
                return {}

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
            try:
                do()
            except KittiwakeError as error:
                self.node.warn(f"{name}: {error}; nothing is changed")
                return {"success": False, "message": str(error)}
            return {"success": True, "message": ""}

        self.node.serve(name, TRIGGER, obey)
