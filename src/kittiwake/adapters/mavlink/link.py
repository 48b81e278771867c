"""Datagrams of MAVLink between the systems of a flight and its clients, on this machine only."""

import socket
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TypeAlias

from kittiwake.adapters.mavlink.dialect import AUTOPILOT_COMPONENT, Message, load_dialect
from kittiwake.core.errors import CommandError

Address: TypeAlias = tuple[str, int]

LOOPBACK = "127.0.0.1"
# a message of MAVLink 2 has at most 280 bytes, and a datagram a few of them
MAX_DATAGRAM_BYTES = 4096
MAX_CLIENTS = 16


class MavlinkLink:
    """A socket whose clients all get what the systems of a flight send.

    Clients are those at the given ports, and the last ``MAX_CLIENTS`` others that have sent a valid
    message. What is no message of MAVLink 2 is ignored.

    Args:
        ports: the ports of this machine at which clients may listen.
        port: the port of the socket; any free one for 0.

    Raises:
        CommandError: if the port is in use.
        MissingExtraError: if pymavlink is not installed.
    """

    def __init__(self, ports: Sequence[int], port: int = 0) -> None:
        self.dialect = load_dialect()
        self._listeners = [(LOOPBACK, own) for own in ports]
        self._clients: OrderedDict[Address, None] = OrderedDict()
        # each client counts what it gets of a system, to know what was lost
        self._senders: dict[tuple[int, Address], Message] = {}
        # the flight sends in its thread, answers come from that of the server
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((LOOPBACK, port))
        except OSError as error:
            self._socket.close()
            message = (
                f"`--mavlink`: port {port} of {LOOPBACK} cannot be opened: {error.strerror}; "
                "another flight may have it"
            )
            raise CommandError(message) from None
        self.port = int(self._socket.getsockname()[1])

    def close(self) -> None:
        """Close the socket; a ``receive`` that waits returns."""
        self._socket.close()

    def receive(self, timeout_s: float) -> list[tuple[Address, Message]]:
        """Return the messages of the next datagram, with its sender; none after a time."""
        self._socket.settimeout(timeout_s)
        try:
            data, sender = self._socket.recvfrom(MAX_DATAGRAM_BYTES)
        # also a refusal of what was sent to a port where nobody listens
        except OSError:
            return []
        try:
            # with a parser of its own, so that the rest of a message does not hide the next one
            messages = self._new_parser().parse_buffer(data) or []
        except (self.dialect.MAVError, struct.error, ValueError):
            return []
        # nothing tells messages of other dialects from noise
        noise = self.dialect.MAVLink_bad_data, self.dialect.MAVLink_unknown
        known = [one for one in messages if not isinstance(one, noise)]
        if known:
            self._remember(sender)
        return [(sender, one) for one in known]

    def send(self, system: int, messages: Iterable[Message], to: Address | None = None) -> None:
        """Send messages of a system to all clients, or to one."""
        with self._lock:
            clients = [to] if to is not None else list({*self._listeners, *self._clients})
            for message in messages:
                self._send(system, message, clients)

    def _send(self, system: int, message: Message, clients: Iterable[Address]) -> None:
        packets: dict[int, bytes] = {}
        for client in clients:
            sender = self._sender(system, client)
            if sender.seq not in packets:
                packets[sender.seq] = bytes(message.pack(sender))
            with suppress(OSError):
                self._socket.sendto(packets[sender.seq], client)
            sender.seq = (sender.seq + 1) % 256

    def _sender(self, system: int, client: Address) -> Message:
        if (system, client) not in self._senders:
            self._senders[system, client] = self.dialect.MAVLink(
                None, srcSystem=system, srcComponent=AUTOPILOT_COMPONENT
            )
        return self._senders[system, client]

    def _remember(self, client: Address) -> None:
        with self._lock:
            self._clients[client] = None
            self._clients.move_to_end(client)
            while len(self._clients) > MAX_CLIENTS:
                self._forget(self._clients.popitem(last=False)[0])

    def _forget(self, client: Address) -> None:
        for key in [key for key in self._senders if key[1] == client]:
            if client not in self._listeners:
                del self._senders[key]

    def _new_parser(self) -> Message:
        parser = self.dialect.MAVLink(None)
        parser.robust_parsing = True
        return parser
