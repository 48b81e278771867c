"""Gamepad on the topic /joy, with the buttons and sticks of uav_gazebo."""

from collections.abc import Callable
from math import isfinite

from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.mode_commands import INACTIVE, MODES
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.core.commands import ModeCommand
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.joystick import TAKEOFF_M, GamepadReading, GamepadRequest, Joystick
from kittiwake.runtime.maneuvers import HoldCommand
from kittiwake.scenario.joystick_settings import JoystickSettings


class JoystickListener:
    """Subscriber that flies one vehicle by gamepad.

    A button switches the mode at any time. The sticks send commands of the mode of the last button;
    as with any other node, they are flown only while the vehicle is in that mode.

    Attributes:
        control: the vehicle's modes and commands.
    """

    def __init__(
        self,
        control: VehicleControl,
        settings: JoystickSettings,
        place: Callable[[Start], None],
        restart: Callable[[], None],
    ) -> None:
        self.control, self._place, self._restart = control, place, restart
        self._joystick = Joystick(settings)

    def on_message(self, message: Message) -> None:
        """Apply a ``sensor_msgs/Joy``.

        Raises:
            CommandError: for axes that are not finite, and for a takeoff or landing that the
                vehicle cannot begin.
        """
        axes = tuple(map(float, message.axes))
        if not all(map(isfinite, axes)):
            text = f"axes: got {list(axes)}; must be finite numbers"
            raise CommandError(text)
        request = self._joystick.read(GamepadReading(axes, tuple(map(bool, message.buttons))))
        if request.restart:
            self._restart()
            return
        self._maneuver(request)
        if request.mode is None or request.command is None:
            return
        number = ModeCommand.MODES.index(request.mode)
        if number == INACTIVE:
            if request.chosen:
                self.control.switch_mode(INACTIVE)
            return
        mode, maneuver = MODES[number - 1], HoldCommand(request.command)
        if request.chosen:
            self.control.fly(mode, maneuver)
        else:
            self.control.command(mode, maneuver)

    def _maneuver(self, request: GamepadRequest) -> None:
        """Place the vehicle, or begin its takeoff or landing."""
        if request.place is not None:
            self._place(Start(request.place))
        if request.takeoff:
            self.control.begin_takeoff(TAKEOFF_M, force=True)
        if request.landing:
            self.control.begin_landing(force=True)
