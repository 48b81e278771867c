"""What a hub and its members say to each other: MessagePack maps, told apart by ``type``.

The hub begins with ``Hello``; a member answers with ``Connection``. From then on every packet of a
member has a number that grows, and is answered once: by ``Accepted``, ``SetPoint``, ``Idle`` or
``Refused`` with that number. World axes, meters, seconds and radians throughout.
"""

import hashlib
import hmac
from enum import Enum
from math import isfinite
from typing import Annotated, TypeAlias

import msgspec

from kittiwake.adapters.number_limits import (
    LARGEST_ACCELERATION_MPS2,
    LARGEST_ANGLE_RAD,
    LARGEST_POSITION_M,
    LARGEST_TIME_S,
    LARGEST_VELOCITY_MPS,
)

VERSION = 1
# of the packet that opens a connection, which has no number of its own
OPENING = 0

Triple: TypeAlias = tuple[float, float, float]
Words: TypeAlias = Annotated[list[str | int], msgspec.Meta(max_length=64)]


class Reason(Enum):
    """Why something is refused."""

    TAKEN = "taken"  # another one is connected to this port
    CROWD = "crowd"  # too many that have not said who they are
    VERSION = "version"
    NAME = "name"
    PROOF = "proof"
    HANDSHAKE = "handshake"  # no Connection in time
    SILENCE = "silence"
    UNREAD = "unread"  # answers that the member does not take
    RATE = "rate"
    LENGTH = "length"
    CUT = "cut"  # a connection that ended inside a frame
    FORMAT = "format"  # no MessagePack
    SHAPE = "shape"  # no packet of a member
    RANGE = "range"
    REPLAYED = "replayed"  # a number or a time that does not grow
    TURN = "turn"
    BEHAVIOR = "behavior"


class Readiness(Enum):
    """Whether a member flies along."""

    READY = "READY"
    PAUSE = "PAUSE"


class Hello(msgspec.Struct, tag="hello", frozen=True, forbid_unknown_fields=True):
    """The hub's first words; team and name are missing where it asks for a proof instead."""

    version: int
    team: str | None
    name: str | None
    nonce: str
    rate_hz: float
    lockstep: bool


class Accepted(msgspec.Struct, tag="accepted", frozen=True, forbid_unknown_fields=True):
    """It is done as the packet of this number asked."""

    number: int


class SetPoint(
    msgspec.Struct, tag="set_point", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What to do now: a velocity, and where it leads in one period of the hub.

    ``acceleration_mps2`` is that of the velocity itself, to be fed forward; it is missing for
    members that do not report theirs.
    """

    number: int
    tick: int
    velocity_mps: Triple
    position_m: Triple
    yaw_rad: float
    acceleration_mps2: Triple | None = None


class Idle(msgspec.Struct, tag="idle", frozen=True, forbid_unknown_fields=True):
    """The hub has nothing to ask for: the member is paused, or not guided, or not yet."""

    number: int


class Refusal(msgspec.Struct, tag="refused", frozen=True, forbid_unknown_fields=True):
    """Nothing is done with what came; ``number`` is missing where it is not known."""

    reason: Reason
    said: str
    number: int | None


class Connection(msgspec.Struct, tag="connection", frozen=True, forbid_unknown_fields=True):
    """Who a member is and where; ``proof`` is empty where the hub has no token."""

    version: int
    name: str
    position_m: Triple
    proof: str = ""


class Update(
    msgspec.Struct, tag="update", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How a member moves, by its own estimate; ``time_s`` is of its own clock.

    ``acceleration_mps2`` is that of its velocity, so zero at rest. It may be missing.
    """

    number: int
    time_s: float
    position_m: Triple
    velocity_mps: Triple
    yaw_rad: float
    acceleration_mps2: Triple | None = None


class Status(msgspec.Struct, tag="status", frozen=True, forbid_unknown_fields=True):
    """Whether a member flies along from now on."""

    number: int
    status: Readiness


class Behavior(msgspec.Struct, tag="behavior", frozen=True, forbid_unknown_fields=True):
    """The behaviors that count from now on, by their names or their places in the scenario."""

    number: int
    behaviors: Words


class Leave(msgspec.Struct, tag="leave", frozen=True, forbid_unknown_fields=True):
    """The member goes for good: nobody has to keep clear of it any more."""

    number: int


FromMember: TypeAlias = Connection | Update | Status | Behavior | Leave
Numbered: TypeAlias = Update | Status | Behavior | Leave
FromHub: TypeAlias = Hello | Accepted | SetPoint | Idle | Refusal

encoded = msgspec.msgpack.Encoder().encode
decoded_from_member = msgspec.msgpack.Decoder(FromMember).decode
decoded_from_hub = msgspec.msgpack.Decoder(FromHub).decode


def proof_of(token: str, nonce: str) -> str:
    """That one knows the token, without telling it: HMAC-SHA256 of the hub's nonce."""
    return hmac.new(token.encode(), nonce.encode(), hashlib.sha256).hexdigest()


def in_range(packet: FromMember) -> bool:
    """Whether all its numbers are finite and of a size that can be flown."""
    if isinstance(packet, Connection):
        return _all_below(packet.position_m, LARGEST_POSITION_M)
    if isinstance(packet, Update):
        return (
            _all_below(packet.position_m, LARGEST_POSITION_M)
            and _all_below(packet.velocity_mps, LARGEST_VELOCITY_MPS)
            and _all_below(packet.acceleration_mps2 or (), LARGEST_ACCELERATION_MPS2)
            and _all_below((packet.yaw_rad,), LARGEST_ANGLE_RAD)
            and _all_below((packet.time_s,), LARGEST_TIME_S)
        )
    return True


def _all_below(numbers: tuple[float, ...], largest: float) -> bool:
    return all(isfinite(number) and abs(number) <= largest for number in numbers)
