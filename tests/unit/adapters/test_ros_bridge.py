"""Bridge between a session and a fake ROS node that records messages and callbacks."""

import time
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.runtime.stepped_flight import SteppedFlight

from kittiwake.adapters.ros.bridge import Bridge, block_rate_hz
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
    """Fake node that records published messages, log messages and callbacks."""

    def __init__(self, version=1):
        self.version = version
        self.published, self.logged = {}, []
        self.subscriptions, self.services, self.gains = {}, {}, {}
        self.stopped = Event()

    def create_publisher(self, topic, type_name, *, latched=False):
        del type_name, latched
        self.published[topic] = []
        return self.published[topic].append

    def create_subscription(self, topic, type_name, callback):
        del type_name
        self.subscriptions[topic] = callback

    def create_service(self, name, type_name, callback):
        del type_name
        self.services[name] = callback

    def create_gain_server(self, namespace, gains, on_change):
        self.gains[namespace] = ({gain.name: gain for gain in gains}, on_change)
        self.published[namespace] = []
        return self.published[namespace].append

    def create_transform_broadcaster(self, *, static=False):
        return self.create_publisher("/tf_static" if static else "/tf", "")

    def withdraw(self, namespace):
        for parts in (self.published, self.subscriptions, self.services, self.gains):
            for name in [name for name in parts if name.startswith(f"{namespace}/")]:
                del parts[name]

    def info(self, text):
        self.logged.append(text)

    def close(self):
        pass

    warn = error = info


class Served(SteppedFlight):
    """Live flight of a session with a bridge and a fake node."""

    def __init__(self, scenario, version=1):
        self.node = Node(version)
        self.bridge = Bridge(self.node)
        self.session = Session(
            scenario, RealTimeClock(inf), self.bridge.publish_block, block_rate_hz(scenario.ros)
        )
        super().__init__(scenario, self.session.executor)
        self.settle()
        self.bridge.open(self.session)

    def publish(self, topic, **fields):
        self.node.subscriptions[topic](message(**fields))

    def call(self, name, **fields):
        return self.node.services[name](message(**fields))

    def position_m(self, vehicle):
        position = self.node.published[f"/{vehicle}/odometry"][-1]["pose"]["pose"]["position"]
        return [position[axis] for axis in "xyz"]


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
    """Both drones inactive at a height of 6 m, without recorded messages."""
    for number in (1, 2):
        flight.call(f"/drone{number}/switch_mode", mode={"mode": 0})
        set_model_state(flight, f"drone{number}", (0.0, 5.0 - 5.0 * number, 6.0))
    flight.fly(0.01)
    flight.node.logged.clear()
    for messages in flight.node.published.values():
        messages.clear()
    return flight


def set_model_state(flight, name, position):
    pose = {"position": dict(zip("xyz", position, strict=True)), "orientation": ZERO | {"w": 1.0}}
    state = {"model_name": name, "reference_frame": "", "pose": pose}
    return flight.call(
        "/gazebo/set_model_state", model_state=state | {"twist": {"linear": ZERO, "angular": ZERO}}
    )


def velocity(**given):
    return {"velocity": ZERO, "acceleration": ZERO, "yaw_rate": 0.0, "body_frame": False} | given


def position(**given):
    zeros = {"position": ZERO, "velocity": ZERO, "acceleration": ZERO}
    return zeros | {"yaw": 0.0, "yaw_rate": 0.0} | given


@pytest.mark.slow
def test_topics_have_their_rates(served):
    served.fly(1.0)
    published = served.node.published
    counts = {len(published[topic]) for topic in ("/drone1/odometry", "/tf", "/clock")}
    assert counts == {200}
    frames = {one["child_frame_id"] for one in published["/tf"][0]}
    assert frames == {"drone1", "drone2"}
    steps = np.diff([one["clock"] for one in published["/clock"]])
    assert set(steps) == {5_000_000}


@pytest.mark.slow
def test_odometry_can_be_published_at_every_step():
    overrides = ["ros.odometry_hz=1000", "time.rate_hz=1000"]
    served = Served(load_scenario("ros-drones", overrides))
    try:
        served.fly(0.1)
        stamps = [one["header"]["stamp"] for one in served.node.published["/drone1/odometry"]]
        # a nanosecond of rounding
        np.testing.assert_allclose(np.diff(stamps), 1e6, atol=1.0)
    finally:
        served.executor.__exit__()


