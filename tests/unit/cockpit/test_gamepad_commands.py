"""A gamepad's wishes as commands: only what is new, to the first vehicle of the flight there is."""

from math import inf

import pytest

from kittiwake.cockpit.gamepad_commands import GamepadCommands
from kittiwake.core.commands import BodyVelocityYawRate, MotorsOff, PositionYaw
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.joystick import Pad
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.session import Session
from kittiwake.scenario.load import load_scenario

REST = (0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
AHEAD = (0.0, 1.0, 1.0, 0.0, 0.0, 1.0)
CROSS, CIRCLE, R1, SHARE, L3 = 0, 1, 5, 8, 11


def pad(*pressed, axes=REST):
    return Pad(axes, tuple(number in pressed for number in range(13)))


@pytest.fixture
def asked(monkeypatch):
    """What executors are asked for; places are refused."""
    heard = []

    def ask(executor, vehicle, maneuver):
        signal = None if maneuver is None else maneuver.asked
        heard.append((executor, vehicle, signal))
        if isinstance(signal, PositionYaw):
            message = "no places here"
            raise CommandError(message)

    monkeypatch.setattr(LiveExecutor, "ask", ask)
    return heard


@pytest.fixture
def session():
    """Two vehicles that nobody flies."""
    two = ["vehicles.drone.count=2", "vehicles.drone.spacing_m=[2, 0, 0]"]
    return Session(load_scenario("hover-angle-velocity", two), RealTimeClock(inf))


@pytest.fixture
def stick(session):
    made = GamepadCommands(session)
    made.read(pad())
    return made


def test_without_a_mode_nothing_is_asked(stick, asked):
    stick.read(pad(axes=AHEAD))
    stick.read(None)
    assert asked == []


def test_a_mode_asks_the_first_vehicle_and_a_stick_that_rests_nothing_more(stick, session, asked):
    stick.read(pad(CIRCLE))
    for _ in range(3):
        stick.read(pad())
    ((executor, vehicle, signal),) = asked
    assert executor is session.executor
    assert vehicle == "drone-1"
    assert isinstance(signal, BodyVelocityYawRate)
    stick.read(pad(axes=AHEAD))
    assert float(asked[-1][2].velocity_body_mps.x) > 0.0
    assert len(asked) == 2


def test_the_button_that_switches_off_does(stick, asked):
    stick.read(pad(CIRCLE))
    stick.read(pad(R1))
    assert isinstance(asked[-1][2], MotorsOff)


def test_a_pad_that_is_unplugged_hands_back(stick, asked):
    stick.read(pad(CIRCLE))
    stick.read(None)
    stick.read(None)
    assert [signal for _, _, signal in asked][1:] == [None]


def test_what_is_refused_is_told_once(stick, session, asked):
    for _ in range(3):
        stick.read(pad(CROSS))
    assert len(asked) == 1
    assert session.executor.take_problems() == ["no places here"]


def test_a_clicked_stick_places_the_vehicle_and_asks_it_for_nothing(stick, asked, monkeypatch):
    placed = []
    monkeypatch.setattr(
        LiveExecutor, "place", lambda _, vehicle, start: placed.append((vehicle, start))
    )
    stick.read(pad(L3))
    assert placed == [("drone-1", Start(Vec3(0.0, 0.0, 6.0)))]
    assert asked == []


def test_a_button_begins_anew(stick, session, asked):
    stick.read(pad(SHARE))
    assert session.wanted_again
    assert asked == []


def test_a_stick_that_is_held_takes_over_the_flight_that_has_begun_anew(stick, session, asked):
    stick.read(pad(CIRCLE))
    stick.read(pad(axes=AHEAD))
    session.restart()
    session.begin_again()
    stick.read(pad(axes=AHEAD))
    assert asked[-1][0] is session.executor
    assert asked[-1][0] is not asked[0][0]
    assert asked[-1][2] == asked[1][2]
