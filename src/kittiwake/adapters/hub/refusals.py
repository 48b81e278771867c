"""What a hub does not take, and what of a frame it does."""

import msgspec

from kittiwake.adapters.hub.packets import (
    Connection,
    FromMember,
    Reason,
    decoded_from_member,
    in_range,
)


class RefusalError(Exception):
    """Something that is not taken, of the packet of this number if it has one."""

    def __init__(self, reason: Reason, said: str, number: int | None = None) -> None:
        super().__init__(said)
        self.reason, self.said, self.number = reason, said, number


def packet_of(frame: bytes) -> FromMember:
    """The packet of a member that a frame holds.

    Raises:
        RefusalError: if it holds none, or one with numbers that cannot be.
    """
    try:
        packet = decoded_from_member(frame)
    except msgspec.ValidationError as error:
        raise RefusalError(Reason.SHAPE, str(error)) from None
    except (ValueError, RecursionError) as error:  # of broken text, and of what is nested too deep
        raise RefusalError(Reason.FORMAT, str(error)) from None
    if not in_range(packet):
        number = None if isinstance(packet, Connection) else packet.number
        message = "a number that is not finite or too large"
        raise RefusalError(Reason.RANGE, message, number)
    return packet
