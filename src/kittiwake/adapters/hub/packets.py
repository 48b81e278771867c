"""Packets between a hub and its members: MessagePack maps, distinguished by their key ``type``.

The hub begins with ``Hello``; a member answers with ``Connection``. From then on every packet of a
member has an increasing number, and is answered once, with that number: by ``Accepted``,
``SetPoint``, ``NoSetPoint`` or ``Refusal``. World axes, meters, seconds and radians throughout.

At the control port a ``Controller`` takes the place of a ``Connection``. It adds and removes
vehicles, and is answered by ``VehicleAdded``, ``VehicleRemoved`` or ``Refusal``.
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
# number of the answer to a ``Connection``, which has no number of its own
CONNECTION_NUMBER = 0

Triple: TypeAlias = tuple[float, float, float]
# so that a packet with such a description of a vehicle fits into a frame
MAX_VEHICLE_CHARACTERS = 800
VehicleName: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]
VehicleText: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_VEHICLE_CHARACTERS)]
BehaviorList: TypeAlias = Annotated[list[str | int], msgspec.Meta(max_length=64)]


class Reason(Enum):
    """Reason of a refusal."""

    TAKEN = "taken"  # another member is connected to this port
    CROWD = "crowd"  # too many unidentified connections
    VERSION = "version"
    NAME = "name"
    PROOF = "proof"
    HANDSHAKE = "handshake"  # no Connection in time
    SILENCE = "silence"
    UNREAD = "unread"  # too many answers that the member has not read
    RATE = "rate"
    LENGTH = "length"
    CUT = "cut"  # a connection that ended inside a frame
    FORMAT = "format"  # not MessagePack
    SHAPE = "shape"  # not a packet of a member
    RANGE = "range"
    REPLAYED = "replayed"  # a number or a time that does not increase
    TURN = "turn"
    BEHAVIOR = "behavior"
    VEHICLE = "vehicle"  # one that cannot be added or removed
    REMOVED = "removed"  # the vehicle of this port has been removed


class Readiness(Enum):
    """Status of a member: guided with its flock, or paused."""

    READY = "READY"
    PAUSE = "PAUSE"


class Hello(msgspec.Struct, tag="hello", frozen=True, forbid_unknown_fields=True):
    """First packet of the hub; team and name are missing if it requires a proof."""

    version: int
    team: str | None
    name: str | None
    nonce: str
    rate_hz: float
    lockstep: bool


class Accepted(msgspec.Struct, tag="accepted", frozen=True, forbid_unknown_fields=True):
    """Confirmation that the packet of this number has been executed."""

    number: int


class SetPoint(
    msgspec.Struct, tag="set_point", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Set point: a velocity, and the position that it reaches in one period of the hub.

    ``acceleration_mps2`` is the derivative of the velocity, for feedforward; it is missing for
    members that do not report theirs.
    """

    number: int
    tick: int
    velocity_mps: Triple
    position_m: Triple
    yaw_rad: float
    acceleration_mps2: Triple | None = None


class NoSetPoint(msgspec.Struct, tag="idle", frozen=True, forbid_unknown_fields=True):
    """Answer to an update of a member that is paused, not guided, or not guided yet."""

    number: int


class Refusal(msgspec.Struct, tag="refused", frozen=True, forbid_unknown_fields=True):
    """Refusal of a packet or a connection; ``number`` is missing if it is unknown."""

    reason: Reason
    said: str
    number: int | None


class VehicleAdded(
    msgspec.Struct, tag="vehicle_added", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Vehicle that a controller has added, and its port; ``vehicle`` is its description.

    Members that follow changes receive it without a number.
    """

    name: str
    port: int
    vehicle: str
    number: int | None = None


class VehicleRemoved(
    msgspec.Struct,
    tag="vehicle_removed",
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """Vehicle that a controller has removed."""

    name: str
    number: int | None = None


class Connection(
    msgspec.Struct, tag="connection", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Identity and position of a member; ``proof`` is empty if the hub has no token.

    A member that ``follows`` receives the changes of the hub's vehicles.
    """

    version: int
    name: str
    position_m: Triple
    proof: str = ""
    follows: bool = False


class Controller(
    msgspec.Struct, tag="controller", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """First packet of a controller; ``proof`` is empty if the hub has no token."""

    version: int
    proof: str = ""


class Update(
    msgspec.Struct, tag="update", frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Estimated motion of a member; ``time_s`` is the time of its own clock.

    ``acceleration_mps2`` is the derivative of its velocity, so zero at rest. It may be missing.
    """

    number: int
    time_s: float
    position_m: Triple
    velocity_mps: Triple
    yaw_rad: float
    acceleration_mps2: Triple | None = None


class Status(msgspec.Struct, tag="status", frozen=True, forbid_unknown_fields=True):
    """Change of a member's status."""

    number: int
    status: Readiness


class Behavior(msgspec.Struct, tag="behavior", frozen=True, forbid_unknown_fields=True):
    """Change of the active behaviors, given by name or by index in the scenario's list."""

    number: int
    behaviors: BehaviorList


class Leave(msgspec.Struct, tag="leave", frozen=True, forbid_unknown_fields=True):
    """Final departure of a member: others need not keep clear of it any more."""

    number: int


class AddVehicle(msgspec.Struct, tag="add_vehicle", frozen=True, forbid_unknown_fields=True):
    """Request for another vehicle: its entry of a scenario in YAML, or the name of a model."""

    number: int
    name: VehicleName
    vehicle: VehicleText


class RemoveVehicle(msgspec.Struct, tag="remove_vehicle", frozen=True, forbid_unknown_fields=True):
    """Request to remove a vehicle, or all vehicles of an entry with a ``count``."""

    number: int
    name: VehicleName


FromMember: TypeAlias = (
    Connection | Update | Status | Behavior | Leave | Controller | AddVehicle | RemoveVehicle
)
Introduction: TypeAlias = Connection | Controller
VehicleChange: TypeAlias = AddVehicle | RemoveVehicle
Numbered: TypeAlias = Update | Status | Behavior | Leave | VehicleChange
VehicleNotice: TypeAlias = VehicleAdded | VehicleRemoved
FromHub: TypeAlias = Hello | Accepted | SetPoint | NoSetPoint | Refusal | VehicleNotice

encode = msgspec.msgpack.Encoder().encode
decode_from_member = msgspec.msgpack.Decoder(FromMember).decode
decode_from_hub = msgspec.msgpack.Decoder(FromHub).decode


def compute_proof(token: str, nonce: str) -> str:
    """Return the HMAC-SHA256 of the hub's nonce, which proves knowledge of the token."""
    return hmac.new(token.encode(), nonce.encode(), hashlib.sha256).hexdigest()


def in_range(packet: FromMember) -> bool:
    """Return True if all numbers of a packet are finite and within the limits of flight."""
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
