"""What a session does when ROS asks, by a node that is none: it keeps what is told and offered."""

import time
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.runtime.hands import Hands

from kittiwake.adapters.ros.bridge import Bridge, blocks_hz
from kittiwake.adapters.ros.tuning import LiveGains
from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.load import load_scenario

TIMEOUT_S = 0.5
ZERO = {"x": 0.0, "y": 0.0, "z": 0.0}


class Node:
    """Keeps what is published, and lets tests be everybody else."""

    def __init__(self):
        self.told, self.topics, self.services, self.gains, self.said = {}, {}, {}, {}, []
        self.left = Event()

    def publisher(self, topic, kind, *, latched=False):
        del kind, latched
        self.told[topic] = []
        return self.told[topic].append

    def subscribe(self, topic, kind, heard):
        del kind
        self.topics[topic] = heard

    def serve(self, name, kind, answer):
        del kind
        self.services[name] = answer

    def offer_gains(self, namespace, gains, changed):
        self.gains[namespace] = ({gain.name: gain for gain in gains}, changed)
        self.told[namespace] = []
        return self.told[namespace].append

    def transforms(self, *, still=False):
        return self.publisher("/tf_static" if still else "/tf", "")

    def inform(self, words):
        self.said.append(words)

    def close(self):
        pass

    warn = error = inform


class Served(Hands):
    """A session's flight between a bridge and a node."""

    def __init__(self, scenario):
        self.node = Node()
        self.bridge = Bridge(self.node)
        self.session = Session(
            scenario, RealTimeClock(inf), self.bridge.watch, blocks_hz(scenario.ros)
        )
        super().__init__(scenario, self.session.executor)
        self.settle()
        self.bridge.open(self.session)

    def hear(self, topic, **fields):
        self.node.topics[topic](message(**fields))

    def ask(self, name, **fields):
        return self.node.services[name](message(**fields))

    def where(self, vehicle):
        place = self.node.told[f"/{vehicle}/odometry"][-1]["pose"]["pose"]["position"]
        return [place[axis] for axis in "xyz"]


def message(**fields):
    return SimpleNamespace(
        **{k: message(**v) if isinstance(v, dict) else v for k, v in fields.items()}
    )


@pytest.fixture(scope="module")
def flight():
    overrides = [f"ros.command_timeout_s={TIMEOUT_S}", "time.rate_hz=200"]
    served = Served(load_scenario("ros-drones", overrides))
    yield served
    served.executor.__exit__()


@pytest.fixture
def served(flight):
    """Both drones inactive, six meters up, and nothing said yet."""
    for number in (1, 2):
        flight.ask(f"/drone{number}/switch_mode", mode={"mode": 0})
        placed(flight, f"drone{number}", (0.0, 5.0 - 5.0 * number, 6.0))
    flight.fly(0.01)
    flight.node.said.clear()
    for told in flight.node.told.values():
        told.clear()
    return flight


def placed(flight, name, place):
    pose = {"position": dict(zip("xyz", place, strict=True)), "orientation": ZERO | {"w": 1.0}}
    state = {"model_name": name, "reference_frame": "", "pose": pose}
    return flight.ask(
        "/gazebo/set_model_state", model_state=state | {"twist": {"linear": ZERO, "angular": ZERO}}
    )


def velocity(**given):
    return {"velocity": ZERO, "acceleration": ZERO, "yaw_rate": 0.0, "body_frame": False} | given


def position(**given):
    zeros = {"position": ZERO, "velocity": ZERO, "acceleration": ZERO}
    return zeros | {"yaw": 0.0, "yaw_rate": 0.0} | given


def test_all_that_is_told_has_its_rate(served):
    served.fly(1.0)
    told = served.node.told
    assert len(told["/drone1/odometry"]) == len(told["/tf"]) == len(told["/clock"]) == 200
    frames = {one["child_frame_id"] for one in told["/tf"][0]}
    assert frames == {"drone1", "drone2"}
    steps = np.diff([one["clock"] for one in told["/clock"]])
    assert set(steps) == {5_000_000}


