"""What a gamepad asks for: each axis and button, the dead zone, triggers, edges."""

import math
from dataclasses import replace

import pytest

from kittiwake.core.commands import (
    BodyVelocityYawRate,
    MotorsOff,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
)
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.joystick import GamepadReading, GamepadRequest, Joystick, outside_dead_zone
from kittiwake.scenario.joystick_settings import JoystickSettings

LX, LY, L2, RX, RY, R2 = range(6)
MODE_BUTTONS = {
    0: ("position-yaw", PositionYaw),
    1: ("velocity-yaw-rate", BodyVelocityYawRate),
    2: ("thrust-attitude", ThrustAttitude),
    3: ("thrust-rates", ThrustRates),
    4: ("thrust-torque", ThrustTorque),
    5: ("inactive", MotorsOff),
}
# no dead zone, and another scale for everything
SETTINGS = JoystickSettings(
    dead_zone=0.0,
    position_scale_m=2.0,
    yaw_scale_rad=3.0,
    velocity_scale_mps=5.0,
    acceleration_scale_mps2=7.0,
    yaw_rate_scale_radps=11.0,
    thrust_scale_n=13.0,
    attitude_scale_rad=0.5,
    angular_velocity_scale_radps=17.0,
    torque_scale_nm=19.0,
)


def gamepad_reading(*pressed, **axes):
    """A pad with the named axes away from rest and these buttons down."""
    rest = {"LX": 0.0, "LY": 0.0, "L2": 1.0, "RX": 0.0, "RY": 0.0, "R2": 1.0}
    return GamepadReading(
        tuple({**rest, **axes}.values()), tuple(number in pressed for number in range(13))
    )


def in_mode(button, settings=SETTINGS):
    joystick = Joystick(settings)
    joystick.read(gamepad_reading())
    joystick.read(gamepad_reading(button))
    return joystick


def xyz(vector):
    return pytest.approx((vector.x, vector.y, vector.z))


# modes


def test_there_is_no_command_before_a_mode_is_chosen():
    joystick = Joystick(SETTINGS)
    assert joystick.read(gamepad_reading(LY=1.0)) == GamepadRequest(None, None)
    assert joystick.read(gamepad_reading(LY=1.0, RX=-1.0)) == GamepadRequest(None, None)


@pytest.mark.parametrize(
    ("button", "mode", "command_type"), [(b, *m) for b, m in MODE_BUTTONS.items()]
)
def test_each_button_chooses_its_mode_which_stays(button, mode, command_type):
    joystick = Joystick(SETTINGS)
    joystick.read(gamepad_reading())
    for reading in (gamepad_reading(button), gamepad_reading(button), gamepad_reading()):
        asked = joystick.read(reading)
        assert asked.mode == mode
        assert type(asked.command) is command_type


def test_switching_off_wins_where_all_buttons_are_pressed_at_once():
    joystick = Joystick(SETTINGS)
    joystick.read(gamepad_reading())
    asked = joystick.read(gamepad_reading(0, 1, 2, 3, 4, 5))
    assert (asked.mode, asked.chosen) == ("inactive", True)


def test_a_button_counts_once_when_it_goes_down():
    joystick = Joystick(SETTINGS)
    joystick.read(gamepad_reading())
    readings = [
        gamepad_reading(5, 8, 11),
        gamepad_reading(5, 8, 11),
        gamepad_reading(),
        gamepad_reading(5, 8, 11),
    ]
    events = [joystick.read(reading)[2:5] for reading in readings]
    all_at_once, nothing = (True, True, Vec3(0.0, 0.0, 6.0)), (False, False, None)
    assert events == [all_at_once, nothing, nothing, all_at_once]


@pytest.mark.parametrize(("button", "height_m"), [(11, 6.0), (12, 1.0)])
def test_either_stick_clicked_places_and_does_nothing_else(button, height_m):
    asked = in_mode(1).read(gamepad_reading(button))
    assert asked[1:5] == ("velocity-yaw-rate", False, False, Vec3(0.0, 0.0, height_m))


