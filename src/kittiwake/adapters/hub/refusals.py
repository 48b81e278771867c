"""Refusal of frames, and parsing of a frame into a member's packet."""

import msgspec

from kittiwake.adapters.hub.packets import (
    FromMember,
    Introduction,
    Reason,
    decode_from_member,
    in_range,
)


class RefusalError(Exception):
    """A refused frame or connection; ``number`` is that of the packet if it has one."""

    def __init__(self, reason: Reason, text: str, number: int | None = None) -> None:
        super().__init__(text)
        self.reason, self.text, self.number = reason, text, number


def parse_packet(frame: bytes) -> FromMember:
    """Return the member's packet that a frame holds.

    Raises:
        RefusalError: if it holds none, or one with numbers out of range.
    """
    try:
        packet = decode_from_member(frame)
    except msgspec.ValidationError as error:
        raise RefusalError(Reason.SHAPE, str(error)) from None
    except (ValueError, RecursionError) as error:  # of invalid text, and of too deep nesting
        raise RefusalError(Reason.FORMAT, str(error)) from None
    if not in_range(packet):
        number = None if isinstance(packet, Introduction) else packet.number
        message = "a number that is not finite or too large"
        raise RefusalError(Reason.RANGE, message, number)
    return packet
