"""Vehicles that ROS nodes add to a served flight and remove, with a fake node."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.unit.adapters.test_ros_bridge import ZERO, Served, message
from tests.unit.scenario.test_described_vehicle import URDF

from kittiwake.adapters.ros.model_services import ModelServices
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.vehicle_changes import MAX_ADDED_TO

NO_ROTATION = ZERO | {"w": 0.0}


def spawn(served, name="gull", text=URDF, position=(0.0, 5.0, 6.0), **others):
    pose = {"position": dict(zip("xyz", position, strict=True)), "orientation": NO_ROTATION}
    fields = {"robot_namespace": "", "reference_frame": "", "initial_pose": pose} | others
    if served.node.version == 1:
        return served.call("/gazebo/spawn_urdf_model", model_name=name, model_xml=text, **fields)
    return served.node.services["/spawn_entity"](message(name=name, xml=text, **fields))


def delete(served, name):
    if served.node.version == 1:
        return served.call("/gazebo/delete_model", model_name=name)
    return served.node.services["/delete_entity"](message(name=name))


def while_flying(served, request):
    """Return the response to a request that waits for the flight."""
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(request)
        while not response.done():
            served.fly(0.01)
            served.settle()
    served.fly(0.1)
    return response.result()


@pytest.fixture(scope="module")
def flight():
    served = Served(load_scenario("ros-drones", ["time.rate_hz=200", "time.duration_s=60"]))
    # the services of both versions, where a node has those of its own
    served.node.version = 2
    models = ModelServices(served.session, lambda: served.bridge._models)
    models.open(served.bridge._endpoints)
    served.fly(0.02)
    yield served
    served.bridge.close()
    served.executor.__exit__()


@pytest.fixture(params=[1, 2])
def served(flight, request):
    flight.node.version = request.param
    return flight


@pytest.mark.slow
def test_added_vehicle_has_topics_and_flies_by_them_and_vanishes_when_removed(served):
    node = served.node
    before = {*node.published, *node.services, *node.subscriptions, *node.gains}
    name = f"gull{node.version}"
    assert while_flying(served, lambda: spawn(served, name)) == {"success": True}
    assert served.position_m(name) == pytest.approx([0.0, 5.0, 6.0], abs=2.0)
    own = {*node.published, *node.services, *node.subscriptions, *node.gains} - before
    of_drone = {one for one in before if one.startswith("/drone1/")}
    # the mission of a drone of a URDF has one step
    missions = {one for one in own | of_drone if "/mission/" in one}
    assert {one.replace(name, "drone1") for one in own - missions} == of_drone - missions
    assert name in {one["child_frame_id"] for one in node.published["/tf"][-1]}
    state = served.call("/gazebo/get_model_state", model_name=name, relative_entity_name="")
    assert state["success"]
    assert served.call(f"/{name}/get_mode") == {"mode": {"mode": 0}}
    assert served.call(f"/{name}/switch_mode", mode={"mode": 2}) == {"success": True}
    served.fly(0.1)
    assert while_flying(served, lambda: delete(served, name)) == {"success": True}
    assert {*node.published, *node.services, *node.subscriptions, *node.gains} == before
    gone = served.call("/gazebo/get_model_state", model_name=name, relative_entity_name="")
    assert f"no model '{name}'" in gone["status_message"]
    assert name not in {one["child_frame_id"] for one in node.published["/tf"][-1]}
    again = spawn(served, name)
    assert "name of a vehicle of this flight" in again["status_message"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "drone1"}, "'drone1' is taken"),
        ({"name": "gazebo"}, "'gazebo' is taken"),
        ({"name": "a/b"}, "`NAME`: got 'a/b'; must begin with a letter"),
        ({"name": "/gazebo"}, "must begin with a letter"),
        ({"name": "a-b"}, "must begin with a letter"),
        ({"name": ""}, "must begin with a letter"),
        ({"name": "x" * 10**6}, "must begin with a letter"),
        ({"text": "pelikan"}, "Did you mean"),
        ({"text": "<sdf/>"}, "a URDF file begins with <robot>"),
        ({"text": "{model: uav-gazebo, parameters: {urdf: /etc/passwd}}"}, "no file is read"),
        ({"position": (1e308, 0.0, 1.0)}, "position.x: got 1e+308; must be from"),
        ({"position": (float("nan"), 0.0, 1.0)}, "position.x: got nan"),
        ({"position": (0.0, 0.0, -50.0)}, "below the ground"),
        ({"reference_frame": "drone1"}, "reference_frame: got 'drone1'"),
        ({"robot_namespace": "/other"}, "`robot_namespace`: got '/other'; must be empty or 'new'"),
    ],
)
def test_refusals_are_one_message_and_change_nothing(served, changes, reason):
    arguments = {"name": "new"} | changes
    served.node.logged.clear()
    field = "model_name" if served.node.version == 1 else "name"
    response = spawn(served, **arguments)
    assert "success" not in response
    assert reason.replace("NAME", field) in response["status_message"]
    assert len(response["status_message"]) < 1000
    assert len(served.node.logged) == 1
    assert [*served.executor.requested_scenario.vehicles] == ["drone1", "drone2"]


def test_orientations_must_be_unit_quaternions(served):
    pose = {"position": ZERO, "orientation": NO_ROTATION | {"w": 2.0}}
    assert "got norm 2" in spawn(served, "new", initial_pose=pose)["status_message"]


def test_unknown_and_last_vehicles_are_not_removed(served):
    assert "no model 'drome1'. Did you mean" in delete(served, "drome1")["status_message"]
    names = [*served.executor.requested_scenario.vehicles]
    assert names == ["drone1", "drone2"]


def test_a_flight_has_a_limited_number_of_vehicles(served, monkeypatch):
    monkeypatch.setattr("kittiwake.scenario.vehicle_changes.MAX_ADDED_TO", 2)
    assert "other programs may add one" in spawn(served, "new")["status_message"]
    assert MAX_ADDED_TO == 200


@pytest.mark.slow
def test_others_keep_their_bits_while_vehicles_come_and_go():
    overrides = ["time.rate_hz=200", "time.duration_s=60"]
    flights = [Served(load_scenario("ros-drones", overrides)) for _ in range(2)]
    for served in flights:
        served.call("/drone1/switch_mode", mode={"mode": 1})
        served.fly(0.1)
    quiet, busy = flights
    text = "{model: hummingbird, controller: lee}"
    assert while_flying(busy, lambda: spawn(busy, text=text))["success"]
    busy.fly(0.5)
    assert while_flying(busy, lambda: delete(busy, "gull"))["success"]
    busy.fly(0.5)
    quiet.fly((busy.tick - quiet.tick) / 200)
    for name in ("drone1", "drone2"):
        topic = f"/{name}/odometry"
        one, other = (flight.node.published[topic] for flight in flights)
        assert one == other
    for served in flights:
        served.executor.__exit__()


@pytest.mark.slow
def test_first_vehicle_can_be_removed_but_not_the_last():
    served = Served(load_scenario("ros-drones", ["time.rate_hz=200", "time.duration_s=60"]))
    try:
        served.fly(0.02)
        assert while_flying(served, lambda: delete(served, "drone1"))["success"]
        assert "last vehicle" in delete(served, "drone2")["status_message"]
        # the gamepad flies the next one
        buttons = {"axes": (0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)}
        served.publish("/joy", **buttons, buttons=[0] * 13)
        served.publish("/joy", **buttons, buttons=[int(number == 1) for number in range(13)])
        assert served.call("/drone2/get_mode") == {"mode": {"mode": 2}}
    finally:
        served.executor.__exit__()


@pytest.mark.slow
def test_paused_flight_takes_a_vehicle_with_its_next_step():
    served = Served(load_scenario("ros-drones", ["time.rate_hz=200", "time.duration_s=60"]))
    try:
        served.fly(0.02)
        served.session.clock.paused = True
        response = spawn(served, text="pelican", position=(0.0, 0.0, 0.0))
        assert response["success"]
        assert "paused" in response["status_message"]
        served.session.clock.paused = False
        served.fly(0.02)
        served.bridge._changes.submit(lambda: None).result()
        served.fly(0.02)
        assert served.node.logged == []
        # no pose: it stands on its landing gear at the origin
        assert np.hypot(*served.position_m("gull")[:2]) < 0.1
        assert abs(served.position_m("gull")[2]) < 0.5
    finally:
        served.executor.__exit__()
