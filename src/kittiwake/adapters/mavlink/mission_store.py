"""Upload and download of a mission, item by item.

Source: MAVLink, Mission Protocol.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeAlias

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.mission_check import (
    ItemError,
    MissionCheck,
    as_floats,
    as_integers,
)
from kittiwake.adapters.mavlink.system_report import MissionProgress
from kittiwake.adapters.mavlink.texts import TextMessages

MAX_ITEMS = 1000
# times after which the request of an item is repeated, and the upload given up
REPEAT_S, GIVE_UP_S = 0.5, 5.0

# system and component
Client: TypeAlias = tuple[int, int]
Answer: TypeAlias = Callable[[Message, Client], list[Message]]


class MissionStore:
    """The mission of a vehicle, and the upload that is under way.

    Args:
        dialect: the messages of MAVLink.
        check: the check of items.
        texts: the builder of texts.
        clock: the time in seconds.

    Attributes:
        items: the messages of the items of the mission.
        changes: how often the mission was replaced.
        current: number of the item that is flown next.
        complete: whether the mission was flown to its end.
    """

    def __init__(
        self,
        dialect: ModuleType,
        check: MissionCheck,
        texts: TextMessages,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._d, self._check, self._texts, self._clock = dialect, check, texts, clock
        self.items: tuple[Message, ...] = ()
        self.changes = 0
        self.current, self.complete = 0, False
        self._upload: _Upload | None = None
        self._protocol: Mapping[str, Answer] = {
            "MISSION_COUNT": self._begin,
            "MISSION_ITEM_INT": self._add,
            "MISSION_ITEM": lambda message, client: self._add(
                as_integers(dialect, message), client
            ),
            "MISSION_REQUEST_LIST": lambda _, client: [
                dialect.MAVLink_mission_count_message(*client, len(self.items))
            ],
            "MISSION_REQUEST_INT": lambda message, client: [self._item(message.seq, client)],
            "MISSION_REQUEST": lambda message, client: [self._legacy_item(message.seq, client)],
            "MISSION_CLEAR_ALL": lambda _, client: self._clear(client),
        }

    def answers(self, message: Message) -> list[Message] | None:
        """Return the answers to a message of the protocol; None for another message."""
        d, kind = self._d, message.get_type()
        client = message.get_srcSystem(), message.get_srcComponent()
        mission_type = getattr(message, "mission_type", d.MAV_MISSION_TYPE_MISSION)
        if kind == "MISSION_CLEAR_ALL" and mission_type == d.MAV_MISSION_TYPE_ALL:
            return self._clear(client, mission_type)
        if mission_type != d.MAV_MISSION_TYPE_MISSION:
            # fences and rally points: there are none
            if kind == "MISSION_REQUEST_LIST":
                return [d.MAVLink_mission_count_message(*client, 0, mission_type)]
            if kind in ("MISSION_COUNT", "MISSION_CLEAR_ALL"):
                code = d.MAV_MISSION_UNSUPPORTED
                return [d.MAVLink_mission_ack_message(*client, code, mission_type)]
            return None
        answer = self._protocol.get(kind)
        return None if answer is None else answer(message, client)

    def progress(self, *, active: bool) -> MissionProgress:
        """Return the progress of the mission, which is flown or not."""
        d = self._d
        if not self.items:
            state = d.MISSION_STATE_NO_MISSION
        elif self.complete:
            state = d.MISSION_STATE_COMPLETE
        elif active:
            state = d.MISSION_STATE_ACTIVE
        else:
            state = d.MISSION_STATE_PAUSED if self.current else d.MISSION_STATE_NOT_STARTED
        return MissionProgress(self.current, len(self.items), state)

    def overdue(self) -> list[Message]:
        """Return the request of an item that has not come, or the end of its upload."""
        upload, now_s = self._upload, self._clock()
        if upload is None:
            return []
        if now_s - upload.progress_s > GIVE_UP_S:
            self._upload = None
            return [self._ack(upload.client, self._d.MAV_MISSION_OPERATION_CANCELLED)]
        return [self._request(upload)] if now_s - upload.request_s > REPEAT_S else []

    def _begin(self, message: Message, client: Client) -> list[Message]:
        if message.count > MAX_ITEMS:
            return [self._ack(client, self._d.MAV_MISSION_NO_SPACE)]
        if message.count == 0:
            return self._clear(client)
        self._upload = _Upload(client, message.count, self._clock())
        return [self._request(self._upload)]

    def _add(self, message: Message, client: Client) -> list[Message]:
        d, upload = self._d, self._upload
        if upload is None or upload.client != client:
            return [self._ack(client, d.MAV_MISSION_ERROR)]
        if message.seq != len(upload.items):
            # one that came twice, or was lost
            return [self._request(upload)]
        try:
            self._check.check(message)
        except ItemError as error:
            self._upload = None
            words = f"mission item {message.seq}: {error}"
            return [self._ack(client, error.code), *self._texts.warning(words)]
        upload.items.append(message)
        upload.progress_s = self._clock()
        if len(upload.items) < upload.length:
            return [self._request(upload)]
        self._replace(tuple(upload.items))
        return [self._ack(client, d.MAV_MISSION_ACCEPTED)]

    def _clear(self, client: Client, mission_type: int = 0) -> list[Message]:
        self._replace(())
        accepted = self._d.MAV_MISSION_ACCEPTED
        return [self._d.MAVLink_mission_ack_message(*client, accepted, mission_type)]

    def _replace(self, items: tuple[Message, ...]) -> None:
        self.items, self._upload = items, None
        self.current, self.complete = 0, False
        self.changes += 1

    def _request(self, upload: "_Upload") -> Message:
        upload.request_s = self._clock()
        return self._d.MAVLink_mission_request_int_message(*upload.client, len(upload.items))

    def _ack(self, client: Client, code: int) -> Message:
        return self._d.MAVLink_mission_ack_message(*client, code)

    def _item(self, number: int, client: Client) -> Message:
        if number >= len(self.items):
            return self._ack(client, self._d.MAV_MISSION_INVALID_SEQUENCE)
        own = self.items[number]
        return self._d.MAVLink_mission_item_int_message(
            *self._beginning(number, client), own.x, own.y, own.z
        )

    def _legacy_item(self, number: int, client: Client) -> Message:
        if number >= len(self.items):
            return self._ack(client, self._d.MAV_MISSION_INVALID_SEQUENCE)
        own = self.items[number]
        x, y = as_floats(self._d, own)
        return self._d.MAVLink_mission_item_message(*self._beginning(number, client), x, y, own.z)

    def _beginning(self, number: int, client: Client) -> tuple[int | float, ...]:
        """Return the fields of an item before its place."""
        own, is_current = self.items[number], int(number == self.current)
        parameters = own.param1, own.param2, own.param3, own.param4
        kind = own.frame, own.command, is_current, own.autocontinue
        return *client, number, *kind, *parameters


@dataclass
class _Upload:
    client: Client
    length: int
    progress_s: float
    request_s: float = 0.0
    items: list[Message] = field(default_factory=list[Message])
