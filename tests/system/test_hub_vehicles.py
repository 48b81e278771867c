"""Vehicles that a controller adds to a hub and removes, and to a flight that a hub guides."""

import json
import threading
import time

import numpy as np
import pytest
from tests.system.commands import kittiwake_does
from tests.system.test_hub import STILL, TOKEN, Raw, eventually, free_ports, replace_all
from tests.unit.adapters.flocks import Point, start_m, write_scenario

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.control_connection import CONTROL
from kittiwake.adapters.hub.controller import HubController
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.frames import MAX_FRAME, to_frame
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    AddVehicle,
    Connection,
    Controller,
    Reason,
    Refusal,
    RemoveVehicle,
    VehicleAdded,
    VehicleRemoved,
    compute_proof,
    encode,
)
from kittiwake.adapters.hub.server import Hub, serving
from kittiwake.analysis.log import Log
from kittiwake.core.errors import HubError
from kittiwake.scenario.load import load_scenario

pytestmark = pytest.mark.usefixtures("compiled_programs_stay_with_the_tests")

FLOCK = {
    "model": "crazyflie",
    "start": {"position_world_m": [0, 6, 2]},
    "controller": ["velocity", "acceleration", "attitude", "mixer"],
    "guidance": {
        "type": "flock",
        "behaviors": [
            {"type": "separation", "distance_m": 3},
            "alignment",
            "cohesion",
            {"type": "targeting", "target_world_m": [5, 5, 5]},
        ],
    },
}
GULL = json.dumps(FLOCK)
LIMITS = Limits(frames_hz=1e9, burst=1e9, silence_s=60.0)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return write_scenario(tmp_path_factory.mktemp("hub"), count=2)


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


class Control(Raw):
    """Connection to a control port that can send any packet."""

    def __init__(self, port, *, join=True, token=None):
        super().__init__(port, join=False)
        if join:
            proof = compute_proof(token, self.first.nonce) if token else ""
            assert self.ask(Controller(VERSION, proof)) == Accepted(0)

    def add(self, name, vehicle=GULL):
        self.number += 1
        return self.ask(AddVehicle(self.number, name, vehicle))

    def remove(self, name):
        self.number += 1
        return self.ask(RemoveVehicle(self.number, name))


def test_added_vehicle_is_guided_and_removed_while_others_stay(flock_server):
    hub = Hub(flock_server, LIMITS)
    with serving(hub, control_port=0) as ports, Raw(ports["drone-1"]) as other:
        with HubController(port=ports[CONTROL]) as controller:
            port = controller.add_vehicle("gull", GULL)
            with Member(port=port, name="gull", position_m=(0.0, 6.0, 2.0)) as member:
                report = ((0.0, 6.0, 2.0), STILL)
                assert eventually(lambda: member.update(0.0, *report) is not None)
                velocity_mps = member.update(0.1, *report).velocity_mps
                # up to the target, and away from nobody
                assert velocity_mps[2] > 0.1
                controller.remove_vehicle("gull")
                with pytest.raises(HubError, match="gull has been removed") as refused:
                    member.update(0.2, *report)
                assert refused.value.reason == "removed"
        assert other.ask(other.update()).number == 1
    assert hub.counters.lost == 1  # the raw one, which does not leave
    assert [*hub.flock_server.slots] == ["drone-1", "drone-2"]


def flown_in_lockstep(flock_server, change_at):
    """Return the set points of two members, during whose flight a gull comes and another goes."""
    hub = Hub(flock_server, LIMITS, lockstep=True)
    points, set_points = [Point(start_m(i)) for i in range(2)], []
    dt_s = flock_server.period_s
    with serving(hub, control_port=0) as ports:
        names = [*flock_server.slots]
        members = [
            Member(port=ports[name], name=name, position_m=point.report[0])
            for name, point in zip(names, points, strict=True)
        ]
        for k in range(30):
            if k == change_at:
                with HubController(port=ports[CONTROL]) as controller:
                    controller.add_vehicle("gull", GULL)
            if change_at is not None and k == change_at + 10:
                with HubController(port=ports[CONTROL]) as controller:
                    controller.remove_vehicle("gull")
            for member, point in zip(members, points, strict=True):
                member.report(k * dt_s, *point.report)
            answers = [member.set_point() for member in members]
            for answer, point in zip(answers, points, strict=True):
                set_points.append(answer.velocity_mps)
                point.move(answer.velocity_mps, dt_s)
        for member in members:
            member.leave()
    return np.array(set_points)


