"""One connection of a member to a hub, which can be waited for or not."""

import errno
import os
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from kittiwake.adapters.hub.frames import MAX_FRAME, FrameReader, FrameTooLongError, framed
from kittiwake.adapters.hub.packets import (
    Accepted,
    Connection,
    FromHub,
    FromMember,
    Hello,
    Refusal,
    decoded_from_hub,
    encoded,
)
from kittiwake.core.errors import HubError

CHUNK = 4096
LAST_PORT = 65535
NOT_YET = {0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY}


class Address(NamedTuple):
    """Where a hub is, as sockets are told."""

    family: socket.AddressFamily
    place: tuple[Any, ...]


class Link:
    """A connection from its opening on; every error of it is an OSError."""

    def __init__(self, address: "Address") -> None:
        self.hello: Hello | None = None
        self.met = False
        self._reader, self._opened_s = FrameReader(), time.monotonic()
        self._socket = socket.socket(address.family)
        self._socket.settimeout(0.0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._failure = self._socket.connect_ex(address.place)

    @property
    def age_s(self) -> float:
        """Since it was opened."""
        return time.monotonic() - self._opened_s

    def fileno(self) -> int:
        """The number of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def send(self, packet: FromMember) -> None:
        """Writes a packet, which is small enough to be taken at once.

        Raises:
            HubError: if it is too large for that.
        """
        frame = frame_of(packet)
        self._socket.settimeout(1.0)
        self._socket.sendall(frame)

    def meet(self, wait_s: float, introduced: Callable[[Hello], Connection]) -> bool:
        """Goes on with the handshake for so long; whether it is done.

        Raises:
            HubError: if the hub refuses.
        """
        end_s = time.monotonic() + wait_s
        while not self.met:
            packet = self.receive(end_s - time.monotonic())
            if packet is None:
                return False
            if isinstance(packet, Refusal):
                message = f"the hub refuses: {packet.said}"
                raise HubError(message, packet.reason.value)
            if isinstance(packet, Hello):
                self.hello = packet
                self.send(introduced(packet))
            self.met = isinstance(packet, Accepted)
        return True

    def receive(self, wait_s: float) -> FromHub | None:
        """The next packet, waited for for so long; None if there is none yet."""
        if self._failure not in NOT_YET:
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
            return decoded_from_hub(frame)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError as error:
            if error.errno == errno.ENOTCONN:  # not connected yet
                return None
            raise
        except (FrameTooLongError, msgspec.MsgspecError) as error:
            message = f"what answers is no hub: {error}"
            raise ConnectionError(message) from None


def address_of(host: str, port: int) -> Address:
    """Where a hub is; a name is looked up once, for that may take long.

    Raises:
        OSError: if nobody knows the host, or there is no such port.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, OverflowError) as error:
        message = str(error)
        raise OSError(message) from None
    first = min(found, key=lambda one: one[0] is not socket.AF_INET)
    if not 0 < port <= LAST_PORT:
        message = f"there is no port {port}"
        raise OSError(message)
    return Address(first[0], first[4])


def frame_of(packet: FromMember) -> bytes:
    """A packet as it is sent.

    Raises:
        HubError: if it does not fit into a frame.
    """
    try:
        written = encoded(packet)
    except (OverflowError, UnicodeError) as error:
        message = f"a hub cannot be told this: {error}"
        raise HubError(message) from None
    if len(written) > MAX_FRAME:
        message = f"{len(written)} bytes to tell a hub at once; {MAX_FRAME} at most"
        raise HubError(message)
    return framed(written)