@pytest.mark.slow
def test_get_model_state_returns_the_ground_truth(served):
    truths = served.node.published["/drone1/ground_truth/odometry"]
    before = len(truths)
    while len(truths) == before:  # ground truth is published less often than blocks are flown
        served.fly(0.005)
    truth = truths[-1]
    states = {
        name: served.call("/gazebo/get_model_state", model_name=name, relative_entity_name=frame)
        for name, frame in (("drone1", ""), ("drone2", "world"))
    }
    state = states["drone1"]
    assert state["success"]
    assert state["header"]["frame_id"] == "world"
    assert state["pose"] == truth["pose"]["pose"]
    assert state["twist"] == truth["twist"]["twist"]
    relative = served.call(
        "/gazebo/get_model_state", model_name="drone2", relative_entity_name="drone1"
    )
    assert relative["header"]["frame_id"] == "drone1"
    one, other = (states[name]["pose"]["position"] for name in ("drone1", "drone2"))
    expected_m = np.linalg.norm([other[axis] - one[axis] for axis in "xyz"])
    distance_m = np.linalg.norm([*relative["pose"]["position"].values()])
    assert distance_m == pytest.approx(expected_m, rel=1e-12)


@pytest.mark.parametrize("names", [("drone3", ""), ("drone1", "drone3")])
def test_get_model_state_refuses_unknown_models(served, names):
    model, relative = names
    response = served.call(
        "/gazebo/get_model_state", model_name=model, relative_entity_name=relative
    )
    assert "success" not in response
    assert "no model 'drone3'" in response["status_message"]


@pytest.mark.slow
def test_command_of_an_inactive_mode_is_stored_and_warned_about_once(served):
    up = velocity(velocity=ZERO | {"z": 1.0})
    for _ in range(3):
        served.publish("/drone1/velocity_yawrate/command", **up)
    (warning,) = served.node.logged
    assert "'drone1' is inactive; commands of velocity_yawrate are stored" in warning
    served.fly(0.1)
    assert served.position_m("drone1")[2] < 6.0
    assert served.call("/drone1/switch_mode", mode={"mode": 2}) == {"success": True}
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 2}}
    heights = []
    for _ in range(40):
        served.publish("/drone1/velocity_yawrate/command", **up)
        served.fly(0.1)
        heights.append(served.position_m("drone1")[2])
    assert heights[-1] - heights[-11] == pytest.approx(1.0, abs=0.1)
    # the other one falls
    assert served.position_m("drone2")[2] < 0.1


@pytest.mark.slow
def test_mode_without_a_command_follows_zeros(served):
    served.call("/drone2/switch_mode", mode={"mode": 1})
    served.fly(20.0)
    np.testing.assert_allclose(served.position_m("drone2"), [0.0, 0.0, 0.0], atol=0.05)


@pytest.mark.slow
def test_vehicle_holds_position_after_a_command_timeout(served):
    served.call("/drone1/switch_mode", mode={"mode": 2})
    served.publish("/drone1/velocity_yawrate/command", **velocity(velocity=ZERO | {"x": 1.0}))
    served.fly(TIMEOUT_S + 0.1)
    warning = served.node.logged[-1]
    assert len(served.node.logged) == 1, served.node.logged
    assert "received no velocity_yawrate command for 0.5 s; it holds its position" in warning
    held = served.position_m("drone1")
    served.fly(5.0)
    assert np.linalg.norm(np.subtract(served.position_m("drone1"), held)) < 1.0
    assert len(served.node.logged) == 1
    served.publish("/drone1/velocity_yawrate/command", **velocity(velocity=ZERO | {"x": 1.0}))
    assert served.executor.maneuvers["drone1"].held.velocity_world_mps.x == 1.0
    served.fly(0.4)
    assert len(served.node.logged) == 1


