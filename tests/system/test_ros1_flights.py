"""Acceptance tests of uav_gazebo, and more, with two drones served to ROS 1 nodes."""

import numpy as np
import pytest
from tests.system.ros1_master import needs_ros1, running_master
from tests.system.ros_flights import (
    FLY,
    QW,
    QX,
    TIME,
    VX,
    VY,
    VZ,
    WX,
    WY,
    WZ,
    X,
    Y,
    Z,
    rise_time_s,
    settling_time_s,
)

pytestmark = [pytest.mark.ros, needs_ros1]

# real-time factor, and edge of the area of ros-drones
FACTOR = 4.0
EDGE_M = 200.0


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    with running_master(tmp_path_factory.mktemp("ros1")) as master:
        yield master


@pytest.fixture(scope="module")
def served(ros, tmp_path_factory):
    """Two served drones on the ground."""
    out = tmp_path_factory.mktemp("served") / "run"
    command = ("-m", "kittiwake", "serve", "ros-drones", "--ros1", "--speed", FACTOR)
    command = (*command, "--out", out, "--quiet")
    with ros.ours(*command) as process:
        line = process.stderr.readline()
        while line and not line.startswith("flying"):
            line = process.stderr.readline()
        assert line == "flying ros-drones: drone1, drone2\n"
        yield ros


@pytest.fixture
def fly(served):
    """Run code of a node with the helpers of ``FLY``."""

    def run(code, within_s=120.0):
        return served.peer(FLY + code, within_s)

    return run


@pytest.mark.slow
def test_position_step_is_critically_damped(fly):
    rows = np.array(
        fly("""
drone = Drone("drone1")
message = PositionYawControl(); message.position.z = 7.0
answer = drone.flown((0.0, 0.0, 6.0), 1, "position_yaw", message, 14.0)
""")
    )
    assert settling_time_s(rows, rows[:, Z] - 7.0) == pytest.approx(11.7, abs=0.15)
    assert rows[:, Z].max() < 7.0 + 1e-3
    # no message is lost, and each axis of the twist is right
    np.testing.assert_allclose(np.diff(rows[:, TIME]), 0.005, atol=1e-6)
    np.testing.assert_allclose(
        np.gradient(rows[:, Z], rows[:, TIME])[2:-2], rows[2:-2, VZ], atol=5e-3
    )
    np.testing.assert_allclose(rows[:, [X, Y, VX, VY]], 0.0, atol=1e-6)


@pytest.mark.slow
def test_velocity_step_matches_its_gain(fly):
    rows = np.array(
        fly("""
drone = Drone("drone1")
message = VelocityYawRateControl(); message.velocity.x = 1.0; message.yaw_rate = 0.4
answer = drone.flown((0.0, 0.0, 6.0), 2, "velocity_yawrate", message, 6.0)
""")
    )
    # the drone has to tilt first, so that the acceleration lags and then catches up
    assert rise_time_s(rows, rows[:, VX], 1.0) == pytest.approx(1.0, abs=0.25)
    assert rows[-1, VX] == pytest.approx(1.0, abs=0.02)
    assert rise_time_s(rows, rows[:, WZ], 0.4) == pytest.approx(0.5, abs=0.02)
    up = np.array(
        fly("""
drone = Drone("drone1")
message = VelocityYawRateControl(); message.velocity.z = 1.0
answer = drone.flown((0.0, 0.0, 6.0), 2, "velocity_yawrate", message, 2.0)
""")
    )
    assert rise_time_s(up, up[:, VZ], 1.0) == pytest.approx(1.0, abs=0.01)


def test_attitude_step_has_no_overshoot(fly):
    rows = np.array(
        fly("""
drone = Drone("drone1")
message = ThrustAttitudeControl(thrust=9.81); message.attitude.x = 0.2
answer = drone.flown((0.0, 0.0, 50.0), 3, "thrust_attitude", message, 2.0)
""")
    )
    roll_rad = 2.0 * np.arctan2(rows[:, QX], rows[:, QW])
    assert settling_time_s(rows, roll_rad - 0.2) == pytest.approx(1.167, abs=0.015)
    assert roll_rad.max() < 0.2 + 1e-4


