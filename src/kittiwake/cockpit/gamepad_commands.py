"""Commands of a gamepad to the first vehicle of a session."""

from collections.abc import Callable

from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.joystick import (
    L3,
    PLACES_M,
    TAKEOFF_M,
    GamepadReading,
    GamepadRequest,
    Joystick,
    StickCommand,
)
from kittiwake.runtime.maneuvers import (
    HoldCommand,
    Maneuver,
    land,
    pursuit_again,
    take_off,
)
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
        if executor is not self._executor:
            self._executor, self._command = executor, None
        if request.restart:
            self._restart()
        elif request.takeoff or request.landing:
            self._command = None
            self._report(lambda: self._fly(self._ramp(landing=request.landing)))
        else:
            self._send(request)

    def _restart(self) -> None:
        """Begin the vehicle's pursuit again, or the flight if it has none or has ended."""
        executor = self._executor
        self._command = None
        again = None
        if not executor.ended:
            again = pursuit_again(executor.scenario.vehicles[self._vehicle])
        if again is None:
            self._session.restart()
        else:
            self._report(lambda: executor.place(self._vehicle, Start(PLACES_M[L3])))
            self._report(lambda: self._fly(again))
        self._session.clock.paused = False

    def _ramp(self, *, landing: bool) -> Maneuver | None:
        """Return the takeoff or the landing; None before the first block."""
        executor = self._executor
        vehicle = executor.scenario.vehicles[self._vehicle]
        if vehicle.dynamics.is_vessel:
            message = f"'{self._vehicle}' floats; it can neither take off nor land"
            raise CommandError(message)
        if not landing:
            return take_off(TAKEOFF_M)
        estimate = executor.estimate(self._vehicle)
        if estimate is None:
            return None
        return land(vehicle, executor.scenario.world, estimate)

    def _fly(self, maneuver: Maneuver | None) -> None:
        if maneuver is not None:
            self._executor.command(self._vehicle, maneuver)

    def _send(self, request: GamepadRequest) -> None:
        """Send a request if it differs from the last one."""
        is_new = request.command != self._command
        if not is_new and request.place is None:
            return
        self._command = request.command
        executor = self._executor

        def send() -> None:
            if is_new:
                executor.command(
                    self._vehicle, None if request.command is None else HoldCommand(request.command)
                )
            if request.place is not None:
                executor.place(self._vehicle, Start(request.place))

        self._report(send)

    def _report(self, work: Callable[[], None]) -> None:
        """Call a function, and show its error once, as a moving stick repeats it."""
        try:
            work()
        except KittiwakeError as error:
            if self._problem != str(error):
                self._problem = str(error)
                self._executor.problems.put(self._problem)
        else:
            self._problem = ""
