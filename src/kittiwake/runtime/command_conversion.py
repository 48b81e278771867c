"""Conversion of commands to types that a vehicle accepts, by the controllers of scenarios."""

from functools import cache

from kittiwake.control.body_velocity import BodyVelocity
from kittiwake.control.position import Position
from kittiwake.control.position_velocity import PositionVelocity
from kittiwake.control.velocity import Velocity
from kittiwake.control.vessel_position import VesselPosition
from kittiwake.control.yaw_rate import YawRate
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    Command,
    ModeCommand,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.core.errors import CascadeError
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.runtime.standalone_component import StandaloneComponent
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

CONTROLLERS = (
    Position(),
    PositionVelocity(),
    VesselPosition(),
    Velocity(),
    YawRate(),
    BodyVelocity(),
)
# command types that a ``ModeCommand`` can hold
MODE_COMMAND_TYPES = (
    PositionYaw,
    VelocityYawRate,
    BodyVelocityYawRate,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
)


class CommandConverter:
    """Controllers with default parameters above a vehicle's own cascade.

    As in the cascade, controllers that a command bypasses begin anew when they are next needed.
    """

    def __init__(self) -> None:
        self._time_s = 0.0
        # those that converted the last command, by index in ``CONTROLLERS``
        self._active: dict[int, StandaloneComponent] = {}

    def convert(
        self, command: Command, now: VehicleEstimate, accepted: tuple[type, ...]
    ) -> Command:
        """Return a command of the highest accepted type; unchanged if there is none."""
        dt_s = now.time_s - self._time_s if self._active else 0.0
        active: dict[int, StandaloneComponent] = {}
        for i in _path(type(command), accepted):
            component = self._active.get(i) or StandaloneComponent.of(CONTROLLERS[i])
            active[i], command = component.step((command, now.motion), dt_s)
        self._time_s, self._active = now.time_s, active
        if type(command) not in accepted and _fits_mode(type(command), accepted):
            return ModeCommand(0.0).with_command(command)
        return command


@cache
def _path(command_type: type, accepted: tuple[type, ...]) -> tuple[int, ...]:
    """Return the indices of the controllers to the highest accepted type that they reach."""
    if command_type in accepted or _fits_mode(command_type, accepted):
        return ()
    for target in accepted:
        try:
            return cascade_path(CONTROLLERS, command_type, target)
        except CascadeError:
            continue
    return ()


def _fits_mode(command_type: type, accepted: tuple[type, ...]) -> bool:
    return ModeCommand in accepted and command_type in MODE_COMMAND_TYPES
