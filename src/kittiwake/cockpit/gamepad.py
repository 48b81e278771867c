"""Local gamepad, read through SDL (pygame) without a window.

SDL maps the sticks and buttons of most models to one standard layout. Unmapped pads are read in
the order of their axis and button numbers, which for a PS4 pad on Linux is the standard order. In
SDL right, down and a pressed trigger are positive; in ROS, and so in a ``GamepadReading``, left and
up are.
"""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING

from kittiwake.core.extras import import_optional
from kittiwake.runtime.joystick import (
    CIRCLE,
    CROSS,
    L1,
    L2,
    L3,
    LEFT_X,
    LEFT_Y,
    R1,
    R2,
    R3,
    RIGHT_X,
    RIGHT_Y,
    SHARE,
    SQUARE,
    TRIANGLE,
    GamepadReading,
)

if TYPE_CHECKING:
    from pygame._sdl2.controller import Controller
    from pygame.joystick import JoystickType

EXTRA = "gamepad"
RATE_HZ = 50.0
# largest axis value of SDL; the smallest one is -FULL - 1
FULL = 32767
STICKS = {LEFT_X: "LEFTX", LEFT_Y: "LEFTY", RIGHT_X: "RIGHTX", RIGHT_Y: "RIGHTY"}
TRIGGERS = {L2: "TRIGGERLEFT", R2: "TRIGGERRIGHT"}
# SDL names the four buttons by their positions on an Xbox pad
BUTTONS = {
    CROSS: "A",
    CIRCLE: "B",
    SQUARE: "X",
    TRIANGLE: "Y",
    L1: "LEFTSHOULDER",
    R1: "RIGHTSHOULDER",
    SHARE: "BACK",
    L3: "LEFTSTICK",
    R3: "RIGHTSTICK",
}
# no window, no message on standard output, and Python keeps its signal handlers
ENVIRONMENT = {
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "SDL_NO_SIGNAL_HANDLERS": "1",
    "SDL_VIDEODRIVER": "dummy",
}


class Gamepad:
    """First connected gamepad, read in its own thread while the context is open.

    Args:
        on_reading: receives a reading 50 times per second, and None once when the pad disconnects.
        on_message: receives messages to the user about connected and missing pads.

    Both are called in that thread.
    """

    def __init__(
        self, on_reading: Callable[[GamepadReading | None], None], on_message: Callable[[str], None]
    ) -> None:
        self._on_reading, self._on_message = on_reading, on_message
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gamepad", daemon=True)

    def __enter__(self) -> "Gamepad":
        """Start reading.

        Raises:
            MissingExtraError: if pygame is not installed.
        """
        with _environment():
            self._pygame = import_optional("pygame", EXTRA)
            self._controller = import_optional("pygame._sdl2.controller", EXTRA)
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        pygame = self._pygame
        try:
            with _environment():
                pygame.display.init()
                pygame.joystick.init()
                self._controller.init()
            self._read()
        except pygame.error as error:
            self._on_message(f"Gamepads cannot be read: {error}")
        finally:
            # quit() is safe before init() and after an earlier quit()
            self._controller.quit()
            pygame.joystick.quit()
            pygame.display.quit()

    def _read(self) -> None:
        device = self._first_pad()
        if device is None:
            self._on_message("No gamepad is connected. It will be detected when plugged in.")
        while not self._closing.wait(1.0 / RATE_HZ):
            disconnected = self._poll_disconnected()
            if device is None:
                device = self._first_pad()
            elif device.number not in disconnected:
                self._on_reading(device.reading())
            else:
                self._on_reading(None)
                self._on_message(f"Gamepad {device.name} disconnected. Plug it in again.")
                device = None

    def _poll_disconnected(self) -> set[int]:
        """Update all devices; return the numbers of those disconnected since the last call.

        SDL reports a disconnect only as an event: reading continues to return the last values.
        """
        events = self._pygame.event.get()
        return {e.instance_id for e in events if e.type == self._pygame.JOYDEVICEREMOVED}

    def _first_pad(self) -> "_MappedPad | _RawPad | None":
        """Return the pad with the lowest number; None if there is none."""
        if self._pygame.joystick.get_count() == 0:
            return None
        if self._controller.is_controller(0):
            found = _MappedPad(self._pygame, self._controller.Controller(0))
        else:
            found = _RawPad(self._pygame.joystick.Joystick(0))
        self._on_message(f"Gamepad connected: {found.name}")
        return found


class _MappedPad:
    """Pad with a button mapping in SDL."""

    def __init__(self, pygame: ModuleType, device: "Controller") -> None:
        self.name: str = device.name
        self.number: int = device.as_joystick().get_instance_id()
        self._device = device
        self._sticks = _numbers(pygame, "AXIS", STICKS)
        self._triggers = _numbers(pygame, "AXIS", TRIGGERS)
        self._buttons = _numbers(pygame, "BUTTON", BUTTONS)

    def reading(self) -> GamepadReading:
        axes = [0.0] * (1 + max(*STICKS, *TRIGGERS))
        for index, number in self._sticks.items():
            axes[index] = -self._device.get_axis(number) / FULL
        for index, number in self._triggers.items():
            axes[index] = 1.0 - 2.0 * self._device.get_axis(number) / FULL
        buttons = [False] * (1 + max(BUTTONS))
        for index, number in self._buttons.items():
            buttons[index] = bool(self._device.get_button(number))
        return GamepadReading(tuple(axes), tuple(buttons))


class _RawPad:
    """Pad without a button mapping in SDL, read by axis and button numbers."""

    def __init__(self, device: "JoystickType") -> None:
        self.name: str = device.get_name()
        self.number: int = device.get_instance_id()
        self._device = device

    def reading(self) -> GamepadReading:
        device = self._device
        axes = (-device.get_axis(number) for number in range(device.get_numaxes()))
        buttons = (bool(device.get_button(number)) for number in range(device.get_numbuttons()))
        return GamepadReading(tuple(axes), tuple(buttons))


def _numbers(pygame: ModuleType, error_type: str, names: dict[int, str]) -> dict[int, int]:
    return {
        index: getattr(pygame, f"CONTROLLER_{error_type}_{name}") for index, name in names.items()
    }


@contextmanager
def _environment() -> Generator[None]:
    """Set the environment variables of SDL, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