@pytest.mark.slow
def test_members_keep_their_set_points_in_lockstep_while_others_come_and_go(scenario):
    flights = []
    for change_at in (None, 10):
        flock_server = FlockServer(load_scenario(scenario))
        flock_server.compile()
        flights.append(flown_in_lockstep(flock_server, change_at))
    quiet, busy = flights
    # nobody flew the gull, so that it is no neighbor; the size of a group may change the rounding
    np.testing.assert_allclose(busy, quiet, rtol=0, atol=1e-12)
    # that of one more is the same here
    np.testing.assert_array_equal(busy[: 2 * 20], quiet[: 2 * 20])


def test_lockstep_waits_for_the_first_update_of_an_added_member(flock_server):
    hub = Hub(flock_server, LIMITS, lockstep=True)
    with (
        serving(hub, control_port=0) as ports,
        Raw(ports["drone-1"]) as one,
        Raw(ports["drone-2"], "drone-2") as two,
    ):
        one.send(one.update())
        two.send(two.update())
        assert (one.receive().number, two.receive().number) == (1, 1)
        with Control(ports[CONTROL]) as control:
            added = control.add("gull")
        assert isinstance(added, VehicleAdded)
        # not waited for before it has joined
        one.send(one.update())
        two.send(two.update())
        assert (one.receive().number, two.receive().number) == (2, 2)
        with Raw(added.port, "gull") as gull:
            one.send(one.update())
            two.send(two.update())
            time.sleep(0.2)
            assert hub.counters.batches == 2
            gull.send(gull.update())
            assert one.receive().number == 3
            assert gull.receive().number == 1


def test_members_that_follow_are_told_before_their_next_answer(flock_server):
    hub = Hub(flock_server, LIMITS)
    with serving(hub, control_port=0) as ports:
        arguments = {"port": ports["drone-1"], "name": "drone-1", "position_m": STILL}
        with Member(**arguments, follows=True) as member, Control(ports[CONTROL]) as control:
            member.update(0.0, STILL, STILL)
            assert member.take_changes() == []
            added = control.add("gull")
            assert isinstance(control.remove("gull"), VehicleRemoved)
            member.update(0.1, STILL, STILL)
            changes = member.take_changes()
            assert changes == [replace_all(added, {"number": None}), VehicleRemoved("gull")]
            assert changes[0].vehicle == GULL


REFUSED = {
    "taken": ("drone-1", GULL, "is the name of a vehicle of this hub"),
    "entry": ("drone", GULL, "is the name of a vehicle of this hub"),
    "slash": ("a/b", GULL, "must begin with a letter"),
    "unknown": ("gull", "pelikan", "Did you mean"),
    "number": ("gull", "5", "must be a URDF"),
    "several": ("gull", "{model: pelican, count: 9}", "one by one"),
    "file": ("gull", "{model: uav-gazebo, parameters: {urdf: /etc/passwd}}", "no file is read"),
    "code": ("gull", "{model: pelican, controller: {file: a.py, class: A}}", "holds code"),
    "deep": ("gull", "[" * 400 + "]" * 400, "deeper"),
    "huge": ("gull", "{model: pelican, start: {position_world_m: [1e308, 0, 1e308]}}", ""),
    "bytes": ("gull", "é" * 450, "got 900 bytes; must be at most 800"),
}


