"""Interface of a ROS node, common to ROS 1 and ROS 2.

A *plain message* is a mapping of field names, those of ROS 2, to numbers, strings, lists and
mappings. A time is an integer of nanoseconds; fields left out are zero or empty. A *type name* is
that of a message or service type, written as in ROS 1 ("nav_msgs/Odometry"). Topics and services
have absolute names ("/drone/odometry").
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Protocol, runtime_checkable

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.message_types import FieldValue, Message, MessageFields


class RefusedResponse(dict[str, FieldValue]):
    """Response to a refused request, with the reason, for which its type may have no field."""

    def __init__(self, reason: str, response: MessageFields) -> None:
        super().__init__(response)
        self.reason = reason


@runtime_checkable
class RosNode(Protocol):
    """A node of ROS 1 or ROS 2. Callbacks may run in any thread of the client library.

    Attributes:
        stopped: set when the node has been shut down, by this process or from outside.
        stop_reason: why it was shut down.
        version: 1 or 2.
    """

    stopped: Event
    stop_reason: str
    version: int

    def create_publisher(
        self, topic: str, type_name: str, *, latched: bool = False
    ) -> Callable[[MessageFields], None]:
        """Return a function that publishes plain messages on a topic.

        A latched topic delivers its last message to late subscribers.
        """
        ...

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Message], None]
    ) -> None:
        """Pass each message of a topic to a callback.

        Messages are those of the client library; their attributes are the same in both.
        """
        ...

    def create_service(
        self, name: str, type_name: str, callback: Callable[[Message], MessageFields]
    ) -> None:
        """Advertise a service whose callback returns a plain response.

        A callback that takes long delays no other callback.
        """
        ...

    def create_gain_server(
        self,
        namespace: str,
        gains: Sequence[Gain],
        on_change: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Offer gains that other nodes can change.

        Args:
            namespace: of the gains.
            gains: their names, values and ranges.
            on_change: receives the requested values and returns the accepted ones, or raises a
                ``KittiwakeError`` to reject them.

        Returns:
            A function that displays values changed elsewhere.
        """
        ...

    def create_transform_broadcaster(
        self, *, static: bool = False
    ) -> Callable[[Sequence[MessageFields]], None]:
        """Return a function that publishes a list of plain geometry_msgs/TransformStamped.

        Static transforms are published once, all of them together.
        """
        ...

    def withdraw(self, namespace: str) -> None:
        """Close all publishers, subscriptions, services and gains in a namespace."""
        ...

    def info(self, text: str) -> None:
        """Log an information."""
        ...

    def warn(self, text: str) -> None:
        """Log a warning."""
        ...

    def error(self, text: str) -> None:
        """Log an error."""
        ...

    def close(self) -> None:
        """Shut the node down; later messages are not published."""
        ...
