"""A flight in somebody's hands: paused, commanded, tuned anew and broken while it goes on.

Until somebody does something it is the flight of ``kittiwake run``, bit for bit. From then on it
goes on in a program whose numbers are arguments (``LiveProgram``). That is built in a workshop
beside the flight, which never waits: what is asked for takes effect with the next block after it
is ready.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from math import isfinite
from queue import Empty, SimpleQueue
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from kittiwake.analysis.table import FAULTS
from kittiwake.core.errors import CommandError, KittiwakeError, did_you_mean
from kittiwake.core.kinematics import Start, motion_columns
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.commands import numbers_of, refuse_dead_ends
from kittiwake.runtime.maneuvers import (
    BELIEVED,
    Ability,
    HoldCommand,
    Maneuver,
    VehicleEstimate,
    ability_of,
    estimate_of,
)
from kittiwake.runtime.program import Program
from kittiwake.runtime.program_builder import (
    BuildRequest,
    Built,
    Change,
    PendingChange,
    ProgramBuilder,
)
from kittiwake.runtime.row_mapping import RowMapping
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.runtime.tunable import LiveProgram, takes
from kittiwake.runtime.watch import Block, RowLayout, Violation
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.document import Override
from kittiwake.scenario.dormant_faults import fallible_parts
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.starts import lost_starts
from kittiwake.scenario.tuning import tuned
from kittiwake.sim.state import FleetState

BLOCKS_HZ = 50.0

Request = Callable[[FleetState], FleetState]


class LiveExecutor(AbstractContextManager["LiveExecutor"]):
    """Flies a scenario block by block as it is told, from any thread.

    Attributes:
        program: of the scenario as it was at the start.
        clock: when blocks are flown.
        watch: called with each block.
        problems: what could not be done, to be shown to whoever asked for it.
        blocks_hz: so often it takes effect what is asked for, as far as the physics rate allows.
    """

    def __init__(
        self,
        scenario: Scenario,
        program: Program,
        clock: RealTimeClock,
        watch: Callable[[Block], None] = lambda _: None,
        problems: SimpleQueue[str] | None = None,
        blocks_hz: float = BLOCKS_HZ,
        former: LiveProgram | None = None,
    ) -> None:
        """Of a scenario; ``former`` is the program that an earlier flight went on in."""
        self.program, self.clock, self.watch = program, clock, watch
        self.problems = SimpleQueue() if problems is None else problems
        self.blocks_hz, self._former = blocks_hz, former
        self.time_s = 0.0
        self._builder = ProgramBuilder(scenario, self.problems, self._take)
        self._asked: dict[str, Maneuver] = {}
        self._abilities: dict[str, Ability] = {}
        self._rows: dict[str, np.ndarray] = {}
        self._places = {
            name: {column: place for place, column in enumerate(columns) if column in BELIEVED}
            for name, columns in self.layout.columns.items()
        }
        # of what it was asked for, what the log was told
        self._told: dict[str, str] = {}
        self._touched = False
        self._tunable: LiveProgram | None = None
        self._reading: RowMapping | None = None
        self._own_faults = {name: v.faults for name, v in scenario.vehicles.items()}
        self._requests: SimpleQueue[Request] = SimpleQueue()
        self._later: list[Request] = []
        self._notices: SimpleQueue[Notice] = SimpleQueue()

    @override
    def __exit__(self, *_: object) -> None:
        self._builder.close()

    def abandon(self) -> None:
        """Stop what is built beside the flight, of a process that is about to end."""
        self._builder.abandon()

    @property
    def scenario(self) -> Scenario:
        """With all changes that are flown, or will be with the next block."""
        return self._builder.scenario

    @property
    def rate_hz(self) -> float:
        """Physics steps a second."""
        return self.scenario.rate_hz

    @property
    def layout(self) -> RowLayout:
        """What each vehicle's rows hold, whatever is changed."""
        return self.program.layout

    @property
    def ready(self) -> bool:
        """Whether what is asked for takes effect at once."""
        return self._builder.latest is not None

    @property
    def prepared(self) -> bool:
        """Whether it is ready, or cannot become so, which is a problem that is told."""
        return self._builder.tried

    @property
    def over(self) -> bool:
        """Whether the flight has ended, so that nothing can be asked for any more."""
        return self._builder.closed

    @property
    def latest(self) -> LiveProgram | None:
        """The program that flights go on in when they are touched, once there is one."""
        return self._builder.latest

    @property
    def asked(self) -> Mapping[str, Maneuver]:
        """What vehicles have been asked for and still do."""
        return dict(self._asked)

    @property
    def failing(self) -> Mapping[str, Mapping[str, float]]:
        """By vehicle what has failed, and since when."""
        return self._builder.failing

    @property
    def wanted(self) -> Scenario:
        """The scenario with all that was asked for, flown already or not."""
        return self._builder.wanted

    def begin(self, seed: int, steps: int) -> FleetState:
        """The state at the start."""
        del steps
        self._steps = max(1, round(self.rate_hz / self.blocks_hz))
        self._plain = self.program.block(self._steps)
        state = self.program.start(seed)
        single = self.program.fleet.single_precision
        self._builder.open(BuildRequest(single, self._steps, seed, self._former))
        return state

    def due(self, tick: int) -> bool:
        """Whether the clock lets the next block through."""
        return self.clock.wait(tick / self.rate_hz)

    def fly(self, state: FleetState, tick: int) -> tuple[FleetState, Block]:
        """The next block, after what has been asked for."""
        self.time_s = tick / self.rate_hz
        if self._touched and self._tunable is None and self.latest is not None:
            state = self._handed_over(state, self.latest)
        waiting, self._later = [*self._later, *_waiting(self._requests)], []
        for request in waiting:
            state = request(state)
        if self._tunable is None:
            state, arrays = self._plain(state)
            times = np.arange(tick, tick + len(arrays[0])) / self.rate_hz
            block = self.program.by_vehicle(times, arrays)
        else:
            state, arrays = self._tunable.fly(state, self._commands(self._tunable))
            block = self._read(self._tunable, tick, arrays)
        self._rows = {name: rows[-1] for name, rows in block.items()}
        self.watch(block)
        return state, block

    def violations(self, state: FleetState) -> Violation:
        """Which limit a vehicle has left."""
        return (self._tunable or self.program).violations(state)

    def notices(self) -> Sequence[Notice]:
        """What has been done to vehicles."""
        return [*_waiting(self._notices)]

    def ability(self, vehicle: str) -> Ability:
        """What a vehicle can be asked for.

        Raises:
            CommandError: if there is no such vehicle.
        """
        known = self._abilities
        if vehicle not in known:
            self.program.fleet.place(vehicle)
            record = self.scenario.vehicles[vehicle]
            known[vehicle] = ability_of(record, takes(record), self.scenario.world)
        return known[vehicle]

    def situation(self, vehicle: str) -> VehicleEstimate | None:
        """What a vehicle believes of itself; None before the first block."""
        if vehicle not in self._rows:
            return None
        row, places = self._rows[vehicle], self._places[vehicle]
        return estimate_of({name: float(row[place]) for name, place in places.items()})

    def ask(self, vehicle: str, maneuver: Maneuver | None) -> None:
        """Makes a vehicle do something until further notice; None leaves it to its guidance.

        Raises:
            CommandError: for an unknown vehicle, or a command that it cannot take.
            LadderError: for a signal from which no controller leads to the vehicle's native one.
        """
        if maneuver is None:
            self._refuse_when_over()
            self.program.fleet.place(vehicle)
            if self._asked.pop(vehicle, None) is not None:
                self._told.pop(vehicle, None)
                self._notices.put((vehicle, "handed back to its guidance"))
            return
        if isinstance(maneuver, HoldCommand):
            maneuver.follow(self._asked.get(vehicle))
        self.check(vehicle, maneuver)
        self._asked[vehicle] = maneuver
        self._touched = True

    def check(self, vehicle: str, maneuver: Maneuver) -> None:
        """Refuses what ``ask`` refuses, and changes nothing."""
        self._refuse_when_over()
        able, now = self.ability(vehicle), self.situation(vehicle) or self._first(vehicle)
        # of a copy, because what is asked for begins when it is flown
        signal = copy(maneuver).command(now, able)
        numbers_of({vehicle: signal}, self.scenario.vehicles)
        refuse_dead_ends(((vehicle, type(signal)),), self.scenario.vehicles)

    def begin_step(self, vehicle: str, step: str) -> None:
        """Makes a vehicle begin a step of its mission."""
        self._refuse_when_over()
        self._ask(lambda fleet, state: fleet.jump_to_step(state, vehicle, step))

    def place(self, vehicle: str, start: Start) -> None:
        """Takes a vehicle somewhere else, where it begins anew; its guidance goes on.

        Raises:
            CommandError: if there is no such vehicle, or if it would be lost there.
        """
        self._refuse_when_over()
        self.program.fleet.place(vehicle)
        if not all(isfinite(float(number)) for number in jax.tree.leaves(start)):
            message = f"'{vehicle}' cannot be placed: {start} holds numbers that are not finite"
            raise CommandError(message)
        moved = replace(self.scenario.vehicles[vehicle], start=start)
        moved.dynamics.check_start(start)
        for lost in lost_starts(self.scenario.world, {vehicle: moved}):
            message = f"'{vehicle}' cannot be placed there: {lost.said}"
            raise CommandError(message)
        self._touched = True
        self._requests.put(lambda state: self._placed(state, vehicle, start))

    def switch(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Makes only these of a vehicle's behaviors count."""
        self._ask(lambda fleet, state: fleet.with_active_behaviors(state, vehicle, behaviors))

    def change(self, path: str, value: str) -> None:
        """Gives a value of the scenario anew, written as in its file; the newest one counts."""
        whose = path.split(".")[1] if path.startswith("vehicles.") else "world"
        item = f"{path}={value}"
        given = Override(item, item)
        self._build(path, whose, item, lambda scenario: with_changes(scenario, [given]))

    def set_gains(self, entry: str, controller: str, **gains: Any) -> None:
        """Changes gains of a controller, of all vehicles of an entry of the scenario."""
        named = f"{entry} {controller} {' '.join(gains)}"
        said = ", ".join(f"{controller}.{gain}={value}" for gain, value in gains.items())
        self._build(named, entry, said, lambda scenario: tuned(scenario, entry, controller, gains))

    def fail(self, vehicle: str, part: str, *, failed: bool) -> None:
        """Makes a part of a vehicle fail, or work again.

        Raises:
            CommandError: if there is no such vehicle, or no such part of it.
        """
        self.program.fleet.place(vehicle)
        known = fallible_parts(self.scenario.vehicles[vehicle])
        if part not in known:
            message = f"'{vehicle}' has no '{part}' that fails. {did_you_mean(part, [*known])}"
            raise CommandError(message)
        if self._builder.fail(vehicle, part, self.time_s, failed=failed):
            self._touched = True

    def take_problems(self) -> list[str]:
        """What could not be done since one asked last."""
        return [*_waiting(self.problems)]

    def _commands(self, program: LiveProgram) -> dict[str, Any]:
        """What those who have been asked for something are to do now."""
        commands = {}
        for name, maneuver in self.asked.items():
            now = self.situation(name)
            if now is None:
                continue  # it begins behind the first block
            signal = maneuver.command(now, self.ability(name))
            try:
                program.check(name, signal)
            except KittiwakeError as error:
                self.problems.put(str(error))
                if self._asked.get(name) is maneuver:
                    self._asked.pop(name, None)
                continue
            commands[name] = signal
            if self._told.get(name) != maneuver.said:
                self._told[name] = maneuver.said
                self._notices.put((name, f"asked: {maneuver.said}"))
        return commands

    def _placed(self, state: FleetState, vehicle: str, start: Start) -> FleetState:
        if self._tunable is None:
            # until the program is compiled that can do it
            self._later.append(lambda state: self._placed(state, vehicle, start))
            return state
        self._notices.put((vehicle, f"placed at {_written(start.position_world_m)} m"))
        self._believe(vehicle, start)
        return self._tunable.placed(state, vehicle, start)

    def _believe(self, vehicle: str, start: Start) -> None:
        """Commands of the next block depend on where a vehicle is now, not on where it was."""
        if vehicle not in self._rows:
            return
        row = self._rows[vehicle].copy()
        for column, value in _believed(start).items():
            place = self._places[vehicle].get(column)
            if place is not None:
                row[place] = value
        self._rows = {**self._rows, vehicle: row}

    def _first(self, vehicle: str) -> VehicleEstimate:
        """What it believes before the first block."""
        return estimate_of({"time_s": 0.0, **_believed(self.scenario.vehicles[vehicle].start)})

    def _refuse_when_over(self) -> None:
        if self.over:
            message = "the flight is over; begin anew"
            raise CommandError(message)

    def _ask(self, change: Callable[[Any, FleetState], FleetState]) -> None:
        """Has the state changed before the next block."""

        def request(state: FleetState) -> FleetState:
            fleet = self.program.fleet if self._tunable is None else self._tunable.fleet
            try:
                with jax.enable_x64(not fleet.single_precision):
                    return change(fleet, state)
            except KittiwakeError as error:
                self.problems.put(str(error))
                return state

        self._requests.put(request)

    def _build(self, key: str, whose: str, said: str, change: Change) -> None:
        """Has the scenario changed; of changes of the same only the newest is done."""
        self._touched = True
        self._builder.change(key, PendingChange(whose, said, change))

    def _take(self, built: Built) -> None:
        """In the workshop: what it has built is flown from the next block on."""

        def begin(state: FleetState) -> FleetState:
            if built.tune is not None:
                built.tune()
            if built.is_another:
                state = self._handed_over(state, built.program)
            for notice in built.news:
                self._notices.put(notice)
            return state

        self._requests.put(begin)
        # of the vehicles as they were
        self._abilities = {}

    def _handed_over(self, state: FleetState, program: LiveProgram) -> FleetState:
        """The state for another program, which flies from now on."""
        fleet = self.program.fleet if self._tunable is None else self._tunable.fleet
        self._tunable = program
        self._reading = RowMapping.of(self.layout, program.columns)
        return transfer_state(fleet, state, program.fleet, program.fresh)

    def _read(self, program: LiveProgram, tick: int, arrays: list[np.ndarray]) -> Block:
        reading = self._reading
        assert reading is not None
        block: Block = {}
        for group, array in zip(program.fleet.groups, arrays, strict=True):
            times = np.arange(tick, tick + len(array)) / self.rate_hz
            for lane, name in enumerate(group.names):
                rows = reading.rows(name, np.column_stack([times, array[:, lane]]))
                if FAULTS in self.layout.columns[name]:
                    begun = [times >= float(fault.at_s) for fault in self._own_faults[name]]
                    rows[:, self.layout.columns[name].index(FAULTS)] = np.sum(begun, axis=0)
                block[name] = rows
        return {name: block[name] for name in self.layout.columns}


def _believed(start: Start) -> dict[str, float]:
    motion = motion_columns(start.kinematics())
    return {f"estimate.{column}": float(value) for column, value in motion.items()}


def _written(place_m: Vec3) -> str:
    return ", ".join(f"{float(getattr(place_m, axis)):g}" for axis in "xyz")


def _waiting(queue: SimpleQueue[Any]) -> Iterable[Any]:
    """All that is in a queue now."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return
