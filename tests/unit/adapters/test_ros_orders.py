"""Commands of uav_gazebo as maneuvers, against rotations written out as matrices."""

from types import SimpleNamespace

import numpy as np
import pytest

from kittiwake.adapters.ros.mode_commands import MODES, angular_velocity_world, of_xyz_angles
from kittiwake.adapters.ros.start_pose import start_of
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.core.errors import CommandError
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import Ability, VehicleEstimate
from kittiwake.scenario.ros_settings import RosSettings

ANGLES = (0.3, -0.4, 0.7)
RATES = (0.5, -0.2, 0.9)
STEP_S = 1e-6
ALL = (PositionYaw, VelocityYawRate, ThrustAttitude, ThrustRates, ThrustTorque)
BY_NAME = {mode.name: mode for mode in MODES}


def vector(x=0.0, y=0.0, z=0.0):
    return SimpleNamespace(x=x, y=y, z=z)


def message(**given):
    """Of any mode: what is not given is zero, as in ROS."""
    names = ("position", "velocity", "acceleration", "attitude", "attitude_rates", "torque")
    zeros = {name: vector() for name in names}
    return SimpleNamespace(
        **zeros | {"yaw": 0.0, "yaw_rate": 0.0, "thrust": 0.0, "body_frame": False} | given
    )


