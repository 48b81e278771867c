"""A connection of a hub without a socket: what it does with a peer that misbehaves."""

import asyncio

import pytest
from tests.unit.adapters.flocks import write_scenario

from kittiwake.adapters.hub.connection import MemberConnection
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.frames import FrameReader, framed
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Connection,
    Hello,
    Idle,
    Leave,
    Readiness,
    Reason,
    Refusal,
    Status,
    Update,
    decoded_from_hub,
    encoded,
)
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.runtime.pending_connections import PendingConnections
from kittiwake.scenario.load import load_scenario

STILL = (0.0, 0.0, 0.0)
TOKEN = "a secret of the flock"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return load_scenario(write_scenario(tmp_path_factory.mktemp("connection"), count=2))


@pytest.fixture
def flock_server(scenario):
    return FlockServer(scenario)


class Transport(asyncio.Transport):
    """Notes what is written; breaks, or is full, after so many frames."""

    def __init__(self, breaks_after=10**9, full_after=10**9):
        super().__init__()
        self.breaks_after, self.full_after = breaks_after, full_after
        self.attempts, self.closing, self.reader = 0, False, FrameReader()
        self.connection = None

    def setsockopt(self, *option):
        pass

    def get_extra_info(self, name, default=None):
        return self if name == "socket" else default

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True

    abort = close

    def write(self, data):
        self.attempts += 1
        if self.attempts > self.breaks_after:
            self.closing = True
            return
        self.reader.feed(data)
        if self.attempts > self.full_after:
            self.connection.pause_writing()

    def heard(self):
        frames = iter(self.reader.next, None)
        return [decoded_from_hub(frame) for frame in frames]


def connected(exchange, name="drone-1", **ends):
    transport = Transport(**ends)
    place = exchange.flock_server.places[name]
    transport.connection = MemberConnection(exchange, place, PendingConnections(10))
    transport.connection.connection_made(transport)
    return transport


def tell(transport, *packets):
    transport.connection.data_received(b"".join(framed(encoded(packet)) for packet in packets))


def opening(name="drone-1"):
    return Connection(VERSION, name, STILL)


def updates(begin, count):
    return [Update(number, 0.0, STILL, STILL, 0.0) for number in range(begin, begin + count)]


def within_a_loop(test):
    async def run():
        test()

    asyncio.run(run())


def test_nothing_is_written_or_read_once_the_line_is_broken(flock_server):
    def test():
        exchange = MemberSessions(flock_server, Limits())
        transport = connected(exchange, breaks_after=5)
        tell(transport, opening(), *updates(1, 100))
        assert transport.attempts == 6
        tell(transport, *updates(101, 10))
        assert transport.attempts == 6
        # nor for what others have waited for
        transport.connection.answer_update(5)
        assert transport.attempts == 6
        transport.connection.connection_lost(None)
        counters = exchange.counters
        assert counters.frames == counters.taken == 5
        assert counters.lost == 1
        assert not counters.refused

    within_a_loop(test)


def test_in_lockstep_who_does_not_wait_for_its_turn_is_cut_off(flock_server):
    def test():
        exchange = MemberSessions(flock_server, Limits(frames_hz=1.0, burst=20.0), lockstep=True)
        paused = connected(exchange)
        tell(paused, opening(), Status(1, Readiness.PAUSE), *updates(2, 100))
        answers = paused.heard()
        assert isinstance(answers[-1], Refusal)
        assert answers[-1].reason is Reason.RATE
        assert sum(isinstance(one, Idle) for one in answers) < 20
        assert not exchange.waiting

    within_a_loop(test)


def test_in_lockstep_updates_that_are_answered_each_do_not_count(flock_server):
    def test():
        flock_server.compile()
        exchange = MemberSessions(flock_server, Limits(frames_hz=1.0, burst=10.0), lockstep=True)
        both = [connected(exchange, name) for name in flock_server.places]
        for transport, name in zip(both, flock_server.places, strict=True):
            tell(transport, opening(name))
        for update in updates(1, 100):
            for transport in both:
                tell(transport, update)
        assert exchange.counters.batches == 100
        assert not exchange.counters.refused

    within_a_loop(test)


def test_who_does_not_take_what_it_is_told_waits_for_nothing_any_more(flock_server):
    def test():
        exchange = MemberSessions(flock_server, Limits(), lockstep=True)
        # hello, accepted, and idle for the first of two updates
        transport = connected(exchange, full_after=2)
        tell(transport, opening(), *updates(1, 2))
        assert exchange.counters.refused == {Reason.UNREAD: 1}
        assert not exchange.waiting
        assert not exchange.holders

    within_a_loop(test)


def test_who_does_not_take_that_it_may_leave_is_lost_and_has_not_left(flock_server):
    def test():
        exchange = MemberSessions(flock_server, Limits())
        transport = connected(exchange, full_after=2)
        tell(transport, opening(), Leave(1))
        assert (exchange.counters.left, exchange.counters.lost) == (0, 1)

    within_a_loop(test)


