"""Server side of a hub connection without a socket, with misbehaving peers."""

import asyncio

import pytest
from tests.unit.adapters.flocks import write_scenario

from kittiwake.adapters.hub.connection import MemberConnection
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.frames import FrameReader, to_frame
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Connection,
    Hello,
    Leave,
    NoSetPoint,
    Readiness,
    Reason,
    Refusal,
    Status,
    Update,
    decode_from_hub,
    encode,
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
    """Transport that records frames, and breaks or is full after a number of them."""

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

    def received(self):
        frames = iter(self.reader.next, None)
        return [decode_from_hub(frame) for frame in frames]


def connected(sessions, name="drone-1", **ends):
    transport = Transport(**ends)
    slot = sessions.flock_server.slots[name]
    transport.connection = MemberConnection(sessions, slot, PendingConnections(10))
    transport.connection.connection_made(transport)
    return transport


def send(transport, *packets):
    transport.connection.data_received(b"".join(to_frame(encode(packet)) for packet in packets))


def opening(name="drone-1"):
    return Connection(VERSION, name, STILL)


def updates(begin, count):
    return [Update(number, 0.0, STILL, STILL, 0.0) for number in range(begin, begin + count)]


def within_a_loop(test):
    async def run():
        test()

    asyncio.run(run())


def test_nothing_is_written_or_read_after_the_connection_breaks(flock_server):
    def test():
        sessions = MemberSessions(flock_server, Limits())
        transport = connected(sessions, breaks_after=5)
        send(transport, opening(), *updates(1, 100))
        assert transport.attempts == 6
        send(transport, *updates(101, 10))
        assert transport.attempts == 6
        # nor for updates of other members
        transport.connection.answer_update(5)
        assert transport.attempts == 6
        transport.connection.connection_lost(None)
        counters = sessions.counters
        assert counters.frames == counters.taken == 5
        assert counters.lost == 1
        assert not counters.refused

    within_a_loop(test)


def test_lockstep_member_that_ignores_turns_is_disconnected(flock_server):
    def test():
        sessions = MemberSessions(flock_server, Limits(frames_hz=1.0, burst=20.0), lockstep=True)
        paused = connected(sessions)
        send(paused, opening(), Status(1, Readiness.PAUSE), *updates(2, 100))
        answers = paused.received()
        assert isinstance(answers[-1], Refusal)
        assert answers[-1].reason is Reason.RATE
        assert sum(isinstance(one, NoSetPoint) for one in answers) < 20
        assert not sessions.waiting

    within_a_loop(test)


@pytest.mark.slow
def test_answered_lockstep_updates_do_not_count_against_the_rate(flock_server):
    def test():
        flock_server.compile()
        sessions = MemberSessions(flock_server, Limits(frames_hz=1.0, burst=10.0), lockstep=True)
        both = [connected(sessions, name) for name in flock_server.slots]
        for transport, name in zip(both, flock_server.slots, strict=True):
            send(transport, opening(name))
        for update in updates(1, 100):
            for transport in both:
                send(transport, update)
        assert sessions.counters.batches == 100
        assert not sessions.counters.refused

    within_a_loop(test)


def test_member_that_does_not_read_answers_is_removed(flock_server):
    def test():
        sessions = MemberSessions(flock_server, Limits(), lockstep=True)
        # hello, accepted, and idle for the first of two updates
        transport = connected(sessions, full_after=2)
        send(transport, opening(), *updates(1, 2))
        assert sessions.counters.refused == {Reason.UNREAD: 1}
        assert not sessions.waiting
        assert not sessions.members

    within_a_loop(test)


def test_member_that_does_not_read_its_leave_answer_counts_as_lost(flock_server):
    def test():
        sessions = MemberSessions(flock_server, Limits())
        transport = connected(sessions, full_after=2)
        send(transport, opening(), Leave(1))
        assert (sessions.counters.left, sessions.counters.lost) == (0, 1)

    within_a_loop(test)


@pytest.mark.parametrize("token", [None, TOKEN])
def test_hello_contains_names_only_without_a_token(flock_server, token):
    def test():
        sessions = MemberSessions(flock_server, Limits(), token)
        (hello,) = connected(sessions).received()
        known = (None, None) if token else ("all", "drone-1")
        assert isinstance(hello, Hello)
        assert (hello.team, hello.name) == known
        sessions.members["drone-1"] = connected(sessions).connection
        (refused,) = connected(sessions).received()
        assert refused.reason is Reason.TAKEN
        assert refused.said == "this port is taken"

    within_a_loop(test)


