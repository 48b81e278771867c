"""Server side of a connection to the control port of a hub."""

from collections.abc import Callable
from typing import NamedTuple

from typing_extensions import override

from kittiwake.adapters.hub.hub_connection import AbstractHubConnection, PendingHubConnections
from kittiwake.adapters.hub.packets import (
    CONNECTION_NUMBER,
    MAX_VEHICLE_CHARACTERS,
    Accepted,
    AddVehicle,
    Controller,
    FromMember,
    Introduction,
    Numbered,
    Reason,
    VehicleChange,
    VehicleNotice,
)
from kittiwake.adapters.hub.refusals import RefusalError
from kittiwake.adapters.hub.sessions import MemberSessions

CONTROL = ""


class ChangeRequest(NamedTuple):
    """A requested change, and what is called when it is made, or refused with a reason."""

    change: VehicleChange
    made: Callable[[VehicleNotice], None]
    refused: Callable[[str], None]


class ControlConnection(AbstractHubConnection):
    """Connection of a controller, which adds and removes vehicles one after another."""

    def __init__(
        self,
        sessions: MemberSessions,
        pending_connections: PendingHubConnections,
        request_change: Callable[[ChangeRequest], None],
    ) -> None:
        super().__init__(sessions, CONTROL, pending_connections)
        self._request_change = request_change
        self._unanswered = 0

    @override
    def _is_taken(self) -> bool:
        return self._sessions.controller is not None

    @override
    def _names(self) -> tuple[None, None]:
        return None, None

    @override
    def _awaits_answer(self) -> bool:
        return self._unanswered > 0

    @override
    def _renews(self, packet: FromMember) -> bool:
        del packet
        return True

    @override
    def _join(self, packet: Introduction, now_s: float) -> None:
        del now_s
        self._check_proof(packet)
        if not isinstance(packet, Controller):
            message = "this is the control port; a member connects to the port of its vehicle"
            raise RefusalError(Reason.TURN, message)
        if self._is_taken():
            message = "another controller is connected"
            raise RefusalError(Reason.TAKEN, message)
        self._pending.discard(self)
        self.joined, self._sessions.controller = True, self
        self._send(Accepted(CONNECTION_NUMBER))

    @override
    def _execute(self, packet: Numbered, now_s: float) -> None:
        del now_s
        self._check_order(packet)
        if not isinstance(packet, VehicleChange):
            message = "a controller adds and removes vehicles, and does nothing else"
            raise RefusalError(Reason.TURN, message, packet.number)
        if isinstance(packet, AddVehicle):
            length = len(packet.vehicle.encode())
            if length > MAX_VEHICLE_CHARACTERS:
                message = f"`vehicle`: got {length} bytes; must be at most {MAX_VEHICLE_CHARACTERS}"
                raise RefusalError(Reason.VEHICLE, message, packet.number)
        self._last_number = packet.number

        def made(notice: VehicleNotice) -> None:
            self._unanswered -= 1
            self._last_heard_s = self._loop.time()
            self._send(notice)

        def refused(text: str) -> None:
            self._unanswered -= 1
            self._last_heard_s = self._loop.time()
            if not self._closed:
                self._refuse(RefusalError(Reason.VEHICLE, text, packet.number))

        self._request_change(ChangeRequest(packet, made, refused))
        self._unanswered += 1

    @override
    def _lose(self) -> None:
        self._sessions.controller = None