@pytest.mark.slow
def test_rates_and_torques_are_in_world_axes(fly):
    prelude = """
drone = Drone("drone1")
state = ModelState(model_name="drone1")
state.pose.position.z = 50.0
# the nose to the left
state.pose.orientation.w = state.pose.orientation.z = 0.5 ** 0.5
def flown(mode, topic, message, seconds):
    pause()
    assert service("/gazebo/set_model_state", SetModelState)(state).success
    drone.command(topic, message)
    assert drone.switch(mode)
    drone.begin()
    drone.until(seconds)
    drone.recording = False
    return drone.rows
"""
    rows = np.array(
        fly(
            prelude
            + """
message = ThrustVelocityControl(thrust=9.81); message.velocity.x = 0.5
answer = flown(4, "thrust_velocity", message, 1.0)
"""
        )
    )
    assert rise_time_s(rows, rows[:, WX], 0.5) == pytest.approx(0.286, abs=0.01)
    np.testing.assert_allclose(rows[:, [WY, WZ]], 0.0, atol=2e-3)
    rows = np.array(
        fly(
            prelude
            + """
message = ThrustTorqueControl(thrust=9.81); message.torque.x = 3e-3
answer = flown(5, "thrust_torque", message, 0.4)
"""
        )
    )
    at = rows[:, TIME]
    np.testing.assert_allclose(rows[:, WX], at, atol=0.01)
    np.testing.assert_allclose(rows[:, [WY, WZ]], 0.0, atol=2e-3)


@pytest.mark.parametrize(
    ("mode", "thrust_n", "falls_mps2"), [(0, 0.0, 9.81), (5, 9.81, 0.0), (5, -5.0, 9.81)]
)
@pytest.mark.slow
def test_thrust_balances_weight_and_zero_thrust_falls(fly, mode, thrust_n, falls_mps2):
    rows = np.array(
        fly(f"""
drone = Drone("drone1")
message = ThrustTorqueControl(thrust={thrust_n})
answer = drone.flown((0.0, 0.0, 50.0), {mode}, "thrust_torque", message, 1.0)
""")
    )
    at = rows[:, TIME]
    np.testing.assert_allclose(rows[:, VZ], -falls_mps2 * at, atol=0.06)


@pytest.mark.slow
def test_takeoff_and_landing_match_uav_gazebo(fly):
    found = fly(
        """
drone = Drone("drone1")
pause(); drone.switch(0); drone.place(0.0, 0.0, 0.002); drone.begin()
takeoff, land = service("/drone1/takeoff", Takeoff), service("/drone1/land", Land)
start = drone.rows[-1][0]
up = takeoff(False, 6.0, 0.0, 0.0)
at_end = drone.rows[-1]
refused = takeoff(False, 1.0, 0.0, 0.0).success
drone.until(drone.rows[-1][0] - drone.rows[0][0] + 5.0)
settled = drone.rows[-1][3]
too_far = land(False, 2.0, 0.0, 0.01)
after_failure = drone.mode()
drone.until(drone.rows[-1][0] - drone.rows[0][0] + 10.0)
down = land(False, 4.0, 5.0, 0.5)
answer = dict(success=up.success, residual=up.residual, ramp=at_end[0] - start, z=at_end[3],
              refused=refused, settled=settled, too_far=too_far.success, kept=after_failure,
              down=down.success, forced=down.landed_forcefully, mode=drone.mode())
""",
        within_s=240.0,
    )
    assert found["success"]
    assert found["ramp"] == pytest.approx(24.0, abs=0.6)
    assert found["residual"] == pytest.approx(0.22, abs=0.02)
    assert found["z"] == pytest.approx(5.78, abs=0.05)
    assert not found["refused"]
    assert found["settled"] == pytest.approx(6.0, abs=0.05)
    assert not found["too_far"]
    assert found["kept"] == 1
    assert found["down"]
    assert not found["forced"]
    assert found["mode"] == 0


