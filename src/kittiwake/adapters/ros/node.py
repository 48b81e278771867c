"""What the simulator asks of a ROS node, whichever ROS it belongs to.

A *plain message* is a mapping of field names, those of ROS 2, to numbers, strings, lists and
mappings; a time is an integer of nanoseconds, and what is left out is zero or empty. Kinds are
written as in ROS 1 ("nav_msgs/Odometry"), topics and names absolutely ("/drone/odometry").
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, Protocol, runtime_checkable

from kittiwake.adapters.ros.gains import Gain


class RefusedResponse(dict[str, Any]):
    """A response to what was refused, with the reason, for which it may have no field."""

    def __init__(self, reason: str, response: Mapping[str, Any]) -> None:
        super().__init__(response)
        self.reason = reason


@runtime_checkable
class RosNode(Protocol):
    """A node of one ROS. Callbacks may come from any thread of its library.

    ``left`` is set when the node has left ROS, also when somebody else told it to, for the reason
    ``left_because``.
    """

    left: Event
    left_because: str

    def publisher(
        self, topic: str, kind: str, *, latched: bool = False
    ) -> Callable[[Mapping[str, Any]], None]:
        """What publishes plain messages on a topic; a latched one tells late listeners its last."""
        ...

    def subscribe(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Passes each message of a topic on as the library's own; attributes are alike in both."""
        ...

    def serve(self, name: str, kind: str, answer: Callable[[Any], Mapping[str, Any]]) -> None:
        """Answers the library's request by a plain response; others go on while it takes long."""
        ...

    def offer_gains(
        self,
        namespace: str,
        gains: Sequence[Gain],
        changed: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Lets others change gains.

        Args:
            namespace: where they stand.
            gains: what there is.
            changed: told the values that are to change, says which values hold then, or raises
                a ``KittiwakeError`` for those that are refused.

        Returns:
            What shows values that have become others elsewhere.
        """
        ...

    def transforms(self, *, still: bool = False) -> Callable[[Sequence[Mapping[str, Any]]], None]:
        """What publishes transforms, plain geometry_msgs/TransformStamped, many at once.

        Those that stay as they are, are told once, all of them together.
        """
        ...

    def inform(self, words: str) -> None:
        """Says something for the log of ROS."""
        ...

    def warn(self, words: str) -> None:
        """Says what somebody should look at."""
        ...

    def error(self, words: str) -> None:
        """Says what went wrong."""
        ...

    def close(self) -> None:
        """Leaves ROS; what comes later is not published."""
        ...
