"""A gamepad on the topic /joy, with the buttons and sticks of uav_gazebo."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from kittiwake.adapters.ros.mode_commands import INACTIVE, MODES, Ahead
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.core.commands import BodyVelocityYawRate, ModeCommand
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.joystick import Joystick, Pad, StickSignal
from kittiwake.runtime.maneuvers import HoldCommand, Maneuver
from kittiwake.scenario.joystick_settings import JoystickSettings


class JoystickListener:
    """Flies one vehicle as the sticks say.

    A button chooses a mode, whatever flies the vehicle then; sticks count as long as it is in the
    mode of the last button, like commands of any other node.
    """

    def __init__(
        self,
        pilot: VehicleControl,
        settings: JoystickSettings,
        place: Callable[[Start], None],
        restart: Callable[[], None],
    ) -> None:
        self._pilot, self._place, self._restart = pilot, place, restart
        self._joystick = Joystick(settings)

    def hear(self, message: Any) -> None:
        """A sensor_msgs/Joy.

        Raises:
            CommandError: for axes that are not finite.
        """
        axes = tuple(map(float, message.axes))
        if not all(map(isfinite, axes)):
            told = f"axes are {list(axes)}; must be finite numbers"
            raise CommandError(told)
        asked = self._joystick.read(Pad(axes, tuple(map(bool, message.buttons))))
        if asked.restart:
            self._restart()
            return
        if asked.place is not None:
            self._place(Start(asked.place))
        if asked.mode is None or asked.command is None:
            return
        number = ModeCommand.MODES.index(asked.mode)
        if number == INACTIVE:
            if asked.chosen:
                self._pilot.switch(INACTIVE)
            return
        mode, maneuver = MODES[number - 1], _maneuver(asked.command)
        if asked.chosen:
            self._pilot.fly(mode, maneuver)
        else:
            self._pilot.command(mode, maneuver)


def _maneuver(signal: StickSignal) -> Maneuver:
    return Ahead(signal) if isinstance(signal, BodyVelocityYawRate) else HoldCommand(signal)
