"""Hub on real sockets: members that fly, members that leave, and all refusals."""

import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.system.commands import kittiwake_does
from tests.unit.adapters.flocks import (
    TARGET,
    Point,
    least_distance_m,
    start_m,
    write_mission,
    write_scenario,
)

import kittiwake as kw
from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.frames import LENGTH, MAX_FRAME, to_frame
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Behavior,
    Connection,
    Hello,
    NoSetPoint,
    Reason,
    Refusal,
    SetPoint,
    Update,
    compute_proof,
    decode_from_hub,
    encode,
)
from kittiwake.adapters.hub.server import Hub, serving
from kittiwake.core.errors import HubError
from kittiwake.scenario.load import load_scenario

pytestmark = pytest.mark.usefixtures("compiled_programs_stay_with_the_tests")

ROOT = Path(__file__).parents[2]
TOKEN = "a secret of the flock"
STILL = (0.0, 0.0, 0.0)
FEED_FORWARD = "vehicles.drone.guidance.feed_forward=true"
UNLIMITED = Limits(frames_hz=1e9, burst=1e9)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return write_scenario(tmp_path_factory.mktemp("hub"))


@pytest.fixture(scope="module")
def compiled(scenario):
    flock_server = FlockServer(load_scenario(scenario))
    flock_server.compile()
    return flock_server


@pytest.fixture
def flock_server(compiled):
    for name in compiled.slots:
        compiled.leave(name)
    return compiled


