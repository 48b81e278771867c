"""Commands of uav_gazebo on standard ROS messages, without ROS."""

from importlib.util import find_spec
from math import atan2, cos, nan, pi, sin
from pathlib import Path
from types import SimpleNamespace as Message

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.adapters.ros.node import RefusedResponse
from kittiwake.adapters.ros.ros2 import standard
from kittiwake.adapters.ros.ros2.library import is_installed, library, message_class
from kittiwake.adapters.ros.ros2.uav_gazebo_types import LandRequest, TakeoffRequest, Vector
from kittiwake.core.errors import MissingExtraError, RosError

FRAMES = standard.Frames("world", "fleet/drone")
PACKAGES = Path(standard.__file__).parents[1] / "packages"
DEFINITIONS = PACKAGES / "uav_gazebo_msgs"
angle = st.floats(-3.1, 3.1)
tilt = st.floats(-1.4, 1.4)


def xyz(x=0.0, y=0.0, z=0.0):
    return Message(x=x, y=y, z=z)


def turn(w=1.0, x=0.0, y=0.0, z=0.0):
    return Message(w=w, x=x, y=y, z=z)


def about_z(yaw_rad):
    return turn(cos(0.5 * yaw_rad), z=sin(0.5 * yaw_rad))


def stamped(frame="", **fields):
    return Message(header=Message(frame_id=frame), **fields)


def twist(linear=None, angular=None):
    return Message(linear=linear or xyz(), angular=angular or xyz())


def wrench(force, torque=None):
    return Message(force=force, torque=torque or xyz())


def joint(frame="", **fields):
    return stamped(frame, **({"transforms": [], "twist": [], "wrench": []} | fields))


