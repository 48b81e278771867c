"""Commands of a gamepad: changes only, to the first vehicle of the current flight."""

from math import inf

import pytest

from kittiwake.cockpit.gamepad_commands import GamepadCommands
from kittiwake.core.commands import BodyVelocityYawRate, MotorsOff, PositionYaw
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.joystick import GamepadReading
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.session import Session
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.scenario.load import load_scenario

REST = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
R2_PULLED = (0.0, 0.0, 1.0, 0.0, 0.0, -1.0)
L2_PULLED = (0.0, 0.0, -1.0, 0.0, 0.0, 1.0)
AHEAD = (0.0, 1.0, 1.0, 0.0, 0.0, 1.0)
CROSS, CIRCLE, R1, SHARE, L3 = 0, 1, 5, 8, 11


def gamepad_reading(*pressed, axes=REST):
    return GamepadReading(axes, tuple(number in pressed for number in range(13)))


@pytest.fixture
def sent(monkeypatch):
    """Commands sent to executors; position commands are refused."""
    commands = []

    def command(executor, vehicle, maneuver):
        held = getattr(maneuver, "held", maneuver)
        commands.append((executor, vehicle, held))
        if isinstance(held, PositionYaw):
            message = "no places here"
            raise CommandError(message)

    monkeypatch.setattr(LiveExecutor, "command", command)
    return commands


@pytest.fixture
def session():
    """Session with two vehicles, not started."""
    two = ["vehicles.drone.count=2", "vehicles.drone.spacing_m=[2, 0, 0]"]
    return Session(load_scenario("hover-angle-velocity", two), RealTimeClock(inf))


@pytest.fixture
def gamepad(session):
    made = GamepadCommands(session)
    made.read(gamepad_reading())
    return made


@pytest.mark.slow
def test_without_a_mode_no_command_is_sent(gamepad, sent):
    gamepad.read(gamepad_reading(axes=AHEAD))
    gamepad.read(None)
    assert sent == []


def test_a_mode_commands_the_first_vehicle_and_a_resting_stick_sends_nothing(
    gamepad, session, sent
):
    gamepad.read(gamepad_reading(CIRCLE))
    for _ in range(3):
        gamepad.read(gamepad_reading())
    ((executor, vehicle, held),) = sent
    assert executor is session.executor
    assert vehicle == "drone-1"
    assert isinstance(held, BodyVelocityYawRate)
    gamepad.read(gamepad_reading(axes=AHEAD))
    assert float(sent[-1][2].velocity_body_mps.x) > 0.0
    assert len(sent) == 2


def test_the_off_button_switches_motors_off(gamepad, sent):
    gamepad.read(gamepad_reading(CIRCLE))
    gamepad.read(gamepad_reading(R1))
    assert isinstance(sent[-1][2], MotorsOff)


def test_a_disconnected_pad_resumes_guidance(gamepad, sent):
    gamepad.read(gamepad_reading(CIRCLE))
    gamepad.read(None)
    gamepad.read(None)
    assert [held for _, _, held in sent][1:] == [None]


def test_a_refused_command_is_reported_once(gamepad, session, sent):
    for _ in range(3):
        gamepad.read(gamepad_reading(CROSS))
    assert len(sent) == 1
    assert session.executor.take_problems() == ["no places here"]


def test_a_clicked_stick_places_the_vehicle_without_a_command(gamepad, sent, monkeypatch):
    placed = []
    monkeypatch.setattr(
        LiveExecutor, "place", lambda _, vehicle, start: placed.append((vehicle, start))
    )
    gamepad.read(gamepad_reading(L3))
    assert placed == [("drone-1", Start(Vec3(0.0, 0.0, 6.0)))]
    assert sent == []


def test_the_share_button_restarts_the_flight(gamepad, session, sent):
    gamepad.read(gamepad_reading(SHARE))
    assert session.restart_requested
    assert sent == []


def test_r2_takes_off_once_and_sticks_wait_for_a_mode(gamepad, sent):
    gamepad.read(gamepad_reading(CIRCLE))
    for axes in (R2_PULLED, R2_PULLED, REST, AHEAD):
        gamepad.read(gamepad_reading(axes=axes))
    assert [getattr(held, "description", None) for _, _, held in sent[1:]] == ["takes off by 2 m"]


def test_l2_lands_where_the_vehicle_is(gamepad, sent, monkeypatch):
    motion = Start(Vec3(1.0, 2.0, 5.0)).kinematics()
    monkeypatch.setattr(LiveExecutor, "estimate", lambda *_: VehicleEstimate(1.0, motion))
    gamepad.read(gamepad_reading(axes=L2_PULLED))
    ((_, vehicle, held),) = sent
    assert vehicle == "drone-1"
    assert held.description == "lands"


def test_l2_before_the_first_block_commands_nothing(gamepad, sent):
    gamepad.read(gamepad_reading(axes=L2_PULLED))
    assert sent == []


def test_a_vessel_can_neither_take_off_nor_land(sent):
    session = Session(load_scenario("cruise-strider"), RealTimeClock(inf))
    gamepad = GamepadCommands(session)
    gamepad.read(gamepad_reading())
    gamepad.read(gamepad_reading(axes=R2_PULLED))
    assert sent == []
    assert session.executor.take_problems() == [
        "'strider' floats; it can neither take off nor land"
    ]


@pytest.mark.slow
def test_the_share_button_begins_a_pursuit_again_six_meters_up(sent, monkeypatch):
    placed = []
    monkeypatch.setattr(LiveExecutor, "place", lambda _, *given: placed.append(given))
    session = Session(load_scenario("pursuit"), RealTimeClock(inf))
    gamepad = GamepadCommands(session)
    gamepad.read(gamepad_reading())
    gamepad.read(gamepad_reading(SHARE))
    assert placed == [("uav-gazebo", Start(Vec3(0.0, 0.0, 6.0)))]
    assert [held.description for _, _, held in sent] == ["begins its pursuit again"]
    assert not session.restart_requested


def test_a_held_stick_commands_the_restarted_flight(gamepad, session, sent):
    gamepad.read(gamepad_reading(CIRCLE))
    gamepad.read(gamepad_reading(axes=AHEAD))
    session.restart()
    session.prepare_restart()
    gamepad.read(gamepad_reading(axes=AHEAD))
    assert sent[-1][0] is session.executor
    assert sent[-1][0] is not sent[0][0]
    assert sent[-1][2] == sent[1][2]
