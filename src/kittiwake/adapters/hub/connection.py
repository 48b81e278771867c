"""Server side of one connection to a hub: reading, checking and answering of packets.

Every received frame is accepted or refused, and counted. After a refusal the connection stays open
if the next frame can be found and the member is identified; otherwise, and where a limit is
exceeded, it is closed.
"""

import asyncio
import hmac
import secrets
import socket
from typing import cast

from typing_extensions import override

from kittiwake.adapters.hub.flock_server import MemberSlot
from kittiwake.adapters.hub.frames import FrameReader, FrameTooLongError, to_frame
from kittiwake.adapters.hub.limits import TokenBucket
from kittiwake.adapters.hub.packets import (
    CONNECTION_NUMBER,
    VERSION,
    Accepted,
    Behavior,
    Connection,
    FromHub,
    Hello,
    Leave,
    NoSetPoint,
    Numbered,
    Readiness,
    Reason,
    Refusal,
    Status,
    Update,
    compute_proof,
    encode,
)
from kittiwake.adapters.hub.refusals import RefusalError, parse_packet
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.core.errors import CommandError
from kittiwake.runtime.pending_connections import PendingConnections

# reasons after which a joined member may send another frame
RECOVERABLE = frozenset(
    {Reason.FORMAT, Reason.SHAPE, Reason.RANGE, Reason.REPLAYED, Reason.TURN, Reason.BEHAVIOR}
)
# of members that do not report their acceleration
NO_ACCELERATION = (0.0, 0.0, 0.0)
# so that a refusal fits into a frame, whatever it quotes
MAX_REFUSAL_CHARACTERS = 200