def test_first_turn_is_independent_of_the_counters(flock_server):
    def test():
        flock_server.compile()
        sessions = MemberSessions(flock_server, Limits(), lockstep=True)
        sessions.counters.batches = 5
        transport = connected(sessions)
        send(transport, opening(), *updates(1, 1))
        # the turn waits for the other member
        assert [type(one) for one in transport.received()] == [Hello, Accepted]

    within_a_loop(test)


class Clock:
    """Manually set time of event loops."""

    def __init__(self, monkeypatch):
        self.now_s = 0.0
        monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: self.now_s)


def is_refused_as_silent(transport):
    return Reason.SILENCE in [
        one.reason for one in transport.received() if isinstance(one, Refusal)
    ]


NOT_IN_ORDER = {
    "refused": lambda number: Update(number, 0.0, (float("nan"), 0.0, 0.0), STILL, 0.0),
    "no update": lambda number: Status(number, Readiness.READY),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", NOT_IN_ORDER)
def test_lockstep_member_without_accepted_updates_is_lost_and_blocks_no_other(
    flock_server, monkeypatch, wrong
):
    clock = Clock(monkeypatch)

    def test():
        flock_server.compile()
        sessions = MemberSessions(flock_server, Limits(silence_s=3.0), lockstep=True)
        honest, stalling = (connected(sessions, name) for name in flock_server.slots)
        send(honest, opening("drone-1"), *updates(1, 1))
        send(stalling, opening("drone-2"), *updates(1, 1))
        assert sessions.counters.batches == 1
        send(honest, *updates(2, 1))
        for number in range(2, 6):
            clock.now_s += 1.0
            send(stalling, NOT_IN_ORDER[wrong](number))
            for transport in (honest, stalling):
                transport.connection.check_timeouts(clock.now_s)
        assert is_refused_as_silent(stalling)
        assert not is_refused_as_silent(honest)
        # the honest one goes on alone
        assert sessions.counters.batches == 2
        send(honest, *updates(3, 1))
        assert sessions.counters.batches == 3

    # the loop's own timers stop with the clock
    within_a_loop(test)


def test_rejoined_lockstep_member_is_awaited_from_its_first_update(flock_server):
    def test():
        flock_server.compile()
        sessions = MemberSessions(flock_server, Limits(), lockstep=True)
        honest, other = (connected(sessions, name) for name in flock_server.slots)
        send(honest, opening("drone-1"), *updates(1, 1))
        send(other, opening("drone-2"))
        # the first turn waits for all vehicles
        assert sessions.counters.batches == 0
        send(other, *updates(1, 1))
        assert sessions.counters.batches == 1
        other.connection.connection_lost(None)
        again = connected(sessions, "drone-2")
        send(again, opening("drone-2"))
        send(honest, *updates(2, 1))
        assert sessions.counters.batches == 2
        send(again, *updates(1, 1))
        send(honest, *updates(3, 1))
        assert sessions.counters.batches == 3
        send(honest, *updates(4, 1))
        assert sessions.counters.batches == 3
        send(again, *updates(2, 1))
        assert sessions.counters.batches == 4

    within_a_loop(test)


@pytest.mark.slow
def test_lockstep_timeout_restarts_with_each_answer(flock_server, monkeypatch):
    clock = Clock(monkeypatch)

    def test():
        flock_server.compile()
        sessions = MemberSessions(flock_server, Limits(silence_s=3.0), lockstep=True)
        quick, slow = (connected(sessions, name) for name in flock_server.slots)
        send(quick, opening("drone-1"), *updates(1, 1))
        send(slow, opening("drone-2"))
        clock.now_s = 2.9
        send(slow, *updates(1, 1))
        assert sessions.counters.batches == 1
        clock.now_s = 3.2
        quick.connection.check_timeouts(clock.now_s)
        assert not is_refused_as_silent(quick)
        clock.now_s = 6.0
        quick.connection.check_timeouts(clock.now_s)
        assert is_refused_as_silent(quick)

    within_a_loop(test)
