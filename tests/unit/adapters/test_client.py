"""Client of a hub, with a hub that sends its hello and then nothing."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.frames import FrameReader, to_frame
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Behavior,
    Hello,
    NoSetPoint,
    Reason,
    Refusal,
    decode_from_member,
    encode,
)
from kittiwake.core.errors import HubError

STILL = (0.0, 0.0, 0.0)


@contextmanager
def silent_hub(answer=lambda packet: None, host="127.0.0.1"):
    """Yield the port of a hub that accepts members and gives fixed answers, and its packets."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    packets = []

    def guide(line):
        with line:
            line.sendall(to_frame(encode(Hello(VERSION, "all", "one", "", 25.0, False))))
            reader = FrameReader()
            while received := line.recv(4096):
                reader.feed(received)
                for frame in iter(reader.next, None):
                    packet = decode_from_member(frame)
                    number = getattr(packet, "number", None)
                    packets.append(packet)
                    reply = Accepted(0) if number is None else answer(packet)
                    if reply is not None:
                        line.sendall(to_frame(encode(reply)))

    def listen():
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=guide, args=(line,), daemon=True).start()

    with socket.create_server((host, 0), family=family) as server:
        threading.Thread(target=listen, daemon=True).start()
        try:
            yield server.getsockname()[1], packets
        finally:
            server.shutdown(socket.SHUT_RDWR)


def idle(packet):
    return Accepted(packet.number) if isinstance(packet, Behavior) else NoSetPoint(packet.number)


def member(port, **changes):
    return Member(**{"port": port, "name": "one", "position_m": STILL} | changes)


@pytest.mark.parametrize("crowded", [1, 100])
def test_first_connection_retries_a_crowded_hub_for_a_limited_time(crowded):
    refused = to_frame(encode(Refusal(Reason.CROWD, "too many unidentified connections", None)))
    connections = []

    def listen():
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                connections.append(line)
                hello = to_frame(encode(Hello(VERSION, "all", "one", "", 25.0, lockstep=False)))
                joined = to_frame(encode(Accepted(0)))
                line.sendall(hello + joined if len(connections) > crowded else refused)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=listen, daemon=True).start()
        port, began_s = server.getsockname()[1], time.monotonic()
        if crowded == 1:
            member(port).close()
            assert len(connections) == 2
        else:
            with pytest.raises(HubError, match="too many unidentified connections"):
                member(port)
            assert 2 < len(connections) < 30
        assert time.monotonic() - began_s < 4.0
        server.shutdown(socket.SHUT_RDWR)
    for line in connections:
        line.close()


def test_members_that_report_together_share_one_timeout():
    with silent_hub() as (port, _):
        members = [member(port, timeout_s=0.4) for _ in range(5)]
        began_s = time.monotonic()
        for one in members:
            one.report(0.0, STILL, STILL)
        assert [one.set_point() for one in members] == [None] * 5
        # 2 s if they did so one after the other
        assert 0.3 < time.monotonic() - began_s < 1.2
        assert not any(one.joined for one in members)


def test_received_answer_is_returned_after_the_timeout():
    with silent_hub(idle) as (port, _), member(port, timeout_s=0.1) as one:
        one.report(0.0, STILL, STILL)
        time.sleep(0.3)
        assert one.set_point() is None
        assert one.joined


def test_set_point_without_a_report_returns_none_at_once():
    with silent_hub(idle) as (port, _), member(port) as one:
        began_s = time.monotonic()
        assert one.set_point() is None
        one.update(0.0, STILL, STILL)
        assert one.set_point() is None
        one.report(0.0, STILL, STILL)
        one.set_active_behaviors([])
        assert one.set_point() is None
        assert one.joined
        assert time.monotonic() - began_s < 0.8


def test_set_point_may_be_called_again_after_a_short_wait():
    answers = []
    with silent_hub(lambda packet: answers.pop() if answers else None) as (port, packets):
        one = member(port)
        one.report(0.0, STILL, STILL)
        assert one.set_point(0.05) is None
        assert one.joined
        began_s = time.monotonic()
        assert one.set_point() is None
        assert 0.5 < time.monotonic() - began_s < 1.5
        assert not one.joined
        assert len(packets) == 2


def test_left_member_does_not_rejoin():
    with silent_hub(lambda packet: Accepted(packet.number)) as (port, packets):
        one = member(port)
        one.leave()
        for late in (
            lambda: one.update(0.0, STILL, STILL),
            lambda: one.report(0.0, STILL, STILL),
            lambda: one.set_active_behaviors([]),
            one.pause,
            one.ready,
        ):
            with pytest.raises(HubError, match="one has left the hub"):
                late()
        assert one.set_point() is None
        assert not one.joined
        one.leave()
        assert len(packets) == 2


@pytest.mark.parametrize(
    "many", [["a-very-long-behavior-name"] * 60, [2**70], ["\ud800"]], ids=["long", "big", "half"]
)
def test_behaviors_too_long_for_a_frame_are_refused_and_discarded(many):
    with silent_hub(idle) as (port, packets):
        one = member(port)
        one.set_active_behaviors(["cohesion"])
        with pytest.raises(HubError):
            one.set_active_behaviors(many)
        one.update(0.0, STILL, STILL)
        assert one.joined
        one.close()  # and joins again
        with pytest.raises(HubError):
            one.set_active_behaviors(many)
        end_s = time.monotonic() + 5.0
        while not one.joined and time.monotonic() < end_s:
            one.update(0.0, STILL, STILL)
            time.sleep(0.01)
        assert one.joined
        requested = [packet.behaviors for packet in packets if isinstance(packet, Behavior)]
        one.close()
        assert requested == [["cohesion"]] * 2


@pytest.mark.parametrize(
    ("changes", "reply"),
    [
        ({"host": "no-such-host.invalid"}, "no hub for one at no-such-host.invalid"),
        ({"host": "a" * 70}, "no hub for one at a"),
        ({"host": "."}, "no hub for one"),
        ({"port": 70_000}, "no hub for one"),
        ({"port": 0}, "no hub for one"),
    ],
)
def test_invalid_hub_address_is_refused(changes, reply):
    with pytest.raises(HubError, match=reply):
        member(**{"port": 47100} | changes)


def test_name_too_long_for_a_frame_is_refused():
    with silent_hub() as (port, _), pytest.raises(HubError, match="must be 1024 at most"):
        member(port, name="one" * 1000)


def test_a_host_is_looked_up_once(monkeypatch):
    with silent_hub(idle) as (port, _):
        one = member(port, host="localhost")

        def unknown(*host, **kind):
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        one.close()
        end_s = time.monotonic() + 5.0
        while not one.joined and time.monotonic() < end_s:
            one.update(0.0, STILL, STILL)
            time.sleep(0.01)
        assert one.joined
        one.close()


def test_ipv6_addresses_are_supported():
    try:
        with silent_hub(idle, host="::1") as (port, _):
            member(port, host="::1").close()
    except OSError as error:
        pytest.skip(f"none here: {error}")
