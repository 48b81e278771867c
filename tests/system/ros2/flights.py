"""Plain rclpy node that flies two served drones and prints its observations as JSON."""

import json
import math
import sys
import time

import rclpy
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import DeleteEntity, GetModelState, SetModelState, SpawnEntity
from geometry_msgs.msg import Pose, PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from std_msgs.msg import Float64
from std_srvs.srv import Empty, Trigger
from tf2_msgs.msg import TFMessage
from uav_gazebo_msgs.msg import (
    ControlMode,
    PositionYawControl,
    ThrustAttitudeControl,
    ThrustTorqueControl,
    ThrustVelocityControl,
    VelocityYawRateControl,
)
from uav_gazebo_msgs.srv import GetMode, Land, SwitchMode, Takeoff

TIMEOUT_S = 20.0
# greatest wall time of a simulated second
SLOW = 8.0
# step of the physics
STEP_S = 0.001


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


class World:
    """Node with clients and publishers."""

    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node("pilot")
        self.publishers = {}

    def until(self, true, waits_s=TIMEOUT_S):
        end_s = time.monotonic() + waits_s
        while not true():
            assert time.monotonic() < end_s, "waited for too long"
            rclpy.spin_once(self.node, timeout_sec=0.02)

    def call(self, kind, name, /, **fields):
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(TIMEOUT_S), name
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, 400.0)
        self.node.destroy_client(client)
        return future.result()

    def publish(self, topic, message):
        if topic not in self.publishers:
            publisher = self.node.create_publisher(type(message), topic, 10)
            self.until(publisher.get_subscription_count)
            self.publishers[topic] = publisher
        self.publishers[topic].publish(message)
        self.wait(0.15)

    def wait(self, for_s):
        end_s = time.monotonic() + for_s
        while time.monotonic() < end_s:
            rclpy.spin_once(self.node, timeout_sec=0.02)

    def pause(self):
        self.call(Empty, "/gazebo/pause_physics")
        self.wait(0.15)

    def unpause(self):
        self.call(Empty, "/gazebo/unpause_physics")


class Drone:
    """One of the drones, with recorded odometry."""

    def __init__(self, world, name):
        self.world, self.name, self.rows, self.recording = world, name, [], False
        self.latest, self.since = None, 0.0
        world.node.create_subscription(Odometry, f"/{name}/odometry", self.on_odometry, 1000)
        world.unpause()
        world.until(lambda: self.latest is not None)

    def on_odometry(self, m):
        self.latest = seconds(m.header.stamp)
        if self.recording:
            p, q = m.pose.pose.position, m.pose.pose.orientation
            v, w = m.twist.twist.linear, m.twist.twist.angular
            motion = [self.latest - self.since, p.x, p.y, p.z, v.x, v.y, v.z]
            self.rows.append([*motion, q.w, q.x, q.y, q.z, w.x, w.y, w.z])

    def place(self, x, y, z):
        state = ModelState(model_name=self.name)
        at, q = state.pose.position, state.pose.orientation
        at.x, at.y, at.z, q.w = x, y, z, 1.0
        return self.world.call(SetModelState, "/gazebo/set_model_state", model_state=state)

    def switch(self, mode):
        name = f"/{self.name}/switch_mode"
        return self.world.call(SwitchMode, name, mode=ControlMode(mode=mode)).success

    def mode(self):
        return self.world.call(GetMode, f"/{self.name}/get_mode").mode.mode

    def begin(self):
        # the first message may get lost, its time is known
        self.since = self.latest + STEP_S
        self.rows, self.recording = [], True
        self.world.unpause()
        self.world.until(lambda: self.rows)

    def until(self, for_s):
        end = self.rows[-1][0] + for_s
        self.world.until(lambda: self.rows[-1][0] >= end, SLOW * for_s + TIMEOUT_S)
        return list(self.rows)

    def flown(self, mode, topic, message, for_s, place=(0.0, 0.0, 20.0)):
        self.world.pause()
        self.switch(0)
        assert self.place(*place).success
        self.world.publish(f"/{self.name}/{topic}", message)
        assert self.switch(mode)
        self.begin()
        return self.until(for_s)


def position(z, **others):
    message = PositionYawControl(**others)
    message.position.z = z
    return message


def modes(world, one):
    """Fly a step in each mode."""
    velocity = VelocityYawRateControl(yaw_rate=0.4)
    velocity.velocity.z = 1.0
    angles = ThrustAttitudeControl(thrust=9.81)
    angles.attitude.x = 0.2
    rates = ThrustVelocityControl(thrust=9.81)
    rates.velocity.z = 0.5
    torque = ThrustTorqueControl(thrust=9.81)
    torque.torque.x = 3e-3
    found = {
        "position": one.flown(1, "position_yaw/command", position(21.0), 14.0),
        "velocity": one.flown(2, "velocity_yawrate/command", velocity, 2.5),
        "angles": one.flown(3, "thrust_attitude/command", angles, 2.0),
        "rates": one.flown(4, "thrust_velocity/command", rates, 1.0),
        "torque": one.flown(5, "thrust_torque/command", torque, 0.4),
    }
    pose = PoseStamped()
    pose.header.frame_id, pose.pose.position.z, pose.pose.orientation.w = "world", 21.0, 1.0
    found["pose"] = one.flown(1, "position_yaw/pose", pose, 14.0)[-1]
    twist = TwistStamped()
    twist.twist.linear.z = 1.0
    found["twist"] = one.flown(2, "velocity_yawrate/twist", twist, 2.5)[-1]
    one.switch(0)
    one.begin()
    found["inactive"] = one.until(1.0)
    return found


