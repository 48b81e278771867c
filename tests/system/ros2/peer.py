"""Plain rclpy node, run by test_ros2_node; prints its observations as JSON."""

import json
import sys
import time

import rclpy
from geometry_msgs.msg import PoseStamped, Transform, Twist, TwistStamped, Wrench, WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Log, Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters, SetParametersAtomically
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import MultiDOFJointState
from std_msgs.msg import String, UInt8
from std_srvs.srv import Empty, Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import MultiDOFJointTrajectoryPoint

TIMEOUT_S = 20.0


class Peer:
    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node("peer")
        self.seen = {}

    def until(self, true, timeout_s=TIMEOUT_S):
        end_s = time.monotonic() + timeout_s
        while not true() and time.monotonic() < end_s:
            rclpy.spin_once(self.node, timeout_sec=0.05)
        return true()

    def subscribe(self, kind, topic, qos_profile=10):
        found = []
        self.node.create_subscription(kind, topic, found.append, qos_profile)
        return found

    def publish(self, topic, message):
        publisher = self.node.create_publisher(type(message), topic, 10)
        self.until(publisher.get_subscription_count)
        publisher.publish(message)

    def call_async(self, kind, name, request=None):
        client = self.node.create_client(kind, name)
        if not client.wait_for_service(TIMEOUT_S):
            return None
        return client.call_async(request or kind.Request())

    def call(self, kind, name, request=None):
        future = self.call_async(kind, name, request)
        if future is None:
            return None
        self.until(future.done)
        return future.result()


def wrench(thrust, **torque):
    found = Wrench()
    found.force.z = thrust
    for name, value in torque.items():
        setattr(found.torque, name, value)
    return found


def pose(w=1.0):
    found = PoseStamped()
    found.pose.position.x = 1.0
    found.pose.orientation.w = w
    return found


def joint(**parts):
    return MultiDOFJointState(**parts)


def twist(**parts):
    found = Twist()
    found.linear.x, found.angular.z = 1.0, 0.5
    return found


def standard_commands():
    stamped = TwistStamped(twist=twist())
    stamped.header.frame_id = "drone/base_link"
    rotated = Transform()
    rotated.rotation.x = rotated.rotation.w = 0.5**0.5
    return [
        ("position_yaw/pose", pose()),
        (
            "position_yaw/trajectory_point",
            MultiDOFJointTrajectoryPoint(transforms=[Transform()], velocities=[twist()]),
        ),
        ("velocity_yawrate/twist", stamped),
        ("cmd_vel", twist()),
        ("thrust_attitude/state", joint(transforms=[rotated], wrench=[wrench(9.0)])),
        ("thrust_velocity/state", joint(twist=[twist()], wrench=[wrench(8.0)])),
        ("thrust_torque/wrench", WrenchStamped(wrench=wrench(7.0, z=0.1))),
        ("switch_mode/number", UInt8(data=3)),
    ]


def original_commands():
    from uav_gazebo_msgs import msg

    position = msg.PositionYawControl(yaw=1.5)
    position.velocity.y = 2.0
    return [
        ("position_yaw/command", position),
        ("velocity_yawrate/command", msg.VelocityYawRateControl(body_frame=True)),
        ("thrust_attitude/command", msg.ThrustAttitudeControl(thrust=9.0)),
        ("thrust_velocity/command", msg.ThrustVelocityControl(thrust=8.0)),
        ("thrust_torque/command", msg.ThrustTorqueControl(thrust=7.0)),
        ("switch_mode", msg.ControlMode(mode=msg.ControlMode.THRUST_TORQUE)),
    ]


def gain(name, value):
    fields = {float: ("double_value", ParameterType.PARAMETER_DOUBLE)}
    fields[int] = ("integer_value", ParameterType.PARAMETER_INTEGER)
    field, kind = fields[type(value)]
    return Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))


def listen(peer):
    odometry, transforms = (
        peer.subscribe(Odometry, "/drone/odometry"),
        peer.subscribe(TFMessage, "/tf", 100),
    )
    transient_local = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    latched = peer.subscribe(String, "/latched", transient_local)
    peer.until(lambda: len(odometry) > 60 and len(transforms) > 60 and latched)
    first, last = odometry[-51], odometry[-1]
    numbers = [message.pose.pose.position.x for message in odometry]
    peer.seen |= {
        "in_order": numbers == sorted(numbers),
        "lost": numbers[-1] - numbers[0] + 1 - len(numbers),
        "covariance": list(last.pose.covariance),
        "odometry": [last.header.frame_id, last.child_frame_id, last.twist.twist.linear.z],
        "left_out": [last.pose.pose.orientation.w, sum(last.twist.covariance)],
        "stamps_s": (last.header.stamp.sec - first.header.stamp.sec)
        + 1e-9 * (last.header.stamp.nanosec - first.header.stamp.nanosec),
        "transforms": [
            (one.header.frame_id, one.child_frame_id) for one in transforms[-1].transforms
        ],
        "rotation_z": transforms[-1].transforms[0].transform.rotation.z,
        "latched": [message.data for message in latched],
    }
    peer.seen["quality"] = {
        topic: [
            [offer.qos_profile.reliability.name, offer.qos_profile.durability.name]
            for offer in peer.node.get_publishers_info_by_topic(topic)
        ]
        for topic in ("/drone/odometry", "/latched", "/tf")
    }
    return odometry


