"""Commands of uav_gazebo as maneuvers, against rotations written out as matrices."""

from types import SimpleNamespace

import numpy as np
import pytest

from kittiwake.adapters.ros.mode_commands import (
    MODES,
    angular_velocity_world,
    quaternion_from_xyz_angles,
)
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
from kittiwake.runtime.command_conversion import CommandConverter
from kittiwake.runtime.maneuvers import Capabilities
from kittiwake.runtime.vehicle_estimate import ESTIMATE_COLUMNS, estimate_from_row
from kittiwake.scenario.ros_settings import RosSettings

ANGLES = (0.3, -0.4, 0.7)
RATES = (0.5, -0.2, 0.9)
STEP_S = 1e-6
ALL = (PositionYaw, VelocityYawRate, ThrustAttitude, ThrustRates, ThrustTorque)
BY_NAME = {mode.name: mode for mode in MODES}


def vector(x=0.0, y=0.0, z=0.0):
    return SimpleNamespace(x=x, y=y, z=z)


def message(**given):
    """Return a command of any mode; fields left out are zero."""
    names = ("position", "velocity", "acceleration", "attitude", "attitude_rates", "torque")
    zeros = {name: vector() for name in names}
    return SimpleNamespace(
        **zeros | {"yaw": 0.0, "yaw_rate": 0.0, "thrust": 0.0, "body_frame": False} | given
    )


