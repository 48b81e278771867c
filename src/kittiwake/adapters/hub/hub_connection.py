"""Server side of any connection to a hub: framing, handshake, limits and refusals.

Every received frame is accepted or refused, and counted. After a refusal the connection stays open
if the next frame can be found and the peer is identified; otherwise, and where a limit is exceeded,
it is closed.
"""

import asyncio
import hmac
import secrets
import socket
from abc import abstractmethod
from typing import TypeAlias, cast

from typing_extensions import override

from kittiwake.adapters.hub.frames import FrameReader, FrameTooLongError, to_frame
from kittiwake.adapters.hub.limits import TokenBucket
from kittiwake.adapters.hub.packets import (
    VERSION,
    FromHub,
    FromMember,
    Hello,
    Introduction,
    Numbered,
    Reason,
    Refusal,
    compute_proof,
    encode,
)
from kittiwake.adapters.hub.refusals import RefusalError, parse_packet
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.runtime.pending_connections import PendingConnections

# reasons after which an identified peer may send another frame
RECOVERABLE = frozenset(
    {
        Reason.FORMAT,
        Reason.SHAPE,
        Reason.RANGE,
        Reason.REPLAYED,
        Reason.TURN,
        Reason.BEHAVIOR,
        Reason.VEHICLE,
    }
)
# so that a refusal fits into a frame, whatever it quotes
MAX_REFUSAL_CHARACTERS = 200

PendingHubConnections: TypeAlias = PendingConnections["AbstractHubConnection"]


class AbstractHubConnection(asyncio.Protocol):
    """Connection to a port of a hub; pending until its peer is identified.

    Attributes:
        name: the vehicle of the port; empty at the control port.
        joined: whether the peer is identified.
    """

    def __init__(
        self, sessions: MemberSessions, name: str, pending_connections: PendingHubConnections
    ) -> None:
        self._sessions, self.name, self._pending = sessions, name, pending_connections
        self._reader, self._nonce = FrameReader(), secrets.token_hex(16)
        self.joined = self._closed = False
        self._last_number = 0

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
        if self._is_taken():
            self._refuse(RefusalError(Reason.TAKEN, "this port is taken"))
            return
        self._add_to_pending()
        team, name = self._names() if self._sessions.token is None else (None, None)
        rate_hz, lockstep = self._sessions.flock_server.rate_hz, self._sessions.lockstep
        self._send(Hello(VERSION, team, name, self._nonce, rate_hz, lockstep))

    @abstractmethod
    def _is_taken(self) -> bool:
        """Return True if another peer is connected to this port."""

    @abstractmethod
    def _names(self) -> tuple[str, str] | tuple[None, None]:
        """Return the names of the team and of the vehicle of this port."""

    @abstractmethod
    def _join(self, packet: Introduction, now_s: float) -> None:
        """Check the peer's introduction and let it join.

        Raises:
            RefusalError: if it is refused.
        """

    @abstractmethod
    def _execute(self, packet: Numbered, now_s: float) -> None:
        """Execute a packet of an identified peer.

        Raises:
            RefusalError: if it is refused.
        """

    @abstractmethod
    def _lose(self) -> None:
        """Forget a peer that has joined."""

    @abstractmethod
    def _awaits_answer(self) -> bool:
        """Return True while an answer is due, during which the peer may be silent."""

    @abstractmethod
    def _renews(self, packet: FromMember) -> bool:
        """Return True if a packet ends the peer's silence."""

    def _add_to_pending(self) -> None:
        """Add this connection to the pending ones, one of which may have to give way."""
        peer = self._transport.get_extra_info("peername") or ("",)
        displaced = self._pending.add(self, (self.name, peer[0]))
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
        limits = self._sessions.limits
        if self._closed:
            return
        if not self.joined and now_s - self._opened_s > limits.handshake_s:
            self._refuse(
                RefusalError(Reason.HANDSHAKE, f"no connection packet in {limits.handshake_s:g} s")
            )
        elif not self._awaits_answer() and now_s - self._last_heard_s > limits.silence_s:
            message = f"no accepted frame in {limits.silence_s:g} s"
            self._refuse(RefusalError(Reason.SILENCE, message))

    def close(self) -> None:
        """Close the connection after the data already written."""
        self._give_up()
        self._transport.close()
        # a peer that does not read its last answer is not waited for
        self._loop.call_later(self._sessions.limits.farewell_s, self._transport.abort)

    def _handle_frame(self, frame: bytes, now_s: float) -> None:
        """Parse a frame and execute its packet.

        Raises:
            RefusalError: if it is refused.
        """
        if not self._bucket.take(now_s):
            message = f"more than {self._sessions.limits.frames_hz:g} frames per second"
            raise RefusalError(Reason.RATE, message)
        packet = parse_packet(frame)
        renews = self._renews(packet)
        if isinstance(packet, Introduction):
            if self.joined:
                message = "this connection has already joined"
                raise RefusalError(Reason.TURN, message)
            self._join(packet, now_s)
        elif not self.joined:
            message = "the first packet must be a connection"
            raise RefusalError(Reason.TURN, message, packet.number)
        else:
            self._execute(packet, now_s)
        if renews:
            self._last_heard_s = now_s

    def _check_proof(self, packet: Introduction) -> None:
        token = self._sessions.token
        if packet.version != VERSION:
            message = f"version {packet.version}; this hub requires version {VERSION}"
            raise RefusalError(Reason.VERSION, message)
        if token is not None and not hmac.compare_digest(
            packet.proof.encode(), compute_proof(token, self._nonce).encode()
        ):
            message = "the proof does not match the hub's token"
            raise RefusalError(Reason.PROOF, message)

    def _check_order(self, packet: Numbered) -> None:
        if packet.number <= self._last_number:
            message = f"number {packet.number} after {self._last_number}; must increase"
            raise RefusalError(Reason.REPLAYED, message, packet.number)

    def _give_up(self) -> None:
        """Stop reading; a peer that has joined and not left is lost."""
        self._closed = True
        self._reader.clear()
        self._pending.discard(self)
        if self.joined:
            self.joined = False
            self._lose()

    def _refuse(self, refusal: RefusalError) -> None:
        self._sessions.counters.refused[refusal.reason] += 1
        self._send(Refusal(refusal.reason, refusal.text[:MAX_REFUSAL_CHARACTERS], refusal.number))
        if not (self.joined and refusal.reason in RECOVERABLE):
            self.close()

    def _send(self, packet: FromHub) -> None:
        if not (self._closed or self._transport.is_closing()):
            self._transport.write(to_frame(encode(packet)))
