"""A gamepad's wishes, as commands to the first vehicle of a session."""

from typing import Any

from kittiwake.core.errors import KittiwakeError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.joystick import Asked, Joystick, Pad
from kittiwake.runtime.maneuvers import HoldCommand
from kittiwake.runtime.session import Session


class GamepadCommands:
    """Passes readings on; a stick that does not move says nothing new.

    Without a mode, before one is chosen or when the pad is unplugged, guidance flies.
    """

    def __init__(self, session: Session) -> None:
        scenario = session.executor.scenario
        self._session = session
        self._vehicle = next(iter(scenario.vehicles))
        self._joystick = Joystick(scenario.joystick)
        # what was asked last, and of which flight
        self._signal: Any = None
        self._course = session.executor
        self._problem = ""

    def read(self, pad: Pad | None) -> None:
        """What it asks for now."""
        asked = self._joystick.read(pad)
        executor = self._session.executor
        if asked.restart:
            self._signal = None
            self._session.restart()
            self._session.clock.paused = False
            return
        if executor is not self._course:
            self._course, self._signal = executor, None
        self._ask(asked)

    def _ask(self, asked: Asked) -> None:
        """What is new of it."""
        is_new = asked.command != self._signal
        if not is_new and asked.place is None:
            return
        self._signal = asked.command
        executor = self._course
        try:
            if is_new:
                executor.ask(
                    self._vehicle, None if asked.command is None else HoldCommand(asked.command)
                )
            if asked.place is not None:
                executor.place(self._vehicle, Start(asked.place))
        except KittiwakeError as error:
            # a stick that goes on moving says the same again and again
            if self._problem != str(error):
                self._problem = str(error)
                executor.problems.put(self._problem)
        else:
            self._problem = ""
