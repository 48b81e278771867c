"""One connection to a hub: what is read from it, what it may do, and what it is answered.

Whatever comes is taken or refused, and counted. The connection goes on after a refusal where the
next frame can be found and its sender is known; it is closed otherwise, and where a limit is
passed.
"""

import asyncio
import hmac
import secrets
import socket
from typing import cast

from typing_extensions import override

from kittiwake.adapters.hub.flock_server import Place
from kittiwake.adapters.hub.frames import FrameReader, FrameTooLongError, framed
from kittiwake.adapters.hub.limits import Bucket
from kittiwake.adapters.hub.packets import (
    OPENING,
    VERSION,
    Accepted,
    Behavior,
    Connection,
    FromHub,
    Hello,
    Idle,
    Leave,
    Numbered,
    Readiness,
    Reason,
    Refusal,
    Status,
    Update,
    encoded,
    proof_of,
)
from kittiwake.adapters.hub.refusals import RefusalError, packet_of
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.core.errors import CommandError
from kittiwake.runtime.pending_connections import PendingConnections

# frames of which the sender can send another one
GOES_ON = frozenset(
    {Reason.FORMAT, Reason.SHAPE, Reason.RANGE, Reason.REPLAYED, Reason.TURN, Reason.BEHAVIOR}
)
# of who does not say how it accelerates
AT_REST = (0.0, 0.0, 0.0)
# so that they fit into a frame, whatever they repeat
LONGEST_WORDS = 200