def matrix_about(axis, turned_rad):
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    i, j = [k for k in range(3) if k != axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = (-s, s) if axis != 1 else (s, -s)
    return matrix


def matrix_of(angles):
    about_x, about_y, about_z = (matrix_about(k, turned) for k, turned in enumerate(angles))
    return about_x @ about_y @ about_z


def quaternion_of(matrix):
    """Return the quaternion by Bar-Itzhack's eigenvector method, independent of the tested code."""
    m = matrix
    trace = np.trace(m)
    k = np.empty((4, 4))
    k[:3, :3] = m + m.T - trace * np.eye(3)
    k[:3, 3] = k[3, :3] = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    k[3, 3] = trace
    x, y, z, w = np.linalg.eigh(k)[1][:, -1]
    return turn(w, x, y, z)


def test_pose_becomes_position_and_heading():
    pose = Message(position=xyz(1.0, 2.0, 3.0), orientation=about_z(2.0))
    read = standard.pose(stamped("world", pose=pose), FRAMES)
    assert read.position == Vector(1.0, 2.0, 3.0)
    assert read.yaw == pytest.approx(2.0)
    assert read.velocity == read.acceleration == Vector()
    assert read.yaw_rate == 0.0


def test_trajectory_point_keeps_its_derivatives():
    point = Message(
        transforms=[Message(translation=xyz(1.0), rotation=about_z(-1.0))],
        velocities=[twist(xyz(y=2.0), xyz(z=0.3))],
        accelerations=[twist(xyz(z=4.0))],
    )
    read = standard.trajectory_point(point, FRAMES)
    assert (read.position.x, read.velocity.y, read.acceleration.z) == (1.0, 2.0, 4.0)
    assert (read.yaw, read.yaw_rate) == pytest.approx((-1.0, 0.3))


@pytest.mark.parametrize(
    ("frame", "in_body"),
    [
        ("", False),
        ("world", False),
        ("/world", False),
        ("base_link", True),
        ("fleet/drone", True),
        ("fleet/drone/base_link", True),
    ],
)
def test_stamped_twist_is_in_the_axes_of_its_frame(frame, in_body):
    read = standard.twist_stamped(stamped(frame, twist=twist(xyz(1.0), xyz(z=0.5))), FRAMES)
    assert read.body_frame is in_body
    assert read.velocity == Vector(1.0, 0.0, 0.0)
    assert read.yaw_rate == 0.5


def test_twist_without_a_frame_is_in_body_axes():
    assert standard.twist(twist(xyz(1.0)), FRAMES).body_frame is True


@given(x=angle, y=tilt, z=angle)
def test_quaternion_becomes_xyz_angles(x, y, z):
    transform = Message(rotation=quaternion_of(matrix_of((x, y, z))))
    message = joint(transforms=[transform], wrench=[wrench(xyz(z=9.0))])
    read = standard.thrust_attitude(message, FRAMES)
    assert read.thrust == 9.0
    # the cosine of 1.4 rad costs four digits
    np.testing.assert_allclose(matrix_of(read.attitude), matrix_of((x, y, z)), atol=1e-11)
    assert read.attitude_rates == Vector()


@given(x=angle, y=tilt, z=angle, omega=st.tuples(tilt, tilt, tilt))
def test_xyz_angle_rates_match_the_angular_velocity(x, y, z, omega):
    angles = np.array((x, y, z))
    transform = Message(rotation=quaternion_of(matrix_of(angles)))
    message = joint(
        transforms=[transform], twist=[twist(angular=xyz(*omega))], wrench=[wrench(xyz())]
    )
    rates = np.array(standard.thrust_attitude(message, FRAMES).attitude_rates)
    # R' = [omega] R, R' by central differences
    step = 1e-6
    change = (matrix_of(angles + step * rates) - matrix_of(angles - step * rates)) / (2 * step)
    spin = change @ matrix_of(angles).T
    found = (spin[2, 1], spin[0, 2], spin[1, 0])
    np.testing.assert_allclose(found, omega, atol=1e-6)


def test_angular_velocity_and_torque_are_passed_on():
    message = joint(twist=[twist(angular=xyz(1.0, 2.0, 3.0))], wrench=[wrench(xyz(z=5.0))])
    assert standard.thrust_velocity(message, FRAMES)[:2] == (5.0, Vector(1.0, 2.0, 3.0))
    message = stamped("world", wrench=wrench(xyz(z=5.0), xyz(y=0.1)))
    assert standard.wrench(message, FRAMES) == (5.0, Vector(0.0, 0.1, 0.0))


def test_angle_rates_are_refused_at_vertical_pitch():
    transform = Message(rotation=turn(cos(pi / 4), y=sin(pi / 4)))
    spun = twist(angular=xyz(z=1.0))
    message = joint(transforms=[transform], twist=[spun], wrench=[wrench(xyz())])
    with pytest.raises(RosError, match="undefined at a pitch of 1.57 rad; leave out"):
        standard.thrust_attitude(message, FRAMES)


@pytest.mark.parametrize(
    ("convert", "message", "reason"),
    [
        (
            standard.pose,
            stamped(pose=Message(position=xyz(), orientation=turn(0.0))),
            "got norm 0; must be a unit quaternion",
        ),
        (
            standard.pose,
            stamped(pose=Message(position=xyz(), orientation=turn(nan))),
            "got norm nan",
        ),
        (
            standard.pose,
            stamped("map", pose=Message(position=xyz(), orientation=turn())),
            "'map' is unknown; must be world, or one of fleet/drone, base_link",
        ),
        (
            standard.wrench,
            stamped("base_link", wrench=wrench(xyz(z=1.0))),
            "that of the body; this message must be in world",
        ),
        (
            standard.wrench,
            stamped(wrench=wrench(xyz(x=1.0))),
            r"lateral force: got \(1, 0\) N; must be \(0, 0\)",
        ),
        (
            standard.thrust_velocity,
            joint(wrench=[wrench(xyz())]),
            "twist: got 0 entries; must be one",
        ),
        (
            standard.thrust_attitude,
            joint(wrench=[wrench(xyz())] * 2),
            "wrench: got 2 entries; must be one",
        ),
    ],
)
def test_invalid_standard_messages_are_refused_with_the_reason(convert, message, reason):
    with pytest.raises(RosError, match=reason):
        convert(message, FRAMES)


def fields_of(definition):
    words = (line.split() for line in definition.splitlines())
    return {word[1] for word in words if len(word) == 2 and not word[0].startswith("#")}


EXAMPLES = {
    "geometry_msgs/PoseStamped": stamped(pose=Message(position=xyz(), orientation=turn())),
    "trajectory_msgs/MultiDOFJointTrajectoryPoint": Message(
        transforms=[Message(translation=xyz(), rotation=turn())], velocities=[], accelerations=[]
    ),
    "geometry_msgs/TwistStamped": stamped(twist=twist()),
    "geometry_msgs/Twist": twist(),
    "sensor_msgs/MultiDOFJointState": joint(
        transforms=[Message(rotation=turn())], twist=[twist()], wrench=[wrench(xyz())]
    ),
    "geometry_msgs/WrenchStamped": stamped(wrench=wrench(xyz())),
    "std_msgs/UInt8": Message(data=2),
}


@pytest.mark.parametrize("type_name", standard.UAV_GAZEBO_INTERFACES)
def test_converted_messages_have_the_fields_of_uav_gazebo(type_name):
    name = type_name.removeprefix("uav_gazebo_msgs/")
    interface = standard.UAV_GAZEBO_INTERFACES[type_name]
    for topic in interface.topics:
        read = topic.convert(EXAMPLES[topic.type_name], FRAMES)
        assert set(read._fields) == fields_of((DEFINITIONS / "msg" / f"{name}.msg").read_text())
    for service in interface.services:
        request = (DEFINITIONS / "srv" / f"{name}.srv").read_text().partition("---")[0]
        assert set(service.request._fields) == fields_of(request)


def test_every_type_of_uav_gazebo_has_a_standard_equivalent():
    files = [*DEFINITIONS.glob("msg/*.msg"), *DEFINITIONS.glob("srv/*.srv")]
    assert {f"uav_gazebo_msgs/{file.stem}" for file in files} == set(standard.UAV_GAZEBO_INTERFACES)


def test_modes_match_the_message_definition():
    definition = (DEFINITIONS / "msg" / "ControlMode.msg").read_text()
    words = [line.split() for line in definition.splitlines() if "=" in line]
    assert tuple(word[1].partition("=")[0].lower() for word in words) == standard.MODES


def test_namespace_is_derived_from_the_name():
    namespace_of = standard.namespace_of
    assert (
        namespace_of("/a/drone/position_yaw/command", "uav_gazebo_msgs/PositionYawControl")
        == "/a/drone"
    )
    assert namespace_of("/drone/takeoff", "uav_gazebo_msgs/Takeoff") == "/drone"
    assert namespace_of("/drone/somewhere", "uav_gazebo_msgs/Takeoff") is None
    assert namespace_of("/drone/takeoff", "std_srvs/Empty") is None


def test_trigger_responses_have_a_message():
    takeoff, land, mode = (
        standard.UAV_GAZEBO_INTERFACES[f"uav_gazebo_msgs/{name}"].services[0]
        for name in ("Takeoff", "Land", "GetMode")
    )
    assert takeoff.request == TakeoffRequest(6.0, 0.0, 0.0, force_takeoff=False)
    assert land.request == LandRequest(0.0, 5.0, 0.1, force_landing=False)
    respond = standard.trigger_response
    assert respond(takeoff, {"success": True, "residual": 0.223}) == {
        "success": True,
        "message": "0.22 m from the commanded position",
    }
    replaced = {"success": False, "message": "replaced by another command"}
    assert respond(takeoff, {}) == replaced
    assert respond(land, {}) == replaced
    assert respond(land, RefusedResponse("no", {})) == {"success": False, "message": "no"}
    too_far = respond(land, {"landed_forcefully": False, "success": False})
    assert too_far["message"] == "too far from the landing position to stop the motors"
    assert not too_far["success"]
    assert respond(mode, {"mode": {"mode": 4}}) == {"success": True, "message": "thrust_velocity"}


def test_heading_is_the_direction_of_the_x_axis():
    # rolled while heading north
    rotation = quaternion_of(matrix_about(2, 0.5 * pi) @ matrix_about(0, 0.7))
    pose = Message(position=xyz(), orientation=rotation)
    ahead = (matrix_about(2, 0.5 * pi) @ matrix_about(0, 0.7))[:, 0]
    read = standard.pose(stamped(pose=pose), FRAMES)
    assert read.yaw == pytest.approx(atan2(ahead[1], ahead[0]))


@pytest.mark.skipif(find_spec("rclpy") is not None, reason="ROS 2 is installed")
def test_missing_ros_2_names_the_setup_script():
    from kittiwake.adapters.ros.ros2.node import Ros2Node

    with pytest.raises(MissingExtraError, match=r"rclpy of ROS 2.*scripts/ros2-setup"):
        Ros2Node()
    with pytest.raises(MissingExtraError, match="colcon.*packages/uav_gazebo_msgs"):
        message_class("uav_gazebo_msgs/ControlMode")
    assert not is_installed("nav_msgs/Odometry")


def test_types_that_an_older_package_lacks_count_as_missing(tmp_path, monkeypatch):
    # of services alone, as std_srvs
    (tmp_path / "older_srvs" / "srv").mkdir(parents=True)
    (tmp_path / "older_srvs" / "__init__.py").touch()
    (tmp_path / "older_srvs" / "srv" / "__init__.py").write_text("class Known: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert is_installed("older_srvs/Known")
    assert not is_installed("older_srvs/Newer")


def test_type_names_require_a_package():
    with pytest.raises(RosError, match="write the package as well"):
        message_class("Odometry")


def test_unrelated_import_errors_are_not_translated(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        library("half_there")
