"""How packets travel in a stream of bytes: four bytes of length, the highest first, and so many."""

import struct

MAX_FRAME = 1024
LENGTH = struct.Struct(">I")


class FrameTooLongError(Exception):
    """A length that no frame has; where the next one would begin is not known."""


def framed(packet: bytes) -> bytes:
    """A packet as it is sent."""
    assert len(packet) <= MAX_FRAME
    return LENGTH.pack(len(packet)) + packet


class FrameReader:
    """Cuts a stream into frames; of one that is too long nothing is kept."""

    def __init__(self) -> None:
        self._left = bytearray()

    @property
    def inside(self) -> bool:
        """Whether a frame has begun that is not whole yet."""
        return bool(self._left)

    def feed(self, received: bytes) -> None:
        """Takes what has come."""
        self._left += received

    def clear(self) -> None:
        """Forgets what has come."""
        self._left.clear()

    def next(self) -> bytes | None:
        """The next whole frame, without its length.

        Raises:
            FrameTooLongError: as soon as its length is there; nothing can be read from then on.
        """
        if len(self._left) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._left)
        if length > MAX_FRAME:
            self.clear()
            message = f"a frame of {length} bytes; {MAX_FRAME} at most"
            raise FrameTooLongError(message)
        end = LENGTH.size + length
        if len(self._left) < end:
            return None
        frame = bytes(self._left[LENGTH.size : end])
        del self._left[:end]
        return frame
