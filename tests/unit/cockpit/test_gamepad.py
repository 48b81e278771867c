"""A gamepad read through SDL: what becomes of its axes, and pads that come and go."""

import ctypes
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from kittiwake.cockpit.gamepad import BUTTONS, ENVIRONMENT, FULL, STICKS, TRIGGERS, Gamepad
from kittiwake.core.errors import MissingExtraError
from kittiwake.runtime.joystick import CROSS, L2, LEFT_X, LEFT_Y, R2, RIGHT_X, SHARE, TRIANGLE

WAIT_S = 10.0
# what pygame's constants are, by their names
NUMBERS = {
    f"CONTROLLER_{kind}_{name}": 100 + place
    for kind, names in {"AXIS": STICKS | TRIGGERS, "BUTTON": BUTTONS}.items()
    for place, name in names.items()
}


class Device:
    """A pad in somebody's hands: values by SDL's names, or raw axes and buttons by number."""

    name = "Pad of a test"

    def __init__(self, number=7):
        self.number = number
        self.values, self.raw_axes, self.raw_buttons = {}, [], []

    def as_joystick(self):
        return self

    def get_instance_id(self):
        return self.number

    def get_name(self):
        return self.name

    def get_numaxes(self):
        return len(self.raw_axes)

    def get_numbuttons(self):
        return len(self.raw_buttons)

    def get_axis(self, which):
        return self.named("AXIS", which) if which >= 100 else self.raw_axes[which]

    def get_button(self, which):
        return self.named("BUTTON", which) if which >= 100 else self.raw_buttons[which]

    def named(self, kind, which):
        return next(
            (
                value
                for name, value in self.values.items()
                if NUMBERS.get(f"CONTROLLER_{kind}_{name}") == which
            ),
            0,
        )


class Sdl:
    """pygame as far as it is used."""

    class error(Exception):
        pass

    def __init__(self):
        self.plugged, self.known, self.events = [], True, []
        self.environment, self.open = None, 0
        part = SimpleNamespace(init=self.begin, quit=self.end)
        self.display = part
        self.joystick = SimpleNamespace(
            **vars(part), get_count=lambda: len(self.plugged), Joystick=self.device
        )
        self.event = SimpleNamespace(get=self.taken)
        self.JOYDEVICEREMOVED = "removed"
        vars(self).update(NUMBERS)
        self.controller = SimpleNamespace(
            **vars(part), is_controller=lambda _: self.known, Controller=self.device
        )

    def begin(self):
        self.environment = {name: os.environ.get(name) for name in ENVIRONMENT}
        self.open += 1

    def end(self):
        self.open -= 1

    def device(self, index):
        return self.plugged[index]

    def taken(self):
        events, self.events = self.events, []
        return events

    def unplug(self, device):
        self.plugged.remove(device)
        self.events = [
            SimpleNamespace(type="moved"),
            SimpleNamespace(type="removed", instance_id=device.number),
        ]