class Raw:
    """Connection that can send any packet."""

    def __init__(self, port, name="drone-1", *, join=True, token=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = 0
        self.first = self.receive()
        if join:
            proof = compute_proof(token, self.first.nonce) if token else ""
            assert self.ask(Connection(VERSION, name, STILL, proof)) == Accepted(0)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()

    def send(self, packet):
        self.socket.sendall(to_frame(encode(packet)))

    def ask(self, packet):
        self.send(packet)
        return self.receive()

    def receive(self):
        """The next packet; None if the connection has ended."""
        try:
            header = self._exactly(LENGTH.size)
            return header and decode_from_hub(self._exactly(*LENGTH.unpack(header)))
        except ConnectionResetError:
            return None

    def _exactly(self, count):
        found = b""
        while len(found) < count:
            more = self.socket.recv(count - len(found))
            if not more:
                return None
            found += more
        return found

    def update(self, **changes):
        self.number += 1
        return replace_all(Update(self.number, 0.0, STILL, STILL, 0.0), changes)


def replace_all(packet, changes):
    return msgspec.structs.replace(packet, **changes)


def eventually(holds, within_s=5.0):
    end_s = time.monotonic() + within_s
    while not holds() and time.monotonic() < end_s:
        time.sleep(0.01)
    return holds()


def free_ports(count, host="127.0.0.1"):
    """The first of so many ports in a row that nobody listens on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as any_port:
        any_port.bind((host, 0))
    for base in random.sample(range(20_000, 32_000 - count), 200):
        with ExitStack() as stack:
            try:
                for port in range(base, base + count):
                    stack.enter_context(socket.socket(family)).bind((host, port))
            except OSError:
                continue
            return base
    raise AssertionError


def flown(members, points, steps, dt_s, begin=0):
    """Fly points by the set points of their members; return the least distance of two."""
    least_m = np.inf
    for k in range(begin, begin + steps):
        for member, point in zip(members, points, strict=True):
            member.report(k * dt_s, *point.report)
        for member, point in zip(members, points, strict=True):
            set_point = member.set_point()
            assert set_point is not None
            point.move(set_point.velocity_mps, dt_s)
        least_m = min(least_m, least_distance_m(points))
    return least_m


def middle_m(points):
    return np.mean([point.position_m for point in points], axis=0)


def flown_in_lockstep(flock_server):
    points = [Point(start_m(i)) for i in range(8)]
    with serving(Hub(flock_server, lockstep=True)) as ports, ExitStack() as stack:
        members = [
            stack.enter_context(Member(port=ports[name], name=name, position_m=point.report[0]))
            for name, point in zip(ports, points, strict=True)
        ]
        least_m = flown(members, points, 750, flock_server.period_s)
    return points, least_m


# flying


@pytest.mark.slow
def test_lockstep_flock_reaches_the_target_reproducibly(flock_server):
    points, least_m = flown_in_lockstep(flock_server)
    np.testing.assert_allclose(middle_m(points), TARGET, atol=0.02)
    assert least_m > 0.5
    again, _ = flown_in_lockstep(flock_server)
    np.testing.assert_array_equal(
        [point.position_m for point in points], [point.position_m for point in again]
    )


@pytest.mark.slow
def test_flights_with_and_without_a_hub_end_alike(flock_server, scenario):
    duration_s, every = 20.0, 4
    alone = kw.load(scenario).run(duration_s=duration_s)
    simulation = kw.load(scenario)
    seen = simulation.reset()
    names, orders, least_m = list(seen), {}, np.inf
    with serving(Hub(flock_server, lockstep=True)) as ports, ExitStack() as stack:
        members = {
            name: stack.enter_context(
                Member(port=ports[name], name=name, position_m=place(seen[name]))
            )
            for name in names
        }
        for tick in range(round(100 * duration_s)):
            if tick % every == 0:
                seen = simulation.observe()
                points = [Point(place(seen[name])) for name in names]
                least_m = min(least_m, least_distance_m(points))
                for name, member in members.items():
                    estimate = seen[name].estimate
                    yaw_rad = float(estimate.euler_world_from_body.yaw_rad)
                    velocity = estimate.velocity_world_mps.array
                    member.report(tick / 100, place(seen[name]), velocity, yaw_rad)
                for name, member in members.items():
                    set_point = member.set_point()
                    orders[name] = kw.VelocityYaw(
                        kw.Vec3.of(set_point.velocity_mps), set_point.yaw_rad
                    )
            simulation.step(orders)
    seen = simulation.observe()
    guided = [Point(place(seen[name])) for name in names]
    columns = [alone.frame(name)[["x_m", "y_m", "z_m"]].to_numpy() for name in names]
    without = [[Point(row) for row in rows] for rows in zip(*columns, strict=True)]
    # how a flock in a line folds up depends on rounding; these quantities do not
    np.testing.assert_allclose(middle_m(guided), middle_m(without[-1]), atol=0.05)
    nearest_m = min(map(least_distance_m, without[::every]))
    assert least_m == pytest.approx(nearest_m, abs=0.05)


def place(observation):
    return observation.estimate.position_world_m.array


@pytest.mark.slow
def test_hub_and_flight_guidance_give_the_same_set_points(flock_server, scenario):
    log = kw.load(scenario).run(duration_s=6.0)
    frames = {name: log.frame(name) for name in flock_server.slots}
    misses_mps = []
    for k in range(0, 600, 4):
        for name, frame in frames.items():
            row = frame.iloc[k]
            here = tuple(row[["x_m", "y_m", "z_m"]])
            if k == 0:
                flock_server.join(name, here, 0.0)
            flock_server.report(
                name, here, tuple(row[["vx_mps", "vy_mps", "vz_mps"]]), 0.0, 0.01 * k
            )
        flock_server.advance(0.01 * k)
        misses_mps += [
            np.abs(
                np.array(flock_server.setpoint(name).velocity_world_mps)
                - [frame[f"setpoint.velocity_{axis}_world_mps"].iloc[k] for axis in "xyz"]
            ).max()
            for name, frame in frames.items()
            if k > 0  # at the first tick of a flight no vehicle knows of others
        ]
    # in a flight the states of others are one physics step old
    assert max(misses_mps) < 0.02
    assert np.median(misses_mps) < 0.002


@pytest.mark.slow
def test_in_real_time_the_newest_set_point_comes_at_once(flock_server):
    with (
        serving(Hub(flock_server)) as ports,
        Member(port=ports["drone-1"], name="drone-1", position_m=STILL) as member,
    ):
        assert eventually(lambda: member.update(0.0, STILL, STILL) is not None)
        began_s = time.perf_counter()
        set_points = [member.update(0.1, STILL, STILL) for _ in range(50)]
        # far more answers than ticks of the timer
        assert time.perf_counter() - began_s < 1.0
    assert all(isinstance(one, SetPoint) for one in set_points)
    assert len({one.tick for one in set_points}) < 25
    assert set_points[-1].velocity_mps[0] > 0.1


@pytest.mark.slow
def test_set_points_carry_acceleration_for_members_that_report_theirs(tmp_path):
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 1), [FEED_FORWARD]))
    flock_server.compile()
    (name,) = flock_server.slots
    velocity_mps, acceleration_mps2 = (0.5, 0.0, 0.0), (0.1, 0.2, 0.3)
    hub = Hub(flock_server, lockstep=True)
    with serving(hub) as ports, Member(port=ports[name], name=name, position_m=STILL) as member:
        without = member.update(0.0, (4.0, 5.0, 5.0), velocity_mps)
        set_point = member.update(0.04, (4.0, 5.0, 5.0), velocity_mps, 0.0, acceleration_mps2)
        after = member.update(0.08, (4.0, 5.0, 5.0), velocity_mps)
    assert (without.acceleration_mps2, after.acceleration_mps2) == (None, None)
    assert set_point.velocity_mps == without.velocity_mps == after.velocity_mps
    # the derivative of half of the way to the target
    assert set_point.acceleration_mps2 == pytest.approx((-0.25, 0.0, 0.0))


def test_hub_refuses_accelerations_out_of_range_and_goes_on(flock_server):
    hub = Hub(flock_server)
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        for wrong in (float("nan"), float("inf"), -float("inf"), 1.1e5, -1e300):
            update = raw.update(acceleration_mps2=(0.0, wrong, 0.0))
            assert raw.ask(update).reason is Reason.RANGE
        assert isinstance(raw.ask(raw.update(acceleration_mps2=STILL)), NoSetPoint | SetPoint)
    assert hub.counters.refused == {Reason.RANGE: 5}


def test_members_switch_behaviors_pause_resume_leave_and_come_back(flock_server):
    hub = Hub(flock_server, lockstep=False)
    with serving(hub) as ports:
        arguments = {"port": ports["drone-1"], "name": "drone-1", "position_m": STILL}
        member = Member(**arguments)

        def speed():
            time.sleep(3 * flock_server.period_s)
            set_point = member.update(0.0, STILL, STILL)
            return set_point and np.linalg.norm(set_point.velocity_mps)

        speed()
        assert speed() > 0.5
        member.set_active_behaviors(["cohesion"])
        assert speed() == 0.0
        member.set_active_behaviors([3])
        assert speed() > 0.5
        with pytest.raises(HubError, match="there is no behavior 'cohesio'") as caught:
            member.set_active_behaviors(["cohesio"])
        assert caught.value.reason == "behavior"
        member.pause()
        assert speed() is None
        member.ready()
        assert speed() > 0.5
        member.set_active_behaviors([])
        member.leave()
        assert not member.joined
        # a member that joins again starts with the behaviors of the scenario
        member = Member(**arguments)
        speed()
        assert speed() > 0.5
        member.close()
        assert eventually(lambda: hub.counters.lost == 1)
    assert (hub.counters.joined, hub.counters.left) == (2, 1)
    assert hub.counters.refused == {Reason.BEHAVIOR: 1}


def test_lockstep_does_not_wait_for_paused_lost_or_departed_members(flock_server):
    points = [Point(start_m(i)) for i in range(8)]
    with serving(Hub(flock_server, lockstep=True)) as ports:
        members = [
            Member(port=ports[name], name=name, position_m=point.report[0])
            for name, point in zip(ports, points, strict=True)
        ]
        flown(members, points, 2, flock_server.period_s)
        for end in (members[0].pause, members[1].close, members[2].leave):
            end()
        flown(members[3:], points[3:], 2, flock_server.period_s, begin=2)
        for member in members:
            member.leave()


def test_lockstep_does_not_wait_for_a_member_whose_updates_are_all_refused(flock_server):
    points = [Point(start_m(i)) for i in range(8)]
    hub = Hub(flock_server, Limits(silence_s=1.0), lockstep=True)
    ended = threading.Event()
    with serving(hub) as ports, ExitStack() as stack:
        *honest, wrong = [
            stack.enter_context(Member(port=ports[name], name=name, position_m=point.report[0]))
            for name, point in zip(ports, points, strict=True)
        ]
        flown([*honest, wrong], points, 2, flock_server.period_s)

        def refused():
            with suppress(HubError):
                while not ended.wait(0.05):
                    wrong.report(0.0, (float("nan"), 0.0, 0.0), STILL)

        thread = threading.Thread(target=refused)
        thread.start()
        stack.callback(thread.join)
        stack.callback(ended.set)
        began_s = time.monotonic()
        flown(honest, points[:-1], 20, flock_server.period_s, begin=2)
        # a timeout of one second, and delays of a shared machine
        assert time.monotonic() - began_s < 5.0
    assert hub.counters.refused[Reason.SILENCE] >= 1
    assert hub.counters.refused[Reason.RANGE] >= 2


def test_members_detect_the_end_of_a_hub_at_once_and_join_the_next_one(flock_server):
    base_port = free_ports(8)
    arguments = {"port": base_port, "name": "drone-1", "position_m": STILL}
    with pytest.raises(HubError, match="no hub for drone-1"):
        Member(**arguments)
    with serving(Hub(flock_server), base_port=base_port):
        member = Member(**arguments)
        member.set_active_behaviors([])
        member.pause()
    began_s = time.perf_counter()
    assert [member.update(0.0, STILL, STILL) for _ in range(100)] == [None] * 100
    assert time.perf_counter() - began_s < 0.2
    assert not member.joined
    # requests without a hub take effect when it joins again
    member.ready()
    with serving(Hub(flock_server), base_port=base_port):
        assert eventually(lambda: member.update(0.0, STILL, STILL) is not None)
        assert member.update(0.0, STILL, STILL).velocity_mps == STILL
        member.leave()


# refusing


def test_public_hub_requires_a_token(flock_server):
    with pytest.raises(HubError, match="--token-file"), serving(Hub(flock_server), host="0.0.0.0"):
        pass
    with pytest.raises(HubError, match="at least 16"):
        Hub(flock_server, token="short")


def test_joining_requires_the_token(flock_server):
    hub = Hub(flock_server, token=TOKEN)
    with serving(hub, host="0.0.0.0") as ports:
        arguments = {"port": ports["drone-1"], "name": "drone-1", "position_m": STILL}
        for wrong in (None, "another secret of the flock"):
            with pytest.raises(HubError) as caught:
                Member(**arguments, token=wrong)
            assert caught.value.reason == "proof"
        with Member(**arguments, token=TOKEN) as member:
            assert (member.hello.team, member.hello.name) == (None, None)
    assert hub.counters.refused == {Reason.PROOF: 2}
    assert hub.counters.joined == 1


def test_replayed_handshake_is_refused(flock_server):
    hub = Hub(flock_server, token=TOKEN)
    with serving(hub) as ports:
        with Raw(ports["drone-1"], join=False) as raw:
            recorded = Connection(VERSION, "drone-1", STILL, compute_proof(TOKEN, raw.first.nonce))
            assert raw.ask(recorded) == Accepted(0)
        assert eventually(lambda: hub.counters.lost == 1)
        with Raw(ports["drone-1"], join=False) as raw:
            answer = raw.ask(recorded)
            assert answer.reason is Reason.PROOF
            assert raw.receive() is None


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        (Reason.VERSION, {"version": VERSION + 1}),
        (Reason.NAME, {"name": "drone-2"}),
        (Reason.NAME, {"name": "\U0001f426" * 200}),
        (Reason.RANGE, {"position_m": (0.0, float("nan"), 0.0)}),
    ],
)
def test_invalid_handshake_closes_the_connection(flock_server, reason, changes):
    hub = Hub(flock_server)
    with serving(hub) as ports, Raw(ports["drone-1"], join=False) as raw:
        answer = raw.ask(replace_all(Connection(VERSION, "drone-1", STILL), changes))
        assert answer.reason is reason
        assert raw.receive() is None
    assert hub.counters.refused == {reason: 1}


def test_first_packet_must_be_a_connection(flock_server):
    hub = Hub(flock_server)
    with serving(hub) as ports, Raw(ports["drone-1"], join=False) as raw:
        assert raw.ask(raw.update()).reason is Reason.TURN
        assert raw.receive() is None


def test_port_accepts_one_member(flock_server):
    hub = Hub(flock_server)
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        with Raw(ports["drone-1"], join=False) as second:
            assert second.first.reason is Reason.TAKEN
            assert second.receive() is None
        with pytest.raises(HubError, match="this port is taken"):
            Member(port=ports["drone-1"], name="drone-1", position_m=STILL)
        assert isinstance(raw.ask(raw.update()), NoSetPoint | SetPoint)
    assert hub.counters.refused == {Reason.TAKEN: 2}


def test_first_of_two_pending_connections_to_identify_gets_the_slot(flock_server):
    hub = Hub(flock_server)
    with (
        serving(hub) as ports,
        Raw(ports["drone-1"], join=False) as slow,
        Raw(ports["drone-1"]),
    ):
        answer = slow.ask(Connection(VERSION, "drone-1", STILL))
        assert answer.reason is Reason.TAKEN
    assert hub.counters.frames == hub.counters.taken + hub.counters.refused_frames == 2


def test_pending_connections_are_limited(flock_server):
    # 8 vehicles and 3 more
    limits = Limits(pending_connections=3, handshake_s=0.5)
    hub = Hub(flock_server, limits)
    with serving(hub) as ports, ExitStack() as stack:
        waiting = [stack.enter_context(Raw(ports["drone-1"], join=False)) for _ in range(12)]
        first, *others = waiting
        assert first.receive().reason is Reason.CROWD
        assert first.receive() is None
        for one in others:
            assert one.receive().reason is Reason.HANDSHAKE
            assert one.receive() is None
        stack.enter_context(Raw(ports["drone-1"]))
    assert hub.counters.refused == {Reason.CROWD: 1, Reason.HANDSHAKE: 11}


def kept_open(port, ended):
    """A connection without the token at a port, opened again whenever the hub closes it."""
    while not ended.is_set():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0) as line:
            line.settimeout(0.1)
            while not ended.is_set():
                with suppress(TimeoutError):
                    if not line.recv(4096):
                        break


@pytest.mark.parametrize("count", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_member_with_the_token_joins_beside_connections_kept_open_without_it(flock_server, count):
    hub, ended = Hub(flock_server, token=TOKEN), threading.Event()
    with serving(hub) as ports, ExitStack() as stack:
        for _ in range(count):
            thread = threading.Thread(target=kept_open, args=(ports["drone-1"], ended))
            thread.start()
            stack.callback(thread.join)
        stack.callback(ended.set)
        assert eventually(lambda: hub.counters.connections >= count)
        arguments = {"port": ports["drone-1"], "name": "drone-1", "position_m": STILL}
        for _ in range(10):
            began_s = time.monotonic()
            Member(**arguments, token=TOKEN).leave()
            assert time.monotonic() - began_s < 2.0
            time.sleep(0.2)
    assert hub.counters.left == 10


def test_silent_member_is_lost(flock_server):
    hub = Hub(flock_server, Limits(silence_s=0.3))
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        assert raw.receive().reason is Reason.SILENCE
        assert raw.receive() is None
    assert hub.counters.lost == 1


def test_member_above_the_frame_rate_is_disconnected_after_a_burst(flock_server):
    hub = Hub(flock_server, Limits(frames_hz=50.0, burst=20.0))
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        began_s = time.monotonic()
        with suppress(OSError):
            for _ in range(1_000):
                raw.send(raw.update())
        assert eventually(lambda: hub.counters.refused[Reason.RATE] == 1)
        lasted_s = time.monotonic() - began_s
        assert 20 <= hub.counters.taken <= 21 + 50 * lasted_s
    assert hub.counters.frames == hub.counters.taken + 1


def test_member_that_does_not_read_answers_is_disconnected(flock_server):
    hub = Hub(flock_server, replace(UNLIMITED, unread_bytes=4096))
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        with suppress(ConnectionError):  # the hub ends it, when the system's buffers are full
            for _ in range(1_000_000):
                raw.send(raw.update())
        assert eventually(lambda: hub.counters.refused[Reason.UNREAD] == 1)
    assert hub.counters.lost == 1


@pytest.mark.parametrize("length", [MAX_FRAME + 1, 64 * 2**20, 2**31, 2**32 - 1])
def test_too_large_length_closes_the_connection(flock_server, length):
    hub = Hub(flock_server)
    with serving(hub) as ports, Raw(ports["drone-1"]) as raw:
        raw.socket.sendall(LENGTH.pack(length))
        assert raw.receive().reason is Reason.LENGTH
        assert raw.receive() is None
    assert hub.counters.lost == 1


def test_hub_refuses_an_empty_frame_and_goes_on(flock_server):
    with serving(Hub(flock_server)) as ports, Raw(ports["drone-1"]) as raw:
        raw.socket.sendall(LENGTH.pack(0))
        assert raw.receive().reason is Reason.FORMAT
        assert isinstance(raw.ask(raw.update()), NoSetPoint | SetPoint)


def test_port_is_free_again_after_each_of_many_resets(flock_server):
    hub = Hub(flock_server)
    with serving(hub) as ports:
        for number in range(1, 41):
            with Raw(ports["drone-1"]) as raw:
                # an end without a farewell
                linger = struct.pack("ii", 1, 0)
                raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            assert eventually(lambda number=number: hub.counters.lost == number)
        with Raw(ports["drone-1"]) as raw:
            assert isinstance(raw.ask(raw.update()), NoSetPoint | SetPoint)
    assert not hub.counters.refused


def test_second_connection_packet_is_refused(flock_server):
    with serving(Hub(flock_server)) as ports, Raw(ports["drone-1"]) as raw:
        assert raw.ask(Connection(VERSION, "drone-1", STILL)).reason is Reason.TURN
        assert isinstance(raw.ask(raw.update()), NoSetPoint | SetPoint)


def test_decreasing_time_is_refused(flock_server):
    with serving(Hub(flock_server)) as ports, Raw(ports["drone-1"]) as raw:
        assert isinstance(raw.ask(raw.update(time_s=5.0)), NoSetPoint | SetPoint)
        assert raw.ask(raw.update(time_s=4.9)).reason is Reason.REPLAYED
        assert isinstance(raw.ask(raw.update(time_s=5.0)), NoSetPoint | SetPoint)


# everything at once


class FrameCorruptor:
    """Sender of invalid frames that records the reasons of their refusals."""

    def __init__(self, port, seed):
        self.port, self.random = port, random.Random(seed)
        self.connections = self.taken = 0
        self.wanted, self.got = Counter(), Counter()
        self._join()

    def _join(self):
        self.raw = Raw(self.port)
        self.connections, self.taken = self.connections + 1, self.taken + 1

    def again(self):
        """Joins anew, when the hub has noticed that the last connection has ended."""
        self.raw.socket.close()
        for _ in range(1000):
            raw = Raw(self.port, join=False)
            if isinstance(raw.first, Hello):
                assert raw.ask(Connection(VERSION, "drone-1", STILL)) == Accepted(0)
                self.raw, self.taken = raw, self.taken + 1
                return
            raw.socket.close()
            time.sleep(0.002)
        raise AssertionError

    def whole(self):
        """A frame that would be taken."""
        return encode(self.raw.update(position_m=(self.random.random(), 0.0, 2.0)))

    def send(self):
        """One wrong frame."""
        name = self.random.choices(*zip(*KINDS.items(), strict=True))[0]
        getattr(self, name)()

    def refused(self, message, *reasons):
        self.raw.socket.sendall(LENGTH.pack(len(message)) + message)
        answer = self.raw.receive()
        assert isinstance(answer, Refusal), answer
        assert answer.reason in reasons
        self.got[answer.reason] += 1

    def truncated(self):
        whole = self.whole()
        self.refused(whole[: self.random.randrange(len(whole))], Reason.FORMAT)

    def trailing(self):
        self.refused(self.whole() + self.random.randbytes(5), Reason.FORMAT)

    def deep(self):
        head = b"\x82\xa4type\xa6update\xa1x"
        self.refused(head + b"\x91" * (MAX_FRAME - len(head)), Reason.SHAPE, Reason.FORMAT)

    def noise(self):
        message = self.random.randbytes(self.random.randrange(MAX_FRAME + 1))
        self.refused(message, Reason.FORMAT, Reason.SHAPE)

    def flipped(self):
        """A frame in which one byte is another one; that may be a packet in order."""
        message = bytearray(self.whole())
        message[self.random.randrange(len(message))] ^= 1 << self.random.randrange(8)
        self.raw.socket.sendall(LENGTH.pack(len(message)) + message)
        answer = self.raw.receive()
        if isinstance(answer, Refusal):
            self.got[answer.reason] += 1
        else:
            self.taken += 1
            self.again()  # its number or its time may be far ahead

    def wrong_shape(self):
        plain = msgspec.msgpack.decode(self.whole())
        changes = [
            {"type": self.random.choice(["set_point", "hello", "", 7, None])},
            {"number": self.random.choice([1.5, "1", None, [1]])},
            {"position_m": self.random.choice([[1.0, 2.0], "here", [1, 2, 3, 4], {}])},
            {"more": 1},
            {"yaw_rad": None},
            {"acceleration_mps2": self.random.choice([[1.0, 2.0], "fast", 9.81])},
        ]
        wrong = plain | self.random.choice(changes)
        if self.random.random() < 0.3:
            del wrong[self.random.choice([key for key in plain if key != "type"])]
        self.refused(msgspec.msgpack.encode(wrong), Reason.SHAPE)

    def out_of_range(self):
        number = self.random.choice([float("nan"), float("inf"), -1e300, 1e7 + 1])
        field = self.random.choice(["position_m", "velocity_mps", "acceleration_mps2"])
        packet = self.raw.update(**{field: (0.0, number, 0.0)})
        self.refused(encode(packet), Reason.RANGE)

    def replayed(self):
        message = self.whole()
        self.raw.socket.sendall(to_frame(message))
        assert isinstance(self.raw.receive(), NoSetPoint | SetPoint)
        self.taken += 1
        self.refused(message, Reason.REPLAYED)

    def out_of_turn(self):
        self.refused(encode(Connection(VERSION, "drone-1", STILL)), Reason.TURN)

    def unknown(self):
        self.raw.number += 1
        wrong = self.random.choice(["", "cohesio", -1, 4])
        self.refused(encode(Behavior(self.raw.number, [wrong])), Reason.BEHAVIOR)

    def oversized(self):
        length = self.random.choice([MAX_FRAME + 1, 2**16, 2**31, 2**32 - 1])
        self.raw.socket.sendall(struct.pack(">I", length) + b"x")
        answer = self.raw.receive()
        if answer is not None:  # the answer may be lost if the connection ends with unread data
            assert answer.reason is Reason.LENGTH
        self.got[Reason.LENGTH] += 1
        self.again()

    def cut(self):
        whole = to_frame(self.whole())
        self.raw.socket.sendall(whole[: self.random.randrange(1, len(whole))])
        self.got[Reason.CUT] += 1
        self.again()


KINDS = {
    "truncated": 20,
    "trailing": 10,
    "deep": 2,
    "noise": 20,
    "flipped": 10,
    "wrong_shape": 20,
    "out_of_range": 10,
    "replayed": 20,
    "out_of_turn": 5,
    "unknown": 5,
    "oversized": 3,
    "cut": 3,
}


@contextmanager
def flying_beside(port, name, token=None):
    """Fly a member at 20 Hz in a thread; yield its waits in seconds, and its set points."""
    waits_s, set_points, ended = [], [], threading.Event()

    def fly():
        position_m = (3.0, 0.0, 2.0)
        with Member(port=port, name=name, position_m=position_m, token=token) as member:
            while not ended.wait(0.05):
                began_s = time.perf_counter()
                set_points.append(member.update(began_s, position_m, STILL))
                waits_s.append(time.perf_counter() - began_s)

    thread = threading.Thread(target=fly)
    thread.start()
    try:
        yield waits_s, set_points
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_malformed_frames_are_refused_by_reason_and_disturb_no_member(flock_server, count):
    hub = Hub(flock_server, UNLIMITED)
    with serving(hub) as ports:
        with flying_beside(ports["drone-2"], "drone-2") as (waits_s, set_points):
            corruptor = FrameCorruptor(ports["drone-1"], seed=20)
            for _ in range(count):
                corruptor.send()
            corruptor.raw.socket.close()
        assert eventually(lambda: not any(map(flock_server.is_active, flock_server.slots)))
    counters = hub.counters
    # the other one's: connection, updates, leave
    assert counters.taken == corruptor.taken + len(set_points) + 2
    assert counters.refused_frames == sum(corruptor.got.values())
    assert counters.frames == counters.taken + counters.refused_frames
    of_frames = {r: n for r, n in counters.refused.items() if r is not Reason.TAKEN}
    assert of_frames == corruptor.got
    assert sum(corruptor.got.values()) > 0.9 * count
    # the first answer may come before the first tick
    assert all(one is not None for one in set_points[2:])
    # a test process shares its cores, and the sender its interpreter
    assert sorted(waits_s)[int(0.95 * len(waits_s))] < 0.05


# as a process


@contextmanager
def process(scenario, base_port, *options):
    command = [sys.executable, "-c", "from kittiwake.cli import main; main()", "hub", scenario]
    started = subprocess.Popen(
        [*command, "--base-port", str(base_port), *options],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate(timeout=30)


def listening(base_port, name):
    try:
        with Member(port=base_port, name=name, position_m=STILL):
            return True
    except HubError:
        return False


@pytest.mark.slow
def test_members_rejoin_a_killed_and_restarted_hub(scenario):
    base_port = free_ports(8)
    with process(scenario, base_port) as first, ExitStack() as stack:
        assert eventually(lambda: listening(base_port, "drone-1"), 60.0)
        members = [
            stack.enter_context(
                Member(port=base_port + i, name=f"drone-{i + 1}", position_m=start_m(i))
            )
            for i in range(8)
        ]
        first.send_signal(signal.SIGKILL)
        first.wait()
        with process(scenario, base_port, "--json") as second:
            began_s, back_s = time.monotonic(), []

            def all_are_guided():
                now_s = time.monotonic() - began_s
                set_points = [m.update(now_s, start_m(i), STILL) for i, m in enumerate(members)]
                if not back_s and all(member.joined for member in members):
                    back_s.append(now_s)
                return None not in set_points

            assert eventually(all_are_guided, 60.0)
            for member in members:
                member.leave()
            second.send_signal(signal.SIGINT)
            out, _ = second.communicate(timeout=30)
    counters = json.loads(out)
    assert (counters["joined"], counters["left"], counters["lost"]) == (8, 8, 0)
    # 5 s on a machine of one's own
    assert back_s[0] < 10.0


def test_hub_command_prints_ports_and_counters(scenario, tmp_path):
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    options = ("--base-port", 0, "--duration", 0.2)
    answer = kittiwake_does("hub", scenario, *options, "--token-file", token)
    assert answer.status == 0
    assert "0 frames, 0 of them refused" in answer.out
    assert len(re.findall(r"127\.0\.0\.1:\d+  drone-\d\n", answer.err)) == 8
    answer = kittiwake_does("hub", scenario, *options, "--lockstep", "--json")
    assert json.loads(answer.out)["frames"] == 0
    assert answer.err == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--host", "0.0.0.0"), "--token-file"),
        (("--base-port", "65530"), "65530 to 65537"),
        (("--rate", "0"), "`--rate`: got 0"),
    ],
)
def test_hub_command_refuses_invalid_options(scenario, options, expected):
    answer = kittiwake_does("hub", scenario, *options)
    assert answer.status == 2
    assert expected in answer.err


@pytest.mark.parametrize("command", [("hub",), ("serve", "flock-hub-8", "--hub")])
def test_token_file_must_be_text(scenario, tmp_path, command):
    token = tmp_path / "token"
    token.write_bytes(b"\xff" * 20)
    scenario_too = (scenario,) if command == ("hub",) else ()
    answer = kittiwake_does(*command, *scenario_too, "--token-file", token)
    assert answer.status == 2
    assert "token is not UTF-8 text" in answer.err


@pytest.mark.slow
def test_missions_of_flocks_are_flown_in_real_time(tmp_path):
    flock_server = FlockServer(load_scenario(write_mission(tmp_path)))
    hub = Hub(flock_server)
    with serving(hub) as ports, ExitStack() as stack:
        members = [
            stack.enter_context(Member(port=port, name=name, position_m=(0.0, 9.0 * i, 5.0)))
            for i, (name, port) in enumerate(ports.items())
        ]

        def east_mps():
            for i, member in enumerate(members):
                member.report(0.0, (0.0, 9.0 * i, 5.0), STILL)
            set_points = [member.set_point() for member in members]
            time.sleep(flock_server.period_s)
            return None if None in set_points else set_points[0].velocity_mps[0]

        assert eventually(lambda: (east_mps() or 0.0) > 0.5, within_s=30.0)
        assert eventually(lambda: east_mps() < -0.5)
    assert not hub.counters.refused


def test_hub_refuses_a_scenario_without_a_flock():
    answer = kittiwake_does("hub", "hover-pelican")
    assert answer.status == 2
    assert "no vehicle flies in a flock" in answer.err


def test_occupied_port_is_named(scenario):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = kittiwake_does("hub", scenario, "--base-port", port)
    assert answer.status == 2
    assert f"port {port} of 127.0.0.1, for drone-1, cannot be opened" in answer.err


@pytest.mark.slow
def test_two_hundred_members_wait_for_less_than_twenty_milliseconds():
    command = [sys.executable, str(ROOT / "benchmarks" / "hub.py"), "--json", "--seconds", "20"]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["lost"] == 0
    assert found["counters"]["refused"] == {}
    assert found["updates"] > 0.99 * found["asked_updates"]
    assert found["p95_ms"] < 20.0


# documentation and examples


def test_documented_client_runs_without_kittiwake(flock_server):
    page = (ROOT / "docs" / "hub-protocol.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    hub = Hub(flock_server)
    with serving(hub) as ports:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, str(ports["drone-1"]), "drone-1"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert hub.counters.refused == {}
    assert (hub.counters.joined, hub.counters.left) == (1, 1)
    # it flies to the target for two seconds, at 1 m/s at most
    end_m = np.array([float(x) for x in re.findall(r"-?\d+\.\d+", done.stdout)])
    left_m = np.linalg.norm(end_m - TARGET)
    assert 75**0.5 - 2.1 < left_m < 75**0.5 - 1.2


@pytest.mark.slow  # test_examples.py flies it as well
def test_hub_example_runs(scenario, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "hub_client.py"), scenario],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    ((miss_cm,),) = [re.findall(r"(\d+\.\d) cm from the target", done.stdout)]
    assert float(miss_cm) < 5.0
