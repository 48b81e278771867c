"""Subscriptions and services that report refused requests in the ROS log and in the response."""

from collections.abc import Callable

from kittiwake.adapters.ros.message_types import Message, MessageFields
from kittiwake.adapters.ros.node import RefusedResponse, RosNode
from kittiwake.core.errors import KittiwakeError

EMPTY, TRIGGER = "std_srvs/Empty", "std_srvs/Trigger"
SET_STATE, GET_STATE = "gazebo_msgs/SetModelState", "gazebo_msgs/GetModelState"
SPAWN_MODEL, DELETE_MODEL = "gazebo_msgs/SpawnModel", "gazebo_msgs/DeleteModel"
SPAWN_ENTITY, DELETE_ENTITY = "gazebo_msgs/SpawnEntity", "gazebo_msgs/DeleteEntity"
GAZEBO = (SET_STATE, GET_STATE, SPAWN_MODEL, DELETE_MODEL, SPAWN_ENTITY, DELETE_ENTITY)
# the field of a service's response that can hold a reason
REASON_FIELDS = {TRIGGER: "message", **dict.fromkeys(GAZEBO, "status_message")}


class Endpoints:
    """Subscriptions and services of a node whose callbacks may raise ``KittiwakeError``."""

    def __init__(self, node: RosNode) -> None:
        self.node = node

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Message], None]
    ) -> None:
        """Subscribe to a topic; an error that repeats is logged once."""
        last = ""

        def on_message(message: Message) -> None:
            nonlocal last
            try:
                callback(message)
            except KittiwakeError as error:
                if str(error) != last:
                    last = str(error)
                    self._log_refusal(topic, last)
            else:
                last = ""

        self.node.create_subscription(topic, type_name, on_message)

    def create_service(
        self, name: str, type_name: str, callback: Callable[[Message], MessageFields]
    ) -> None:
        """Advertise a service.

        The response to a refused request has zeros, and the reason if the type has a field for it.
        """

        def on_request(request: Message) -> MessageFields:
            try:
                return callback(request)
            except KittiwakeError as error:
                self._log_refusal(name, str(error))
                fields = (
                    {REASON_FIELDS[type_name]: str(error)} if type_name in REASON_FIELDS else {}
                )
                return RefusedResponse(str(error), fields)

        self.node.create_service(name, type_name, on_request)

    def create_empty_service(self, name: str, callback: Callable[[], None]) -> None:
        """Advertise a ``std_srvs/Empty`` service."""

        def on_request(_: Message) -> MessageFields:
            callback()
            return {}

        self.create_service(name, EMPTY, on_request)

    def create_trigger_service(self, name: str, callback: Callable[[], None]) -> None:
        """Advertise a ``std_srvs/Trigger`` service, which reports success."""

        def on_request(_: Message) -> MessageFields:
            callback()
            return {"success": True}

        self.create_service(name, TRIGGER, on_request)

    def _log_refusal(self, name: str, reason: str) -> None:
        self.node.warn(f"{name}: {reason}; nothing is changed")