@pytest.mark.slow
def test_gains_change_the_response_of_one_drone_only(fly):
    found = fly(
        """
from dynamic_reconfigure.client import Client
client = Client("/drone1/gains", timeout=10.0)
before = client.get_configuration()
client.update_configuration({"Wp": 1.0})
time.sleep(2.0)
message = PositionYawControl(); message.position.z = 7.0
one, two = Drone("drone1"), Drone("drone2")
first = one.flown((0.0, 0.0, 6.0), 1, "position_yaw", message, 9.0)
client.update_configuration({"Wp": 0.5})
message.position.y = -5.0
second = two.flown((0.0, -5.0, 6.0), 1, "position_yaw", message, 14.0)
answer = dict(before={k: before[k] for k in ("Wp", "Xp", "Kv", "Wy", "Xy", "Ky", "Wa", "Xa", "Kw")},
              first=first, second=second)
""",
        within_s=240.0,
    )
    assert found["before"] == {
        **{"Wp": 0.5, "Xp": 1.0, "Kv": 1.0, "Wy": 1.5, "Xy": 1.0},
        **{"Ky": 2.0, "Wa": 5.0, "Xa": 1.0, "Kw": 3.5},
    }
    one, two = np.array(found["first"]), np.array(found["second"])
    # twice as fast
    assert settling_time_s(one, one[:, Z] - 7.0) == pytest.approx(5.83, abs=0.1)
    assert settling_time_s(two, two[:, Z] - 7.0) == pytest.approx(11.7, abs=0.15)


@pytest.mark.slow
def test_malformed_requests_are_refused_and_change_nothing(fly):
    found = fly("""
drone = Drone("drone1")
message = PositionYawControl(); message.position.z = 7.0
drone.flown((0.0, 0.0, 7.0), 1, "position_yaw", message, 1.0)
drone.begin()
wrong = PositionYawControl(); wrong.position.z = float("nan")
drone.command("position_yaw", wrong)
wrong = VelocityYawRateControl(yaw_rate=float("inf"))
drone.command("velocity_yawrate", wrong)
modes = [drone.switch(9), drone.switch(200)]
publisher("/drone1/switch_mode", ControlMode).publish(ControlMode(77))
state = ModelState(model_name="drone1"); state.pose.orientation.w = 2.0
places = [service("/gazebo/set_model_state", SetModelState)(state)]
state = ModelState(model_name="nobody"); state.pose.orientation.w = 1.0
places.append(service("/gazebo/set_model_state", SetModelState)(state))
state = ModelState(model_name="drone1"); state.pose.orientation.w = 1.0
state.pose.position.z = 1e6
places.append(service("/gazebo/set_model_state", SetModelState)(state))
heights = service("/drone1/takeoff", Takeoff)(True, -1.0, 0.0, 0.0).success
drone.until(2.0)
answer = dict(modes=modes, places=[[p.success, p.status_message] for p in places], heights=heights,
              mode=drone.mode(), rows=drone.rows)
""")
    assert found["modes"] == [False, False]
    reasons = [reason for done, reason in found["places"] if not done]
    assert len(reasons) == 3
    assert "norm 2" in reasons[0]
    assert "no model 'nobody'" in reasons[1]
    assert "z_m" in reasons[2]
    assert found["heights"] is False
    assert found["mode"] == 1
    rows = np.array(found["rows"])
    np.testing.assert_allclose(
        rows[:, [X, Y, Z]], np.tile([0.0, 0.0, 7.0], (len(rows), 1)), atol=0.01
    )