@pytest.mark.slow
def test_position_command_has_no_timeout(served):
    served.call("/drone1/switch_mode", mode={"mode": 1})
    served.publish("/drone1/position_yaw/command", **position(position=ZERO | {"z": 7.0}))
    served.fly(15.0)
    assert served.node.logged == []
    np.testing.assert_allclose(served.position_m("drone1"), [0.0, 0.0, 7.0], atol=0.02)


@pytest.mark.parametrize("number", [6, 99, -1])
def test_unknown_mode_keeps_the_current_mode(served, number):
    served.call("/drone1/switch_mode", mode={"mode": 2})
    assert served.call("/drone1/switch_mode", mode={"mode": number}) == {}
    served.publish("/drone1/switch_mode", mode=number)
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 2}}
    assert all(f"mode: got {number}; must be one of 0" in text for text in served.node.logged)
    assert len(served.node.logged) == 2


@pytest.mark.slow
def test_refused_command_keeps_the_previous_command(served):
    served.call("/drone1/switch_mode", mode={"mode": 1})
    served.publish("/drone1/position_yaw/command", **position(position=ZERO | {"z": 6.0}))
    bad = position(position=ZERO | {"z": float("nan")})
    for _ in range(3):
        served.publish("/drone1/position_yaw/command", **bad)
    (warning,) = served.node.logged
    prefix = "/drone1/position_yaw/command: position.z: got nan; must be from -1e+07 to 1e+07 m"
    assert prefix in warning
    served.fly(3.0)
    np.testing.assert_allclose(served.position_m("drone1"), [0.0, 0.0, 6.0], atol=0.1)


def test_set_model_state_reports_success_and_refusal(served):
    assert set_model_state(served, "drone1", (1.0, 2.0, 3.0)) == {"success": True}
    served.fly(0.02)
    np.testing.assert_allclose(served.position_m("drone1"), [1.0, 2.0, 3.0], atol=0.01)
    response = set_model_state(served, "drone1", (0.0, 0.0, 1e6))
    assert not response.get("success", False)
    assert "world.area.z_m" in response["status_message"]
    assert "world.area.z_m" in response.reason


def test_gains_change_their_controller_parameters(served):
    gains, change = served.node.gains["/drone1/gains"]
    assert [*gains] == ["Wp", "Xp", "Kv", "Wy", "Xy", "Ky", "Wa", "Xa", "Kw"]
    assert (gains["Wp"].low, gains["Wp"].high, gains["Xp"].high) == (0.0, 10.0, 5.0)
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
    assert len(served.node.logged) == 2
    assert "Wa: got 11; must be from 0 to 10" in served.node.logged[0]
    change({"Wa": 5.0})
    served.settle()


def cascade_of(served, vehicle):
    return served.executor.requested_scenario.vehicles[vehicle].cascade


@pytest.mark.slow
def test_mission_step_resumes_guidance(served):
    served.call("/drone1/switch_mode", mode={"mode": 1})
    # takes effect in the same block as the start of the step
    set_model_state(served, "drone1", (0.0, 0.0, 6.0))
    assert served.call("/drone1/mission/pursuit") == {"success": True}
    served.fly(2.0)
    assert "drone1" not in served.executor.maneuvers
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 0}}
    assert served.position_m("drone1")[1] > 0.5
    assert served.call("/drone1/mission/wait")["success"]


def joy(served, *buttons, axes=(0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)):
    served.publish("/joy", axes=axes, buttons=[int(number in buttons) for number in range(13)])


def test_gamepad_switches_modes_and_sends_commands(served):
    joy(served)
    joy(served, 1)
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 2}}
    for _ in range(10):
        joy(served, axes=(0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
        served.fly(0.1)
    assert served.position_m("drone1")[0] > 0.05
    # another node switches the mode, and the sticks do not switch it back
    served.call("/drone1/switch_mode", mode={"mode": 1})
    joy(served, axes=(0.0, 0.9, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 1}}
    joy(served, 12)
    served.fly(0.01)
    np.testing.assert_allclose(served.position_m("drone1"), [0.0, 0.0, 1.0], atol=0.01)
    joy(served, 5)
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 0}}
    joy(served, 8)
    assert served.session.restart_requested
    served.publish("/joy", axes=(float("nan"),), buttons=[])
    assert "axes: got [nan]; must be finite numbers" in served.node.logged[-1]