class MemberConnection(asyncio.Protocol):
    """Connection to the port of a vehicle; pending until its member is identified."""

    def __init__(
        self,
        sessions: MemberSessions,
        slot: MemberSlot,
        pending_connections: PendingConnections["MemberConnection"],
    ) -> None:
        self._sessions, self._slot, self._pending = sessions, slot, pending_connections
        self._reader, self._nonce = FrameReader(), secrets.token_hex(16)
        self._joined = self._closed = False
        self._last_number, self._last_time_s = 0, -float("inf")
        self._reports_acceleration = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        limits, counters = self._sessions.limits, self._sessions.counters
        counters.connections += 1
        self._opened_s = self._last_heard_s = now_s = self._loop.time()
        self._bucket = TokenBucket(limits.frames_hz, limits.burst, now_s)
        self._transport.set_write_buffer_limits(high=limits.unread_bytes)
        # the operating system would buffer megabytes of unread answers
        line = self._transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.unread_bytes)
        if self._slot.name in self._sessions.members:
            self._refuse(RefusalError(Reason.TAKEN, "this port is taken"))
        else:
            self._add_to_pending()
            flock_server, token = self._sessions.flock_server, self._sessions.token
            slot = self._slot
            team, name = (slot.team, slot.name) if token is None else (None, None)
            self._send(
                Hello(
                    VERSION, team, name, self._nonce, flock_server.rate_hz, self._sessions.lockstep
                )
            )

    def _add_to_pending(self) -> None:
        """Add this connection to the pending ones, one of which may have to give way."""
        peer = self._transport.get_extra_info("peername") or ("",)
        displaced = self._pending.add(self, (self._slot.name, peer[0]))
        if displaced is not None:
            displaced.give_way()

    def give_way(self) -> None:
        """Close a pending connection in favor of a newer one."""
        self._refuse(RefusalError(Reason.CROWD, "too many unidentified connections"))

    @override
    def data_received(self, data: bytes) -> None:
        if self._closed:
            return
        counters, now_s = self._sessions.counters, self._loop.time()
        self._reader.feed(data)
        while not self._is_ended():
            try:
                frame = self._reader.next()
                if frame is None:
                    return
                self._handle_frame(frame, now_s)
                counters.taken += 1
            except FrameTooLongError as error:
                self._refuse(RefusalError(Reason.LENGTH, str(error)))
                counters.refused_frames += 1
            except RefusalError as refusal:
                self._refuse(refusal)
                counters.refused_frames += 1
            counters.frames += 1

    def _is_ended(self) -> bool:
        """Return True if nothing more is read; also if the connection broke during an answer."""
        if not self._closed and self._transport.is_closing():
            self._reader.clear()
        return self._closed or self._transport.is_closing()

    @override
    def eof_received(self) -> None:
        pass

    @override
    def pause_writing(self) -> None:
        self._sessions.counters.refused[Reason.UNREAD] += 1
        self._give_up()
        self._transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._reader.has_partial_frame and not self._closed:
            counters = self._sessions.counters
            counters.frames += 1
            counters.refused_frames += 1
            counters.refused[Reason.CUT] += 1
        self._give_up()

    def check_timeouts(self, now_s: float) -> None:
        """Close the connection if its handshake or its next accepted frame is overdue."""
        limits, name = self._sessions.limits, self._slot.name
        if self._closed:
            return
        if not self._joined and now_s - self._opened_s > limits.handshake_s:
            self._refuse(
                RefusalError(Reason.HANDSHAKE, f"no connection packet in {limits.handshake_s:g} s")
            )
        elif name not in self._sessions.waiting and now_s - self._last_heard_s > limits.silence_s:
            message = f"no accepted frame in {limits.silence_s:g} s"
            self._refuse(RefusalError(Reason.SILENCE, message))

    def close(self) -> None:
        """Close the connection after the data already written."""
        self._give_up()
        self._transport.close()
        # a peer that does not read its last answer is not waited for
        self._loop.call_later(self._sessions.limits.farewell_s, self._transport.abort)

    def answer_update(self, number: int) -> None:
        """Send the set point; the wait for the turn does not count as silence."""
        self._last_heard_s = self._loop.time()
        name, accelerates = self._slot.name, self._reports_acceleration
        self._send(self._sessions.answer(name, number, with_acceleration=accelerates))

    def _handle_frame(self, frame: bytes, now_s: float) -> None:
        """Parse a frame and execute its packet.

        Raises:
            RefusalError: if it is refused.
        """
        if not self._bucket.take(now_s):
            message = f"more than {self._sessions.limits.frames_hz:g} frames per second"
            raise RefusalError(Reason.RATE, message)
        packet = parse_packet(frame)
        awaited = self._joined and self._sessions.requires_update(self._slot.name)
        if isinstance(packet, Connection):
            self._join(packet, now_s)
        elif not self._joined:
            message = "the first packet must be a connection"
            raise RefusalError(Reason.TURN, message, packet.number)
        else:
            self._execute(packet, now_s)
        # refused frames do not count, nor do others while an update of this member is required
        if isinstance(packet, Update) or not awaited:
            self._last_heard_s = now_s

    def _join(self, packet: Connection, now_s: float) -> None:
        if self._joined:
            message = "this connection has already joined"
            raise RefusalError(Reason.TURN, message)
        self._check_identity(packet)
        name = self._slot.name
        if name in self._sessions.members:
            message = f"{name} is already connected"
            raise RefusalError(Reason.TAKEN, message)
        self._pending.discard(self)
        self._joined = True
        self._sessions.members[name] = self
        self._sessions.counters.joined += 1
        self._sessions.flock_server.join(name, packet.position_m, now_s)
        self._send(Accepted(CONNECTION_NUMBER))

    def _check_identity(self, packet: Connection) -> None:
        token = self._sessions.token
        if packet.version != VERSION:
            message = f"version {packet.version}; this hub requires version {VERSION}"
            raise RefusalError(Reason.VERSION, message)
        # the proof before the name, so that unidentified peers learn no names
        if token is not None and not hmac.compare_digest(
            packet.proof.encode(), compute_proof(token, self._nonce).encode()
        ):
            message = "the proof does not match the hub's token"
            raise RefusalError(Reason.PROOF, message)
        if packet.name != self._slot.name:
            message = f"this port belongs to {self._slot.name}, not to {packet.name}"
            raise RefusalError(Reason.NAME, message)

    def _execute(self, packet: Numbered, now_s: float) -> None:
        self._check_order(packet)
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

    def _check_order(self, packet: Numbered) -> None:
        if packet.number <= self._last_number:
            message = f"number {packet.number} after {self._last_number}; must increase"
            raise RefusalError(Reason.REPLAYED, message, packet.number)
        if isinstance(packet, Update) and packet.time_s < self._last_time_s:
            message = f"time {packet.time_s:g} s after {self._last_time_s:g} s; must not decrease"
            raise RefusalError(Reason.REPLAYED, message, packet.number)

    def _update(self, packet: Update, now_s: float) -> None:
        self._last_time_s = packet.time_s
        self._reports_acceleration = packet.acceleration_mps2 is not None
        sessions, name = self._sessions, self._slot.name
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
        change[status](self._slot.name)

    def _set_behaviors(self, packet: Behavior) -> None:
        try:
            self._sessions.flock_server.set_behaviors(self._slot.name, packet.behaviors)
        except CommandError as error:
            raise RefusalError(Reason.BEHAVIOR, str(error), packet.number) from None

    def _leave(self) -> None:
        self._sessions.counters.left += 1
        self._sessions.flock_server.leave(self._slot.name)
        self._free_slot()
        self.close()

    def _give_up(self) -> None:
        """Stop reading; a member that has not left is lost."""
        self._closed = True
        self._reader.clear()
        self._pending.discard(self)
        if self._joined:
            self._sessions.counters.lost += 1
            self._sessions.flock_server.lose(self._slot.name)
            self._free_slot()

    def _free_slot(self) -> None:
        self._joined = False
        self._sessions.remove(self._slot.name)
        self._sessions.take_turns()

    def _refuse(self, refusal: RefusalError) -> None:
        self._sessions.counters.refused[refusal.reason] += 1
        self._send(Refusal(refusal.reason, refusal.text[:MAX_REFUSAL_CHARACTERS], refusal.number))
        if not (self._joined and refusal.reason in RECOVERABLE):
            self.close()

    def _send(self, packet: FromHub) -> None:
        if not (self._closed or self._transport.is_closing()):
            self._transport.write(to_frame(encode(packet)))
