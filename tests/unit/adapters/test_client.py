"""The end of a member, with a hub that says hello and then nothing."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.frames import FrameReader, framed
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Behavior,
    Hello,
    Idle,
    Reason,
    Refusal,
    decoded_from_member,
    encoded,
)
from kittiwake.core.errors import HubError

STILL = (0.0, 0.0, 0.0)


@contextmanager
def silent_hub(answer=lambda packet: None, host="127.0.0.1"):
    """A port whose hub lets members join and answers what it is told to; and what it heard."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    heard = []

    def guide(line):
        with line:
            line.sendall(framed(encoded(Hello(VERSION, "all", "one", "", 25.0, False))))
            reader = FrameReader()
            while received := line.recv(4096):
                reader.feed(received)
                for frame in iter(reader.next, None):
                    packet = decoded_from_member(frame)
                    number = getattr(packet, "number", None)
                    heard.append(packet)
                    said = Accepted(0) if number is None else answer(packet)
                    if said is not None:
                        line.sendall(framed(encoded(said)))

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
            yield server.getsockname()[1], heard
        finally:
            server.shutdown(socket.SHUT_RDWR)


def idle(packet):
    return Accepted(packet.number) if isinstance(packet, Behavior) else Idle(packet.number)


def member(port, **changes):
    return Member(**{"port": port, "name": "one", "position_m": STILL} | changes)


@pytest.mark.parametrize("crowded", [1, 100])
def test_first_connection_is_tried_again_where_too_many_wait_but_not_for_ever(crowded):
    refused = framed(
        encoded(Refusal(Reason.CROWD, "too many have not yet said who they are", None))
    )
    tried = []

    def listen():
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                tried.append(line)
                hello = framed(encoded(Hello(VERSION, "all", "one", "", 25.0, lockstep=False)))
                joined = framed(encoded(Accepted(0)))
                line.sendall(hello + joined if len(tried) > crowded else refused)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=listen, daemon=True).start()
        port, began_s = server.getsockname()[1], time.monotonic()
        if crowded == 1:
            member(port).close()
            assert len(tried) == 2
        else:
            with pytest.raises(HubError, match="too many have not yet said who they are"):
                member(port)
            assert 2 < len(tried) < 30
        assert time.monotonic() - began_s < 4.0
        server.shutdown(socket.SHUT_RDWR)
    for line in tried:
        line.close()


def test_several_that_report_together_wait_together():
    with silent_hub() as (port, _):
        members = [member(port, timeout_s=0.4) for _ in range(5)]
        began_s = time.monotonic()
        for one in members:
            one.report(0.0, STILL, STILL)
        assert [one.set_point() for one in members] == [None] * 5
        # 2 s if they did so one after the other
        assert 0.3 < time.monotonic() - began_s < 1.2
        assert not any(one.joined for one in members)


def test_an_answer_that_has_come_is_taken_however_late():
    with silent_hub(idle) as (port, _), member(port, timeout_s=0.1) as one:
        one.report(0.0, STILL, STILL)
        time.sleep(0.3)
        assert one.set_point() is None
        assert one.joined


def test_without_a_report_there_is_nothing_to_wait_for():
    with silent_hub(idle) as (port, _), member(port) as one:
        began_s = time.monotonic()
        assert one.set_point() is None
        one.update(0.0, STILL, STILL)
        assert one.set_point() is None
        one.report(0.0, STILL, STILL)
        one.behave([])
        assert one.set_point() is None
        assert one.joined
        assert time.monotonic() - began_s < 0.8


def test_who_waits_for_a_while_may_wait_again():
    answers = []
    with silent_hub(lambda packet: answers.pop() if answers else None) as (port, heard):
        one = member(port)
        one.report(0.0, STILL, STILL)
        assert one.set_point(0.05) is None
        assert one.joined
        began_s = time.monotonic()
        assert one.set_point() is None
        assert 0.5 < time.monotonic() - began_s < 1.5
        assert not one.joined
        assert len(heard) == 2


def test_who_has_left_does_not_come_back_by_itself():
    with silent_hub(lambda packet: Accepted(packet.number)) as (port, heard):
        one = member(port)
        one.leave()
        for late in (
            lambda: one.update(0.0, STILL, STILL),
            lambda: one.report(0.0, STILL, STILL),
            lambda: one.behave([]),
            one.pause,
            one.ready,
        ):
            with pytest.raises(HubError, match="one has left the hub"):
                late()
        assert one.set_point() is None
        assert not one.joined
        one.leave()
        assert len(heard) == 2


@pytest.mark.parametrize(
    "many", [["a-very-long-behavior-name"] * 60, [2**70], ["\ud800"]], ids=["long", "big", "half"]
)
def test_behaviors_that_do_not_fit_are_refused_and_forgotten(many):
    with silent_hub(idle) as (port, heard):
        one = member(port)
        one.behave(["cohesion"])
        with pytest.raises(HubError):
            one.behave(many)
        one.update(0.0, STILL, STILL)
        assert one.joined
        one.close()  # and joins again
        with pytest.raises(HubError):
            one.behave(many)
        end_s = time.monotonic() + 5.0
        while not one.joined and time.monotonic() < end_s:
            one.update(0.0, STILL, STILL)
            time.sleep(0.01)
        assert one.joined
        told = [packet.behaviors for packet in heard if isinstance(packet, Behavior)]
        one.close()
        assert told == [["cohesion"]] * 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"host": "no-such-host.invalid"}, "there is no hub for one at no-such-host.invalid"),
        ({"host": "a" * 70}, "there is no hub for one at a"),
        ({"host": "."}, "there is no hub for one"),
        ({"port": 70_000}, "there is no hub for one"),
        ({"port": 0}, "there is no hub for one"),
    ],
)
def test_a_hub_that_cannot_be_is_refused(changes, said):
    with pytest.raises(HubError, match=said):
        member(**{"port": 47100} | changes)


def test_a_name_that_does_not_fit_is_refused():
    with silent_hub() as (port, _), pytest.raises(HubError, match="at once; 1024 at most"):
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


def test_addresses_of_the_other_kind_are_taken():
    try:
        with silent_hub(idle, host="::1") as (port, _):
            member(port, host="::1").close()
    except OSError as error:
        pytest.skip(f"none here: {error}")