def test_refusals_leave_the_controller_and_the_members_as_they_are(flock_server):
    hub = Hub(flock_server, LIMITS)
    with serving(hub, control_port=0) as ports, Control(ports[CONTROL]) as control:
        for name, vehicle, reason in REFUSED.values():
            answer = control.add(name, vehicle)
            assert isinstance(answer, Refusal), name
            assert answer.reason is Reason.VEHICLE
            assert answer.number == control.number
            assert reason in answer.said, (reason, answer.said)
        for name, reason in (("gull", "there is no vehicle"), ("drone-1", "remove `drone`")):
            assert reason in control.remove(name).said
        assert "last vehicle" in control.remove("drone").said
        assert hub.flock_server is flock_server
        # too long for their fields
        for packet in (
            AddVehicle(1000, "x" * 65, GULL),
            AddVehicle(1000, "gull", "x" * 801),
            RemoveVehicle(1000, "x" * 900),
        ):
            assert control.ask(packet).reason is Reason.SHAPE
        assert control.ask(AddVehicle(1, "gull", GULL)).reason is Reason.REPLAYED
        assert control.ask(control.update()).reason is Reason.TURN


@pytest.mark.slow
def test_a_removed_name_is_not_used_again_and_numbers_are_limited(flock_server, monkeypatch):
    hub = Hub(flock_server, LIMITS)
    with serving(hub, control_port=0) as ports, Control(ports[CONTROL]) as control:
        assert isinstance(control.add("gull"), VehicleAdded)
        assert isinstance(control.remove("gull"), VehicleRemoved)
        assert "is the name of a vehicle" in control.add("gull").said
        monkeypatch.setattr("kittiwake.scenario.vehicle_changes.MAX_ADDED_TO", 4)
        assert "of less than 4" in control.add("tern").said


def test_waiting_changes_are_limited(flock_server):
    limits = Limits(frames_hz=1e9, burst=1e9, waiting_changes=3)
    with serving(Hub(flock_server, limits), control_port=0) as ports:
        with Control(ports[CONTROL]) as control:
            for number in range(1, 21):
                control.send(AddVehicle(number, f"gull-{number}", "pelikan"))
            answers = [control.receive() for _ in range(20)]
        assert {answer.reason for answer in answers} == {Reason.VEHICLE}
        assert any("3 changes are waiting" in answer.said for answer in answers)


@pytest.mark.parametrize("token", [None, TOKEN])
def test_each_port_has_its_own_peers(flock_server, token):
    hub = Hub(flock_server, LIMITS, token)
    with serving(hub, control_port=0) as ports:
        with Control(ports[CONTROL], token=token), Control(ports[CONTROL], join=False) as second:
            assert second.first.reason is Reason.TAKEN
        assert eventually(lambda: hub._sessions.controller is None)
        with Control(ports[CONTROL], join=False) as wrong:
            assert (wrong.first.team, wrong.first.name) == (None, None)
            proof = compute_proof(token, wrong.first.nonce) if token else ""
            assert wrong.ask(Connection(VERSION, "drone-1", STILL, proof)).reason is Reason.TURN
        with Raw(ports["drone-1"], join=False) as wrong:
            proof = compute_proof(token, wrong.first.nonce) if token else ""
            assert wrong.ask(Controller(VERSION, proof)).reason is Reason.TURN
        with Raw(ports["drone-1"], token=token) as member:
            assert member.ask(AddVehicle(1, "gull", GULL)).reason is Reason.TURN
        with Control(ports[CONTROL], join=False) as early:
            assert early.ask(AddVehicle(1, "gull", GULL)).reason is Reason.TURN
        if token:
            with Control(ports[CONTROL], join=False) as liar:
                assert liar.ask(Controller(VERSION, "0" * 64)).reason is Reason.PROOF
            with pytest.raises(HubError, match="proof"):
                HubController(port=ports[CONTROL])


def test_a_hub_has_no_control_port_unless_asked(flock_server):
    with serving(Hub(flock_server)) as ports:
        assert CONTROL not in ports


def test_packets_of_vehicles_fit_into_frames():
    name, vehicle = "x" * 64, "é" * 400
    for packet in (AddVehicle(2**63, name, vehicle), VehicleAdded(name, 65535, vehicle, 2**63)):
        assert len(encode(packet)) <= MAX_FRAME
        to_frame(encode(packet))


def served(scenario, base_port, out, *options):
    """Return the log of a served flight."""
    command = ("serve", scenario, "--hub", "--base-port", base_port, "--out", out, "--json")
    answer = kittiwake_does(*command, *options)
    assert answer.status == 0, answer.err
    return Log.read(out)


