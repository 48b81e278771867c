"""Upload and download of a mission, item by item.

Source: MAVLink, Mission Protocol.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NamedTuple, TypeAlias

from kittiwake.adapters.mavlink.dialect import Message

MAX_ITEMS = 1000

# system and component
Client: TypeAlias = tuple[int, int]
Answer: TypeAlias = Callable[[Message, Client], list[Message]]


class MissionStore:
    """The mission of a vehicle, and the upload that is under way.

    Attributes:
        items: the messages of the items of the mission.
        changes: how often the mission was replaced.
    """

    def __init__(self, dialect: ModuleType) -> None:
        self._d = dialect
        self.items: tuple[Message, ...] = ()
        self.changes = 0
        self._upload: _Upload | None = None
        self._protocol: Mapping[str, Answer] = {
            "MISSION_COUNT": self._begin,
            "MISSION_ITEM_INT": self._add,
            "MISSION_REQUEST_LIST": lambda _, client: [
                dialect.MAVLink_mission_count_message(*client, len(self.items))
            ],
            "MISSION_REQUEST_INT": lambda message, client: [self._item(message.seq, client)],
            "MISSION_CLEAR_ALL": lambda _, client: self._clear(client),
        }

    def answers(self, message: Message) -> list[Message] | None:
        """Return the answers to a message of the protocol; None for another message."""
        d, kind = self._d, message.get_type()
        client = message.get_srcSystem(), message.get_srcComponent()
        if getattr(message, "mission_type", 0) != d.MAV_MISSION_TYPE_MISSION:
            # fences and rally points: there are none
            if kind == "MISSION_REQUEST_LIST":
                return [d.MAVLink_mission_count_message(*client, 0, message.mission_type)]
            if kind in ("MISSION_COUNT", "MISSION_CLEAR_ALL"):
                code = d.MAV_MISSION_UNSUPPORTED
                return [d.MAVLink_mission_ack_message(*client, code, message.mission_type)]
            return None
        answer = self._protocol.get(kind)
        return None if answer is None else answer(message, client)

    def _begin(self, message: Message, client: Client) -> list[Message]:
        if message.count > MAX_ITEMS:
            return [self._ack(client, self._d.MAV_MISSION_NO_SPACE)]
        if message.count == 0:
            return self._clear(client)
        self._upload = _Upload(client, message.count, [])
        return [self._request(0)]

    def _add(self, message: Message, client: Client) -> list[Message]:
        d, upload = self._d, self._upload
        if upload is None or upload.client != client:
            return [self._ack(client, d.MAV_MISSION_ERROR)]
        if message.seq != len(upload.items):
            # one that came twice, or was lost
            return [self._request(len(upload.items))]
        if message.command not in supported_commands(d):
            self._upload = None
            return [self._ack(client, d.MAV_MISSION_UNSUPPORTED)]
        upload.items.append(message)
        if len(upload.items) < upload.length:
            return [self._request(len(upload.items))]
        self._replace(tuple(upload.items))
        return [self._ack(client, d.MAV_MISSION_ACCEPTED)]

    def _clear(self, client: Client) -> list[Message]:
        self._replace(())
        return [self._ack(client, self._d.MAV_MISSION_ACCEPTED)]

    def _replace(self, items: tuple[Message, ...]) -> None:
        self.items, self._upload = items, None
        self.changes += 1

    def _request(self, number: int) -> Message:
        assert self._upload is not None
        return self._d.MAVLink_mission_request_int_message(*self._upload.client, number)

    def _ack(self, client: Client, code: int) -> Message:
        return self._d.MAVLink_mission_ack_message(*client, code)

    def _item(self, number: int, client: Client) -> Message:
        if number >= len(self.items):
            return self._ack(client, self._d.MAV_MISSION_INVALID_SEQUENCE)
        own = self.items[number]
        return self._d.MAVLink_mission_item_int_message(
            *client,
            number,
            own.frame,
            own.command,
            0,
            own.autocontinue,
            own.param1,
            own.param2,
            own.param3,
            own.param4,
            own.x,
            own.y,
            own.z,
        )


class _Upload(NamedTuple):
    client: Client
    length: int
    items: list[Message]


def supported_commands(dialect: ModuleType) -> frozenset[int]:
    """Return the commands that a mission may have."""
    d = dialect
    return frozenset(
        {
            d.MAV_CMD_NAV_WAYPOINT,
            d.MAV_CMD_NAV_TAKEOFF,
            d.MAV_CMD_NAV_LAND,
            d.MAV_CMD_NAV_RETURN_TO_LAUNCH,
            d.MAV_CMD_NAV_DELAY,
            d.MAV_CMD_DO_CHANGE_SPEED,
        }
    )
