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
        self._parsers: OrderedDict[Address, Message] = OrderedDict()
        self._senders: dict[int, Message] = {}
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
        parser = self._parsers.get(sender) or self._new_parser()
        try:
            messages = parser.parse_buffer(data) or []
        except (self.dialect.MAVError, struct.error, ValueError):
            return []
        # nothing tells messages of other dialects from noise
        noise = self.dialect.MAVLink_bad_data, self.dialect.MAVLink_unknown
        known = [one for one in messages if not isinstance(one, noise)]
        if known:
            self._remember(sender, parser)
        return [(sender, one) for one in known]

    def send(self, system: int, messages: Iterable[Message], to: Address | None = None) -> None:
        """Send messages of a system to all clients, or to one."""
        with self._lock:
            clients = [to] if to is not None else list({*self._listeners, *self._parsers})
            packets = [self._packet(system, message) for message in messages]
        for packet in packets:
            for client in clients:
                with suppress(OSError):
                    self._socket.sendto(packet, client)

    def _packet(self, system: int, message: Message) -> bytes:
        if system not in self._senders:
            self._senders[system] = self.dialect.MAVLink(
                None, srcSystem=system, srcComponent=AUTOPILOT_COMPONENT
            )
        sender = self._senders[system]
        packet = bytes(message.pack(sender))
        sender.seq = (sender.seq + 1) % 256
        return packet

    def _remember(self, client: Address, parser: Message) -> None:
        with self._lock:
            self._parsers[client] = parser
            self._parsers.move_to_end(client)
            while len(self._parsers) > MAX_CLIENTS:
                self._parsers.popitem(last=False)

    def _new_parser(self) -> Message:
        parser = self.dialect.MAVLink(None)
        parser.robust_parsing = True
        return parser