def command(peer, commands):
    received, log = peer.subscribe(String, "/received"), peer.subscribe(Log, "/rosout", 100)
    peer.until(
        lambda: peer.node.count_publishers("/received") and peer.node.count_publishers("/rosout")
    )
    time.sleep(0.5)
    for topic, message in commands:
        count = len(received)
        peer.publish(f"/drone/{topic}", message)
        peer.until(lambda count=count: len(received) > count, 5.0)
    peer.publish("/drone/position_yaw/pose", pose(w=2.0))
    peer.publish("/fail", UInt8())
    peer.until(lambda: len(log) > 1, 5.0)
    peer.seen["received"] = [json.loads(message.data) for message in received]
    peer.seen["log"] = [message.msg for message in log]


def call_services(peer, odometry, *, originals):
    if originals:
        from gazebo_msgs.srv import SetModelState
        from uav_gazebo_msgs.srv import GetMode, SwitchMode, Takeoff

        request = Takeoff.Request(height=2.0)
        takeoff, start_s = peer.call_async(Takeoff, "/drone/takeoff", request), time.monotonic()
        count = len(odometry)
        peer.seen["mode"] = peer.call(GetMode, "/drone/get_mode").mode.mode
        switch = SwitchMode.Request()
        switch.mode.mode = 7
        peer.seen["switched"] = peer.call(SwitchMode, "/drone/switch_mode", switch).success
        peer.seen["answered_meanwhile"] = not takeoff.done()
        peer.until(takeoff.done)
        peer.seen["took_s"] = time.monotonic() - start_s
        peer.seen["odometry_meanwhile"] = len(odometry) - count
        peer.seen["residual"] = takeoff.result().residual
        state = SetModelState.Request()
        state.model_state.model_name = "drone"
        answer = peer.call(SetModelState, "/gazebo/set_model_state", state)
        peer.seen["model"] = answer.status_message
    peer.seen["triggered"] = {
        name: [answer.success, answer.message]
        for name in ("takeoff/trigger", "get_mode/trigger", "switch_mode/thrust_torque")
        for answer in [peer.call(Trigger, f"/drone/{name}")]
    }
    peer.seen["empty"] = peer.call(Empty, "/gazebo/pause_physics") is not None
    peer.seen["failed"] = peer.call(Trigger, "/fail").success
    peer.seen["services"] = sorted(
        name for name, _ in peer.node.get_service_names_and_types() if "drone/" in name
    )


def tune(peer):
    names = ["Wp", "Xp"]
    request = DescribeParameters.Request(names=names)
    described = peer.call(DescribeParameters, "/drone/gains/describe_parameters", request)
    peer.seen["ranges"] = [
        [one.floating_point_range[0].from_value, one.floating_point_range[0].to_value]
        for one in described.descriptors
    ]
    peer.seen["described"] = [one.description for one in described.descriptors]

    def put(*values):
        request = SetParameters.Request(parameters=[gain(*value) for value in values])
        results = peer.call(SetParameters, "/drone/gains/set_parameters", request).results
        return [[one.successful, one.reason] for one in results]

    peer.seen["put"] = put(("Wp", 0.8), ("Xp", 0.7))
    peer.seen["whole"] = put(("Wp", 2))
    peer.seen["refused"] = put(("Wp", 9.0))
    peer.seen["outside"] = put(("Wp", 11.0))
    request = SetParametersAtomically.Request(parameters=[gain("Wp", 9.0), gain("Xp", 0.1)])
    answer = peer.call(SetParametersAtomically, "/drone/gains/set_parameters_atomically", request)
    peer.seen["both"] = answer.result.successful
    from rcl_interfaces.srv import GetParameters

    request = GetParameters.Request(names=names)
    values = peer.call(GetParameters, "/drone/gains/get_parameters", request).values
    peer.seen["values"] = [value.double_value for value in values]


def main():
    peer, originals = Peer(), sys.argv[1] == "with"
    odometry = listen(peer)
    command(peer, standard_commands() + (original_commands() if originals else []))
    call_services(peer, odometry, originals=originals)
    tune(peer)
    print(json.dumps(peer.seen))


if __name__ == "__main__":
    main()