def test_triggers_of_a_gamepad_take_off_and_land(served):
    joy(served)
    joy(served, axes=(0.0, 0.0, 1.0, 0.0, 0.0, -1.0))
    maneuver = served.executor.maneuvers["drone1"]
    assert maneuver.description == "takes off along a ramp by 2 m"
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 1}}
    joy(served, axes=(0.0, 0.0, -1.0, 0.0, 0.0, 1.0))
    assert served.executor.maneuvers["drone1"].description == "lands along a ramp"


def test_time_can_be_paused_stepped_and_scaled(served):
    clock = served.session.clock
    assert "call /gazebo/pause_physics first" in served.call("/kittiwake/step")["message"]
    served.call("/gazebo/pause_physics")
    assert clock.paused
    assert served.call("/kittiwake/step") == {"success": True}
    served.call("/gazebo/unpause_physics")
    assert not clock.paused
    served.publish("/kittiwake/real_time_factor", data=2.0)
    assert clock.speed == 2.0
    served.publish("/kittiwake/real_time_factor", data=-1.0)
    assert clock.speed == 2.0
    assert "`speed`: got -1.0; must be above 0" in served.node.logged[-1]


def call_while_flying(served, name, meanwhile=lambda: None, **fields):
    """Fly until a service responds, and return its response."""
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(served.call, name, **fields)
        for _ in range(400):
            if response.done():
                break
            meanwhile()
            served.fly(0.1)
            # the service polls its ramp
            time.sleep(0.03)
        return response.result(timeout=10.0)


TAKEOFF = {"force_takeoff": False, "height": 2.0, "takeoff_time": 4.0, "idle_time": 6.0}
LAND = {"force_landing": False, "land_time": 4.0, "idle_time": 6.0, "maximum_residual": 0.3}


@pytest.mark.slow
def test_position_commands_do_not_end_a_ramp(served):
    set_model_state(served, "drone1", (0.0, 0.0, 0.002))
    away = position(position={"x": 50.0, "y": 0.0, "z": 0.0})

    def send():
        served.publish("/drone1/position_yaw/command", **away)

    up = call_while_flying(served, "/drone1/takeoff", send, **TAKEOFF)
    assert up["success"]
    assert up["residual"] < 0.3
    (warning,) = served.node.logged
    assert "commands of position_yaw are stored until it ends" in warning
    assert abs(served.position_m("drone1")[0]) < 1.0
    assert served.call("/drone1/takeoff", **TAKEOFF) == {}
    assert "'drone1' is position_yaw, not inactive" in served.node.logged[-1]
    down = call_while_flying(served, "/drone1/land", send, **LAND)
    assert down == {"landed_forcefully": False, "success": True}
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 0}}
    assert served.call("/drone1/land", **LAND) == {}
    assert "its motors are off already" in served.node.logged[-1]


def test_switching_the_mode_ends_a_ramp(served):
    def switch():
        served.call("/drone1/switch_mode", mode={"mode": 2})

    assert call_while_flying(served, "/drone1/takeoff", switch, **TAKEOFF) == {}
    assert served.call("/drone1/get_mode") == {"mode": {"mode": 2}}


def test_takeoff_under_guidance_requires_force(served):
    set_model_state(served, "drone1", (0.0, 0.0, 6.0))
    served.call("/drone1/mission/pursuit")
    served.fly(2.0)
    assert served.call("/drone1/takeoff", **TAKEOFF) == {}
    assert "'drone1' is under guidance, not inactive" in served.node.logged[-1]
    served.call("/drone1/mission/wait")


TWO_DRONES = """
name: two-drones
time: {rate_hz: 200, duration_s: 60}
vehicles:
  drone:
    model: uav-gazebo
    controller: [position, uav-gazebo-velocity, euler-attitude]
    guidance: {type: mission, steps: [{do: idle}]}
    count: 2
    spacing_m: [0, 3, 0]
"""

BOAT = """
name: boat
time: {rate_hz: 200, duration_s: 60}
vehicles:
  boat:
    model: strider
    start: {position_world_m: [10, 0, 0]}
"""