def test_share_restarts_and_does_nothing_else():
    assert in_mode(1).read(gamepad_reading(8))[1:5] == ("velocity-yaw-rate", False, True, None)


@pytest.mark.parametrize("button", [6, 7, 9, 10])
def test_the_other_buttons_do_nothing(button):
    assert in_mode(1).read(gamepad_reading(button))[1:5] == (
        "velocity-yaw-rate",
        False,
        False,
        None,
    )


def test_buttons_held_before_the_first_reading_do_not_count():
    joystick = Joystick(SETTINGS)
    assert joystick.read(gamepad_reading(0, 5, 8, 12)) == GamepadRequest()
    assert joystick.read(gamepad_reading(0, 5, 8, 12)) == GamepadRequest()
    joystick.read(gamepad_reading())
    assert joystick.read(gamepad_reading(0)).mode == "position-yaw"


def test_an_unplugged_pad_commands_nothing_until_a_mode_is_chosen_again():
    joystick = in_mode(1)
    assert joystick.read(gamepad_reading(LY=1.0)).command is not None
    assert joystick.read(None) == GamepadRequest()
    # held while it is plugged in again
    assert joystick.read(gamepad_reading(0, LY=1.0)) == GamepadRequest()
    joystick.read(gamepad_reading())
    assert joystick.read(gamepad_reading(1)).mode == "velocity-yaw-rate"


# axes, with a full stick each