@pytest.fixture
def sdl(monkeypatch):
    fake = Sdl()
    monkeypatch.setitem(sys.modules, "pygame", fake)
    monkeypatch.setitem(sys.modules, "pygame._sdl2", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pygame._sdl2.controller", fake.controller)
    return fake


class Listener:
    """Keeps what a gamepad says, for the test's thread to wait for."""

    def __init__(self):
        self.pads, self.sentences = queue.Queue(), queue.Queue()

    def gamepad(self):
        return Gamepad(self.pads.put, self.sentences.put)

    def sentence(self):
        return self.sentences.get(timeout=WAIT_S)

    def pad(self, wanted=lambda pad: True):
        """The first reading that is as wanted."""
        while True:
            pad = self.pads.get(timeout=WAIT_S)
            if wanted(pad):
                return pad


@pytest.fixture
def listener():
    return Listener()


def reading(sdl, listener, **values):
    device = Device()
    device.values = values
    sdl.plugged = [device]
    with listener.gamepad():
        return listener.pad()


@pytest.mark.parametrize(("place", "name"), STICKS.items())
def test_a_stick_to_the_left_and_up_is_positive(sdl, listener, place, name):
    axes = reading(sdl, listener, **{name: -FULL}).axes
    assert axes[place] == 1.0
    # the triggers rest at the other end
    assert all(axes[other] == 0.0 for other in STICKS if other != place)


@pytest.mark.parametrize(("place", "name"), TRIGGERS.items())
def test_a_trigger_goes_from_one_at_rest_to_minus_one(sdl, listener, place, name):
    assert reading(sdl, listener).axes[place] == 1.0
    assert reading(sdl, listener, **{name: FULL}).axes[place] == -1.0


@pytest.mark.parametrize(("place", "name"), BUTTONS.items())
def test_each_button_that_sdl_knows_has_its_place(sdl, listener, place, name):
    buttons = reading(sdl, listener, **{name: 1}).buttons
    assert [number for number, down in enumerate(buttons) if down] == [place]


def test_a_pad_that_sdl_does_not_know_is_read_as_it_is_numbered(sdl, listener):
    device = Device()
    device.raw_axes, device.raw_buttons = [-1.0, 0.5, -1.0, 0.0, 0.0, 1.0], [0, 1, 0]
    sdl.plugged, sdl.known = [device], False
    with listener.gamepad():
        pad = listener.pad()
    assert pad.axes == (1.0, -0.5, 1.0, 0.0, 0.0, -1.0)
    assert pad.buttons == (False, True, False)


def test_a_pad_may_come_and_go_and_come_again(sdl, listener):
    device = Device()
    with listener.gamepad():
        assert listener.sentence() == "no gamepad is plugged in; plug one in and it is found"
        sdl.plugged.append(device)
        assert listener.sentence() == "gamepad: Pad of a test"
        assert listener.pad() is not None
        sdl.unplug(device)
        assert listener.pad(lambda pad: pad is None) is None
        assert "Pad of a test is gone" in listener.sentence()
        sdl.plugged.append(Device(number=8))
        assert listener.sentence() == "gamepad: Pad of a test"
        # nothing but readings after the one None
        assert listener.pad() is not None


def test_another_pad_that_goes_leaves_the_first_one(sdl, listener):
    first, second = Device(number=1), Device(number=2)
    sdl.plugged = [first, second]
    with listener.gamepad():
        assert listener.pad() is not None
        sdl.unplug(second)
        while sdl.events:
            pass
        assert listener.pad() is not None
        assert listener.sentence() == "gamepad: Pad of a test"
        assert listener.sentences.empty()


def test_pygame_is_closed_and_the_environment_is_as_it_was(sdl, listener, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    monkeypatch.delenv("SDL_NO_SIGNAL_HANDLERS", raising=False)
    with listener.gamepad():
        listener.sentence()
        assert sdl.open == 3
        assert sdl.environment == ENVIRONMENT
        assert os.environ["SDL_VIDEODRIVER"] == "x11"
        assert "SDL_NO_SIGNAL_HANDLERS" not in os.environ
    assert sdl.open == 0
    assert "gamepad" not in {thread.name for thread in threading.enumerate()}


def test_what_sdl_cannot_begin_is_told(sdl, listener):
    said = ("no such device",)

    def fail():
        raise sdl.error(*said)

    sdl.joystick.init = fail
    with listener.gamepad():
        assert listener.sentence() == "gamepads cannot be read: no such device"


def test_without_pygame_the_message_says_what_to_install(monkeypatch, listener):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with (
        pytest.raises(MissingExtraError, match=r"pip install 'kittiwake\[gamepad\]'"),
        listener.gamepad(),
    ):
        pass


# with pygame itself, and a pad that SDL pretends to have


class VirtualPad:
    """A pad of SDL's own making; it is a game controller, whose axes and buttons SDL knows."""

    CONTROLLER, AXES, BUTTONS = 1, 6, 16

    def __init__(self, library):
        self.library = library
        library.SDL_JoystickOpen.restype = ctypes.c_void_p

    def plug_in(self):
        self.index = self.library.SDL_JoystickAttachVirtual(
            self.CONTROLLER, self.AXES, self.BUTTONS, 0
        )
        assert self.index >= 0
        self.handle = ctypes.c_void_p(self.library.SDL_JoystickOpen(self.index))

    def unplug(self):
        self.library.SDL_JoystickClose(self.handle)
        self.library.SDL_JoystickDetachVirtual(self.index)

    def move(self, axis, value):
        self.library.SDL_JoystickSetVirtualAxis(self.handle, axis, ctypes.c_int16(value))

    def press(self, button):
        self.library.SDL_JoystickSetVirtualButton(self.handle, button, ctypes.c_uint8(1))


@pytest.fixture
def virtual_pad():
    pygame = pytest.importorskip("pygame")
    folder = Path(pygame.__file__).parents[1] / "pygame_ce.libs"
    libraries = sorted(folder.glob("libSDL2-2*"))
    if not libraries:
        pytest.skip("pygame has brought no SDL of its own")
    return VirtualPad(ctypes.CDLL(str(libraries[0])))


def test_sdl_itself_reads_a_pad_that_comes_and_goes(virtual_pad, listener):
    before = signal.getsignal(signal.SIGTERM)
    with listener.gamepad():
        if not listener.sentence().startswith("no gamepad"):
            pytest.skip("a pad is plugged into this machine")
        virtual_pad.plug_in()
        assert listener.sentence().startswith("gamepad: ")
        # in SDL's order: left stick, right stick, triggers; the buttons a, b, x, y, back
        virtual_pad.move(4, -FULL - 1)
        virtual_pad.move(5, FULL)
        virtual_pad.move(0, FULL)
        virtual_pad.move(1, -FULL)
        virtual_pad.move(2, -FULL)
        for button in (0, 3, 4):
            virtual_pad.press(button)
        pad = listener.pad(lambda pad: pad.buttons[SHARE] and pad.axes[LEFT_X] < -0.9)
        assert pad.axes[LEFT_X] == pytest.approx(-1.0)
        assert pad.axes[LEFT_Y] == pad.axes[RIGHT_X] == pytest.approx(1.0)
        assert (pad.axes[L2], pad.axes[R2]) == pytest.approx((1.0, -1.0), abs=1e-4)
        assert [number for number, down in enumerate(pad.buttons) if down] == [
            *(CROSS, TRIANGLE, SHARE)
        ]
        virtual_pad.unplug()
        assert listener.pad(lambda pad: pad is None) is None
    assert signal.getsignal(signal.SIGTERM) == before