@pytest.mark.slow
def test_odometry_is_told_at_every_step_where_that_is_asked_for():
    overrides = ["ros.odometry_hz=1000", "time.rate_hz=1000"]
    served = Served(load_scenario("ros-drones", overrides))
    try:
        served.fly(0.1)
        stamps = [one["header"]["stamp"] for one in served.node.told["/drone1/odometry"]]
        # a nanosecond of rounding
        np.testing.assert_allclose(np.diff(stamps), 1e6, atol=1.0)
    finally:
        served.executor.__exit__()


def test_gazebo_tells_where_a_model_truly_is(served):
    truths = served.node.told["/drone1/ground_truth/odometry"]
    before = len(truths)
    while len(truths) == before:  # told less often than blocks are flown
        served.fly(0.005)
    truth = truths[-1]
    states = {
        name: served.ask("/gazebo/get_model_state", model_name=name, relative_entity_name=frame)
        for name, frame in (("drone1", ""), ("drone2", "world"))
    }
    state = states["drone1"]
    assert state["success"]
    assert state["header"]["frame_id"] == "world"
    assert state["pose"] == truth["pose"]["pose"]
    assert state["twist"] == truth["twist"]["twist"]
    relative = served.ask(
        "/gazebo/get_model_state", model_name="drone2", relative_entity_name="drone1"
    )
    assert relative["header"]["frame_id"] == "drone1"
    one, other = (states[name]["pose"]["position"] for name in ("drone1", "drone2"))
    apart_m = np.linalg.norm([other[axis] - one[axis] for axis in "xyz"])
    found_m = np.linalg.norm([*relative["pose"]["position"].values()])
    assert found_m == pytest.approx(apart_m, rel=1e-12)


@pytest.mark.parametrize("names", [("drone3", ""), ("drone1", "drone3")])
def test_a_model_that_is_not_there_has_no_state(served, names):
    model, relative = names
    answer = served.ask("/gazebo/get_model_state", model_name=model, relative_entity_name=relative)
    assert "success" not in answer
    assert "there is no model 'drone3'" in answer["status_message"]


def test_a_command_of_another_mode_is_kept_and_told_once(served):
    up = velocity(velocity=ZERO | {"z": 1.0})
    for _ in range(3):
        served.hear("/drone1/velocity_yawrate/command", **up)
    (said,) = served.node.said
    assert "'drone1' is inactive; commands of velocity_yawrate are kept" in said
    served.fly(0.1)
    assert served.where("drone1")[2] < 6.0
    assert served.ask("/drone1/switch_mode", mode={"mode": 2}) == {"success": True}
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 2}}
    heights = []
    for _ in range(40):
        served.hear("/drone1/velocity_yawrate/command", **up)
        served.fly(0.1)
        heights.append(served.where("drone1")[2])
    assert heights[-1] - heights[-11] == pytest.approx(1.0, abs=0.1)
    # the other one falls
    assert served.where("drone2")[2] < 0.1


@pytest.mark.slow
def test_a_mode_without_a_command_follows_zeros(served):
    served.ask("/drone2/switch_mode", mode={"mode": 1})
    served.fly(20.0)
    np.testing.assert_allclose(served.where("drone2"), [0.0, 0.0, 0.0], atol=0.05)


def test_a_vehicle_whose_commands_stop_holds_its_place(served):
    served.ask("/drone1/switch_mode", mode={"mode": 2})
    served.hear("/drone1/velocity_yawrate/command", **velocity(velocity=ZERO | {"x": 1.0}))
    served.fly(TIMEOUT_S + 0.1)
    said = served.node.said[-1]
    assert len(served.node.said) == 1, served.node.said
    assert "got no velocity_yawrate command for 0.5 s; it holds its place" in said
    held = served.where("drone1")
    served.fly(15.0)
    assert np.linalg.norm(np.subtract(served.where("drone1"), held)) < 1.0
    assert len(served.node.said) == 1
    served.hear("/drone1/velocity_yawrate/command", **velocity(velocity=ZERO | {"x": 1.0}))
    assert served.executor.asked["drone1"].asked.velocity_world_mps.x == 1.0
    served.fly(0.4)
    assert len(served.node.said) == 1


