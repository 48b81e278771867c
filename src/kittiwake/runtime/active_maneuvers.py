"""Active maneuvers of the vehicles of a live flight, and the conversion of their commands."""

from collections.abc import Mapping
from copy import copy

from kittiwake.core.commands import Command
from kittiwake.runtime.command_conversion import CommandConverter
from kittiwake.runtime.maneuvers import Capabilities, Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate


class ActiveManeuvers:
    """Active maneuvers by vehicle; they may be started and stopped from any thread."""

    def __init__(self) -> None:
        self._maneuvers: dict[str, Maneuver] = {}
        self._converters: dict[str, CommandConverter] = {}
        # the description of the maneuver that was noted last
        self._noted: dict[str, str] = {}

    @property
    def maneuvers(self) -> Mapping[str, Maneuver]:
        """The active maneuvers now."""
        return dict(self._maneuvers)

    def start(self, vehicle: str, maneuver: Maneuver) -> None:
        """Start a maneuver in place of the present one."""
        self._maneuvers[vehicle] = maneuver

    def stop(self, vehicle: str) -> bool:
        """Stop the present maneuver; return False if there is none."""
        if self._maneuvers.pop(vehicle, None) is None:
            return False
        self.forget(vehicle)
        return True

    def refuse(self, vehicle: str, maneuver: Maneuver) -> None:
        """Stop a maneuver, unless another one was started since."""
        if self._maneuvers.get(vehicle) is maneuver:
            self._maneuvers.pop(vehicle, None)

    def forget(self, vehicle: str) -> None:
        """Forget a vehicle, as one that was removed."""
        for memory in (self._maneuvers, self._converters, self._noted):
            memory.pop(vehicle, None)

    def command(
        self, vehicle: str, maneuver: Maneuver, now: VehicleEstimate, capabilities: Capabilities
    ) -> Command:
        """Return the present command of a maneuver, in a type that the vehicle accepts."""
        command = maneuver.command(now, capabilities)
        converter = self._converters.setdefault(vehicle, CommandConverter())
        return converter.convert(command, now, capabilities.accepted_commands)

    def first_command(
        self, vehicle: str, maneuver: Maneuver, now: VehicleEstimate, capabilities: Capabilities
    ) -> Command:
        """Return the command with which a maneuver would begin, without starting it."""
        # copies, because the maneuver itself starts when it is flown
        command = copy(maneuver).command(now, capabilities)
        converter = copy(self._converters.get(vehicle) or CommandConverter())
        return converter.convert(command, now, capabilities.accepted_commands)

    def begins(self, vehicle: str, maneuver: Maneuver) -> bool:
        """Return True at the first call for a maneuver of another description."""
        if self._noted.get(vehicle) == maneuver.description:
            return False
        self._noted[vehicle] = maneuver.description
        return True
