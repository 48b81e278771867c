"""One vehicle in the hands of ROS nodes: its mode, its commands, taking off and landing.

Each mode remembers its last command, also while another one flies. Until somebody chooses a mode
the vehicle does what its scenario says, and its mode is told as inactive.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kittiwake.adapters.ros.mode_commands import INACTIVE, MODES, Mode
from kittiwake.adapters.ros.ranges import POSITION as HEIGHT
from kittiwake.adapters.ros.ranges import TIME
from kittiwake.core.commands import MotorsOff, PositionYaw
from kittiwake.core.errors import CascadeError, CommandError, KittiwakeError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import HoldCommand, Maneuver, VehicleEstimate
from kittiwake.runtime.ramps import RampTo
from kittiwake.runtime.session import Session

BY_NUMBER = {mode.number: mode for mode in MODES}
POSITION = BY_NUMBER[1]
# faster, a vehicle that its guidance has is flying
AT_REST_MPS = 0.1
# how often somebody who waits for a ramp looks at it
LOOKS_S = 0.02


class Landed(NamedTuple):
    """How a landing ended: whether only force switched the motors off, and whether it landed."""

    by_force: bool
    success: bool


class VehicleControl:
    """Flies one vehicle of a session; may be called from any thread.

    ``timeout_s`` is how long it may be flown by one command before it holds its place; 0 for ever.
    """

    def __init__(self, session: Session, vehicle: str, timeout_s: float) -> None:
        self.vehicle = vehicle
        self._session, self._timeout_s = session, timeout_s
        self._lock = threading.RLock()
        self._begin(session.executor)

    @property
    def mode(self) -> int:
        """The number of the present mode."""
        with self._lock:
            self._look_around()
            return self._mode

    def command(self, mode: Mode, maneuver: Maneuver) -> str | None:
        """Takes a mode's command; what is to be known of it, if it is not flown.

        Raises:
            CommandError: if the vehicle cannot follow it; the last one stays.
        """
        with self._lock:
            self._look_around()
            ramp = self._ramp_now()
            flies = self._mode == mode.number and ramp is None
            if flies:
                self._ask(mode, maneuver)
                self._heard_s = self._course.time_s
            else:
                self._in_modes(mode, self._course.check, maneuver)
            self._orders[mode.number] = maneuver
            if flies or mode.number in self._told:
                return None
            self._told.add(mode.number)
            flown = "inactive" if self._mode == INACTIVE else BY_NUMBER[self._mode].name
        if ramp is not None:
            return f"'{self.vehicle}' {ramp.said}; commands of {mode.name} are kept for afterwards"
        return f"'{self.vehicle}' is {flown}; commands of {mode.name} are kept for when it is that"

    def fly(self, mode: Mode, maneuver: Maneuver) -> None:
        """Flies a mode's command at once, whatever the mode was before."""
        with self._lock:
            self._look_around()
            self._ask(mode, maneuver)
            self._orders[mode.number] = maneuver
            self._entered(mode.number)

    def switch(self, number: int) -> None:
        """Flies another mode, by its last command.

        Raises:
            CommandError: for what is no mode; the present one stays.
        """
        if number != INACTIVE and number not in BY_NUMBER:
            names = [f"{INACTIVE} (inactive)", *map(_written, MODES)]
            message = f"mode {number} is not known; must be one of {', '.join(names)}"
            raise CommandError(message)
        with self._lock:
            self._look_around()
            if number == INACTIVE:
                self._course.ask(self.vehicle, HoldCommand(MotorsOff()))
            else:
                mode = BY_NUMBER[number]
                self._ask(mode, self._orders.get(number) or mode.still())
            self._silent = False
            self._entered(number)

    def resume_guidance(self) -> None:
        """Leaves the vehicle to its guidance."""
        with self._lock:
            self._look_around()
            self._course.ask(self.vehicle, None)
            self._mode = INACTIVE

    def take_off(
        self, height_m: float, duration_s: float, idle_s: float, *, force: bool
    ) -> float | None:
        """Rises along a ramp, and holds its place; the residual, None if something came between.

        Raises:
            CommandError: if the motors are on and it is not forced, for a vehicle that floats, or
                for numbers that cannot be.
        """
        if not height_m > 0.0:
            message = f"height is {height_m:g} m; must be above 0"
            raise CommandError(message)
        HEIGHT.check("height", height_m)
        ramp = RampTo(rise_m=height_m, duration_s=_time(duration_s), idle_s=_pause(idle_s))
        with self._lock:
            self._look_around()
            now = self._course.situation(self.vehicle)
            if not force:
                self._refuse_in_flight(now)
            self._begin_ramp(ramp)
            self._ground_m = None if now is None else float(now.position_m[2])
        return ramp.residual_m if self._wait(ramp) else None

    def land(
        self, duration_s: float, idle_s: float, most_residual_m: float, *, force: bool
    ) -> Landed | None:
        """Sinks to where it took off, and switches off; None if something came between.

        Raises:
            CommandError: if its motors are off, for a vehicle that floats, or for numbers that
                cannot be.
        """
        if not (force or most_residual_m > 0.0):
            message = f"maximum_residual is {most_residual_m:g} m; must be above 0"
            raise CommandError(message)
        time_s, pause_s = _time(duration_s), _pause(idle_s)
        with self._lock:
            self._look_around()
            if self._mode == INACTIVE and self.vehicle in self._course.asked:
                message = f"'{self.vehicle}' is inactive; it has nothing to land"
                raise CommandError(message)
            start = self._course.scenario.vehicles[self.vehicle].start
            ground_m = float(start.position_world_m.z) if self._ground_m is None else self._ground_m
            within_m = np.inf if force else most_residual_m
            ramp = RampTo(
                height_m=ground_m, duration_s=time_s, idle_s=pause_s, off_within_m=within_m
            )
            self._begin_ramp(ramp)
        if not self._wait(ramp):
            return None
        residual_m = ramp.residual_m
        assert residual_m is not None, "its ramp is over"
        return Landed(force and residual_m > most_residual_m, ramp.off)

    def look(self) -> str | None:
        """With each block: holds the place if commands have stopped, and says so once."""
        with self._lock:
            self._look_around()
            flown = self._mode not in (INACTIVE, POSITION.number) and not self._silent
            late_s = self._course.time_s - self._heard_s
            if not (self._timeout_s and flown and late_s > self._timeout_s):
                return None
            now = self._course.situation(self.vehicle)
            if now is None:
                return None
            self._silent = True
            place = Vec3(*map(float, now.position_m))
            try:
                self._course.ask(self.vehicle, HoldCommand(PositionYaw(place, now.yaw_rad)))
            except KittiwakeError as error:
                return (
                    f"'{self.vehicle}' gets no commands any more and goes on with the last: {error}"
                )
        name = BY_NUMBER[self._mode].name
        return (
            f"'{self.vehicle}' got no {name} command for {self._timeout_s:g} s; it holds its place"
        )

    def _begin(self, executor: LiveExecutor) -> None:
        self._course = executor
        self._mode = INACTIVE
        self._orders: dict[int, Maneuver] = {}
        self._told: set[int] = set()
        self._heard_s, self._silent = 0.0, False
        # where the motors were off the last time
        self._ground_m: float | None = None

    def _look_around(self) -> None:
        """A flight that has begun anew knows nothing of the one before."""
        if self._session.executor is not self._course:
            self._begin(self._session.executor)
        asked = self._course.asked.get(self.vehicle)
        if isinstance(asked, RampTo) and asked.off:
            self._mode = INACTIVE

    def _ask(self, mode: Mode, maneuver: Maneuver) -> None:
        self._in_modes(mode, self._course.ask, maneuver)
        self._silent = False

    def _in_modes(
        self, mode: Mode, do: Callable[[str, Maneuver], None], maneuver: Maneuver
    ) -> None:
        """Does something with a mode's command; if it is refused, this is said of modes."""
        try:
            do(self.vehicle, maneuver)
        except CascadeError:
            flown = ", ".join(_written(one) for one in MODES if self._flies(one)) or "none"
            message = f"'{self.vehicle}' cannot fly mode {_written(mode)}; it flies {flown}"
            raise CommandError(message) from None

    def _flies(self, mode: Mode) -> bool:
        try:
            self._course.check(self.vehicle, mode.still())
        except CascadeError:
            return False
        return True

    def _entered(self, number: int) -> None:
        self._mode, self._told = number, set()
        self._heard_s = self._course.time_s

    def _begin_ramp(self, ramp: RampTo) -> None:
        if self._course.scenario.vehicles[self.vehicle].dynamics.floats:
            message = f"'{self.vehicle}' floats; it neither takes off nor lands"
            raise CommandError(message)
        self._ask(POSITION, ramp)
        self._entered(POSITION.number)

    def _ramp_now(self) -> RampTo | None:
        """The ramp that it flies."""
        asked = self._course.asked.get(self.vehicle)
        return asked if isinstance(asked, RampTo) and not asked.over else None

    def _refuse_in_flight(self, now: VehicleEstimate | None) -> None:
        flies = self._mode != INACTIVE
        if not flies and self.vehicle not in self._course.asked and now is not None:
            # its guidance has it
            flies = float(np.linalg.norm(now.velocity_mps)) > AT_REST_MPS
        if flies:
            doing = "flown by its guidance"
            doing = doing if self._mode == INACTIVE else BY_NUMBER[self._mode].name
            message = (
                f"'{self.vehicle}' is {doing}, not inactive; land it, or write force_takeoff: true"
            )
            raise CommandError(message)

    def _wait(self, ramp: RampTo) -> bool:
        """Whether a ramp came to its end; afterwards the mode's command is the place there."""
        executor = self._course
        while not ramp.over:
            if executor.over:
                message = "the flight was over before"
                raise CommandError(message)
            if executor.asked.get(self.vehicle) is not ramp:
                return False
            time.sleep(LOOKS_S)
        with self._lock:
            # another order may have come since it was over
            if ramp.goal is not None and executor.asked.get(self.vehicle) is ramp:
                place_m, yaw_rad = ramp.goal
                hold = HoldCommand(PositionYaw(Vec3(*map(float, place_m)), yaw_rad))
                self._orders[POSITION.number] = hold
        return True


def _written(mode: Mode) -> str:
    return f"{mode.number} ({mode.name})"


def _time(duration_s: float) -> float | None:
    """Of a ramp; none given is the usual one."""
    if duration_s < 0.0:
        message = f"a ramp of {duration_s:g} s is not allowed; must be above 0, or 0 for the usual"
        raise CommandError(message)
    TIME.check("its time", duration_s)
    return duration_s or None


def _pause(idle_s: float) -> float:
    if idle_s < 0.0:
        message = f"idle_time is {idle_s:g} s; must be at least 0"
        raise CommandError(message)
    TIME.check("idle_time", idle_s)
    return idle_s