@pytest.fixture(scope="module")
def drones():
    served = Served(build(parse_document(TWO_DRONES, "two-drones.yaml"), Path()))
    served.fly(0.01)
    yield served
    served.executor.__exit__()


@pytest.fixture(scope="module")
def boat():
    served = Served(build(parse_document(BOAT, "boat.yaml"), Path()))
    served.fly(0.01)
    yield served
    served.executor.__exit__()


@pytest.mark.slow
def test_drones_of_one_entry_display_a_change_of_gains(drones):
    names = [name for name in drones.node.gains if "drone" in name]
    one, other = names
    _, change = drones.node.gains[one]
    change({"Wp": 1.5})
    wait_until_displayed(drones)
    assert drones.node.published[other][-1]["Wp"] == 1.5
    assert drones.node.published[one][-1]["Wp"] == 1.5


def wait_until_displayed(served):
    """Wait until all changes of gains have been displayed."""
    served.bridge._gains._thread.submit(lambda: None).result(timeout=30.0)


@pytest.mark.slow
def test_displayed_gains_are_not_taken_as_requests(drones):
    one, other = (name for name in drones.node.gains if "drone" in name)
    (_, change), (_, change_other) = drones.node.gains[one], drones.node.gains[other]

    def late(values):
        # servers report displayed values as a change; meanwhile the value was changed again
        drones.node.published[other].append(change_other({**values, "Wp": 0.25}))

    offered = drones.bridge._gains._offered["drone"]
    others = [
        (gains, display) if gains.vehicle != "drone-2" else (gains, late)
        for gains, display in offered
    ]
    before = offered[:]
    offered[:] = others
    try:
        change({"Wp": 1.75})
        wait_until_displayed(drones)
    finally:
        offered[:] = before
    assert drones.node.published[other][-1]["Wp"] == 1.75
    gains, _ = offered[0]
    assert gains.values(drones.executor)["Wp"] == 1.75


@pytest.mark.slow
def test_command_of_an_unsupported_mode_is_refused(boat):
    boat.node.logged.clear()
    thrust = {"thrust": 1.0, "torque": ZERO}
    boat.publish("/boat/thrust_torque/command", **thrust)
    (warning,) = boat.node.logged
    assert "'boat' cannot fly mode 5 (thrust_torque); it accepts 1 (position_yaw)" in warning
    assert boat.call("/boat/switch_mode", mode={"mode": 3}) == {}
    assert boat.call("/boat/get_mode") == {"mode": {"mode": 0}}


@pytest.mark.slow
def test_boat_can_neither_take_off_nor_land(boat):
    assert boat.call("/boat/takeoff", **TAKEOFF).reason == (
        "'boat' floats; it can neither take off nor land"
    )
    assert "can neither take off nor land" in boat.call("/boat/land", **LAND).reason


def test_reset_world_returns_when_the_next_flight_is_ready(boat):
    session = boat.session
    before = session.executor
    session.clock.paused = True
    with ThreadPoolExecutor(1) as pool:
        try:
            answer = pool.submit(boat.call, "/gazebo/reset_world")
            assert session._restart.wait(10.0)
            time.sleep(0.1)
            assert not answer.done()
            session.prepare_restart()
            session.executor.begin(session.seed, 0)
            assert answer.result(timeout=120.0) == {}
        finally:
            session.close()
    assert session.executor is not before
    assert session.executor.ready
    assert session.clock.paused
    # commands are checked before the first block, too
    assert boat.call("/boat/switch_mode", mode={"mode": 3}).reason.startswith("'boat' cannot fly")
    session.executor.__exit__()
    assert boat.call("/kittiwake/step")["message"] == "the flight has ended"


def test_vehicle_parameters_are_not_gains():
    scenario = load_scenario("hover-crazyflie")
    gains = {gain.name: gain for gain in LiveGains.of_vehicle(scenario, "crazyflie").gains}
    assert gains["position__natural_frequency_radps"].value > 0.0
    vehicle_parameters = ("mass", "gravity", "max_thrust")
    assert not [name for name in gains if any(one in name for one in vehicle_parameters)]
