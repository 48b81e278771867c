"""Commands of a gamepad with the sticks and buttons of a PS4 pad, in five modes.

Sticks and triggers are those of ROS: left and up are +1, a trigger is +1 at rest and -1 pressed.
LX, LY, RX and RY are the sticks outside the dead zone, L2 and R2 how far the triggers are pulled,
and s the scale of each quantity (``JoystickSettings``):

    position-yaw         position_world = s (LY, LX, RY), yaw = s RX
    velocity-yaw-rate    velocity_body = s (LY, LX, RY), yaw rate = s RX
    thrust-attitude      thrust = s RY, (roll, pitch, yaw) = s (-LX, LY, RX)
    thrust-rates         thrust = s RY, angular_velocity_body = s (-LX, LY, RX)
    thrust-torque        thrust = s RY, torque_body = s (-LX, LY, RX)

A trigger pulled beyond its middle takes off (R2) or lands (L2), after which no mode is chosen.
With ``triggers: acceleration`` they add acceleration_body = s (L2, R2, 0) in mode 2 instead.

Source: uav_gazebo (dringakn), "PS4 controller interface". Four of its errors are corrected:

- It documents takeoff and landing by the triggers, and does not implement them.

- It sends (RX, LX, LY) as angles about (x, y, z), so the stick that yaws in its first two modes
  rolls in the others, and forward yaws. Here each stick keeps its meaning in all modes: the right
  one yaws, and the vehicle tilts to where the left one points. In FLU axes that is a negative roll
  to the left and a positive pitch ahead.
- Its triggers are not measured from their rest position and so command acceleration all the time.
- In the thrust modes it repeats (L2, R2) as feedforward rates and angular accelerations.
"""

from collections.abc import Callable
from math import copysign
from typing import NamedTuple, TypeAlias

from kittiwake.core.commands import (
    BodyVelocityYawRate,
    ModeName,
    MotorsOff,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
)
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.joystick_settings import JoystickSettings

LEFT_X, LEFT_Y, L2, RIGHT_X, RIGHT_Y, R2 = range(6)
CROSS, CIRCLE, SQUARE, TRIANGLE, L1, R1 = range(6)
SHARE, L3, R3 = 8, 11, 12
# position to which a stick's button moves the vehicle, level and at rest
PLACES_M = {L3: Vec3(0.0, 0.0, 6.0), R3: Vec3(0.0, 0.0, 1.0)}

# share of a trigger's range beyond which it is pulled
HALF = 0.5
# height by which a trigger takes off
TAKEOFF_M = 2.0

# motors off comes first: it wins if several are pressed at once
MODE_OF_BUTTON: dict[int, ModeName] = {
    R1: "inactive",
    CROSS: "position-yaw",
    CIRCLE: "velocity-yaw-rate",
    SQUARE: "thrust-attitude",
    TRIANGLE: "thrust-rates",
    L1: "thrust-torque",
}

StickCommand: TypeAlias = (
    PositionYaw | BodyVelocityYawRate | ThrustAttitude | ThrustRates | ThrustTorque | MotorsOff
)


class GamepadReading(NamedTuple):
    """Reading of a gamepad: its axes and pressed buttons; missing ones count as at rest."""

    axes: tuple[float, ...]
    buttons: tuple[bool, ...]


class GamepadRequest(NamedTuple):
    """Request of a gamepad reading.

    ``mode`` is the mode chosen last and ``command`` its command, both None before; the command of
    ``inactive`` is ``MotorsOff``. The other fields are events of this reading alone: a mode was
    chosen, the flight restarts, the vehicle is to be placed, to take off or to land.
    """

    command: StickCommand | None = None
    mode: ModeName | None = None
    chosen: bool = False
    restart: bool = False
    place: Vec3 | None = None
    takeoff: bool = False
    landing: bool = False


