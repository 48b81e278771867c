"""A pair of drones served to nodes of ROS 1: the acceptance of uav_gazebo, and what it lacks."""

import numpy as np
import pytest
from tests.system.ros1_master import needs_ros1, running_master
from tests.system.ros_flights import FLY

pytestmark = [pytest.mark.ros, needs_ros1]

TIME, X, Y, Z, VX, VY, VZ, QW, QX, QY, QZ, WX, WY, WZ = range(14)
# a step is settled when it is this near to its end
SETTLED = 0.02
# times real time
FACTOR = 4.0


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    with running_master(tmp_path_factory.mktemp("ros1")) as master:
        yield master


@pytest.fixture(scope="module")
def served(ros, tmp_path_factory):
    """Two drones that stand and wait."""
    out = tmp_path_factory.mktemp("served") / "run"
    command = ("-m", "kittiwake", "serve", "ros-drones", "--ros1", "--speed", FACTOR)
    command = (*command, "--out", out, "--quiet")
    with ros.ours(*command) as process:
        said = process.stderr.readline()
        while said and not said.startswith("flying"):
            said = process.stderr.readline()
        assert said == "flying ros-drones: drone1, drone2\n"
        yield ros


@pytest.fixture
def fly(served):
    """Runs a node's code, with drones in its hands."""

    def run(code, within_s=120.0):
        return served.peer(FLY + code, within_s)

    return run


def rows_of(answer):
    rows = np.array(answer)
    rows[:, TIME] -= rows[0, TIME]
    return rows


def settles_s(rows, error):
    """When an error stays below its share of what it was at first."""
    late = np.flatnonzero(np.abs(error) > SETTLED * np.abs(error[0]))
    return rows[late[-1] + 1, TIME]


def rise_s(rows, value, end):
    """When a lag of the first order has made 1 - 1/e of its way."""
    return rows[np.argmax(value >= (1.0 - np.exp(-1.0)) * end), TIME]


def test_a_place_is_reached_as_by_a_critically_damped_loop(fly):
    rows = rows_of(
        fly("""
drone = Drone("drone1")
message = PositionYawControl(); message.position.z = 7.0
answer = drone.flown((0.0, 0.0, 6.0), 1, "position_yaw", message, 14.0)
""")
    )
    assert settles_s(rows, rows[:, Z] - 7.0) == pytest.approx(11.7, abs=0.15)
    assert rows[:, Z].max() < 7.0 + 1e-3
    # stamps tell that nothing is left out, and each axis of the twist is its own
    np.testing.assert_allclose(np.diff(rows[:, TIME]), 0.005, atol=1e-6)
    np.testing.assert_allclose(
        np.gradient(rows[:, Z], rows[:, TIME])[2:-2], rows[2:-2, VZ], atol=5e-3
    )
    np.testing.assert_allclose(rows[:, [X, Y, VX, VY]], 0.0, atol=1e-6)


def test_a_velocity_is_reached_with_the_gain_of_its_loop(fly):
    rows = rows_of(
        fly("""
drone = Drone("drone1")
message = VelocityYawRateControl(); message.velocity.x = 1.0; message.yaw_rate = 0.4
answer = drone.flown((0.0, 0.0, 6.0), 2, "velocity_yawrate", message, 6.0)
""")
    )
    # the attitude has to lean first, so that the pull lags and then catches up
    assert rise_s(rows, rows[:, VX], 1.0) == pytest.approx(1.0, abs=0.25)
    assert rows[-1, VX] == pytest.approx(1.0, abs=0.02)
    assert rise_s(rows, rows[:, WZ], 0.4) == pytest.approx(0.5, abs=0.02)
    up = rows_of(
        fly("""
drone = Drone("drone1")
message = VelocityYawRateControl(); message.velocity.z = 1.0
answer = drone.flown((0.0, 0.0, 6.0), 2, "velocity_yawrate", message, 2.0)
""")
    )
    assert rise_s(up, up[:, VZ], 1.0) == pytest.approx(1.0, abs=0.01)


def test_angles_are_reached_without_overshoot(fly):
    rows = rows_of(
        fly("""
drone = Drone("drone1")
message = ThrustAttitudeControl(thrust=9.81); message.attitude.x = 0.2
answer = drone.flown((0.0, 0.0, 50.0), 3, "thrust_attitude", message, 2.0)
""")
    )
    roll_rad = 2.0 * np.arctan2(rows[:, QX], rows[:, QW])
    assert settles_s(rows, roll_rad - 0.2) == pytest.approx(1.167, abs=0.015)
    assert roll_rad.max() < 0.2 + 1e-4


def test_rates_and_torques_are_those_of_the_worlds_axes(fly):
    turned = """
drone = Drone("drone1")
state = ModelState(model_name="drone1")
state.pose.position.z = 50.0
# the nose to the left
state.pose.orientation.w = state.pose.orientation.z = 0.5 ** 0.5
def begun(mode, topic, message, seconds):
    pause()
    assert service("/gazebo/set_model_state", SetModelState)(state).success
    drone.tell(topic, message)
    assert drone.switch(mode)
    drone.begin()
    drone.until(seconds)
    drone.keep = False
    return drone.rows
"""
    rows = rows_of(
        fly(
            turned
            + """
message = ThrustVelocityControl(thrust=9.81); message.velocity.x = 0.5
answer = begun(4, "thrust_velocity", message, 1.0)
"""
        )
    )
    assert rise_s(rows, rows[:, WX], 0.5) == pytest.approx(0.286, abs=0.01)
    np.testing.assert_allclose(rows[:, [WY, WZ]], 0.0, atol=2e-3)
    rows = rows_of(
        fly(
            turned
            + """
message = ThrustTorqueControl(thrust=9.81); message.torque.x = 3e-3
answer = begun(5, "thrust_torque", message, 0.4)
"""
        )
    )
    at = rows[:, TIME]
    np.testing.assert_allclose(rows[:, WX], at, atol=0.01)
    np.testing.assert_allclose(rows[:, [WY, WZ]], 0.0, atol=2e-3)


