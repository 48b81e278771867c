"""Autopilot of a vehicle as its clients see it: armed or not, in a flight mode, with a mission."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.leg_planner import LegPlanner
from kittiwake.adapters.mavlink.leg_sequence import LegSequence
from kittiwake.adapters.mavlink.legs import (
    AutopilotLeg,
    LegBuilder,
    flown_command,
    motors_are_off,
)
from kittiwake.adapters.mavlink.mission_check import MissionCheck
from kittiwake.adapters.mavlink.mission_store import MissionStore
from kittiwake.adapters.mavlink.offboard_targets import OffboardTargets
from kittiwake.adapters.mavlink.parameters import Parameters
from kittiwake.adapters.mavlink.places import Places
from kittiwake.adapters.mavlink.system_report import MissionProgress, NedMotion, SystemReport
from kittiwake.adapters.mavlink.texts import TextMessages
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.guidance.maneuvers.idle import Idle
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import HoldCommand, hold
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

# speed below which a vehicle rests
AT_REST_MPS = 0.2
# modes in which a vehicle that is armed in them sets out
FLOWN = (FlightMode.MISSION, FlightMode.OFFBOARD, FlightMode.TAKEOFF, FlightMode.RETURN)


class MavlinkVehicle:
    """Autopilot of one vehicle of a live flight, for use from any thread.

    Until a client commands it, the vehicle follows the guidance of its scenario, which counts as
    its mission; with the guidance ``idle`` it waits on the ground, disarmed.

    Attributes:
        name: name of the vehicle.
        mode: the flight mode.
        armed: whether the motors may turn.
        parameters: its parameters.
        places: the converter of clients' places, with its home.
        planner: the planner of its legs.
        texts: the builder of its texts.
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
        self.parameters, self.texts = Parameters(), TextMessages(dialect)
        self.places = Places(dialect, frame, vehicle.start.position_world_m)
        check = MissionCheck(dialect, self.places, is_vessel=self._floats)
        self.missions = MissionStore(dialect, check, self.texts)
        self.planner = LegPlanner(dialect, self.places, vehicle, scenario.world, self.parameters)
        self._targets = OffboardTargets(dialect, executor, name, self.places)
        self._flown = LegSequence(executor, name)
        self.lock = threading.RLock()

    def report(self, measured: Mapping[str, float], throttle: float | None) -> SystemReport | None:
        """Return the state that is reported; None before the first block."""
        now = self._executor.estimate(self.name)
        if now is None:
            return None
        return SystemReport(
            now.time_s,
            now.motion.position_world_m,
            NedMotion.of(now.motion),
            self.mode,
            self.armed,
            self.is_landed(now),
            self.places.home_world_m,
            self.places.home_time_s,
            self._progress(),
            flown_command(self._executor.maneuvers.get(self.name)),
            measured,
            throttle,
        )

    def update(self) -> list[Message]:
        """Go on to the next leg, or hold where setpoints have stopped; return messages about it.

        Called after each block of the flight.
        """
        now = self._executor.estimate(self.name)
        if now is None:
            return []
        with self.lock:
            if self.mode is FlightMode.OFFBOARD and self.armed:
                return self._watch_setpoints(now)
            leg = self._flown.present
            if leg is None or not leg.is_over(now):
                return []
            try:
                messages = self._advance(now)
            except KittiwakeError as error:
                messages = self._hold_after(error, now)
            following = self._flown.present
            if leg.item is None or (following is not None and following.item == leg.item):
                return messages
            return [self._d.MAVLink_mission_item_reached_message(leg.item), *messages]

    def switch(self, mode: FlightMode) -> None:
        """Switch to a mode; a vehicle that is not armed sets out when it is.

        Raises:
            CommandError: if the mode cannot be flown; the present one stays.
        """
        with self.lock:
            now = self.require_estimate()
            if mode is FlightMode.LAND:
                self.require_armed("land")
            if self.armed:
                self._enter(mode, now)
            else:
                self._legs(mode, now)
            self.mode = mode

    def arm(self) -> None:
        """Let the motors turn, and set out in the present mode; the home is here.

        Raises:
            CommandError: if the present mode cannot be flown; the vehicle stays disarmed.
        """
        with self.lock:
            now = self.require_estimate()
            if self.armed:
                return
            home = self.places.home_world_m, self.places.home_time_s
            self.places.set_home(now.motion.position_world_m, now.time_s)
            try:
                if self.mode in FLOWN:
                    self._enter(self.mode, now)
            except KittiwakeError:
                self.places.set_home(*home)
                raise
            self.armed = True

    def disarm(self, *, forced: bool) -> None:
        """Stop the motors.

        Raises:
            CommandError: in flight, unless it is forced.
        """
        with self.lock:
            now = self.require_estimate()
            if self.armed and not (forced or self._floats or self.is_landed(now)):
                text = "disarm: the vehicle flies; land it first"
                raise CommandError(text)
            if self.armed:
                self._disarm()

    def fly_legs(self, mode: FlightMode, legs: Iterable[LegBuilder], now: VehicleEstimate) -> None:
        """Fly legs in a mode."""
        self._note_item(self._flown.begin(legs, now))
        self.mode = mode

    def set_target(self, message: Message) -> None:
        """Take a setpoint of a client, which is flown in the mode offboard.

        Raises:
            CommandError: if the vehicle cannot follow it; the last one stays.
        """
        with self.lock:
            now = self.require_estimate()
            maneuver = self._targets.take(message, now)
            if self.mode is FlightMode.OFFBOARD and self.armed:
                self._executor.command(self.name, maneuver)

    @property
    def flies_attitudes(self) -> bool:
        """True if the vehicle follows setpoints of attitude."""
        return self._targets.flies_attitudes

    def mission_answers(self, message: Message) -> list[Message] | None:
        """Return the answers to a message of the mission protocol; None for another message."""
        with self.lock:
            changes, had_items = self.missions.changes, bool(self.missions.items)
            answers = self.missions.answers(message)
            if self.missions.changes == changes or answers is None:
                return answers
            return [*answers, *self._follow_mission(had_items=had_items)]

    def set_mission_item(self, number: int) -> None:
        """Continue the mission at an item.

        Raises:
            CommandError: if there is no such item.
        """
        with self.lock:
            count = len(self.missions.items)
            if not 0 <= number < count:
                text = f"mission item: got {number}; the mission has {count} items, from 0"
                raise CommandError(text)
            self.missions.current, self.missions.complete = number, False
            if self.mode is FlightMode.MISSION and self.armed:
                self._enter(self.mode, self.require_estimate())

    def is_landed(self, now: VehicleEstimate) -> bool:
        """Return True if the vehicle stands on something."""
        velocity = now.motion.velocity_world_mps
        square = float(velocity.x) ** 2 + float(velocity.y) ** 2 + float(velocity.z) ** 2
        if square > AT_REST_MPS**2:
            return False
        maneuver = self._executor.maneuvers.get(self.name)
        off = self._waits if maneuver is None else motors_are_off(maneuver)
        return off or bool(now.touching)

    def require_armed(self, what: str) -> None:
        """Require an armed vehicle.

        Raises:
            CommandError: for one that is disarmed.
        """
        if not self.armed:
            text = f"'{self.name}' cannot {what}: arm it first"
            raise CommandError(text)

    def require_estimate(self) -> VehicleEstimate:
        """Return the present estimate.

        Raises:
            CommandError: before the first block.
        """
        now = self._executor.estimate(self.name)
        if now is None:
            text = f"'{self.name}' does not fly yet"
            raise CommandError(text)
        return now

    def _disarm(self) -> None:
        self._flown.replace(HoldCommand(MotorsOff()))
        self.armed, self.mode = False, FlightMode.HOLD

    def _enter(self, mode: FlightMode, now: VehicleEstimate) -> None:
        """Begin to fly a mode."""
        legs = self._legs(mode, now)
        if legs:
            self.fly_legs(mode, legs, now)
        elif mode is FlightMode.OFFBOARD:
            self._flown.replace(self._targets.setpoint)
        elif mode is FlightMode.MISSION:
            self._flown.replace(None)
        elif self.is_landed(now):
            # one that stands on the ground stays there
            self._flown.clear()
        else:
            self._flown.replace(hold(now.position_m, now.yaw_rad))
        self.mode = mode

    def _legs(self, mode: FlightMode, now: VehicleEstimate) -> Sequence[LegBuilder]:
        """Return the legs of a mode, none where it has no end.

        Raises:
            CommandError: if the mode cannot be flown.
        """
        match mode:
            case FlightMode.MISSION:
                return self._mission_legs()
            case FlightMode.RETURN:
                return self.planner.way_back()
            case FlightMode.LAND:
                return [self.planner.descent()]
            case FlightMode.TAKEOFF:
                height_m = float(now.position_m[2]) + self.parameters["MIS_TAKEOFF_ALT"]
                return [self.planner.climb(height_m)]
            case FlightMode.OFFBOARD if not self._has_setpoint(now):
                text = "offboard: no setpoint has come; send some before the switch"
                raise CommandError(text)
            case _:
                return ()

    def _mission_legs(self) -> Sequence[LegBuilder]:
        missions = self.missions
        if not missions.items and self._waits:
            text = "mission: there is none; upload one"
            raise CommandError(text)
        return self.planner.mission(missions.items, missions.current)

    def _follow_mission(self, *, had_items: bool) -> list[Message]:
        """Begin the new mission in the mode of missions; hold without one."""
        items, now = self.missions.items, self._executor.estimate(self.name)
        if self.mode is not FlightMode.MISSION or now is None or not (items or had_items):
            return []
        if not self.armed:
            self.mode = self.mode if items or not self._waits else FlightMode.HOLD
            return []
        try:
            self._enter(FlightMode.MISSION if items else FlightMode.HOLD, now)
        except KittiwakeError as error:
            return self._hold_after(error, now)
        return [] if items else self.texts.information("mission cleared: hold")

    def _advance(self, now: VehicleEstimate) -> list[Message]:
        """Begin the next leg; after the last one hold, or disarm after a landing."""
        last = self._flown.present
        assert last is not None
        leg = self._flown.advance(now)
        if leg is not None:
            return self._note_item(leg)
        if last.item is not None:
            self.missions.current, self.missions.complete = 0, True
        self.mode = FlightMode.HOLD
        if not motors_are_off(last.maneuver):
            return []
        self._disarm()
        return self.texts.information("landed and disarmed")

    def _note_item(self, leg: AutopilotLeg) -> list[Message]:
        if leg.item is None:
            return []
        self.missions.current, self.missions.complete = leg.item, False
        return [self._d.MAVLink_mission_current_message(*self._progress())]

    def _hold_after(self, error: KittiwakeError, now: VehicleEstimate) -> list[Message]:
        self._flown.clear()
        self._enter(FlightMode.HOLD, now)
        return self.texts.warning(f"{error}; hold")

    def _progress(self) -> MissionProgress:
        return self.missions.progress(active=self.armed and self.mode is FlightMode.MISSION)

    def _watch_setpoints(self, now: VehicleEstimate) -> list[Message]:
        if self._has_setpoint(now):
            return []
        self._enter(FlightMode.HOLD, now)
        return self.texts.warning("no setpoints: hold")

    def _has_setpoint(self, now: VehicleEstimate) -> bool:
        return now.time_s - self._targets.arrived_s <= self.parameters["COM_OF_LOSS_T"]
