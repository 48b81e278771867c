"""Commands of a gamepad to the first vehicle of a session."""

from kittiwake.core.errors import KittiwakeError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.joystick import GamepadReading, GamepadRequest, Joystick, StickCommand
from kittiwake.runtime.maneuvers import HoldCommand
from kittiwake.runtime.session import Session


class GamepadCommands:
    """Conversion of gamepad readings to commands; only changes are sent.

    Without a mode, that is before one is selected or when the pad disconnects, guidance flies.
    """

    def __init__(self, session: Session) -> None:
        scenario = session.executor.scenario
        self._session = session
        self._vehicle = next(iter(scenario.vehicles))
        self._joystick = Joystick(scenario.joystick)
        # last command, and the flight that it was sent to
        self._command: StickCommand | None = None
        self._executor = session.executor
        self._problem = ""

    def read(self, reading: GamepadReading | None) -> None:
        """Send the command of a reading; None is a disconnected pad."""
        request = self._joystick.read(reading)
        executor = self._session.executor
        if request.restart:
            self._command = None
            self._session.restart()
            self._session.clock.paused = False
            return
        if executor is not self._executor:
            self._executor, self._command = executor, None
        self._send(request)

    def _send(self, request: GamepadRequest) -> None:
        """Send a request if it differs from the last one."""
        is_new = request.command != self._command
        if not is_new and request.place is None:
            return
        self._command = request.command
        executor = self._executor
        try:
            if is_new:
                executor.command(
                    self._vehicle, None if request.command is None else HoldCommand(request.command)
                )
            if request.place is not None:
                executor.place(self._vehicle, Start(request.place))
        except KittiwakeError as error:
            # a moving stick repeats the same error
            if self._problem != str(error):
                self._problem = str(error)
                executor.problems.put(self._problem)
        else:
            self._problem = ""
