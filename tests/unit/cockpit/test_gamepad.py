"""A gamepad read through SDL: axes and buttons, connecting and disconnecting pads."""

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
# values of pygame's constants by name
NUMBERS = {
    f"CONTROLLER_{kind}_{name}": 100 + place
    for kind, names in {"AXIS": STICKS | TRIGGERS, "BUTTON": BUTTONS}.items()
    for place, name in names.items()
}


class Device:
    """Fake pad: values by SDL names, or raw axes and buttons by number."""

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
    """Fake of the used parts of pygame."""

    class error(Exception):
        pass

    def __init__(self):
        self.connected, self.is_mapped, self.events = [], True, []
        self.environment, self.open = None, 0
        part = SimpleNamespace(init=self.begin, quit=self.end)
        self.display = part
        self.joystick = SimpleNamespace(
            **vars(part), get_count=lambda: len(self.connected), Joystick=self.device
        )
        self.event = SimpleNamespace(get=self.poll)
        self.JOYDEVICEREMOVED = "removed"
        vars(self).update(NUMBERS)
        self.controller = SimpleNamespace(
            **vars(part), is_controller=lambda _: self.is_mapped, Controller=self.device
        )

    def begin(self):
        self.environment = {name: os.environ.get(name) for name in ENVIRONMENT}
        self.open += 1

    def end(self):
        self.open -= 1

    def device(self, index):
        return self.connected[index]

    def poll(self):
        events, self.events = self.events, []
        return events

    def unplug(self, device):
        self.connected.remove(device)
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
    """Queues of the readings and messages of a gamepad."""

    def __init__(self):
        self.pads, self.messages = queue.Queue(), queue.Queue()

    def gamepad(self):
        return Gamepad(self.pads.put, self.messages.put)

    def message(self):
        return self.messages.get(timeout=WAIT_S)

    def pad(self, condition=lambda pad: True):
        """Return the first reading that meets a condition."""
        while True:
            pad = self.pads.get(timeout=WAIT_S)
            if condition(pad):
                return pad


@pytest.fixture
def listener():
    return Listener()


def reading(sdl, listener, **values):
    device = Device()
    device.values = values
    sdl.connected = [device]
    with listener.gamepad():
        return listener.pad()


@pytest.mark.parametrize(("place", "name"), STICKS.items())
def test_stick_left_and_up_is_positive(sdl, listener, place, name):
    axes = reading(sdl, listener, **{name: -FULL}).axes
    assert axes[place] == 1.0
    # the triggers rest at the other end
    assert all(axes[other] == 0.0 for other in STICKS if other != place)


@pytest.mark.parametrize(("place", "name"), TRIGGERS.items())
def test_a_trigger_moves_from_one_to_minus_one(sdl, listener, place, name):
    assert reading(sdl, listener).axes[place] == 1.0
    assert reading(sdl, listener, **{name: FULL}).axes[place] == -1.0


@pytest.mark.parametrize(("place", "name"), BUTTONS.items())
def test_each_mapped_button_has_its_index(sdl, listener, place, name):
    buttons = reading(sdl, listener, **{name: 1}).buttons
    assert [number for number, down in enumerate(buttons) if down] == [place]


def test_an_unmapped_pad_is_read_by_numbers(sdl, listener):
    device = Device()
    device.raw_axes, device.raw_buttons = [-1.0, 0.5, -1.0, 0.0, 0.0, 1.0], [0, 1, 0]
    sdl.connected, sdl.is_mapped = [device], False
    with listener.gamepad():
        pad = listener.pad()
    assert pad.axes == (1.0, -0.5, 1.0, 0.0, 0.0, -1.0)
    assert pad.buttons == (False, True, False)


def test_a_pad_may_disconnect_and_reconnect(sdl, listener):
    device = Device()
    with listener.gamepad():
        assert listener.message() == "No gamepad is connected. It will be detected when plugged in."
        sdl.connected.append(device)
        assert listener.message() == "Gamepad connected: Pad of a test"
        assert listener.pad() is not None
        sdl.unplug(device)
        assert listener.pad(lambda pad: pad is None) is None
        assert "Pad of a test disconnected" in listener.message()
        sdl.connected.append(Device(number=8))
        assert listener.message() == "Gamepad connected: Pad of a test"
        # only readings follow the None
        assert listener.pad() is not None


def test_disconnecting_a_second_pad_keeps_the_first(sdl, listener):
    first, second = Device(number=1), Device(number=2)
    sdl.connected = [first, second]
    with listener.gamepad():
        assert listener.pad() is not None
        sdl.unplug(second)
        while sdl.events:
            pass
        assert listener.pad() is not None
        assert listener.message() == "Gamepad connected: Pad of a test"
        assert listener.messages.empty()


def test_pygame_is_closed_and_the_environment_restored(sdl, listener, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    monkeypatch.delenv("SDL_NO_SIGNAL_HANDLERS", raising=False)
    with listener.gamepad():
        listener.message()
        assert sdl.open == 3
        assert sdl.environment == ENVIRONMENT
        assert os.environ["SDL_VIDEODRIVER"] == "x11"
        assert "SDL_NO_SIGNAL_HANDLERS" not in os.environ
    assert sdl.open == 0
    assert "gamepad" not in {thread.name for thread in threading.enumerate()}


def test_an_sdl_error_is_reported(sdl, listener):
    message = "no such device"

    def fail():
        raise sdl.error(message)

    sdl.joystick.init = fail
    with listener.gamepad():
        assert listener.message() == "Gamepads cannot be read: no such device"


def test_missing_pygame_names_the_extra(monkeypatch, listener):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with (
        pytest.raises(MissingExtraError, match=r"pip install 'kittiwake\[gamepad\]'"),
        listener.gamepad(),
    ):
        pass


# with pygame, and a virtual pad of SDL


class VirtualPad:
    """Virtual pad of SDL: a game controller with a button mapping."""

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
        pytest.skip("pygame does not bundle SDL")
    return VirtualPad(ctypes.CDLL(str(libraries[0])))


def test_sdl_reads_a_virtual_pad(virtual_pad, listener):
    before = signal.getsignal(signal.SIGTERM)
    with listener.gamepad():
        if not listener.message().startswith("No gamepad"):
            pytest.skip("a pad is plugged into this machine")
        virtual_pad.plug_in()
        assert listener.message().startswith("Gamepad connected: ")
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
        pressed = [number for number, down in enumerate(pad.buttons) if down]
        assert pressed == [CROSS, TRIANGLE, SHARE]
        virtual_pad.unplug()
        assert listener.pad(lambda pad: pad is None) is None
    assert signal.getsignal(signal.SIGTERM) == before
