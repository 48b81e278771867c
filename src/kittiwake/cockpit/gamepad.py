"""The gamepad of this machine, read through SDL (pygame) without a window.

SDL knows by their names where most makes have their sticks and buttons, and puts them in the places
of one pad; those it does not know are read as they are numbered, which for a PS4 pad on Linux is
the order that is wanted. In SDL right and down are positive, and a pressed trigger is; in ROS, and
so in a ``Pad``, left and up are.
"""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from kittiwake.core.extras import optional
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
    Pad,
)

EXTRA = "gamepad"
RATE_HZ = 50.0
# SDL's largest number for an axis; the smallest is one lower
FULL = 32767
STICKS = {LEFT_X: "LEFTX", LEFT_Y: "LEFTY", RIGHT_X: "RIGHTX", RIGHT_Y: "RIGHTY"}
TRIGGERS = {L2: "TRIGGERLEFT", R2: "TRIGGERRIGHT"}
# SDL names the four by their places on an Xbox pad
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
# no window, no greeting on standard output, and the signals stay with Python
ENVIRONMENT = {
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "SDL_NO_SIGNAL_HANDLERS": "1",
    "SDL_VIDEODRIVER": "dummy",
}


class Gamepad:
    """The first pad that is plugged in, read in a thread of its own while the context lasts.

    Args:
        heard: gets a reading 50 times a second, and once None when the pad is unplugged.
        told: gets a sentence for the person: which pad there is, that there is none.

    Both are called in that thread.
    """

    def __init__(self, heard: Callable[[Pad | None], None], told: Callable[[str], None]) -> None:
        self._heard, self._told = heard, told
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gamepad", daemon=True)

    def __enter__(self) -> "Gamepad":
        """Begins to read.

        Raises:
            MissingExtraError: if pygame is not installed.
        """
        with _environment():
            self._pygame = optional("pygame", EXTRA)
            self._controller = optional("pygame._sdl2.controller", EXTRA)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ending.set()
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
            self._told(f"gamepads cannot be read: {error}")
        finally:
            # what was never begun, or ended by itself, may be ended again
            self._controller.quit()
            pygame.joystick.quit()
            pygame.display.quit()

    def _read(self) -> None:
        device = self._first()
        if device is None:
            self._told("no gamepad is plugged in; plug one in and it is found")
        while not self._ending.wait(1.0 / RATE_HZ):
            gone = self._unplugged()
            if device is None:
                device = self._first()
            elif device.number not in gone:
                self._heard(device.pad())
            else:
                self._heard(None)
                self._told(f"the gamepad {device.name} is gone; plug it in again and it is found")
                device = None

    def _unplugged(self) -> set[int]:
        """Brings all devices up to date; the numbers of those that have gone since the last time.

        That a joystick is gone SDL says in events alone: the last reading goes on being read.
        """
        events = self._pygame.event.get()
        return {e.instance_id for e in events if e.type == self._pygame.JOYDEVICEREMOVED}

    def _first(self) -> "_Known | _Numbered | None":
        """The pad with the lowest number, if there is one."""
        if self._pygame.joystick.get_count() == 0:
            return None
        if self._controller.is_controller(0):
            found = _Known(self._pygame, self._controller.Controller(0))
        else:
            found = _Numbered(self._pygame.joystick.Joystick(0))
        self._told(f"gamepad: {found.name}")
        return found


class _Known:
    """A pad whose sticks and buttons SDL knows by their names."""

    def __init__(self, pygame: Any, device: Any) -> None:
        self.name: str = device.name
        self.number: int = device.as_joystick().get_instance_id()
        self._device = device
        self._sticks = _numbers(pygame, "AXIS", STICKS)
        self._triggers = _numbers(pygame, "AXIS", TRIGGERS)
        self._buttons = _numbers(pygame, "BUTTON", BUTTONS)

    def pad(self) -> Pad:
        axes = [0.0] * (1 + max(*STICKS, *TRIGGERS))
        for place, number in self._sticks.items():
            axes[place] = -self._device.get_axis(number) / FULL
        for place, number in self._triggers.items():
            axes[place] = 1.0 - 2.0 * self._device.get_axis(number) / FULL
        buttons = [False] * (1 + max(BUTTONS))
        for place, number in self._buttons.items():
            buttons[place] = bool(self._device.get_button(number))
        return Pad(tuple(axes), tuple(buttons))


class _Numbered:
    """A pad that SDL does not know."""

    def __init__(self, device: Any) -> None:
        self.name: str = device.get_name()
        self.number: int = device.get_instance_id()
        self._device = device

    def pad(self) -> Pad:
        device = self._device
        axes = (-device.get_axis(number) for number in range(device.get_numaxes()))
        buttons = (bool(device.get_button(number)) for number in range(device.get_numbuttons()))
        return Pad(tuple(axes), tuple(buttons))


def _numbers(pygame: Any, kind: str, names: dict[int, str]) -> dict[int, int]:
    return {place: getattr(pygame, f"CONTROLLER_{kind}_{name}") for place, name in names.items()}


@contextmanager
def _environment() -> Generator[None]:
    """What SDL reads from the environment, put back behind it."""
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
