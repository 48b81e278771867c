"""Server side of a member's connection to the port of its vehicle."""

from typing_extensions import override

from kittiwake.adapters.hub.flock_server import MemberSlot
from kittiwake.adapters.hub.hub_connection import AbstractHubConnection, PendingHubConnections
from kittiwake.adapters.hub.packets import (
    CONNECTION_NUMBER,
    Accepted,
    Behavior,
    Connection,
    FromMember,
    Introduction,
    Leave,
    NoSetPoint,
    Numbered,
    Readiness,
    Reason,
    Refusal,
    Status,
    Update,
    VehicleChange,
    VehicleNotice,
)
from kittiwake.adapters.hub.refusals import RefusalError
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.core.errors import CommandError

# of members that do not report their acceleration
NO_ACCELERATION = (0.0, 0.0, 0.0)


class MemberConnection(AbstractHubConnection):
    """Connection to the port of a vehicle."""

    def __init__(
        self,
        sessions: MemberSessions,
        slot: MemberSlot,
        pending_connections: PendingHubConnections,
    ) -> None:
        super().__init__(sessions, slot.name, pending_connections)
        self._team, self._last_time_s = slot.team, -float("inf")
        self._reports_acceleration = self._follows = False

    @override
    def _is_taken(self) -> bool:
        return self.name in self._sessions.members

    @override
    def _names(self) -> tuple[str, str]:
        return self._team, self.name

    @override
    def _awaits_answer(self) -> bool:
        return self.name in self._sessions.waiting

    @override
    def _renews(self, packet: FromMember) -> bool:
        # refused frames do not count, nor do others while an update of this member is required
        awaited = self.joined and self._sessions.requires_update(self.name)
        return isinstance(packet, Update) or not awaited

    def answer_update(self, number: int) -> None:
        """Send the set point; the wait for the turn does not count as silence."""
        self._last_heard_s = self._loop.time()
        accelerates = self._reports_acceleration
        self._send(self._sessions.answer(self.name, number, with_acceleration=accelerates))

    def tell(self, notice: VehicleNotice) -> None:
        """Send a change of the hub's vehicles to a member that follows them."""
        if self._follows:
            self._send(notice)

    def dismiss(self) -> None:
        """Close the connection of a vehicle that has been removed."""
        if not self._follows:
            message = f"{self.name} has been removed from the hub"
            self._send(Refusal(Reason.REMOVED, message, None))
        self.joined = False
        self._sessions.remove(self.name)
        self.close()

    @override
    def _join(self, packet: Introduction, now_s: float) -> None:
        # the proof before the name, so that unidentified peers learn no names
        self._check_proof(packet)
        if not isinstance(packet, Connection):
            message = "this is the port of a vehicle; a controller connects to the control port"
            raise RefusalError(Reason.TURN, message)
        if packet.name != self.name:
            message = f"this port belongs to {self.name}, not to {packet.name}"
            raise RefusalError(Reason.NAME, message)
        if self._is_taken():
            message = f"{self.name} is already connected"
            raise RefusalError(Reason.TAKEN, message)
        if self.name not in self._sessions.flock_server.slots:
            message = f"{self.name} has been removed from the hub"
            raise RefusalError(Reason.REMOVED, message)
        self._pending.discard(self)
        self.joined, self._follows = True, packet.follows
        self._sessions.join(self.name, self, packet.position_m, now_s)
        self._send(Accepted(CONNECTION_NUMBER))
        for change in self._sessions.changes:
            self.tell(change)

    @override
    def _execute(self, packet: Numbered, now_s: float) -> None:
        self._check_order(packet)
        if isinstance(packet, VehicleChange):
            message = "vehicles are added and removed by a controller, at the control port"
            raise RefusalError(Reason.TURN, message, packet.number)
        if isinstance(packet, Update) and packet.time_s < self._last_time_s:
            message = f"time {packet.time_s:g} s after {self._last_time_s:g} s; must not decrease"
            raise RefusalError(Reason.REPLAYED, message, packet.number)
        if isinstance(packet, Behavior):
            self._set_behaviors(packet)
        self._last_number = packet.number
        if isinstance(packet, Update):
            self._update(packet, now_s)
            return
        if isinstance(packet, Status):
            self._set_status(packet.status)
        self._send(Accepted(packet.number))
        if self._closed:  # the member does not read its answers
            return
        if isinstance(packet, Leave):
            self._leave()
        self._sessions.take_turns()

    def _update(self, packet: Update, now_s: float) -> None:
        self._last_time_s = packet.time_s
        self._reports_acceleration = packet.acceleration_mps2 is not None
        sessions, name = self._sessions, self.name
        sessions.flock_server.report(
            name,
            packet.position_m,
            packet.velocity_mps,
            packet.yaw_rad,
            acceleration_world_mps2=packet.acceleration_mps2 or NO_ACCELERATION,
            # in lockstep all reports of a turn have the same time
            now_s=0.0 if sessions.lockstep else now_s,
        )
        if sessions.lockstep:
            if name in sessions.waiting:  # the earlier update is replaced by this one
                sessions.counters.idle += 1
                self._send(NoSetPoint(sessions.waiting[name]))
                if self._closed:  # the member does not read its answers
                    return
            else:
                self._bucket.give_back()  # the turns limit its rate
        sessions.handle_update(name, packet.number)

    def _set_status(self, status: Readiness) -> None:
        change = {
            Readiness.READY: self._sessions.flock_server.resume,
            Readiness.PAUSE: self._sessions.flock_server.pause,
        }
        change[status](self.name)

    def _set_behaviors(self, packet: Behavior) -> None:
        try:
            self._sessions.flock_server.set_behaviors(self.name, packet.behaviors)
        except CommandError as error:
            raise RefusalError(Reason.BEHAVIOR, str(error), packet.number) from None

    def _leave(self) -> None:
        self._sessions.counters.left += 1
        self._sessions.flock_server.leave(self.name)
        self.joined = False
        self._free_slot()
        self.close()

    @override
    def _lose(self) -> None:
        self._sessions.counters.lost += 1
        self._sessions.flock_server.lose(self.name)
        self._free_slot()

    def _free_slot(self) -> None:
        self._sessions.remove(self.name)
        self._sessions.take_turns()