@pytest.mark.parametrize(
    ("mode", "thrust_n", "falls_mps2"), [(0, 0.0, 9.81), (5, 9.81, 0.0), (5, -5.0, 9.81)]
)
def test_thrust_holds_its_weight_and_none_falls(fly, mode, thrust_n, falls_mps2):
    rows = rows_of(
        fly(f"""
drone = Drone("drone1")
message = ThrustTorqueControl(thrust={thrust_n})
answer = drone.flown((0.0, 0.0, 50.0), {mode}, "thrust_torque", message, 1.0)
""")
    )
    at = rows[:, TIME]
    np.testing.assert_allclose(rows[:, VZ], -falls_mps2 * at, atol=0.06)


def test_taking_off_and_landing_are_those_of_the_manager(fly):
    found = fly(
        """
drone = Drone("drone1")
pause(); drone.switch(0); drone.place(0.0, 0.0, 0.002); drone.begin()
takeoff, land = service("/drone1/takeoff", Takeoff), service("/drone1/land", Land)
begun = drone.rows[-1][0]
up = takeoff(False, 6.0, 0.0, 0.0)
at_end = drone.rows[-1]
refused = takeoff(False, 1.0, 0.0, 0.0).success
drone.until(drone.rows[-1][0] - drone.rows[0][0] + 5.0)
settled = drone.rows[-1][3]
too_far = land(False, 2.0, 0.0, 0.01)
after_failure = drone.mode()
drone.until(drone.rows[-1][0] - drone.rows[0][0] + 10.0)
down = land(False, 4.0, 5.0, 0.5)
answer = dict(success=up.success, residual=up.residual, ramp=at_end[0] - begun, z=at_end[3],
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


def test_gains_change_the_response_of_one_drone_and_not_of_the_other(fly):
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
    one, two = rows_of(found["first"]), rows_of(found["second"])
    # twice as fast, but for the lag of a thrust that is there at once
    assert settles_s(one, one[:, Z] - 7.0) == pytest.approx(5.83, abs=0.1)
    assert settles_s(two, two[:, Z] - 7.0) == pytest.approx(11.7, abs=0.15)


def test_what_is_malformed_is_refused_and_changes_nothing(fly):
    found = fly("""
drone = Drone("drone1")
message = PositionYawControl(); message.position.z = 7.0
begun = drone.flown((0.0, 0.0, 7.0), 1, "position_yaw", message, 1.0)
drone.begin()
wrong = PositionYawControl(); wrong.position.z = float("nan")
drone.tell("position_yaw", wrong)
wrong = VelocityYawRateControl(yaw_rate=float("inf"))
drone.tell("velocity_yawrate", wrong)
modes = [drone.switch(9), drone.switch(200)]
said("/drone1/switch_mode", ControlMode).publish(ControlMode(77))
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
    said = [words for done, words in found["places"] if not done]
    assert len(said) == 3
    assert "norm 2" in said[0]
    assert "there is no model 'nobody'" in said[1]
    assert "z_m" in said[2]
    assert found["heights"] is False
    assert found["mode"] == 1
    rows = rows_of(found["rows"])
    np.testing.assert_allclose(
        rows[:, [X, Y, Z]], np.tile([0.0, 0.0, 7.0], (len(rows), 1)), atol=0.01
    )


def test_a_gamepad_flies_places_and_drops(fly):
    found = fly("""
drone = Drone("drone1")
joy = said("/joy", Joy)
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


def test_the_world_is_paused_stepped_sped_up_and_begun_anew(fly):
    found = fly(
        """
from rosgraph_msgs.msg import Clock
ticks = []
rospy.Subscriber("/clock", Clock, lambda m: ticks.append(m.clock.to_sec()), queue_size=5000)
speed = said("/kittiwake/real_time_factor", Float64)
service("/gazebo/unpause_physics", Empty)()
speed.publish(0.2); time.sleep(0.3)
def gone(seconds):
    count = len(ticks); begun = ticks[-1]; time.sleep(seconds); return ticks[-1] - begun
slow = gone(2.0)
speed.publish(FACTOR)
pause()
stands = gone(0.5)
service("/kittiwake/step", Trigger)(); time.sleep(0.3)
stepped = gone(0.0) + ticks[-1] - ticks[-2]
before = ticks[-1]
drone = Drone("drone1"); drone.place(3.0, 3.0, 3.0)
service("/gazebo/reset_world", Empty)()
end = time.time() + 60.0
while not 0.1 < ticks[-1] < before and time.time() < end:
    time.sleep(0.1)
drone.begin()
answer = dict(slow=slow, stands=stands, stepped=stepped, before=before, after=ticks[-1],
              place=drone.rows[-1][1:4], mode=drone.mode())
""".replace("FACTOR", str(FACTOR))
    )
    assert found["slow"] == pytest.approx(0.4, abs=0.15)
    assert found["stands"] == 0.0
    assert found["stepped"] == pytest.approx(0.005, abs=1e-6)
    assert found["after"] < found["before"]
    np.testing.assert_allclose(found["place"], [0.0, 0.0, 0.002], atol=0.01)
    assert found["mode"] == 0
