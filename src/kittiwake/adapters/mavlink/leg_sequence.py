"""Legs that a vehicle flies one after the other."""

from collections import deque
from collections.abc import Iterable

from kittiwake.adapters.mavlink.legs import AutopilotLeg, LegBuilder
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate


class LegSequence:
    """The legs of a vehicle.

    Attributes:
        present: the leg that is flown; None for none.
    """

    def __init__(self, executor: LiveExecutor, name: str) -> None:
        self._executor, self._name = executor, name
        self.present: AutopilotLeg | None = None
        self._next: deque[LegBuilder] = deque()

    def begin(self, legs: Iterable[LegBuilder], now: VehicleEstimate) -> AutopilotLeg:
        """Fly other legs from now on; return the first one."""
        first, *others = legs
        leg = first(now)
        self._executor.command(self._name, leg.maneuver)
        self.present, self._next = leg, deque(others)
        return leg

    def replace(self, maneuver: Maneuver | None) -> None:
        """Fly a maneuver in place of the legs; None resumes the vehicle's guidance."""
        self._executor.command(self._name, maneuver)
        self.clear()

    def advance(self, now: VehicleEstimate) -> AutopilotLeg | None:
        """Fly the next leg and return it; None after the last one."""
        self.present = None
        if not self._next:
            return None
        leg = self._next.popleft()(now)
        self._executor.command(self._name, leg.maneuver)
        self.present = leg
        return leg

    def clear(self) -> None:
        """Forget the legs; the last maneuver goes on."""
        self.present = None
        self._next.clear()
