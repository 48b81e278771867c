"""Control of one vehicle by ROS nodes: modes, commands, takeoff and landing.

Each mode keeps its last command, also while another mode flies. Until a node switches the mode, the
vehicle follows its scenario's guidance and its mode is reported as inactive.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kittiwake.adapters.ranges import POSITION as HEIGHT
from kittiwake.adapters.ranges import TIME
from kittiwake.adapters.ros.mode_commands import INACTIVE, MODES, Mode
from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CascadeError, CommandError, KittiwakeError
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import (
    HoldCommand,
    Maneuver,
    RampManeuver,
    hold,
    ramp_landing,
    ramp_takeoff,
)
from kittiwake.runtime.session import Session
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

BY_NUMBER = {mode.number: mode for mode in MODES}
POSITION = BY_NUMBER[1]
# a vehicle under guidance counts as flying above this speed
AT_REST_MPS = 0.1
# how often a takeoff or landing service checks its ramp
POLL_PERIOD_S = 0.02


class LandingResult(NamedTuple):
    """Result of a landing.

    Attributes:
        forced: True if the motors are off although the residual was too large.
        success: True if the motors are off.
    """

    forced: bool
    success: bool


class VehicleControl:
    """Command interface of one vehicle of a session, for use from any thread.

    Args:
        session: of flights.
        vehicle: its name.
        timeout_s: after this time without a command the vehicle holds its position; 0 for never.
    """

    def __init__(self, session: Session, vehicle: str, timeout_s: float) -> None:
        self.vehicle = vehicle
        self._session, self._timeout_s = session, timeout_s
        self._lock = threading.RLock()
        self._reset(session.executor)

    @property
    def mode(self) -> int:
        """Number of the current mode."""
        with self._lock:
            self._synchronize()
            return self._mode

    def command(self, mode: Mode, maneuver: Maneuver) -> str | None:
        """Accept a command of a mode; return a warning if it is only stored and not flown.

        Raises:
            CommandError: if the vehicle cannot follow it; the last one stays.
        """
        with self._lock:
            self._synchronize()
            ramp = self._active_ramp()
            is_flown = self._mode == mode.number and ramp is None
            if is_flown:
                self._send(mode, maneuver)
                self._last_command_s = self._executor.time_s
            else:
                self._apply(mode, self._executor.check, maneuver)
            self._commands[mode.number] = maneuver
            if is_flown or mode.number in self._warned_modes:
                return None
            self._warned_modes.add(mode.number)
            current = "inactive" if self._mode == INACTIVE else BY_NUMBER[self._mode].name
        if ramp is not None:
            return (
                f"'{self.vehicle}' {ramp.description}; commands of {mode.name} are stored until "
                "it ends"
            )
        return f"'{self.vehicle}' is {current}; commands of {mode.name} are stored for that mode"

    def fly(self, mode: Mode, maneuver: Maneuver) -> None:
        """Switch to a mode and fly a command of it at once."""
        with self._lock:
            self._synchronize()
            self._send(mode, maneuver)
            self._commands[mode.number] = maneuver
            self._enter_mode(mode.number)

    def switch_mode(self, number: int) -> None:
        """Switch to a mode and fly its last command.

        Raises:
            CommandError: for an unknown mode; the current one stays.
        """
        if number != INACTIVE and number not in BY_NUMBER:
            names = [f"{INACTIVE} (inactive)", *map(_label, MODES)]
            message = f"mode: got {number}; must be one of {', '.join(names)}"
            raise CommandError(message)
        with self._lock:
            self._synchronize()
            if number == INACTIVE:
                self._executor.command(self.vehicle, HoldCommand(MotorsOff()))
            else:
                mode = BY_NUMBER[number]
                self._send(mode, self._commands.get(number) or mode.zero_command())
            self._timed_out = False
            self._enter_mode(number)

    def resume_guidance(self) -> None:
        """Return the vehicle to its guidance."""
        with self._lock:
            self._synchronize()
            self._executor.command(self.vehicle, None)
            self._mode = INACTIVE

    def take_off(
        self, height_m: float, duration_s: float, idle_s: float, *, force: bool
    ) -> float | None:
        """Climb along a ramp and hold the position there; None if another command replaced it.

        Returns:
            The residual in meters: the distance from the end of the ramp after the idle time.

        Raises:
            CommandError: if the motors are on and ``force`` is False, for a vessel, or
                for numbers out of range.
        """
        ramp = self.begin_takeoff(height_m, duration_s, idle_s, force=force)
        return ramp.residual_m if self._wait(ramp) else None

    def begin_takeoff(
        self, height_m: float, duration_s: float = 0.0, idle_s: float = 0.0, *, force: bool
    ) -> RampManeuver:
        """Begin what ``take_off`` waits for, with its errors."""
        if not height_m > 0.0:
            message = f"height: got {height_m:g} m; must be above 0"
            raise CommandError(message)
        HEIGHT.check("height", height_m)
        ramp = ramp_takeoff(height_m, _ramp_duration_s("takeoff_time", duration_s), _idle_s(idle_s))
        with self._lock:
            self._synchronize()
            estimate = self._executor.estimate(self.vehicle)
            if not force:
                self._require_inactive(estimate)
            self._start_ramp(ramp)
            self._ground_m = None if estimate is None else float(estimate.position_m[2])
        return ramp

    def land(
        self, duration_s: float, idle_s: float, max_residual_m: float, *, force: bool
    ) -> LandingResult | None:
        """Descend to the place of takeoff and stop the motors; None if another command replaced it.

        Raises:
            CommandError: if the motors are off, for a vessel, or for numbers out of
                range.
        """
        ramp = self.begin_landing(duration_s, idle_s, max_residual_m, force=force)
        if not self._wait(ramp):
            return None
        residual_m = ramp.residual_m
        assert residual_m is not None, "its ramp is over"
        return LandingResult(force and residual_m > max_residual_m, ramp.off)

    def begin_landing(
        self,
        duration_s: float = 0.0,
        idle_s: float = 0.0,
        max_residual_m: float = 0.0,
        *,
        force: bool,
    ) -> RampManeuver:
        """Begin what ``land`` waits for, with its errors."""
        if not (force or max_residual_m > 0.0):
            message = f"maximum_residual: got {max_residual_m:g} m; must be above 0"
            raise CommandError(message)
        ramp_s, pause_s = _ramp_duration_s("land_time", duration_s), _idle_s(idle_s)
        with self._lock:
            self._synchronize()
            if self._mode == INACTIVE and self.vehicle in self._executor.maneuvers:
                message = f"'{self.vehicle}' is inactive; its motors are off already"
                raise CommandError(message)
            start = self._executor.scenario.vehicles[self.vehicle].start
            ground_m = float(start.position_world_m.z) if self._ground_m is None else self._ground_m
            within_m = np.inf if force else max_residual_m
            ramp = ramp_landing(ground_m, ramp_s, pause_s, within_m)
            self._start_ramp(ramp)
        return ramp

    def check_timeout(self) -> str | None:
        """Hold the position if commands have stopped; return a warning once. Called every block."""
        with self._lock:
            self._synchronize()
            needs_commands = self._mode not in (INACTIVE, POSITION.number) and not self._timed_out
            silence_s = self._executor.time_s - self._last_command_s
            if not (self._timeout_s and needs_commands and silence_s > self._timeout_s):
                return None
            estimate = self._executor.estimate(self.vehicle)
            if estimate is None:
                return None
            self._timed_out = True
            try:
                self._executor.command(self.vehicle, hold(estimate.position_m, estimate.yaw_rad))
            except KittiwakeError as error:
                return (
                    f"'{self.vehicle}' receives no commands and continues with the last one: "
                    f"{error}"
                )
        name = BY_NUMBER[self._mode].name
        return (
            f"'{self.vehicle}' received no {name} command for {self._timeout_s:g} s; it holds its "
            "position"
        )

    def _reset(self, executor: LiveExecutor) -> None:
        self._executor = executor
        self._mode = INACTIVE
        self._commands: dict[int, Maneuver] = {}
        # modes with a command that was stored and not flown, since the last switch of modes
        self._warned_modes: set[int] = set()
        self._last_command_s, self._timed_out = 0.0, False
        # height at which the last takeoff began
        self._ground_m: float | None = None

    def _synchronize(self) -> None:
        """Reset after a restart of the flight; become inactive after a landing."""
        if self._session.executor is not self._executor:
            self._reset(self._session.executor)
        maneuver = self._executor.maneuvers.get(self.vehicle)
        if isinstance(maneuver, RampManeuver) and maneuver.off:
            self._mode = INACTIVE

    def _send(self, mode: Mode, maneuver: Maneuver) -> None:
        self._apply(mode, self._executor.command, maneuver)
        self._timed_out = False

    def _apply(
        self, mode: Mode, function: Callable[[str, Maneuver], None], maneuver: Maneuver
    ) -> None:
        """Call a function with a command of a mode; a refusal is reported in terms of modes."""
        try:
            function(self.vehicle, maneuver)
        except CascadeError:
            accepted = ", ".join(_label(one) for one in MODES if self._accepts(one)) or "none"
            message = f"'{self.vehicle}' cannot fly mode {_label(mode)}; it accepts {accepted}"
            raise CommandError(message) from None

    def _accepts(self, mode: Mode) -> bool:
        try:
            self._executor.check(self.vehicle, mode.zero_command())
        except CascadeError:
            return False
        return True

    def _enter_mode(self, number: int) -> None:
        self._mode, self._warned_modes = number, set()
        self._last_command_s = self._executor.time_s

    def _start_ramp(self, ramp: RampManeuver) -> None:
        if self._executor.scenario.vehicles[self.vehicle].dynamics.is_vessel:
            message = f"'{self.vehicle}' floats; it can neither take off nor land"
            raise CommandError(message)
        self._send(POSITION, ramp)
        self._enter_mode(POSITION.number)

    def _active_ramp(self) -> RampManeuver | None:
        """Return the ramp that the vehicle flies."""
        maneuver = self._executor.maneuvers.get(self.vehicle)
        return maneuver if isinstance(maneuver, RampManeuver) and not maneuver.over else None

    def _require_inactive(self, estimate: VehicleEstimate | None) -> None:
        flies = self._mode != INACTIVE
        if not flies and self.vehicle not in self._executor.maneuvers and estimate is not None:
            # under guidance
            flies = float(estimate.motion.velocity_world_mps.norm()) > AT_REST_MPS
        if flies:
            state = "under guidance"
            state = state if self._mode == INACTIVE else BY_NUMBER[self._mode].name
            message = (
                f"'{self.vehicle}' is {state}, not inactive; land it, or set force_takeoff: true"
            )
            raise CommandError(message)

    def _wait(self, ramp: RampManeuver) -> bool:
        """Wait for the end of a ramp; return True if it was reached.

        Its end becomes the last command of the position mode.
        """
        executor = self._executor
        while not ramp.over:
            if executor.ended:
                message = "the flight ended before the ramp"
                raise CommandError(message)
            if executor.maneuvers.get(self.vehicle) is not ramp:
                return False
            time.sleep(POLL_PERIOD_S)
        with self._lock:
            # another command may have replaced it meanwhile
            if executor.maneuvers.get(self.vehicle) is ramp:
                self._commands[POSITION.number] = HoldCommand(ramp.goal)
        return True


def _label(mode: Mode) -> str:
    return f"{mode.number} ({mode.name})"


def _ramp_duration_s(name: str, duration_s: float) -> float | None:
    """Return the duration of a ramp; None, which is the default duration, for 0."""
    if duration_s < 0.0:
        message = f"{name}: got {duration_s:g} s; must be above 0, or 0 for the default"
        raise CommandError(message)
    TIME.check(name, duration_s)
    return duration_s or None


def _idle_s(idle_s: float) -> float:
    if idle_s < 0.0:
        message = f"idle_time: got {idle_s:g} s; must be at least 0"
        raise CommandError(message)
    TIME.check("idle_time", idle_s)
    return idle_s
