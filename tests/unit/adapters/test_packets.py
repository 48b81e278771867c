import hashlib
import hmac

import msgspec
import pytest

from kittiwake.adapters.hub.frames import MAX_FRAME, to_frame
from kittiwake.adapters.hub.packets import (
    AddVehicle,
    Behavior,
    Connection,
    Controller,
    Hello,
    Leave,
    NoSetPoint,
    Readiness,
    Reason,
    Refusal,
    RemoveVehicle,
    SetPoint,
    Status,
    Update,
    VehicleAdded,
    VehicleRemoved,
    compute_proof,
    decode_from_hub,
    decode_from_member,
    encode,
    in_range,
)

HERE = (1.0, 2.0, 3.0)
OF_MEMBERS = [
    Connection(1, "drone-1", HERE),
    Update(1, 0.5, HERE, HERE, 0.1),
    Update(1, 0.5, HERE, HERE, 0.1, HERE),
    Status(2, Readiness.PAUSE),
    Behavior(3, ["cohesion", 2]),
    Leave(4),
    Connection(1, "drone-1", HERE, follows=True),
    Controller(1),
    AddVehicle(5, "gull", "{model: pelican}"),
    RemoveVehicle(6, "gull"),
]
OF_HUBS = [
    Hello(1, "all", None, "00", 25.0, lockstep=False),
    SetPoint(1, 2, HERE, HERE, 0.0),
    SetPoint(1, 2, HERE, HERE, 0.0, HERE),
    NoSetPoint(2),
    Refusal(Reason.RATE, "too many", None),
    VehicleAdded("gull", 47100, "{model: pelican}"),
    VehicleRemoved("gull", 7),
]


@pytest.mark.parametrize("packet", OF_MEMBERS, ids=lambda packet: type(packet).__name__)
def test_member_packets_round_trip(packet):
    assert decode_from_member(encode(packet)) == packet
    assert in_range(packet)


@pytest.mark.parametrize("packet", OF_HUBS, ids=lambda packet: type(packet).__name__)
def test_hub_packets_round_trip_for_members_only(packet):
    assert decode_from_hub(encode(packet)) == packet
    with pytest.raises(msgspec.ValidationError):
        decode_from_member(encode(packet))


def test_packets_are_maps_with_a_type():
    plain = msgspec.msgpack.decode(encode(Status(2, Readiness.PAUSE)))
    assert plain == {"type": "status", "number": 2, "status": "PAUSE"}


def test_longest_refusal_fits_into_a_frame():
    to_frame(encode(Refusal(Reason.BEHAVIOR, "\U0001f426" * 200, 2**63)))
    assert len(encode(Refusal(Reason.BEHAVIOR, "\U0001f426" * 200, 2**63))) <= MAX_FRAME


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1.1e7])
@pytest.mark.parametrize("axis", range(3))
def test_invalid_positions_are_out_of_range(number, axis):
    place = tuple(number if i == axis else 0.0 for i in range(3))
    assert not in_range(Connection(1, "drone-1", place))
    assert not in_range(Update(1, 0.0, place, HERE, 0.0))


@pytest.mark.parametrize(
    "packet", [Update(1, 0.5, HERE, HERE, 0.1), SetPoint(1, 2, HERE, HERE, 0.0)]
)
def test_missing_acceleration_is_omitted_from_packets(packet):
    plain = msgspec.msgpack.decode(encode(packet))
    assert "acceleration_mps2" not in plain
    more = msgspec.msgpack.decode(
        encode(msgspec.structs.replace(packet, acceleration_mps2=(0.0, 0.0, 0.0)))
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
def test_invalid_motions_are_out_of_range(wrong):
    assert not in_range(msgspec.structs.replace(Update(1, 0.0, HERE, HERE, 0.0), **wrong))
    assert not in_range(msgspec.structs.replace(Update(1, 0.0, HERE, HERE, 0.0), time_s=1e300))


def test_a_proof_is_the_keyed_hash_of_the_nonce():
    expected = hmac.new(b"secret", b"nonce", hashlib.sha256).hexdigest()
    assert compute_proof("secret", "nonce") == expected
    assert compute_proof("secret", "other") != expected