def change_in_flight(hub, ports, changes):
    """Make changes at numbers of turns."""
    for batches, change in changes:
        assert eventually(lambda batches=batches: hub.counters.batches >= batches, 120.0)
        with HubController(port=ports[CONTROL]) as controller:
            change(controller)


TERN = json.dumps({**FLOCK, "team": "terns", "start": {"position_world_m": [40, 40, 9]}})


def flown_by_hub(scenario, out, changes=()):
    """Return the log of a flight in lockstep, with changes at numbers of turns."""
    flock_server = FlockServer(load_scenario(scenario))
    hub, base_port = Hub(flock_server, lockstep=True), free_ports(2)
    with serving(hub, base_port=base_port, control_port=0) as ports:
        early = [one for one in changes if one[0] == 0]
        change_in_flight(hub, ports, early)
        later = [one for one in changes if one[0] > 0]
        thread = threading.Thread(target=change_in_flight, args=(hub, ports, later))
        thread.start()
        log = served(scenario, base_port, out, "--lockstep", "--duration", "5")
        thread.join()
    assert hub.counters.lost == 0
    return log


@pytest.mark.slow
def test_served_flight_follows_the_hub_in_lockstep(tmp_path, scenario):
    changes = [
        (20, lambda controller: controller.add_vehicle("tern", TERN)),
        (60, lambda controller: controller.remove_vehicle("tern")),
    ]
    quiet = flown_by_hub(scenario, tmp_path / "quiet")
    busy = flown_by_hub(scenario, tmp_path / "busy", changes)
    assert (quiet.names, busy.names) == (("drone-1", "drone-2"), ("drone-1", "drone-2", "tern"))
    events = [event.event for event in busy.events if event.vehicle == "tern"]
    assert (events[0], events[-1]) == ("added", "removed")
    times = busy.column("tern", "time_s")
    assert 0.5 < times[0] < times[-1] < 4.9
    # it flew as the hub told it, to the target
    assert busy.column("tern", "vx_mps").min() < -0.3
    for name in quiet.names:
        before = round(times[0] * 100)
        np.testing.assert_array_equal(busy.values(name)[:before], quiet.values(name)[:before])
        # sums over the neighbors are rounded in another way
        np.testing.assert_allclose(busy.values(name), quiet.values(name), rtol=0, atol=1e-9)


@pytest.mark.slow
def test_vehicles_that_were_changed_before_a_flight_are_changed_in_it_reproducibly(
    tmp_path, scenario
):
    changes = [(0, lambda controller: controller.add_vehicle("tern", TERN))]
    one, other = (flown_by_hub(scenario, tmp_path / name, changes) for name in ("one", "other"))
    assert one.names == ("drone-1", "drone-2", "tern")
    # from the second update on
    assert one.column("tern", "time_s")[0] == pytest.approx(0.04)
    for name in one.names:
        np.testing.assert_array_equal(one.values(name), other.values(name))


@pytest.mark.slow
def test_served_flight_follows_the_hub_in_real_time(tmp_path, scenario):
    flock_server = FlockServer(load_scenario(scenario))
    # hub and flight share an interpreter here
    hub, base_port = Hub(flock_server, LIMITS), free_ports(2)
    with serving(hub, base_port=base_port, control_port=0) as ports:

        def remove(controller):
            assert eventually(lambda: "tern" in hub._sessions.members, 60.0)
            time.sleep(1.0)
            controller.remove_vehicle("tern")

        changes = [(20, lambda controller: controller.add_vehicle("tern", TERN)), (30, remove)]
        thread = threading.Thread(target=change_in_flight, args=(hub, ports, changes))
        thread.start()
        log = served(scenario, base_port, tmp_path / "out", "--duration", "30")
        thread.join()
    assert hub.counters.lost == 0
    events = [event.event for event in log.events if event.vehicle == "tern"]
    assert (events[0], events[-1]) == ("added", "removed")
    assert np.ptp(log.column("tern", "x_m")) > 0.3
    assert log.column("drone-1", "time_s")[-1] == pytest.approx(30.0)
