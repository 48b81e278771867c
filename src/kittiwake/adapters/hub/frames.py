"""Framing of packets in a byte stream: a big-endian 32-bit length, then that many bytes."""

import struct

MAX_FRAME = 1024
LENGTH = struct.Struct(">I")


class FrameTooLongError(Exception):
    """A length above the maximum; the start of the next frame is unknown from then on."""


def to_frame(packet: bytes) -> bytes:
    """Return an encoded packet with its length prefix."""
    assert len(packet) <= MAX_FRAME
    return LENGTH.pack(len(packet)) + packet


class FrameReader:
    """Splitter of a byte stream into frames; keeps nothing of a frame that is too long."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def has_partial_frame(self) -> bool:
        """True if the buffer holds the beginning of an incomplete frame."""
        return bool(self._buffer)

    def feed(self, received: bytes) -> None:
        """Append received bytes."""
        self._buffer += received

    def clear(self) -> None:
        """Discard the received bytes."""
        self._buffer.clear()

    def next(self) -> bytes | None:
        """Return the next complete frame without its length; None if there is none.

        Raises:
            FrameTooLongError: as soon as the length is read; nothing can be read from then on.
        """
        if len(self._buffer) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._buffer)
        if length > MAX_FRAME:
            self.clear()
            message = f"a frame of {length} bytes; must be {MAX_FRAME} at most"
            raise FrameTooLongError(message)
        end = LENGTH.size + length
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[LENGTH.size : end])
        del self._buffer[:end]
        return frame