def manager(world, one):
    """Take off and land."""
    world.pause()
    one.switch(0)
    one.place(0.0, 0.0, 0.002)
    one.begin()
    up = world.call(Takeoff, "/drone1/takeoff", height=2.0, takeoff_time=8.0, idle_time=6.0)
    z = one.rows[-1][3]
    down = world.call(Land, "/drone1/land", land_time=8.0, idle_time=4.0, maximum_residual=0.2)
    return {"up": [up.success, up.residual, z], "down": [down.success, one.mode()]}


def gains(world, one, two):
    """Change the gains of one drone and fly both."""

    def values_of(drone):
        request = {"names": ["Wp", "Xp", "Kw"]}
        values = world.call(GetParameters, f"/{drone}/gains/get_parameters", **request).values
        return [value.double_value for value in values]

    def put(value):
        number = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        parameters = [Parameter(name="Wp", value=number)]
        name = "/drone1/gains/set_parameters"
        return world.call(SetParameters, name, parameters=parameters).results[0].successful

    before = values_of("drone1")
    done = put(1.0)
    world.wait(2.0)
    now = [values_of("drone1"), values_of("drone2")]
    rows = one.flown(1, "position_yaw/command", position(21.0), 8.0)
    too_much = put(1e6)
    put(0.5)
    place = (0.0, -5.0, 20.0)
    other = position(21.0)
    other.position.y = -5.0
    stays = two.flown(1, "position_yaw/command", other, 14.0, place)
    answer = {"before": before, "done": done, "now": now, "too_much": too_much}
    return answer | {"rows": rows, "other": stays}


def malformed(world, one):
    """Send invalid commands and requests."""
    one.flown(1, "position_yaw/command", position(20.0), 1.0)
    one.begin()
    world.publish("/drone1/position_yaw/command", position(math.nan))
    pose = PoseStamped()
    pose.pose.orientation.w = 2.0
    world.publish("/drone1/position_yaw/pose", pose)
    modes = [one.switch(9), one.switch(255)]
    outside = one.place(0.0, 0.0, 1e6)
    answer = {"modes": modes, "outside": [outside.success, outside.status_message]}
    return answer | {"rows": one.until(2.0), "mode": one.mode()}


def stamps_of_transforms(world):
    """Record times of transforms, and reset the flight."""
    stamps = []

    def on_transforms(m):
        stamps.extend(seconds(t.header.stamp) for t in m.transforms if t.child_frame_id == "drone1")

    world.node.create_subscription(TFMessage, "/tf", on_transforms, 1000)
    world.unpause()
    world.wait(3.0)
    world.publish("/kittiwake/real_time_factor", Float64(data=0.5))
    count = len(stamps)
    world.until(lambda: len(stamps) > count + 10)
    before = stamps[-1]
    world.call(Empty, "/gazebo/reset_world")
    world.until(lambda: 0.1 < stamps[-1] < before, 60.0)
    return {"stamps": stamps[:count], "before": before, "after": stamps[-1]}


URDF = (
    "<robot name='gull'><link name='base'><inertial><mass value='0.5'/>"
    "<inertia ixx='6e-4' iyy='6e-4' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
)


def models(world):
    """Spawn a drone, fly it and delete it."""

    def own(found):
        return sorted(name for name, _ in found if name.startswith("/gull/"))

    def spawn(name, xml):
        pose = Pose()
        pose.position.y, pose.position.z = 3.0, 0.002
        done = world.call(SpawnEntity, "/spawn_entity", name=name, xml=xml, initial_pose=pose)
        return [done.success, done.status_message]

    def delete(name):
        done = world.call(DeleteEntity, "/delete_entity", name=name)
        return [done.success, done.status_message]

    def state():
        return world.call(GetModelState, "/gazebo/get_model_state", model_name="gull")

    world.unpause()
    refused = [spawn("drone1", URDF), spawn("a/b", URDF), spawn("gull", "<sdf/>"), delete("no")]
    spawned = spawn("gull", URDF)
    gull = Drone(world, "gull")
    topics = own(world.node.get_topic_names_and_types())
    services = own(world.node.get_service_names_and_types())
    up = world.call(Takeoff, "/gull/takeoff", height=2.0, takeoff_time=8.0, idle_time=4.0)
    z = state().pose.position.z
    deleted = delete("gull")
    latest = gull.latest
    world.wait(2.0)
    return {
        "refused": refused,
        "spawned": spawned,
        "topics": topics,
        "services": services,
        "up": [up.success, z],
        "deleted": deleted,
        "gone": state().status_message,
        "silent": gull.latest - latest,
        "services_after": own(world.node.get_service_names_and_types()),
        "again": spawn("gull", URDF)[1],
        "others": world.call(GetMode, "/drone1/get_mode").mode.mode,
    }


def main():
    """Run the parts named by the arguments."""
    world = World()
    one, two = Drone(world, "drone1"), Drone(world, "drone2")
    parts = {
        "modes": lambda: modes(world, one),
        "manager": lambda: manager(world, one),
        "gains": lambda: gains(world, one, two),
        "malformed": lambda: malformed(world, one),
        "time": lambda: stamps_of_transforms(world),
        "pursuit": lambda: pursuit(world, one),
        "models": lambda: models(world),
    }
    print(json.dumps({name: parts[name]() for name in sys.argv[1:]}))


def pursuit(world, one):
    """Fly the mission's pursuit."""
    world.pause()
    one.place(0.0, 0.0, 6.0)
    response = world.call(Trigger, "/drone1/mission/pursuit")
    one.begin()
    return {"started": response.success, "rows": one.until(45.0)}


if __name__ == "__main__":
    main()