@pytest.mark.slow
def test_a_place_is_a_command_that_lasts(served):
    served.ask("/drone1/switch_mode", mode={"mode": 1})
    served.hear("/drone1/position_yaw/command", **position(position=ZERO | {"z": 7.0}))
    served.fly(15.0)
    assert served.node.said == []
    np.testing.assert_allclose(served.where("drone1"), [0.0, 0.0, 7.0], atol=0.02)


@pytest.mark.parametrize("number", [6, 99, -1])
def test_a_mode_that_is_not_there_leaves_the_present_one(served, number):
    served.ask("/drone1/switch_mode", mode={"mode": 2})
    assert served.ask("/drone1/switch_mode", mode={"mode": number}) == {}
    served.hear("/drone1/switch_mode", mode=number)
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 2}}
    assert all(f"mode {number} is not known; must be one of 0" in said for said in served.node.said)
    assert len(served.node.said) == 2


def test_what_is_refused_leaves_the_command_before(served):
    served.ask("/drone1/switch_mode", mode={"mode": 1})
    served.hear("/drone1/position_yaw/command", **position(position=ZERO | {"z": 6.0}))
    bad = position(position=ZERO | {"z": float("nan")})
    for _ in range(3):
        served.hear("/drone1/position_yaw/command", **bad)
    (said,) = served.node.said
    assert "/drone1/position_yaw/command: position.z is nan; must be from -1e+07 to 1e+07 m" in said
    served.fly(3.0)
    np.testing.assert_allclose(served.where("drone1"), [0.0, 0.0, 6.0], atol=0.1)


def test_placing_answers_and_refuses(served):
    assert placed(served, "drone1", (1.0, 2.0, 3.0)) == {"success": True}
    served.fly(0.02)
    np.testing.assert_allclose(served.where("drone1"), [1.0, 2.0, 3.0], atol=0.01)
    answer = placed(served, "drone1", (0.0, 0.0, 1e6))
    assert not answer.get("success", False)
    assert "world.area.z_m" in answer["status_message"]
    assert "world.area.z_m" in answer.reason


def test_gains_show_what_they_are_and_change_what_they_say(served):
    shown, change = served.node.gains["/drone1/gains"]
    assert [*shown] == ["Wp", "Xp", "Kv", "Wy", "Xy", "Ky", "Wa", "Xa", "Kw"]
    assert (shown["Wp"].low, shown["Wp"].high, shown["Xp"].high) == (0.0, 10.0, 5.0)
    assert change({"Wa": 6.0})["Wa"] == 6.0
    served.settle()
    cascade = {type(r.component).__name__: r.component for r in cascade_of(served, "drone1")}
    assert cascade["EulerAttitude"].tilt_frequency_radps == 6.0
    assert cascade["UavGazeboVelocity"].attitude.tilt_frequency_radps == 6.0
    others = {type(r.component).__name__: r.component for r in cascade_of(served, "drone2")}
    assert others["EulerAttitude"].tilt_frequency_radps == 5.0
    for wanted in ({"Wa": 11.0}, {"Wp": 0.0}):
        with pytest.raises(KittiwakeError):
            change(wanted)
    assert len(served.node.said) == 2
    assert "Wa 11 is not allowed; must be from 0 to 10" in served.node.said[0]
    change({"Wa": 5.0})
    served.settle()


def cascade_of(served, vehicle):
    return served.executor.wanted.vehicles[vehicle].cascade


def test_steps_of_a_mission_begin_and_guidance_flies_again(served):
    served.ask("/drone1/switch_mode", mode={"mode": 1})
    # with the same block as what it begins from
    placed(served, "drone1", (0.0, 0.0, 6.0))
    assert served.ask("/drone1/mission/pursuit") == {"success": True}
    served.fly(2.0)
    assert "drone1" not in served.executor.asked
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 0}}
    assert served.where("drone1")[1] > 0.5
    assert served.ask("/drone1/mission/wait")["success"]


def joy(served, *buttons, axes=(0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)):
    served.hear("/joy", axes=axes, buttons=[int(number in buttons) for number in range(13)])