class Joystick:
    """Gamepad interpreter, which keeps the mode between readings.

    A button counts when it is pressed, not while it is held, and not if it was held before the
    first reading.
    """

    def __init__(self, settings: JoystickSettings) -> None:
        self._settings = settings
        self._mode: ModeName | None = None
        self._pressed: frozenset[int] | None = None
        self._triggers: dict[int, _Trigger] = {}
        self._pulls = (False, False)
        self._commands: dict[ModeName, Callable[[_Sticks], StickCommand]] = {
            "inactive": lambda _: MotorsOff(),
            "position-yaw": self._position,
            "velocity-yaw-rate": self._velocity,
            "thrust-attitude": self._attitude,
            "thrust-rates": self._rates,
            "thrust-torque": self._torque,
        }

    def read(self, reading: GamepadReading | None) -> GamepadRequest:
        """Return the request of a reading; without a pad none, and the mode is forgotten."""
        if reading is None:
            self._mode, self._pressed, self._triggers = None, None, {}
            self._pulls = (False, False)
            return GamepadRequest()
        pressed = self._newly_pressed(reading)
        chosen: list[ModeName] = [
            mode for button, mode in MODE_OF_BUTTON.items() if button in pressed
        ]
        if chosen:
            self._mode = chosen[0]
        sticks = self._sticks(reading)
        takeoff, landing = self._pull(sticks)
        if (takeoff or landing) and not chosen:
            self._mode = None
        command = None if self._mode is None else self._commands[self._mode](sticks)
        return GamepadRequest(
            command,
            self._mode,
            chosen=bool(chosen),
            restart=SHARE in pressed,
            place=next((PLACES_M[button] for button in PLACES_M if button in pressed), None),
            takeoff=takeoff and not chosen,
            landing=landing and not chosen,
        )

    def _pull(self, sticks: "_Sticks") -> tuple[bool, bool]:
        """Return whether R2 and L2 have been pulled since the last reading; landing wins."""
        before, self._pulls = self._pulls, (sticks.r2 > HALF, sticks.l2 > HALF)
        if self._settings.triggers != "takeoff-land":
            return False, False
        takeoff, landing = (now and not old for now, old in zip(self._pulls, before, strict=True))
        return takeoff and not landing, landing

    def _newly_pressed(self, reading: GamepadReading) -> frozenset[int]:
        held = frozenset(index for index, down in enumerate(reading.buttons) if down)
        before, self._pressed = self._pressed, held
        return frozenset() if before is None else held - before

    def _sticks(self, reading: GamepadReading) -> "_Sticks":
        dead_zone = float(self._settings.dead_zone)
        left, up, turn, rise = (
            outside_dead_zone(_axis(reading, axis), dead_zone)
            for axis in (LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y)
        )
        l2, r2 = (outside_dead_zone(self._pulled(reading, axis), dead_zone) for axis in (L2, R2))
        return _Sticks(ahead=up, left=left, rise=rise, turn=turn, l2=l2, r2=r2)

    def _pulled(self, reading: GamepadReading, axis: int) -> float:
        if axis >= len(reading.axes):
            return 0.0
        value = _axis(reading, axis)
        trigger = self._triggers.setdefault(axis, _Trigger(first=value))
        if value != trigger.first:
            self._triggers[axis] = trigger = trigger._replace(moved=True)
        return (1.0 - value) / 2.0 if trigger.moved else 0.0

    def _position(self, at: "_Sticks") -> PositionYaw:
        scale = self._settings
        position = Vec3(at.ahead, at.left, at.rise) * scale.position_scale_m
        return PositionYaw(position, at.turn * scale.yaw_scale_rad)

    def _velocity(self, at: "_Sticks") -> BodyVelocityYawRate:
        scale = self._settings
        velocity = Vec3(at.ahead, at.left, at.rise) * scale.velocity_scale_mps
        acceleration = Vec3(0.0, 0.0, 0.0)
        if scale.triggers == "acceleration":
            acceleration = Vec3(at.l2, at.r2, 0.0) * scale.acceleration_scale_mps2
        return BodyVelocityYawRate(velocity, at.turn * scale.yaw_rate_scale_radps, acceleration)

    def _attitude(self, at: "_Sticks") -> ThrustAttitude:
        angles = at.lean * self._settings.attitude_scale_rad
        return ThrustAttitude(
            self._thrust_n(at), Quaternion.from_euler(EulerZYX(angles.x, angles.y, angles.z))
        )

    def _rates(self, at: "_Sticks") -> ThrustRates:
        scale_radps = self._settings.angular_velocity_scale_radps
        return ThrustRates(self._thrust_n(at), at.lean * scale_radps)

    def _torque(self, at: "_Sticks") -> ThrustTorque:
        return ThrustTorque(self._thrust_n(at), at.lean * self._settings.torque_scale_nm)

    def _thrust_n(self, at: "_Sticks") -> float:
        """Return the thrust; zero below the middle of the stick, since rotors cannot pull down."""
        return max(at.rise, 0.0) * float(self._settings.thrust_scale_n)


class _Trigger(NamedTuple):
    """State of a trigger; a driver may report the middle until the trigger has moved once."""

    first: float
    moved: bool = False


class _Sticks(NamedTuple):
    """Deflections outside the dead zone: sticks from -1 to 1, triggers from 0 to 1."""

    ahead: float
    left: float
    rise: float
    turn: float
    l2: float
    r2: float

    @property
    def lean(self) -> Vec3:
        """Deflections about the body's x, y and z axes."""
        return Vec3(-self.left, self.ahead, self.turn)


def outside_dead_zone(value: float, dead_zone: float) -> float:
    """Return a deflection rescaled from 0 at the edge of the dead zone to 1 at the end."""
    beyond = abs(value) - dead_zone
    return copysign(beyond / (1.0 - dead_zone), value) if beyond > 0.0 else 0.0


def _axis(reading: GamepadReading, axis: int) -> float:
    """Return an axis, limited to its range; 0 if the pad does not have it."""
    return min(max(reading.axes[axis], -1.0), 1.0) if axis < len(reading.axes) else 0.0