@pytest.mark.slow
def test_gamepad_flies_places_and_stops_motors(fly):
    found = fly("""
drone = Drone("drone1")
joy = publisher("/joy", Joy)
def pressed(*buttons, axes=(0, 0, 1, 0, 0, 1, 0, 0)):
    joy.publish(Joy(axes=axes, buttons=[int(n in buttons) for n in range(13)]))
    time.sleep(0.2)
service("/gazebo/unpause_physics", Empty)()
pressed()
pressed(1)
pressed(11)
drone.begin()
first = drone.rows[0]
for _ in range(20):
    pressed(axes=(0, 1, 1, 0, 0, 1, 0, 0))
ahead, mode = drone.rows[-1], drone.mode()
pressed(5)
answer = dict(first=first, ahead=ahead, mode=mode, dropped=drone.mode())
""")
    assert found["first"][Z] == pytest.approx(6.0, abs=0.1)
    assert found["mode"] == 2
    assert found["ahead"][VX] > 0.3
    assert found["dropped"] == 0


@pytest.mark.slow
def test_world_can_be_paused_stepped_sped_up_and_reset(fly):
    found = fly(
        """
from rosgraph_msgs.msg import Clock
ticks = []
rospy.Subscriber("/clock", Clock, lambda m: ticks.append(m.clock.to_sec()), queue_size=5000)
speed = publisher("/kittiwake/real_time_factor", Float64)
service("/gazebo/unpause_physics", Empty)()
speed.publish(0.2); time.sleep(0.3)
def elapsed(seconds):
    start = ticks[-1]; time.sleep(seconds); return ticks[-1] - start
slow = elapsed(2.0)
speed.publish(FACTOR)
drone = Drone("drone1"); drone.place(3.0, 3.0, 3.0)
pause()
paused = elapsed(0.5)
service("/kittiwake/step", Trigger)(); time.sleep(0.3)
stepped = elapsed(0.0) + ticks[-1] - ticks[-2]
before = ticks[-1]
service("/gazebo/reset_world", Empty)()
time.sleep(0.3)
# the previous flight makes one more step
still_paused = ticks[-1] - before < 0.006
drone.begin()
time.sleep(0.3)
answer = dict(slow=slow, paused=paused, stepped=stepped, before=before, after=ticks[-1],
              still_paused=still_paused, place=drone.rows[-1][1:4], mode=drone.mode())
""".replace("FACTOR", str(FACTOR))
    )
    assert found["slow"] == pytest.approx(0.4, abs=0.15)
    assert found["paused"] == 0.0
    assert found["stepped"] == pytest.approx(0.005, abs=1e-6)
    assert found["still_paused"]
    assert found["after"] < found["before"]
    np.testing.assert_allclose(found["place"], [0.0, 0.0, 0.002], atol=0.01)
    assert found["mode"] == 0


@pytest.mark.slow
def test_failed_flight_waits_for_a_reset(fly):
    found = fly(
        """
from rosgraph_msgs.msg import Log
errors = []
rospy.Subscriber("/rosout", Log, lambda m: m.level == Log.ERROR and errors.append(m.msg))
drone = Drone("drone1")
state = ModelState(model_name="drone1")
state.pose.position.x, state.pose.position.z = EDGE - 1.0, 10.0
state.pose.orientation.w, state.twist.linear.x = 1.0, 10.0
service("/gazebo/set_model_state", SetModelState)(state)
end = time.time() + 20.0
while not errors and time.time() < end:
    time.sleep(0.02)
refused = service("/drone1/resume_guidance", Trigger)()
service("/gazebo/reset_world", Empty)()
drone.begin()
answer = dict(errors=errors, refused=refused.message, place=drone.rows[-1][1:4])
""".replace("EDGE", str(EDGE_M))
    )
    (error,) = found["errors"]
    assert error.startswith("the flight has failed: ")
    assert "drone1" in error
    assert error.endswith("Restart with /gazebo/reset_world")
    assert found["refused"] == "the flight has ended; restart it"
    np.testing.assert_allclose(found["place"], [0.0, 0.0, 0.002], atol=0.01)


