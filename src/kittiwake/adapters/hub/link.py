"""One connection of a member to a hub, which can be waited for or not."""

import errno
import os
import socket
import time
from collections.abc import Callable

import msgspec

from kittiwake.adapters.hub.frames import FrameReader, FrameTooLongError, framed
from kittiwake.adapters.hub.packets import (
    Accepted,
    Connection,
    FromHub,
    FromMember,
    Hello,
    Refused,
    decoded_from_hub,
    encoded,
)
from kittiwake.core.errors import HubError

CHUNK = 4096
NOT_YET = {0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY}


class Link:
    """A connection from its opening on; every error of it is an OSError."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.hello: Hello | None = None
        self.met = False
        self._reader, self._opened_s = FrameReader(), time.monotonic()
        self._socket = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
        self._socket.settimeout(0.0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._failure = self._socket.connect_ex(address)

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
        """Writes a packet, which is small enough to be taken at once."""
        self._socket.settimeout(1.0)
        self._socket.sendall(framed(encoded(packet)))

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
            if isinstance(packet, Refused):
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