@pytest.mark.parametrize(
    ("axis", "place", "yaw"),
    [
        ("LY", (2.0, 0.0, 0.0), 0.0),
        ("LX", (0.0, 2.0, 0.0), 0.0),
        ("RY", (0.0, 0.0, 2.0), 0.0),
        ("RX", (0.0, 0.0, 0.0), 3.0),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sticks_are_a_position_in_the_world(axis, place, yaw, sign):
    signal = in_mode(0).read(gamepad_reading(**{axis: sign})).command
    assert xyz(signal.position_world_m) == tuple(sign * part for part in place)
    assert signal.yaw_rad == pytest.approx(sign * yaw)


@pytest.mark.parametrize(
    ("axis", "velocity", "yaw_rate"),
    [
        ("LY", (5.0, 0.0, 0.0), 0.0),
        ("LX", (0.0, 5.0, 0.0), 0.0),
        ("RY", (0.0, 0.0, 5.0), 0.0),
        ("RX", (0.0, 0.0, 0.0), 11.0),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sticks_are_a_velocity_of_the_body(axis, velocity, yaw_rate, sign):
    signal = in_mode(1).read(gamepad_reading(**{axis: sign})).command
    assert xyz(signal.velocity_body_mps) == tuple(sign * part for part in velocity)
    assert signal.yaw_rate_radps == pytest.approx(sign * yaw_rate)
    assert xyz(signal.acceleration_body_mps2) == (0.0, 0.0, 0.0)


ACCELERATION = replace(SETTINGS, triggers="acceleration")


@pytest.mark.parametrize(("axis", "ahead_and_left"), [("L2", (7.0, 0.0)), ("R2", (0.0, 7.0))])
def test_a_trigger_is_an_acceleration_by_how_far_it_is_pulled(axis, ahead_and_left):
    joystick = in_mode(1, ACCELERATION)
    for value, pulled in ((1.0, 0.0), (0.0, 0.5), (-1.0, 1.0), (1.0, 0.0)):
        acceleration = joystick.read(
            gamepad_reading(**{axis: value})
        ).command.acceleration_body_mps2
        assert xyz(acceleration) == (*(pulled * full for full in ahead_and_left), 0.0)


# ahead is left stick up, left is left stick left: in FLU a body leans there by these angles
LEANS = [
    ("LX", (-1.0, 0.0, 0.0)),
    ("LY", (0.0, 1.0, 0.0)),
    ("RX", (0.0, 0.0, 1.0)),
]


@pytest.mark.parametrize(("axis", "lean"), LEANS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sticks_are_an_attitude(axis, lean, sign):
    signal = in_mode(2).read(gamepad_reading(**{axis: sign})).command
    angles = signal.q_world_from_body.to_euler()
    given = (angles.roll_rad, angles.pitch_rad, angles.yaw_rad)
    assert given == pytest.approx(tuple(sign * 0.5 * part for part in lean), abs=1e-9)
    assert xyz(signal.angular_velocity_body_radps) == (0.0, 0.0, 0.0)


def test_the_thrust_tilts_to_where_the_left_stick_points():
    for axes, x, y in (({"LY": 1.0}, 1.0, 0.0), ({"LX": 1.0}, 0.0, 1.0)):
        attitude = in_mode(2).read(gamepad_reading(**axes)).command.q_world_from_body
        push = attitude.rotate(Vec3(0.0, 0.0, 1.0))
        tilt = math.sin(0.5)
        assert (push.x, push.y) == pytest.approx((tilt * x, tilt * y), abs=1e-9)


@pytest.mark.parametrize(("axis", "lean"), LEANS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sticks_are_rates_or_torques_about_the_same_axes(axis, lean, sign):
    rates = in_mode(3).read(gamepad_reading(**{axis: sign})).command
    assert xyz(rates.angular_velocity_body_radps) == tuple(sign * 17.0 * part for part in lean)
    torque = in_mode(4).read(gamepad_reading(**{axis: sign})).command
    assert xyz(torque.torque_body_nm) == tuple(sign * 19.0 * part for part in lean)


@pytest.mark.parametrize("button", [2, 3, 4])
def test_the_right_stick_is_thrust_above_its_middle(button):
    joystick = in_mode(button)
    for value, thrust in ((1.0, 13.0), (0.5, 6.5), (0.0, 0.0), (-1.0, 0.0)):
        signal = joystick.read(gamepad_reading(RY=value)).command
        assert signal.thrust_n == pytest.approx(thrust)


def test_the_scales_are_those_of_the_original_where_none_are_given():
    settings = JoystickSettings()
    full = {"LX": 1.0, "LY": 1.0, "RX": 1.0, "RY": 1.0, "L2": -1.0, "R2": -1.0}
    sticks = {axis: value for axis, value in full.items() if axis not in ("L2", "R2")}
    place = in_mode(0, settings).read(gamepad_reading(**sticks)).command
    assert xyz(place.position_world_m) == (10.0, 10.0, 10.0)
    assert place.yaw_rad == pytest.approx(math.pi)
    velocity = in_mode(1, JoystickSettings(triggers="acceleration"))
    velocity = velocity.read(gamepad_reading(**full)).command
    assert xyz(velocity.velocity_body_mps) == (1.0, 1.0, 1.0)
    assert xyz(velocity.acceleration_body_mps2) == (1.0, 1.0, 0.0)
    assert velocity.yaw_rate_radps == pytest.approx(math.pi)
    attitude = in_mode(2, settings).read(gamepad_reading(RX=1.0, RY=1.0)).command
    assert attitude.thrust_n == pytest.approx(10.0)
    assert abs(attitude.q_world_from_body.z) == pytest.approx(1.0)
    rates = in_mode(3, settings).read(gamepad_reading(LY=1.0)).command
    assert xyz(rates.angular_velocity_body_radps) == (0.0, 1.0, 0.0)
    torque = in_mode(4, settings).read(gamepad_reading(LY=1.0)).command
    assert xyz(torque.torque_body_nm) == (0.0, math.pi, 0.0)


# dead zone and triggers


def test_the_dead_zone_begins_at_zero_and_ends_at_one():
    assert [outside_dead_zone(value, 0.1) for value in (0.0, 0.05, -0.1, 0.1)] == [0.0] * 4
    assert outside_dead_zone(1.0, 0.1) == 1.0
    assert outside_dead_zone(-1.0, 0.1) == -1.0
    assert outside_dead_zone(0.1 + 1e-9, 0.1) == pytest.approx(0.0, abs=2e-9)
    assert outside_dead_zone(-0.1 - 1e-9, 0.1) == pytest.approx(0.0, abs=2e-9)
    assert outside_dead_zone(0.55, 0.1) == pytest.approx(0.5)


@pytest.mark.parametrize("axis", ["LX", "LY", "RX", "RY", "L2", "R2"])
def test_every_axis_has_the_dead_zone(axis):
    joystick = in_mode(1, JoystickSettings(dead_zone=0.2, triggers="acceleration"))
    joystick.read(gamepad_reading(**{axis: -1.0}))
    # a trigger pulled by 0.15 and a stick pushed by it
    little = 0.7 if axis in ("L2", "R2") else 0.15
    still = joystick.read(gamepad_reading()).command
    assert joystick.read(gamepad_reading(**{axis: little})).command == still
    assert joystick.read(gamepad_reading(**{axis: -0.9})).command != still


def test_a_trigger_that_has_not_moved_is_zero():
    # some drivers say 0, half way, until they hear of it
    for first in (1.0, 0.0, -1.0):
        joystick = Joystick(ACCELERATION)
        joystick.read(gamepad_reading(L2=first, R2=first))
        for _ in range(2):
            signal = joystick.read(gamepad_reading(1, L2=first, R2=first)).command
            assert xyz(signal.acceleration_body_mps2) == (0.0, 0.0, 0.0)
        # each for itself
        signal = joystick.read(gamepad_reading(L2=0.5, R2=first)).command
        assert xyz(signal.acceleration_body_mps2) == (7.0 * 0.25, 0.0, 0.0)


@pytest.mark.parametrize(("axis", "event"), [("R2", "takeoff"), ("L2", "landing")])
def test_a_trigger_takes_off_or_lands_once_and_the_mode_is_forgotten(axis, event):
    joystick = in_mode(1)
    assert not getattr(joystick.read(gamepad_reading(**{axis: 0.5})), event)
    asked = joystick.read(gamepad_reading(**{axis: -1.0}))
    assert asked == GamepadRequest(**{event: True})
    # held, released, and pulled again
    assert joystick.read(gamepad_reading(**{axis: -1.0})) == GamepadRequest()
    assert joystick.read(gamepad_reading(LY=1.0)) == GamepadRequest()
    assert getattr(joystick.read(gamepad_reading(**{axis: -0.8})), event)
    assert joystick.read(gamepad_reading(1)).mode == "velocity-yaw-rate"


def test_landing_wins_over_takeoff_and_a_mode_over_both():
    joystick = in_mode(1)
    joystick.read(gamepad_reading(L2=0.9, R2=0.9))
    assert joystick.read(gamepad_reading(L2=-1.0, R2=-1.0)) == GamepadRequest(landing=True)
    joystick.read(gamepad_reading())
    asked = joystick.read(gamepad_reading(5, L2=-1.0))
    assert (asked.mode, asked.landing) == ("inactive", False)


def test_triggers_that_accelerate_do_not_take_off():
    joystick = in_mode(1, ACCELERATION)
    joystick.read(gamepad_reading(R2=0.5))
    asked = joystick.read(gamepad_reading(R2=-1.0))
    assert (asked.takeoff, asked.mode) == (False, "velocity-yaw-rate")


def test_a_smaller_pad_is_at_rest_where_it_has_nothing():
    joystick = Joystick(SETTINGS)
    joystick.read(GamepadReading((0.0, 0.0), (False, False)))
    asked = joystick.read(GamepadReading((0.0, 1.0), (False, True)))
    assert xyz(asked.command.velocity_body_mps) == (5.0, 0.0, 0.0)
    assert xyz(asked.command.acceleration_body_mps2) == (0.0, 0.0, 0.0)
    assert joystick.read(GamepadReading((), ())).mode == "velocity-yaw-rate"


def test_a_stick_that_is_worn_does_not_reach_beyond_its_end():
    signal = in_mode(1).read(gamepad_reading(LY=1.25, RX=-1.25)).command
    assert xyz(signal.velocity_body_mps) == (5.0, 0.0, 0.0)
    assert signal.yaw_rate_radps == -11.0