@pytest.mark.slow
def test_commands_affect_only_their_own_drone(fly):
    found = fly("""
one, two = Drone("drone1"), Drone("drone2")
pause()
for drone, y in ((one, 0.0), (two, -5.0)):
    drone.switch(0); drone.place(0.0, y, 5.0)
stay = PositionYawControl(); stay.position.y, stay.position.z = -5.0, 5.0
two.command("position_yaw", stay); two.switch(1)
away = VelocityYawRateControl(); away.velocity.x = 1.0
one.command("velocity_yawrate", away); one.switch(2)
two.begin(); one.begin(); one.until(4.0); two.until(4.0)
answer = [one.rows[-1], two.rows[-1], one.mode(), two.mode()]
""")
    one, two, *modes = found
    assert one[X] > 2.0
    np.testing.assert_allclose(two[X : Z + 1], [0.0, -5.0, 5.0], atol=0.01)
    assert modes == [2, 1]


@pytest.mark.slow
def test_transforms_match_odometry_and_static_ones_are_latched(fly):
    found = fly("""
stamps = {"odometry": [], "frames": []}
def on_transforms(m):
    own = [t for t in m.transforms if t.child_frame_id == "drone1"]
    stamps["frames"] += [t.header.stamp.to_sec() for t in own]
service("/gazebo/unpause_physics", Empty)()
rospy.Subscriber("/drone1/odometry", Odometry,
                 lambda m: stamps["odometry"].append(m.header.stamp.to_sec()), queue_size=1000)
rospy.Subscriber("/tf", TFMessage, on_transforms, queue_size=1000)
time.sleep(3.0)
static = receive("/tf_static", TFMessage)
from visualization_msgs.msg import MarkerArray
obstacles = receive("/obstacles", MarkerArray)
m = receive("/drone1/odometry", Odometry)
answer = dict(stamps=stamps, frames=[m.header.frame_id, m.child_frame_id],
              static=len(static.transforms), obstacles=len(obstacles.markers))
""")
    for stamps in found["stamps"].values():
        # the median, since some messages may be lost
        assert np.median(np.diff(stamps)) == pytest.approx(0.005, abs=1e-6)
        assert len(stamps) > 100
    assert found["frames"] == ["world", "drone1"]
    assert (found["static"], found["obstacles"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "radius_m", "lag_deg", "error_m"),
    [((), 1.109, 63.8, 1.119), (("--acceleration",), 1.05, 0.0, 0.064)],
)
def test_example_flies_its_circle(served, fly, options, radius_m, lag_deg, error_m):
    control = ("-m", "kittiwake.adapters.ros.nodes.example_control", "--namespace", "drone1")
    with served.ours(*control, *options):
        rows = np.array(
            fly(
                """
drone = Drone("drone1")
goal, answer = [], []
def on_command(m):
    goal[:] = [m.position.x, m.position.y]
rospy.Subscriber("/drone1/position_yaw/command", PositionYawControl, on_command, queue_size=1)
# the node sends a position every 10 ms of wall time
speed = publisher("/kittiwake/real_time_factor", Float64)
speed.publish(1.0)
pause(); drone.switch(0); drone.place(1.0, 0.0, 1.0)
assert drone.switch(1)
drone.begin()
start = drone.rows[0][0]
drone.until(30.0)
while drone.rows[-1][0] < start + 40.0:
    row = drone.rows[-1]
    answer.append([row[1], row[2], *goal])
    time.sleep(0.002)
speed.publish(FACTOR)
""".replace("FACTOR", str(FACTOR)),
                within_s=300.0,
            )
        )
    radius = np.hypot(rows[:, 0], rows[:, 1]).mean()
    lag = np.unwrap(np.arctan2(rows[:, 3], rows[:, 2]) - np.arctan2(rows[:, 1], rows[:, 0]))
    assert radius == pytest.approx(radius_m, abs=0.02)
    assert np.degrees(lag.mean()) == pytest.approx(lag_deg, abs=3.0)
    assert np.hypot(*(rows[:, :2] - rows[:, 2:]).T).mean() == pytest.approx(error_m, abs=0.05)


