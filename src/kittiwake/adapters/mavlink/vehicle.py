"""Autopilot of a vehicle as its clients see it: armed or not, in a flight mode, with a mission."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isfinite, nan
from types import ModuleType
from typing import TypeAlias

from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.legs import AutopilotLeg, LegBuilder, LegPlanner, motors_are_off
from kittiwake.adapters.mavlink.mission_store import MissionStore
from kittiwake.adapters.mavlink.offboard import PositionTargets, attitude_target, world_yaw_rad
from kittiwake.adapters.mavlink.parameters import Parameters
from kittiwake.adapters.mavlink.telemetry import SystemReport
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.guidance.maneuvers.idle import Idle
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import HoldCommand, Maneuver, hold
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

# speed below which a vehicle rests
AT_REST_MPS = 0.2
# second parameter of a command to disarm in flight
FORCED = 21196.0
# bytes of a text message, and how many texts in parts are distinguished
TEXT_BYTES, MAX_TEXTS = 50, 65535
# modes in which a vehicle that is armed in them sets out
FLOWN = (FlightMode.MISSION, FlightMode.OFFBOARD, FlightMode.TAKEOFF, FlightMode.RETURN)


# frame, x and y of a command that was given with integers
PlaceInIntegers: TypeAlias = tuple[int, int, int]
Command: TypeAlias = Callable[[Sequence[float], PlaceInIntegers | None, VehicleEstimate], None]


class MavlinkVehicle:
    """Autopilot of one vehicle of a live flight, for use from any thread.

    Until a client commands it, the vehicle follows the guidance of its scenario, which counts as
    its mission; with the guidance ``idle`` it waits on the ground, disarmed.

    Attributes:
        name: name of the vehicle.
        mode: the flight mode.
        armed: whether the motors may turn.
        parameters: its parameters.
        missions: its mission.
    """

    def __init__(
        self, dialect: ModuleType, executor: LiveExecutor, name: str, frame: WorldFrame
    ) -> None:
        self.name = name
        self._d, self._executor = dialect, executor
        scenario = executor.scenario
        vehicle = scenario.vehicles[name]
        self._waits = isinstance(vehicle.guidance.component, Idle)
        self._floats = vehicle.dynamics.is_vessel
        self.armed = not self._waits
        self.mode = FlightMode.HOLD if self._waits else FlightMode.MISSION
        self.parameters = Parameters()
        self.missions = MissionStore(dialect)
        self._planner = LegPlanner(dialect, frame, vehicle, scenario.world, self.parameters)
        self._targets = PositionTargets(dialect, frame)
        self._frame = frame
        self._leg: AutopilotLeg | None = None
        self._next_legs: deque[LegBuilder] = deque()
        self._setpoint: Maneuver | None = None
        self._setpoint_s = -inf
        # number of the last text that came in parts
        self._texts = 0
        self._lock = threading.RLock()
        d = dialect
        self._commands: Mapping[int, Command] = {
            d.MAV_CMD_COMPONENT_ARM_DISARM: self._arm,
            d.MAV_CMD_NAV_TAKEOFF: self._take_off,
            d.MAV_CMD_DO_REPOSITION: self._reposition,
            d.MAV_CMD_NAV_LAND: lambda *_: self.switch(FlightMode.LAND),
            d.MAV_CMD_NAV_RETURN_TO_LAUNCH: lambda *_: self.switch(FlightMode.RETURN),
            d.MAV_CMD_MISSION_START: lambda *_: self.switch(FlightMode.MISSION),
            d.MAV_CMD_DO_PAUSE_CONTINUE: lambda given, *_: self.switch(
                FlightMode.HOLD if given[0] < 0.5 else FlightMode.MISSION
            ),
            d.MAV_CMD_DO_SET_MODE: lambda given, *_: self._switch_to(
                round(given[1]), round(given[2])
            ),
            d.MAV_CMD_DO_CHANGE_SPEED: lambda given, *_: self.parameters.set(
                "MPC_XY_CRUISE", given[1]
            ),
        }

    def report(self, charge: float | None, voltage_v: float | None) -> SystemReport | None:
        """Return the state that is reported; None before the first block."""
        now = self._executor.estimate(self.name)
        if now is None:
            return None
        return SystemReport(
            now.time_s,
            now.motion,
            self.mode,
            self.armed,
            self._is_landed(now),
            self._planner.home_world_m,
            charge,
            voltage_v,
        )

    def update(self) -> list[Message]:
        """Go on to the next leg, or hold where setpoints have stopped; return messages about it.

        Called after each block of the flight.
        """
        now = self._executor.estimate(self.name)
        if now is None:
            return []
        with self._lock:
            if self.mode is FlightMode.OFFBOARD and self.armed:
                return self._watch_setpoints(now)
            leg = self._leg
            if leg is None or not leg.is_over(now):
                return []
            messages: list[Message] = []
            if leg.item is not None:
                messages.append(self._d.MAVLink_mission_item_reached_message(leg.item))
            try:
                return [*messages, *self._advance(now)]
            except KittiwakeError as error:
                self._leg = None
                self._next_legs.clear()
                self._enter(FlightMode.HOLD, now)
                return [*messages, *self.text(str(error), self._d.MAV_SEVERITY_WARNING)]

    def command(
        self, number: int, given: Sequence[float], place: tuple[int, int, int] | None
    ) -> None:
        """Carry out a command.

        Args:
            number: the number of the command.
            given: its seven parameters.
            place: its frame, x and y if it was given with integers.

        Raises:
            CommandError: if it cannot be carried out; so does every other error of the package.
            NotImplementedError: for a command that is not supported.
        """
        with self._lock:
            known = self._commands.get(number)
            if known is None:
                raise NotImplementedError
            known(given, place, self._require_estimate())

    def set_mode(self, custom_mode: int) -> None:
        """Switch to the mode with the number of a heartbeat.

        Raises:
            CommandError: for an unknown mode, or one that cannot be flown.
        """
        self._switch_to(custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF)

    def switch(self, mode: FlightMode) -> None:
        """Switch to a mode; a vehicle that is not armed sets out when it is.

        Raises:
            CommandError: if the mode cannot be flown; the present one stays.
        """
        with self._lock:
            now = self._require_estimate()
            if mode is FlightMode.OFFBOARD and not self._has_setpoint(now):
                text = "offboard: no setpoint has come; send some before the switch"
                raise CommandError(text)
            if self.armed:
                self._enter(mode, now)
            elif mode is FlightMode.LAND:
                self._require_armed("land")
            self.mode = mode

    def set_target(self, message: Message) -> None:
        """Take a setpoint of a client, which is flown in the mode offboard.

        Raises:
            CommandError: if the vehicle cannot follow it; the last one stays.
        """
        with self._lock:
            now = self._require_estimate()
            if message.get_type() == "SET_ATTITUDE_TARGET":
                maneuver = attitude_target(message, self._executor.capabilities(self.name))
            else:
                maneuver = self._targets.maneuver(message, now)
            self._executor.check(self.name, maneuver)
            self._setpoint, self._setpoint_s = maneuver, now.time_s
            if self.mode is FlightMode.OFFBOARD and self.armed:
                self._executor.command(self.name, maneuver)

    def text(self, words: str, severity: int) -> list[Message]:
        """Return messages to be read by people; long ones come in parts."""
        text = words.encode("ascii", "replace")
        parts = [text[start : start + TEXT_BYTES] for start in range(0, len(text), TEXT_BYTES)]
        if len(parts) == 1:
            return [self._d.MAVLink_statustext_message(severity, text)]
        # a whole message ends with a part that is not full
        if len(parts[-1]) == TEXT_BYTES:
            parts.append(b"")
        self._texts = self._texts % MAX_TEXTS + 1
        return [
            self._d.MAVLink_statustext_message(severity, part, self._texts, number)
            for number, part in enumerate(parts)
        ]

    def _arm(
        self, given: Sequence[float], place: PlaceInIntegers | None, now: VehicleEstimate
    ) -> None:
        del place
        wanted = given[0] >= 0.5
        if wanted == self.armed:
            return
        if wanted:
            self.armed = True
            if self.mode in FLOWN:
                self._enter(self.mode, now)
            return
        if not (self._floats or given[1] == FORCED or self._is_landed(now)):
            text = "disarm: the vehicle flies; land it first"
            raise CommandError(text)
        self._disarm()

    def _take_off(
        self, given: Sequence[float], place: PlaceInIntegers | None, now: VehicleEstimate
    ) -> None:
        del place
        self._require_armed("take off")
        self._fly([self._planner.climb(self._takeoff_m(given[6], now))], now)
        self.mode = FlightMode.TAKEOFF

    def _disarm(self) -> None:
        self._executor.command(self.name, HoldCommand(MotorsOff()))
        self._leg, self.armed, self.mode = None, False, FlightMode.HOLD
        self._next_legs.clear()

    def _enter(self, mode: FlightMode, now: VehicleEstimate) -> None:
        """Begin to fly a mode."""
        legs = self._legs(mode, now)
        if legs:
            self._fly(legs, now)
        elif mode is FlightMode.OFFBOARD:
            self._command(self._setpoint)
        elif mode is FlightMode.MISSION:
            if self._waits:
                text = "mission: there is none; upload one"
                raise CommandError(text)
            self._command(None)
        # one that stands on the ground stays there
        elif not self._is_landed(now):
            self._command(hold(now.position_m, now.yaw_rad))
        self.mode = mode

    def _legs(self, mode: FlightMode, now: VehicleEstimate) -> Sequence[LegBuilder]:
        """Return the legs of a mode; none where it has no end."""
        match mode:
            case FlightMode.MISSION:
                return self._planner.mission(self.missions.items)
            case FlightMode.RETURN:
                return self._planner.way_back(now)
            case FlightMode.LAND:
                return [self._planner.descent()]
            case FlightMode.TAKEOFF:
                return [self._planner.climb(self._takeoff_m(nan, now))]
            case _:
                return ()

    def _fly(self, legs: Iterable[LegBuilder], now: VehicleEstimate) -> None:
        first, *others = legs
        leg = first(now)
        self._command(leg.maneuver)
        self._leg, self._next_legs = leg, deque(others)

    def _command(self, maneuver: Maneuver | None) -> None:
        self._executor.command(self.name, maneuver)
        self._leg = None
        self._next_legs.clear()

    def _advance(self, now: VehicleEstimate) -> list[Message]:
        """Begin the next leg; after the last one hold, or disarm after a landing."""
        assert self._leg is not None
        if self._next_legs:
            leg = self._next_legs.popleft()(now)
            self._executor.command(self.name, leg.maneuver)
            self._leg = leg
            if leg.item is None:
                return []
            return [self._d.MAVLink_mission_current_message(leg.item)]
        landed = motors_are_off(self._leg.maneuver)
        self._leg, self.mode = None, FlightMode.HOLD
        if not landed:
            return []
        self._disarm()
        return self.text("landed and disarmed", self._d.MAV_SEVERITY_INFO)

    def _watch_setpoints(self, now: VehicleEstimate) -> list[Message]:
        if self._has_setpoint(now):
            return []
        self._enter(FlightMode.HOLD, now)
        return self.text("no setpoints: hold", self._d.MAV_SEVERITY_WARNING)

    def _has_setpoint(self, now: VehicleEstimate) -> bool:
        return now.time_s - self._setpoint_s <= self.parameters["COM_OF_LOSS_T"]

    def _switch_to(self, main: int, sub: int) -> None:
        mode = FlightMode.of(main, sub)
        if mode is None:
            known = ", ".join(one.name.lower() for one in FlightMode)
            text = f"mode {main}.{sub}: must be one of {known}"
            raise CommandError(text)
        self.switch(mode)

    def _reposition(
        self, given: Sequence[float], place: PlaceInIntegers | None, now: VehicleEstimate
    ) -> None:
        self._require_armed("fly to a place")
        if place is None:
            frame = self._d.MAV_FRAME_GLOBAL
            place = frame, round(given[4] * 1e7), round(given[5] * 1e7)
        goal = self._planner.place(*place, given[6])
        if given[0] > 0.0:
            self.parameters.set("MPC_XY_CRUISE", given[0])
        yaw_rad = world_yaw_rad(given[3]) if isfinite(given[3]) else None
        self._fly([self._planner.passage(goal, yaw_rad)], now)
        self.mode = FlightMode.HOLD

    def _takeoff_m(self, altitude_m: float, now: VehicleEstimate) -> float:
        """Return the height in the world of a takeoff to an altitude; the default one for NaN."""
        if isfinite(altitude_m):
            return altitude_m - self._frame.altitude_m
        return float(now.position_m[2]) + self.parameters["MIS_TAKEOFF_ALT"]

    def _is_landed(self, now: VehicleEstimate) -> bool:
        if float(now.motion.velocity_world_mps.norm()) > AT_REST_MPS:
            return False
        maneuver = self._executor.maneuvers.get(self.name)
        off = self._waits if maneuver is None else motors_are_off(maneuver)
        return off or bool(now.touching)

    def _require_armed(self, what: str) -> None:
        if not self.armed:
            text = f"'{self.name}' cannot {what}: arm it first"
            raise CommandError(text)

    def _require_estimate(self) -> VehicleEstimate:
        now = self._executor.estimate(self.name)
        if now is None:
            text = f"'{self.name}' does not fly yet"
            raise CommandError(text)
        return now
