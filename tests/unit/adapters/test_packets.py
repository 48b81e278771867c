import hashlib
import hmac

import msgspec
import pytest

from kittiwake.adapters.hub.frames import MAX_FRAME, framed
from kittiwake.adapters.hub.packets import (
    Behavior,
    Connection,
    Hello,
    Idle,
    Leave,
    Readiness,
    Reason,
    Refusal,
    SetPoint,
    Status,
    Update,
    decoded_from_hub,
    decoded_from_member,
    encoded,
    in_range,
    proof_of,
)

HERE = (1.0, 2.0, 3.0)
OF_MEMBERS = [
    Connection(1, "drone-1", HERE),
    Update(1, 0.5, HERE, HERE, 0.1),
    Update(1, 0.5, HERE, HERE, 0.1, HERE),
    Status(2, Readiness.PAUSE),
    Behavior(3, ["cohesion", 2]),
    Leave(4),
]
OF_HUBS = [
    Hello(1, "all", None, "00", 25.0, lockstep=False),
    SetPoint(1, 2, HERE, HERE, 0.0),
    SetPoint(1, 2, HERE, HERE, 0.0, HERE),
    Idle(2),
    Refusal(Reason.RATE, "too many", None),
]


@pytest.mark.parametrize("packet", OF_MEMBERS, ids=lambda packet: type(packet).__name__)
def test_packets_of_members_come_back(packet):
    assert decoded_from_member(encoded(packet)) == packet
    assert in_range(packet)


@pytest.mark.parametrize("packet", OF_HUBS, ids=lambda packet: type(packet).__name__)
def test_packets_of_hubs_come_back_to_members_only(packet):
    assert decoded_from_hub(encoded(packet)) == packet
    with pytest.raises(msgspec.ValidationError):
        decoded_from_member(encoded(packet))


def test_packets_are_maps_with_a_type():
    plain = msgspec.msgpack.decode(encoded(Status(2, Readiness.PAUSE)))
    assert plain == {"type": "status", "number": 2, "status": "PAUSE"}


def test_the_longest_words_fit_into_a_frame():
    framed(encoded(Refusal(Reason.BEHAVIOR, "\U0001f426" * 200, 2**63)))
    assert len(encoded(Refusal(Reason.BEHAVIOR, "\U0001f426" * 200, 2**63))) <= MAX_FRAME


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1.1e7])
@pytest.mark.parametrize("axis", range(3))
def test_places_that_cannot_be_are_out_of_range(number, axis):
    place = tuple(number if i == axis else 0.0 for i in range(3))
    assert not in_range(Connection(1, "drone-1", place))
    assert not in_range(Update(1, 0.0, place, HERE, 0.0))


@pytest.mark.parametrize(
    "packet", [Update(1, 0.5, HERE, HERE, 0.1), SetPoint(1, 2, HERE, HERE, 0.0)]
)
def test_packets_without_acceleration_are_those_of_members_that_know_of_none(packet):
    plain = msgspec.msgpack.decode(encoded(packet))
    assert "acceleration_mps2" not in plain
    more = msgspec.msgpack.decode(
        encoded(msgspec.structs.replace(packet, acceleration_mps2=(0.0, 0.0, 0.0)))
    )
    # at rest is not the same as not known
    assert more == plain | {"acceleration_mps2": [0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"velocity_mps": (0.0, 1001.0, 0.0)},
        {"yaw_rad": 1e9},
        {"acceleration_mps2": (0.0, 0.0, float("nan"))},
        {"acceleration_mps2": (float("-inf"), 0.0, 0.0)},
        {"acceleration_mps2": (0.0, -1.1e5, 0.0)},
    ],
)
def test_motions_that_cannot_be_are_out_of_range(wrong):
    assert not in_range(msgspec.structs.replace(Update(1, 0.0, HERE, HERE, 0.0), **wrong))
    assert not in_range(msgspec.structs.replace(Update(1, 0.0, HERE, HERE, 0.0), time_s=1e300))


def test_a_proof_is_the_keyed_hash_of_the_nonce():
    wanted = hmac.new(b"secret", b"nonce", hashlib.sha256).hexdigest()
    assert proof_of("secret", "nonce") == wanted
    assert proof_of("secret", "other") != wanted