@pytest.mark.parametrize("token", [None, TOKEN])
def test_strangers_learn_names_and_teams_only_where_there_is_no_token(flock_server, token):
    def test():
        exchange = MemberSessions(flock_server, Limits(), token)
        (hello,) = connected(exchange).heard()
        known = (None, None) if token else ("all", "drone-1")
        assert isinstance(hello, Hello)
        assert (hello.team, hello.name) == known
        exchange.holders["drone-1"] = connected(exchange).connection
        (refused,) = connected(exchange).heard()
        assert refused.reason is Reason.TAKEN
        assert refused.said == "this port is taken"

    within_a_loop(test)


def test_the_first_turn_is_the_first_whatever_was_counted(flock_server):
    def test():
        flock_server.compile()
        exchange = MemberSessions(flock_server, Limits(), lockstep=True)
        exchange.counters.batches = 5
        transport = connected(exchange)
        tell(transport, opening(), *updates(1, 1))
        # the other one is waited for
        assert [type(one) for one in transport.heard()] == [Hello, Accepted]

    within_a_loop(test)


class Clock:
    """The time of a loop, set by hand."""

    def __init__(self, monkeypatch):
        self.now_s = 0.0
        monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: self.now_s)


def told_silent(transport):
    return Reason.SILENCE in [one.reason for one in transport.heard() if isinstance(one, Refusal)]


NOT_IN_ORDER = {
    "refused": lambda number: Update(number, 0.0, (float("nan"), 0.0, 0.0), STILL, 0.0),
    "no update": lambda number: Status(number, Readiness.READY),
}


@pytest.mark.parametrize("wrong", NOT_IN_ORDER)
def test_in_lockstep_a_member_without_accepted_updates_is_lost_and_stalls_nobody(
    flock_server, monkeypatch, wrong
):
    clock = Clock(monkeypatch)

    def test():
        flock_server.compile()
        exchange = MemberSessions(flock_server, Limits(silence_s=3.0), lockstep=True)
        honest, stalling = (connected(exchange, name) for name in flock_server.places)
        tell(honest, opening("drone-1"), *updates(1, 1))
        tell(stalling, opening("drone-2"), *updates(1, 1))
        assert exchange.counters.batches == 1
        tell(honest, *updates(2, 1))
        for number in range(2, 6):
            clock.now_s += 1.0
            tell(stalling, NOT_IN_ORDER[wrong](number))
            for transport in (honest, stalling):
                transport.connection.check_patience(clock.now_s)
        assert told_silent(stalling)
        assert not told_silent(honest)
        # the honest one goes on alone
        assert exchange.counters.batches == 2
        tell(honest, *updates(3, 1))
        assert exchange.counters.batches == 3

    # the loop's own timers stand still with the clock
    within_a_loop(test)


def test_in_lockstep_who_joins_again_is_waited_for_from_its_first_update_on(flock_server):
    def test():
        flock_server.compile()
        exchange = MemberSessions(flock_server, Limits(), lockstep=True)
        honest, other = (connected(exchange, name) for name in flock_server.places)
        tell(honest, opening("drone-1"), *updates(1, 1))
        tell(other, opening("drone-2"))
        # the first turn is that of all
        assert exchange.counters.batches == 0
        tell(other, *updates(1, 1))
        assert exchange.counters.batches == 1
        other.connection.connection_lost(None)
        again = connected(exchange, "drone-2")
        tell(again, opening("drone-2"))
        tell(honest, *updates(2, 1))
        assert exchange.counters.batches == 2
        tell(again, *updates(1, 1))
        tell(honest, *updates(3, 1))
        assert exchange.counters.batches == 3
        tell(honest, *updates(4, 1))
        assert exchange.counters.batches == 3
        tell(again, *updates(2, 1))
        assert exchange.counters.batches == 4

    within_a_loop(test)


def test_in_lockstep_patience_begins_anew_with_each_answer(flock_server, monkeypatch):
    clock = Clock(monkeypatch)

    def test():
        flock_server.compile()
        exchange = MemberSessions(flock_server, Limits(silence_s=3.0), lockstep=True)
        quick, slow = (connected(exchange, name) for name in flock_server.places)
        tell(quick, opening("drone-1"), *updates(1, 1))
        tell(slow, opening("drone-2"))
        clock.now_s = 2.9
        tell(slow, *updates(1, 1))
        assert exchange.counters.batches == 1
        clock.now_s = 3.2
        quick.connection.check_patience(clock.now_s)
        assert not told_silent(quick)
        clock.now_s = 6.0
        quick.connection.check_patience(clock.now_s)
        assert told_silent(quick)

    within_a_loop(test)