def test_a_gamepad_chooses_modes_and_flies_by_them(served):
    joy(served)
    joy(served, 1)
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 2}}
    for _ in range(10):
        joy(served, axes=(0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
        served.fly(0.1)
    assert served.where("drone1")[0] > 0.05
    # another node takes the mode, and the sticks do not take it back
    served.ask("/drone1/switch_mode", mode={"mode": 1})
    joy(served, axes=(0.0, 0.9, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 1}}
    joy(served, 12)
    served.fly(0.01)
    np.testing.assert_allclose(served.where("drone1"), [0.0, 0.0, 1.0], atol=0.01)
    joy(served, 5)
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 0}}
    joy(served, 8)
    assert served.session.wanted_again
    served.hear("/joy", axes=(float("nan"),), buttons=[])
    assert "axes are [nan]; must be finite numbers" in served.node.said[-1]


def test_time_is_paused_and_goes_on_and_at_another_speed(served):
    clock = served.session.clock
    assert "call /gazebo/pause_physics before" in served.ask("/kittiwake/step")["message"]
    served.ask("/gazebo/pause_physics")
    assert clock.paused
    assert served.ask("/kittiwake/step") == {"success": True}
    served.ask("/gazebo/unpause_physics")
    assert not clock.paused
    served.hear("/kittiwake/real_time_factor", data=2.0)
    assert clock.speed == 2.0
    served.hear("/kittiwake/real_time_factor", data=-1.0)
    assert clock.speed == 2.0
    assert "a speed of -1.0 is not allowed" in served.node.said[-1]


def answered(served, name, meanwhile=lambda: None, **fields):
    """What a service that takes its time answers while the flight goes on."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(served.ask, name, **fields)
        for _ in range(400):
            if answer.done():
                break
            meanwhile()
            served.fly(0.1)
            # the service looks at it between blocks
            time.sleep(0.03)
        return answer.result(timeout=10.0)


TAKEOFF = {"force_takeoff": False, "height": 2.0, "takeoff_time": 4.0, "idle_time": 6.0}
LAND = {"force_landing": False, "land_time": 4.0, "idle_time": 6.0, "maximum_residual": 0.3}


@pytest.mark.slow
@pytest.mark.slow
def test_commands_of_places_do_not_end_a_ramp(served):
    placed(served, "drone1", (0.0, 0.0, 0.002))
    away = position(position={"x": 50.0, "y": 0.0, "z": 0.0})

    def tell():
        served.hear("/drone1/position_yaw/command", **away)

    up = answered(served, "/drone1/takeoff", tell, **TAKEOFF)
    assert up["success"]
    assert up["residual"] < 0.3
    (said,) = served.node.said
    assert "takes off along a ramp by 2 m; commands of position_yaw are kept for afterwards" in said
    assert abs(served.where("drone1")[0]) < 1.0
    assert served.ask("/drone1/takeoff", **TAKEOFF) == {}
    assert "'drone1' is position_yaw, not inactive" in served.node.said[-1]
    down = answered(served, "/drone1/land", tell, **LAND)
    assert down == {"landed_forcefully": False, "success": True}
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 0}}
    assert served.ask("/drone1/land", **LAND) == {}
    assert "it has nothing to land" in served.node.said[-1]


def test_a_switch_ends_a_ramp_and_keeps_its_mode(served):
    def switch():
        served.ask("/drone1/switch_mode", mode={"mode": 2})

    assert answered(served, "/drone1/takeoff", switch, **TAKEOFF) == {}
    assert served.ask("/drone1/get_mode") == {"mode": {"mode": 2}}


def test_a_vehicle_that_its_guidance_flies_does_not_take_off_unless_forced(served):
    placed(served, "drone1", (0.0, 0.0, 6.0))
    served.ask("/drone1/mission/pursuit")
    served.fly(2.0)
    assert served.ask("/drone1/takeoff", **TAKEOFF) == {}
    assert "'drone1' is flown by its guidance, not inactive" in served.node.said[-1]
    served.ask("/drone1/mission/wait")


MIXED = """
name: mixed
time: {rate_hz: 200, duration_s: 60}
vehicles:
  drone:
    model: uav-gazebo
    controller: [position, uav-gazebo-velocity, euler-attitude]
    guidance: {type: mission, steps: [{do: idle}]}
    count: 2
    spacing_m: [0, 3, 0]
  boat:
    model: strider
    start: {position_world_m: [10, 0, 0]}