class MemberConnection(asyncio.Protocol):
    """Somebody at the port of a vehicle; a stranger until it has said who it is."""

    def __init__(
        self,
        exchange: MemberSessions,
        place: Place,
        strangers: PendingConnections["MemberConnection"],
    ) -> None:
        self._exchange, self._place, self._strangers = exchange, place, strangers
        self._reader, self._nonce = FrameReader(), secrets.token_hex(16)
        self._joined = self._closed = False
        self._last_number, self._last_time_s = 0, -float("inf")
        self._reports_acceleration = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        limits, counters = self._exchange.limits, self._exchange.counters
        counters.connections += 1
        self._opened_s = self._heard_s = now_s = self._loop.time()
        self._bucket = Bucket(limits.frames_hz, limits.burst, now_s)
        self._transport.set_write_buffer_limits(high=limits.unread_bytes)
        # the system would keep megabytes of what nobody takes
        line = self._transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.unread_bytes)
        if self._place.name in self._exchange.holders:
            self._refuse(RefusalError(Reason.TAKEN, "this port is taken"))
        else:
            self._line_up()
            flock_server, token = self._exchange.flock_server, self._exchange.token
            place = self._place
            team, name = (place.team, place.name) if token is None else (None, None)
            self._send(
                Hello(
                    VERSION, team, name, self._nonce, flock_server.rate_hz, self._exchange.lockstep
                )
            )

    def _line_up(self) -> None:
        """Among those who have not said who they are, one of whom may have to give way."""
        peer = self._transport.get_extra_info("peername") or ("",)
        displaced = self._strangers.add(self, (self._place.name, peer[0]))
        if displaced is not None:
            displaced.give_way()

    def give_way(self) -> None:
        """Closes a connection that has not said who it is, for others that come."""
        self._refuse(RefusalError(Reason.CROWD, "too many have not yet said who they are"))

    @override
    def data_received(self, data: bytes) -> None:
        if self._closed:
            return
        counters, now_s = self._exchange.counters, self._loop.time()
        self._reader.feed(data)
        while not self._is_over():
            try:
                frame = self._reader.next()
                if frame is None:
                    return
                self._take(frame, now_s)
                counters.taken += 1
            except FrameTooLongError as error:
                self._refuse(RefusalError(Reason.LENGTH, str(error)))
                counters.refused_frames += 1
            except RefusalError as refusal:
                self._refuse(refusal)
                counters.refused_frames += 1
            counters.frames += 1

    def _is_over(self) -> bool:
        """Whether nothing more is taken; also of a connection that has broken under an answer."""
        if not self._closed and self._transport.is_closing():
            self._reader.clear()
        return self._closed or self._transport.is_closing()

    @override
    def eof_received(self) -> None:
        pass

    @override
    def pause_writing(self) -> None:
        self._exchange.counters.refused[Reason.UNREAD] += 1
        self._give_up()
        self._transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._reader.inside and not self._closed:
            counters = self._exchange.counters
            counters.frames += 1
            counters.refused_frames += 1
            counters.refused[Reason.CUT] += 1
        self._give_up()

    def check_patience(self, now_s: float) -> None:
        """Closes a connection on which nothing is said."""
        limits, name = self._exchange.limits, self._place.name
        if self._closed:
            return
        if not self._joined and now_s - self._opened_s > limits.handshake_s:
            self._refuse(
                RefusalError(Reason.HANDSHAKE, f"no connection packet in {limits.handshake_s:g} s")
            )
        elif name not in self._exchange.waiting and now_s - self._heard_s > limits.silence_s:
            message = f"nothing in order for {limits.silence_s:g} s"
            self._refuse(RefusalError(Reason.SILENCE, message))

    def close(self) -> None:
        """Ends the connection after what has been written."""
        self._give_up()
        self._transport.close()
        # who does not read its last answer is not waited for
        self._loop.call_later(self._exchange.limits.farewell_s, self._transport.abort)

    def answer_update(self, number: int) -> None:
        """What to do now; what it has waited for its turn was no silence."""
        self._heard_s = self._loop.time()
        name, accelerates = self._place.name, self._reports_acceleration
        self._send(self._exchange.answer(name, number, with_acceleration=accelerates))

    def _take(self, frame: bytes, now_s: float) -> None:
        """Does what a frame asks for.

        Raises:
            RefusalError: if it is not done.
        """
        if not self._bucket.take(now_s):
            message = f"more than {self._exchange.limits.frames_hz:g} frames a second"
            raise RefusalError(Reason.RATE, message)
        packet = packet_of(frame)
        awaited = self._joined and self._exchange.awaits(self._place.name)
        if isinstance(packet, Connection):
            self._join(packet, now_s)
        elif not self._joined:
            message = "the first packet is a connection"
            raise RefusalError(Reason.TURN, message, packet.number)
        else:
            self._obey(packet, now_s)
        # what is refused is no word, nor is any but the one that all others wait for
        if isinstance(packet, Update) or not awaited:
            self._heard_s = now_s

    def _join(self, packet: Connection, now_s: float) -> None:
        if self._joined:
            message = "this connection is open already"
            raise RefusalError(Reason.TURN, message)
        self._check_identity(packet)
        name = self._place.name
        if name in self._exchange.holders:
            message = f"{name} is connected already"
            raise RefusalError(Reason.TAKEN, message)
        self._strangers.discard(self)
        self._joined = True
        self._exchange.holders[name] = self
        self._exchange.counters.joined += 1
        self._exchange.flock_server.join(name, packet.position_m, now_s)
        self._send(Accepted(OPENING))

    def _check_identity(self, packet: Connection) -> None:
        token = self._exchange.token
        if packet.version != VERSION:
            message = f"version {packet.version}; this hub speaks {VERSION}"
            raise RefusalError(Reason.VERSION, message)
        # the proof before the name, so that strangers learn no names
        if token is not None and not hmac.compare_digest(
            packet.proof.encode(), proof_of(token, self._nonce).encode()
        ):
            message = "the proof is not that of the hub's token"
            raise RefusalError(Reason.PROOF, message)
        if packet.name != self._place.name:
            message = f"this port is that of {self._place.name}, not of {packet.name}"
            raise RefusalError(Reason.NAME, message)

    def _obey(self, packet: Numbered, now_s: float) -> None:
        self._check_order(packet)
        if isinstance(packet, Behavior):
            self._behave(packet)
        self._last_number = packet.number
        if isinstance(packet, Update):
            self._update(packet, now_s)
            return
        if isinstance(packet, Status):
            self._set_status(packet.status)
        self._send(Accepted(packet.number))
        if self._closed:  # for it does not take its answers
            return
        if isinstance(packet, Leave):
            self._leave()
        self._exchange.take_turns()

    def _check_order(self, packet: Numbered) -> None:
        if packet.number <= self._last_number:
            message = f"number {packet.number} after {self._last_number}; numbers grow"
            raise RefusalError(Reason.REPLAYED, message, packet.number)
        if isinstance(packet, Update) and packet.time_s < self._last_time_s:
            message = f"time {packet.time_s:g} s after {self._last_time_s:g} s; time grows"
            raise RefusalError(Reason.REPLAYED, message, packet.number)

    def _update(self, packet: Update, now_s: float) -> None:
        self._last_time_s = packet.time_s
        self._reports_acceleration = packet.acceleration_mps2 is not None
        exchange, name = self._exchange, self._place.name
        exchange.flock_server.report(
            *(name, packet.position_m, packet.velocity_mps, packet.yaw_rad),
            acceleration_world_mps2=packet.acceleration_mps2 or AT_REST,
            # in lockstep what is reported in a turn is of one time
            now_s=0.0 if exchange.lockstep else now_s,
        )
        if exchange.lockstep:
            if name in exchange.waiting:  # the earlier one will have no turn
                exchange.counters.idle += 1
                self._send(Idle(exchange.waiting[name]))
                if self._closed:  # for it does not take its answers
                    return
            else:
                self._bucket.give_back()  # whose pace is that of all
        exchange.updated(name, packet.number)

    def _set_status(self, status: Readiness) -> None:
        change = {
            Readiness.READY: self._exchange.flock_server.resume,
            Readiness.PAUSE: self._exchange.flock_server.pause,
        }
        change[status](self._place.name)

    def _behave(self, packet: Behavior) -> None:
        try:
            self._exchange.flock_server.behave(self._place.name, packet.behaviors)
        except CommandError as error:
            raise RefusalError(Reason.BEHAVIOR, str(error), packet.number) from None

    def _leave(self) -> None:
        self._exchange.counters.left += 1
        self._exchange.flock_server.leave(self._place.name)
        self._part()
        self.close()

    def _give_up(self) -> None:
        """Takes nothing any more; a member that has not left is lost."""
        self._closed = True
        self._reader.clear()
        self._strangers.discard(self)
        if self._joined:
            self._exchange.counters.lost += 1
            self._exchange.flock_server.lose(self._place.name)
            self._part()

    def _part(self) -> None:
        """Gives the place back."""
        self._joined = False
        self._exchange.forget(self._place.name)
        self._exchange.take_turns()

    def _refuse(self, refusal: RefusalError) -> None:
        self._exchange.counters.refused[refusal.reason] += 1
        self._send(Refusal(refusal.reason, refusal.said[:LONGEST_WORDS], refusal.number))
        if not (self._joined and refusal.reason in GOES_ON):
            self.close()

    def _send(self, packet: FromHub) -> None:
        if not (self._closed or self._transport.is_closing()):
            self._transport.write(framed(encoded(packet)))
