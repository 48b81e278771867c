"""Client side of one connection to a hub, blocking or not."""

import errno
import os
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from kittiwake.adapters.hub.frames import MAX_FRAME, FrameReader, FrameTooLongError, to_frame
from kittiwake.adapters.hub.packets import (
    Accepted,
    FromHub,
    FromMember,
    Hello,
    Introduction,
    Refusal,
    decode_from_hub,
    encode,
)
from kittiwake.core.errors import HubError

CHUNK = 4096
LAST_PORT = 65535
CONNECTING = {0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY}


class Address(NamedTuple):
    """Socket address of a hub."""

    family: socket.AddressFamily
    socket_address: tuple[str | int | bytes, ...]


class Link:
    """Connection from its opening on; its errors are OSErrors."""

    def __init__(self, address: "Address") -> None:
        self.hello: Hello | None = None
        self.accepted = False
        self._reader, self._opened_s = FrameReader(), time.monotonic()
        self._socket = socket.socket(address.family)
        self._socket.settimeout(0.0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._failure = self._socket.connect_ex(address.socket_address)

    @property
    def age_s(self) -> float:
        """Time since the connection was opened."""
        return time.monotonic() - self._opened_s

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, packet: FromMember) -> None:
        """Write a packet, which fits into the send buffer.

        Raises:
            HubError: if it is too large for a frame.
        """
        frame = encode_frame(packet)
        self._socket.settimeout(1.0)
        self._socket.sendall(frame)

    def handshake(self, wait_s: float, introduction: Callable[[Hello], Introduction]) -> bool:
        """Continue the handshake for at most ``wait_s``; return True if it is complete.

        Raises:
            HubError: if the hub refuses.
        """
        end_s = time.monotonic() + wait_s
        while not self.accepted:
            packet = self.receive(end_s - time.monotonic())
            if packet is None:
                return False
            if isinstance(packet, Refusal):
                message = f"the hub refuses: {packet.said}"
                raise HubError(message, packet.reason.value)
            if isinstance(packet, Hello):
                self.hello = packet
                self.send(introduction(packet))
            self.accepted = isinstance(packet, Accepted)
        return True

    def receive(self, wait_s: float) -> FromHub | None:
        """Return the next packet; None if none arrives within ``wait_s``."""
        if self._failure not in CONNECTING:
            raise OSError(self._failure, os.strerror(self._failure))
        end_s = time.monotonic() + wait_s
        try:
            while (frame := self._reader.next()) is None:
                self._socket.settimeout(max(0.0, end_s - time.monotonic()))
                received = self._socket.recv(CHUNK)
                if not received:
                    message = "the hub has closed the connection"
                    raise ConnectionResetError(message)
                self._reader.feed(received)
            return decode_from_hub(frame)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError as error:
            if error.errno == errno.ENOTCONN:  # not connected yet
                return None
            raise
        except (FrameTooLongError, msgspec.MsgspecError) as error:
            message = f"the peer is not a hub: {error}"
            raise ConnectionError(message) from None


def resolve_address(host: str, port: int) -> Address:
    """Return the socket address of a hub; a host name is looked up here only, as it may be slow.

    Raises:
        OSError: if the host is unknown, or the port is out of range.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, OverflowError) as error:
        message = str(error)
        raise OSError(message) from None
    first = min(addresses, key=lambda entry: entry[0] is not socket.AF_INET)
    if not 0 < port <= LAST_PORT:
        message = f"port {port} is out of range; must be in 1 to {LAST_PORT}"
        raise OSError(message)
    return Address(first[0], first[4])


def encode_frame(packet: FromMember) -> bytes:
    """Return the frame of a packet.

    Raises:
        HubError: if it does not fit into a frame.
    """
    try:
        encoded = encode(packet)
    except (OverflowError, UnicodeError) as error:
        message = f"the packet cannot be encoded: {error}"
        raise HubError(message) from None
    if len(encoded) > MAX_FRAME:
        message = f"a packet of {len(encoded)} bytes; must be {MAX_FRAME} at most"
        raise HubError(message)
    return to_frame(encoded)