"""


@pytest.fixture(scope="module")
def mixed():
    served = Served(build(parse_document(MIXED, "mixed.yaml"), Path()))
    served.fly(0.01)
    yield served
    served.executor.__exit__()


@pytest.mark.slow
def test_drones_of_one_entry_show_gains_that_one_of_them_was_told(mixed):
    names = [name for name in mixed.node.gains if "drone" in name]
    one, other = names
    _, change = mixed.node.gains[one]
    change({"Wp": 1.5})
    shown(mixed)
    assert mixed.node.told[other][-1]["Wp"] == 1.5
    assert mixed.node.told[one][-1]["Wp"] == 1.5


def shown(served):
    """When all changes of gains have been shown."""
    served.bridge._gains._thread.submit(lambda: None).result(timeout=30.0)


@pytest.mark.slow
def test_what_is_shown_is_no_order_even_if_it_comes_late(mixed):
    one, other = (name for name in mixed.node.gains if "drone" in name)
    (_, change), (_, change_other) = mixed.node.gains[one], mixed.node.gains[other]

    def late(values):
        # as servers do, which tell whoever offered them; meanwhile somebody has changed it again
        mixed.node.told[other].append(change_other({**values, "Wp": 0.25}))

    offered = mixed.bridge._gains._offered["drone"]
    others = [
        (gains, show) if gains.vehicle != "drone-2" else (gains, late) for gains, show in offered
    ]
    before = offered[:]
    offered[:] = others
    try:
        change({"Wp": 1.75})
        shown(mixed)
    finally:
        offered[:] = before
    assert mixed.node.told[other][-1]["Wp"] == 1.75
    gains, _ = offered[0]
    assert gains.values(mixed.executor)["Wp"] == 1.75


def test_a_boat_keeps_no_commands_of_modes_that_it_cannot_fly(mixed):
    mixed.node.said.clear()
    thrust = {"thrust": 1.0, "torque": ZERO}
    mixed.hear("/boat/thrust_torque/command", **thrust)
    (said,) = mixed.node.said
    assert "'boat' cannot fly mode 5 (thrust_torque); it flies 1 (position_yaw)" in said
    assert mixed.ask("/boat/switch_mode", mode={"mode": 3}) == {}
    assert mixed.ask("/boat/get_mode") == {"mode": {"mode": 0}}


def test_a_boat_neither_takes_off_nor_lands(mixed):
    assert mixed.ask("/boat/takeoff", **TAKEOFF).reason == (
        "'boat' floats; it neither takes off nor lands"
    )
    assert "neither takes off nor lands" in mixed.ask("/boat/land", **LAND).reason


def test_a_flight_that_begins_anew_is_there_when_that_is_answered(mixed):
    session = mixed.session
    before = session.executor
    session.clock.paused = True
    with ThreadPoolExecutor(1) as pool:
        try:
            answer = pool.submit(mixed.ask, "/gazebo/reset_world")
            assert session._again.wait(10.0)
            time.sleep(0.1)
            assert not answer.done()
            session.begin_again()
            session.executor.begin(session.seed, 0)
            assert answer.result(timeout=120.0) == {}
        finally:
            session.close()
    assert session.executor is not before
    assert session.executor.ready
    assert session.clock.paused
    # what is refused before the first block as well
    assert mixed.ask("/boat/switch_mode", mode={"mode": 3}).reason.startswith("'boat' cannot fly")
    session.executor.__exit__()
    assert mixed.ask("/kittiwake/step")["message"] == "the flight is over"


def test_what_a_vehicle_is_cannot_be_tuned():
    scenario = load_scenario("hover-crazyflie")
    shown = {gain.name: gain for gain in LiveGains.of(scenario, "crazyflie").shown}
    assert shown["position__natural_frequency_radps"].value > 0.0
    facts = ("mass", "gravity", "max_thrust")
    assert not [name for name in shown if any(fact in name for fact in facts)]
