"""Setpoints of a client as maneuvers that its vehicle can follow."""

from math import inf
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.offboard import PositionTargets
from kittiwake.adapters.mavlink.offboard_attitude import (
    UNLIMITED_N,
    RatesByAttitude,
    attitude_target,
)
from kittiwake.adapters.mavlink.places import Places
from kittiwake.core.commands import HeadingSpeed, ThrustAttitude
from kittiwake.core.errors import CascadeError, CommandError
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

# words for command types
KINDS = {
    "PositionYaw": "positions",
    "VelocityYaw": "velocities",
    "VelocityYawRate": "velocities",
    "BodyVelocityYawRate": "velocities",
    "AccelerationYaw": "accelerations",
    "ThrustAttitude": "attitudes",
    "ThrustRates": "rates",
}


class OffboardTargets:
    """Setpoints for a vehicle.

    Attributes:
        setpoint: the maneuver of the last setpoint; None before the first one.
        arrived_s: time at which it has come.
    """

    def __init__(
        self, dialect: ModuleType, executor: LiveExecutor, name: str, places: Places
    ) -> None:
        self._executor, self._name = executor, name
        steers = HeadingSpeed in executor.capabilities(name).accepted_commands
        self._positions = PositionTargets(dialect, places, steers=steers)
        self.setpoint: Maneuver | None = None
        self.arrived_s = -inf

    @property
    def flies_attitudes(self) -> bool:
        """True if the vehicle follows setpoints of attitude."""
        able = self._executor.capabilities(self._name)
        return ThrustAttitude in able.accepted_commands and able.max_thrust_n < UNLIMITED_N

    def take(self, message: Message, now: VehicleEstimate) -> Maneuver:
        """Take a setpoint, and return its maneuver.

        Raises:
            CommandError: if the vehicle cannot follow it; the last one stays.
        """
        found = self._maneuver(message, now)
        try:
            self._executor.check(self._name, found)
        except CascadeError as error:
            kind = KINDS.get(error.command_type, "setpoints of this kind")
            text = f"setpoint: '{self._name}' has no controller for {kind}; send positions"
            raise CommandError(text) from None
        self.setpoint, self.arrived_s = found, now.time_s
        return found

    def _maneuver(self, message: Message, now: VehicleEstimate) -> Maneuver:
        if message.get_type() != "SET_ATTITUDE_TARGET":
            return self._positions.maneuver(message, now)
        found = attitude_target(message, self._executor.capabilities(self._name))
        return found.continued(self.setpoint) if isinstance(found, RatesByAttitude) else found