def turn(angles):
    """R_x R_y R_z, written out."""
    (sx, sy, sz), (cx, cy, cz) = np.sin(angles), np.cos(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_x @ about_y @ about_z


def array(v):
    return np.array([float(v.x), float(v.y), float(v.z)])


def said(maneuver, attitude=None, takes=ALL):
    q = attitude or Quaternion.identity()
    parts = tuple(float(getattr(q, part)) for part in "wxyz")
    now = VehicleEstimate(0.0, np.zeros(3), np.zeros(3), 0.0, None, parts)
    return maneuver.command(now, Ability(takes, 9.81, 1.0, 0.0))


def test_angles_turn_by_the_three_matrices():
    q = of_xyz_angles(Vec3(*ANGLES))
    for axis in np.eye(3):
        np.testing.assert_allclose(
            array(q.rotate(Vec3(*axis))), turn(np.array(ANGLES)) @ axis, atol=1e-12
        )


def test_rates_of_angles_are_those_of_the_turning_matrix():
    now, later = np.array(ANGLES), np.array(ANGLES) + STEP_S * np.array(RATES)
    skew = (turn(later) - turn(now)) / STEP_S @ turn(now).T
    expected = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    omega = angular_velocity_world(Vec3(*ANGLES), Vec3(*RATES))
    np.testing.assert_allclose(array(omega), expected, atol=1e-5)


def test_an_attitude_is_told_with_the_rates_of_the_body():
    told = message(thrust=9.0, attitude=vector(*ANGLES), attitude_rates=vector(*RATES))
    signal = said(BY_NAME["thrust_attitude"].read(told))
    assert isinstance(signal, ThrustAttitude)
    body = turn(np.array(ANGLES)).T @ array(angular_velocity_world(Vec3(*ANGLES), Vec3(*RATES)))
    np.testing.assert_allclose(array(signal.angular_velocity_body_radps), body, atol=1e-12)
    assert float(signal.thrust_n) == 9.0


@pytest.mark.parametrize(
    ("mode", "field", "kind", "column"),
    [
        ("thrust_velocity", "velocity", ThrustRates, "angular_velocity_body_radps"),
        ("thrust_velocity", "acceleration", ThrustRates, "angular_acceleration_body_radps2"),
        ("thrust_torque", "torque", ThrustTorque, "torque_body_nm"),
    ],
)
def test_what_is_given_in_the_worlds_axes_is_turned_with_the_body(mode, field, kind, column):
    maneuver = BY_NAME[mode].read(message(thrust=1.0, **{field: vector(1.0, 2.0, 3.0)}))
    for angles in (np.zeros(3), np.array(ANGLES)):
        signal = said(maneuver, of_xyz_angles(Vec3(*angles)))
        assert isinstance(signal, kind)
        expected = turn(angles).T @ [1.0, 2.0, 3.0]
        np.testing.assert_allclose(array(getattr(signal, column)), expected, atol=1e-12)


def test_a_velocity_of_the_body_is_turned_for_those_that_take_the_worlds():
    told = message(velocity=vector(1.0, 2.0, 3.0), yaw_rate=0.5, body_frame=True)
    maneuver = BY_NAME["velocity_yawrate"].read(told)
    attitude = of_xyz_angles(Vec3(*ANGLES))
    turned = said(maneuver, attitude)
    assert isinstance(turned, VelocityYawRate)
    expected = turn(np.array(ANGLES)) @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(array(turned.velocity_world_mps), expected, atol=1e-12)
    taken = said(maneuver, attitude, (BodyVelocityYawRate,))
    assert isinstance(taken, BodyVelocityYawRate)


def test_a_place_is_told_with_all_its_feed_forward():
    told = message(
        position=vector(1.0, 2.0, 3.0),
        velocity=vector(4.0, 5.0, 6.0),
        acceleration=vector(7.0, 8.0, 9.0),
        yaw=0.1,
        yaw_rate=0.2,
    )
    signal = said(BY_NAME["position_yaw"].read(told))
    assert signal == PositionYaw(
        *(Vec3(1.0, 2.0, 3.0), 0.1, Vec3(4.0, 5.0, 6.0), Vec3(7.0, 8.0, 9.0)),
        yaw_rate_radps=0.2,
    )


def test_thrust_below_zero_is_none():
    assert float(said(BY_NAME["thrust_torque"].read(message(thrust=-3.0))).thrust_n) == 0.0


@pytest.mark.parametrize(
    ("mode", "field"),
    [
        *(("position_yaw", f) for f in ("position", "velocity", "acceleration", "yaw", "yaw_rate")),
        *(("velocity_yawrate", f) for f in ("velocity", "acceleration", "yaw_rate")),
        *(("thrust_attitude", f) for f in ("thrust", "attitude", "attitude_rates")),
        *(("thrust_velocity", f) for f in ("thrust", "velocity", "acceleration")),
        *(("thrust_torque", f) for f in ("thrust", "torque")),
    ],
)
@pytest.mark.parametrize("value", [float("nan"), float("-inf"), 1e308, -1e308])
def test_what_cannot_be_flown_is_refused_by_its_name(mode, field, value):
    is_number = isinstance(getattr(message(), field), float)
    bad = message(**{field: value if is_number else vector(0.0, value)})
    with pytest.raises(CommandError, match=rf"^{field}(\.y)? is .*; must be from -\d"):
        BY_NAME[mode].read(bad)


def test_zeros_are_followed_where_nothing_was_told():
    assert said(BY_NAME["position_yaw"].still()) == PositionYaw(Vec3.zero(), 0.0)
    assert float(said(BY_NAME["thrust_attitude"].still()).thrust_n) == 0.0


# places


def state(**given):
    """A gazebo_msgs/ModelState."""
    defaults = {
        "model_name": "drone",
        "pose": SimpleNamespace(
            position=vector(1.0, 2.0, 3.0), orientation=SimpleNamespace(w=1.0, x=0.0, y=0.0, z=0.0)
        ),
        "twist": SimpleNamespace(linear=vector(0.1, 0.2, 0.3), angular=vector(0.0, 0.5, 0.0)),
        "reference_frame": "",
    }
    return SimpleNamespace(**defaults | given)


def test_a_model_state_is_a_start_with_rates_of_the_body():
    q = of_xyz_angles(Vec3(*ANGLES))
    orientation = SimpleNamespace(w=float(q.w), x=float(q.x), y=float(q.y), z=float(q.z))
    pose = SimpleNamespace(position=vector(1.0, 2.0, 3.0), orientation=orientation)
    name, start = start_of(state(pose=pose), {"drone": "the-drone"}, RosSettings())
    assert name == "the-drone"
    motion = start.kinematics()
    np.testing.assert_allclose(array(motion.position_world_m), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(array(motion.velocity_world_mps), [0.1, 0.2, 0.3])
    expected = turn(np.array(ANGLES)).T @ [0.0, 0.5, 0.0]
    np.testing.assert_allclose(array(motion.angular_velocity_body_radps), expected, atol=1e-12)
    for axis in np.eye(3):
        np.testing.assert_allclose(
            array(motion.q_world_from_body.rotate(Vec3(*axis))), turn(np.array(ANGLES)) @ axis
        )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model_name": "drome"}, "there is no model 'drome'.*drone"),
        ({"reference_frame": "base_link"}, "reference_frame 'base_link' is not known"),
        (
            {
                "pose": SimpleNamespace(
                    position=vector(), orientation=SimpleNamespace(w=0.0, x=0.0, y=0.0, z=0.0)
                )
            },
            "norm 0; a rotation is a unit quaternion",
        ),
        *(
            (
                {
                    "pose": SimpleNamespace(
                        position=vector(),
                        orientation=SimpleNamespace(w=0.0, x=large, y=0.0, z=0.0),
                    )
                },
                "; a rotation is a unit quaternion",
            )
            for large in (1e308, float("inf"), float("nan"))
        ),
        (
            {"twist": SimpleNamespace(linear=vector(0.0, 1e308), angular=vector())},
            r"twist\.linear\.y is 1e\+308; must be from -1000 to 1000 m/s",
        ),
        (
            {"twist": SimpleNamespace(linear=vector(), angular=vector(-1e308))},
            r"twist\.angular\.x is -1e\+308",
        ),
    ],
)
def test_a_model_state_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(CommandError, match=said):
        start_of(state(**given), {"drone": "drone"}, RosSettings())