def turn(angles):
    """Return the matrix R_x R_y R_z."""
    (sx, sy, sz), (cx, cy, cz) = np.sin(angles), np.cos(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_x @ about_y @ about_z


def array(v):
    return np.array([float(v.x), float(v.y), float(v.z)])


def command_of(maneuver, attitude=None, accepted=ALL):
    row = dict.fromkeys(ESTIMATE_COLUMNS, 0.0)
    for part, value in zip("wxyz", (attitude or Quaternion.identity()).array, strict=True):
        row[f"estimate.q{part}"] = float(value)
    now = estimate_from_row(row)
    command = maneuver.command(now, Capabilities(accepted, 9.81, 1.0, 0.0))
    return CommandConverter().convert(command, now, accepted)


def test_xyz_angles_match_the_product_of_rotation_matrices():
    q = quaternion_from_xyz_angles(Vec3(*ANGLES))
    for axis in np.eye(3):
        np.testing.assert_allclose(
            array(q.rotate(Vec3(*axis))), turn(np.array(ANGLES)) @ axis, atol=1e-12
        )


def test_angular_velocity_matches_the_derivative_of_the_rotation_matrix():
    now, later = np.array(ANGLES), np.array(ANGLES) + STEP_S * np.array(RATES)
    skew = (turn(later) - turn(now)) / STEP_S @ turn(now).T
    expected = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    omega = angular_velocity_world(Vec3(*ANGLES), Vec3(*RATES))
    np.testing.assert_allclose(array(omega), expected, atol=1e-5)


def test_attitude_command_has_angular_velocity_in_body_axes():
    given = message(thrust=9.0, attitude=vector(*ANGLES), attitude_rates=vector(*RATES))
    signal = command_of(BY_NAME["thrust_attitude"].parse(given))
    assert isinstance(signal, ThrustAttitude)
    body = turn(np.array(ANGLES)).T @ array(angular_velocity_world(Vec3(*ANGLES), Vec3(*RATES)))
    np.testing.assert_allclose(array(signal.angular_velocity_body_radps), body, atol=1e-12)
    assert float(signal.thrust_n) == 9.0


@pytest.mark.parametrize(
    ("mode", "field", "command_type", "column"),
    [
        ("thrust_velocity", "velocity", ThrustRates, "angular_velocity_body_radps"),
        ("thrust_velocity", "acceleration", ThrustRates, "angular_acceleration_body_radps2"),
        ("thrust_torque", "torque", ThrustTorque, "torque_body_nm"),
    ],
)
def test_world_frame_vectors_are_rotated_to_body_axes(mode, field, command_type, column):
    maneuver = BY_NAME[mode].parse(message(thrust=1.0, **{field: vector(1.0, 2.0, 3.0)}))
    for angles in (np.zeros(3), np.array(ANGLES)):
        signal = command_of(maneuver, quaternion_from_xyz_angles(Vec3(*angles)))
        assert isinstance(signal, command_type)
        expected = turn(angles).T @ [1.0, 2.0, 3.0]
        np.testing.assert_allclose(array(getattr(signal, column)), expected, atol=1e-12)


def test_body_velocity_is_rotated_for_vehicles_that_accept_world_axes():
    given = message(velocity=vector(1.0, 2.0, 3.0), yaw_rate=0.5, body_frame=True)
    maneuver = BY_NAME["velocity_yawrate"].parse(given)
    attitude = quaternion_from_xyz_angles(Vec3(*ANGLES))
    world = command_of(maneuver, attitude)
    assert isinstance(world, VelocityYawRate)
    expected = turn(np.array(ANGLES)) @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(array(world.velocity_world_mps), expected, atol=1e-12)
    body = command_of(maneuver, attitude, (BodyVelocityYawRate,))
    assert isinstance(body, BodyVelocityYawRate)


def test_position_command_keeps_its_feed_forward():
    given = message(
        position=vector(1.0, 2.0, 3.0),
        velocity=vector(4.0, 5.0, 6.0),
        acceleration=vector(7.0, 8.0, 9.0),
        yaw=0.1,
        yaw_rate=0.2,
    )
    signal = command_of(BY_NAME["position_yaw"].parse(given))
    assert signal == PositionYaw(
        Vec3(1.0, 2.0, 3.0),
        0.1,
        Vec3(4.0, 5.0, 6.0),
        Vec3(7.0, 8.0, 9.0),
        yaw_rate_radps=0.2,
    )


def test_negative_thrust_becomes_zero():
    assert float(command_of(BY_NAME["thrust_torque"].parse(message(thrust=-3.0))).thrust_n) == 0.0


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
def test_numbers_out_of_range_are_refused_with_the_field_name(mode, field, value):
    is_number = isinstance(getattr(message(), field), float)
    bad = message(**{field: value if is_number else vector(0.0, value)})
    with pytest.raises(CommandError, match=rf"^{field}(\.y)?: got .*; must be from -\d"):
        BY_NAME[mode].parse(bad)


def test_mode_without_a_command_has_a_zero_command():
    assert command_of(BY_NAME["position_yaw"].zero_command()) == PositionYaw(Vec3.zero(), 0.0)
    assert float(command_of(BY_NAME["thrust_attitude"].zero_command()).thrust_n) == 0.0


# model states


def state(**given):
    """Return a gazebo_msgs/ModelState."""
    defaults = {
        "model_name": "drone",
        "pose": SimpleNamespace(
            position=vector(1.0, 2.0, 3.0), orientation=SimpleNamespace(w=1.0, x=0.0, y=0.0, z=0.0)
        ),
        "twist": SimpleNamespace(linear=vector(0.1, 0.2, 0.3), angular=vector(0.0, 0.5, 0.0)),
        "reference_frame": "",
    }
    return SimpleNamespace(**defaults | given)


def test_model_state_becomes_a_start_with_body_rates():
    q = quaternion_from_xyz_angles(Vec3(*ANGLES))
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
    ("given", "reason"),
    [
        ({"model_name": "drome"}, "no model 'drome'.*drone"),
        ({"reference_frame": "base_link"}, "reference_frame: got 'base_link'; must be empty"),
        (
            {
                "pose": SimpleNamespace(
                    position=vector(), orientation=SimpleNamespace(w=0.0, x=0.0, y=0.0, z=0.0)
                )
            },
            "got norm 0; must be a unit quaternion",
        ),
        *(
            (
                {
                    "pose": SimpleNamespace(
                        position=vector(),
                        orientation=SimpleNamespace(w=0.0, x=large, y=0.0, z=0.0),
                    )
                },
                "; must be a unit quaternion",
            )
            for large in (1e308, float("inf"), float("nan"))
        ),
        (
            {"twist": SimpleNamespace(linear=vector(0.0, 1e308), angular=vector())},
            r"twist\.linear\.y: got 1e\+308; must be from -1000 to 1000 m/s",
        ),
        (
            {"twist": SimpleNamespace(linear=vector(), angular=vector(-1e308))},
            r"twist\.angular\.x: got -1e\+308",
        ),
    ],
)
def test_invalid_model_states_are_refused(given, reason):
    with pytest.raises(CommandError, match=reason):
        start_of(state(**given), {"drone": "drone"}, RosSettings())