@pytest.mark.slow
def test_pursuit_passes_its_waypoints(fly):
    rows = np.array(
        fly(
            """
drone = Drone("drone1")
pause(); drone.switch(0); drone.place(0.0, 0.0, 6.0)
answer = service("/drone1/mission/pursuit", Trigger)()
assert answer.success, answer.message
drone.begin(); drone.until(45.0)
answer = drone.rows
""",
            within_s=400.0,
        )
    )
    places = [(0, 0, 6), (0, 25, 6.5), (0, 50, 7), (25, 50, 6.5), (50, 50, 6), (50, 25, 6.5)]
    places += [(50, 0, 7), (25, 0, 6.5), (0.1, 0, 6)]
    for place in places:
        assert np.linalg.norm(rows[:, [X, Y, Z]] - place, axis=1).min() < 8.0
    assert np.linalg.norm(rows[:, [VX, VY, VZ]], axis=1).max() < 12.0


MODELS = """
from gazebo_msgs.srv import DeleteModel, GetModelState, SpawnModel
from geometry_msgs.msg import Pose
import rosservice
service("/gazebo/unpause_physics", Empty)()
URDF = "<robot name='gull'><link name='base'><inertial><mass value='0.5'/>" \\
    "<inertia ixx='6e-4' iyy='6e-4' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
def own(names):
    return sorted(name for name in names if name.startswith("/gull/"))
def spawn(name, xml, y=3.0, kind="urdf"):
    pose = Pose(); pose.position.y = y; pose.position.z = 0.002
    done = service(f"/gazebo/spawn_{kind}_model", SpawnModel)(name, xml, "", pose, "world")
    return [done.success, done.status_message]
def delete(name):
    done = service("/gazebo/delete_model", DeleteModel)(name)
    return [done.success, done.status_message]
def state(name):
    return service("/gazebo/get_model_state", GetModelState)(name, "")
"""


@pytest.mark.slow
def test_models_are_spawned_flown_and_deleted_as_in_gazebo(fly):
    found = fly(
        MODELS
        + """
before = service("/gazebo/get_model_state", GetModelState)("drone1", "").pose.position
refused = [spawn("drone1", URDF), spawn("a/b", URDF), spawn("gull", "<sdf/>", kind="sdf"),
           spawn("gull", "x" * 100_000), delete("nobody")]
spawned = spawn("gull", URDF)
odometry = receive("/gull/odometry", Odometry).pose.pose.position
topics = own(name for name, _ in rospy.get_published_topics())
services = own(rosservice.get_service_list())
gains = rospy.get_param("/gull/gains/Wp")
mode = service("/gull/get_mode", GetMode)().mode.mode
up = service("/gull/takeoff", Takeoff)(False, 2.0, 8.0, 4.0)
height = state("gull").pose.position.z
deleted = delete("gull")
time.sleep(0.5)
answer = dict(refused=refused, spawned=spawned, odometry=[odometry.y, odometry.z], topics=topics,
              services=services, gains=gains, mode=mode, up=[up.success, up.residual],
              height=height, deleted=deleted, gone=state("gull").status_message,
              topics_after=own(name for name, _ in rospy.get_published_topics()),
              services_after=own(rosservice.get_service_list()),
              gains_after=rospy.has_param("/gull/gains"), again=spawn("gull", URDF))
""",
        within_s=300.0,
    )
    reasons = ["is taken", "must begin with a letter", "begins with <robot>", "100000 characters"]
    reasons.append("no model 'nobody'")
    for (success, text), reason in zip(found["refused"], reasons, strict=True):
        assert not success
        assert reason in text
    assert found["spawned"] == [True, ""]
    assert found["odometry"] == pytest.approx([3.0, 0.002], abs=0.05)
    assert "/gull/odometry" in found["topics"]
    assert {"/gull/takeoff", "/gull/land", "/gull/gains/set_parameters"} <= {*found["services"]}
    assert (found["gains"], found["mode"]) == (0.5, 0)
    assert found["up"][0]
    assert found["height"] == pytest.approx(2.0, abs=0.1)
    assert found["deleted"] == [True, ""]
    assert "no model 'gull'" in found["gone"]
    assert found["topics_after"] == found["services_after"] == []
    assert not found["gains_after"]
    assert "name of a vehicle of this flight" in found["again"][1]
