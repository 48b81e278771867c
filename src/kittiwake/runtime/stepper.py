"""Stepper of a fleet from Python, step by step."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import LogError, OwnComponentError, ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_inputs import FixedCommands
from kittiwake.runtime.commands import (
    Commands,
    CommandTypes,
    command_values,
    require_cascade,
)
from kittiwake.runtime.engine import AnyArray, EngineName, Outputs
from kittiwake.runtime.fleet_functions import FleetFunctions, functions_of
from kittiwake.runtime.flight_record import FlightRecord, Memory
from kittiwake.runtime.observation import Observations, Observer
from kittiwake.runtime.placement import placed, require_place, shares_start, start_at
from kittiwake.runtime.program import NO_COMMANDS, Program
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.runtime.step_record import SteppedFlight, StepRecord
from kittiwake.runtime.stepped_state import SteppedState, require_form
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.size import steps_in
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.guidance_changes import jump_to_mission_step, with_active_behaviors
from kittiwake.sim.plain_python.hosts import (
    first_failure,
    forget_failures,
    previewed,
    watched,
    with_hosts_of,
)
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers
from kittiwake.sim.vehicle_step import NON_FINITE

# floats and words of the next state, and the rows of each group; none without a record
Stepped: TypeAlias = tuple[AnyArray, AnyArray, Outputs]
# from numbers, values of commands, floats and words
PackedStep: TypeAlias = Callable[[Numbers, np.ndarray, AnyArray, AnyArray], Stepped]


class RecordSettings(NamedTuple):
    """Settings of the record of a flight.

    Attributes:
        log_every: number of steps per kept row.
        fails_when_lost: True if a vehicle that leaves its limits ends the flight.
    """

    log_every: int
    fails_when_lost: bool


class Stepper:
    """Stepper of one fleet, whose state is packed into two arrays."""

    def __init__(
        self,
        fleet: Fleet,
        vehicles: Mapping[str, AssembledVehicle],
        engine: EngineName | None = None,
    ) -> None:
        self._engine: EngineName | None = engine
        self._compile(Program(fleet, vehicles, engine=engine))

    def reset(self, seed: int, recording: RecordSettings | None) -> None:
        """Return to the start; without ``recording`` no rows are kept."""
        self._seed = seed
        self._begin(self._program.start(seed), 0, recording)

    def _begin(self, state: FleetState, tick: int, recording: RecordSettings | None) -> None:
        """Continue from a state, with a new record."""
        program = self._program
        forget_failures(program.fleet)
        self._hold(state)
        self._tick, self._last_commands = tick, NO_COMMANDS
        self._recording, self._record = recording, None
        self._began = dict.fromkeys(program.vehicles, tick)
        if recording is not None:
            record = FlightRecord(
                program.layout,
                program.fleet.rate_hz,
                recording.log_every,
                fails_when_lost=recording.fails_when_lost,
                tick=tick,
            )
            self._record = StepRecord(program, record, lambda: self._program.violations(self.state))

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self._tick / self._program.fleet.rate_hz

    @property
    def state(self) -> FleetState:
        """The present state."""
        # copies, since it may be kept
        floats, words = np.array(self._floats), np.array(self._words)
        with self._program.precision_context():
            return as_arrays(self._packing.unpack_from(floats, words))

    def set_state(self, state: FleetState) -> None:
        """Continue from another state of the same fleet; at another time the record begins anew.

        Raises:
            StateError: if it is that of other vehicles or components, or of another precision.
        """
        program = self._program
        require_form(state, program.shape)
        if (tick := int(state.tick)) != self._tick:
            self._begin(state, tick, self._recording)
            return
        self._hold(state)

    def done(self, scenario: Scenario) -> bool:
        """Return True if the flight of a scenario has ended, by its time or by a lost vehicle."""
        if self._tick >= steps_in(scenario.duration_s, scenario.rate_hz):
            return True
        status = np.asarray(self._words)[self._status_places]
        if not status.any():
            return False
        return scenario.fails_when_lost or any(
            status > 0 and quantities[status - 1].startswith(NON_FINITE)
            for status, quantities in zip(status, self._quantities, strict=True)
        )

    def flown(self) -> tuple[SteppedFlight, Memory]:
        """Return the flight up to now, and its rows; those of the last step are computed here.

        Raises:
            LogError: if nothing is recorded.
        """
        if self._record is None:
            message = "nothing was recorded; call reset() without record=False"
            raise LogError(message)
        outcome, memory = self._record.finished(self._present_rows())
        flight = SteppedFlight(
            self._record.layout,
            self._seed,
            max(self.time_s, 1.0 / self._program.fleet.rate_hz),
            self.state,
            outcome,
            self._program.functions.chosen_engine,
        )
        return flight, memory

    def _present_rows(self) -> Outputs | None:
        """Return the rows of the present state, which the next step completes.

        None if components in plain Python fail in it, or cannot be copied for it.
        """
        if not self._program.on_host:
            return self._computed(self._last_commands)[2]
        try:
            with previewed(self._program.fleet):
                return self._computed(self._last_commands)[2]
        except OwnComponentError:
            return None

    def save(self, path: Path, scenario: str) -> None:
        """Write the state into a file.

        Raises:
            LogError: if the file cannot be written.
            OwnComponentError: if a component in plain Python has no ``state()``.
        """
        SteppedState(self.state, self._seed, self._tick).write(path, self._program, scenario)

    def restore(self, path: Path, recording: RecordSettings | None) -> None:
        """Continue from a file that ``save`` has written.

        Raises:
            StateError: if the file is no such file, or holds another fleet's state.
        """
        state, self._seed, tick = SteppedState.read(path, self._program)
        self._begin(state, tick, recording)

    def positions(self) -> dict[str, Vec3]:
        """Return the present position of each vehicle, in meters in the world."""
        return {name: seen.truth.position_world_m for name, seen in self.observe().items()}

    def has_flown(self, vehicle: str) -> bool:
        """Return True if a row of the vehicle has been recorded."""
        return self._tick > self._began.get(vehicle, self._tick)

    def place(self, scenario: Scenario, vehicle: str, motion: Mapping[str, Any]) -> None:
        """Place a vehicle elsewhere; what ``motion`` does not give stays.

        Raises:
            CommandError: if there is no such vehicle, or if it would be lost there.
        """
        program = self._program
        program.fleet.locate(vehicle)
        start = start_at(self.observe()[vehicle].truth, motion)
        require_place(scenario, vehicle, start)
        placing = program
        if shares_start(program.fleet, vehicle):
            single = program.fleet.single_precision
            fleet = scenario.fleet(None, single_precision=single, live_parameters=True)
            placing = Program(fleet, program.vehicles, engine=self._engine)
        state = placed(placing, self.state, vehicle, start, self._seed)
        self._hold(state)

    def change_vehicles(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with other vehicles; those that were there keep their states."""
        before = self._program
        program = Program(with_hosts_of(fleet, before.fleet), vehicles, engine=self._engine)
        fresh = program.start(self._seed)
        with program.precision_context():
            state = transfer_state(before.fleet, self.state, program.fleet, fresh)
        if self._record is not None:
            removed = [name for name in before.vehicles if name not in vehicles]
            self._record.change_program(program, removed)
        self._compile(program)
        self._hold(state)
        self._began = dict.fromkeys(vehicles, self._tick) | self._began
        self._last_commands = {
            name: command for name, command in self._last_commands.items() if name in vehicles
        }

    def step(self, commands: Commands) -> None:
        """Advance by one physics step."""
        self._floats, self._words, rows = self._computed(commands)
        if self._record is not None:
            self._record.add(rows)
        self._last_commands = commands
        self._tick += 1

    def _computed(self, commands: Commands) -> Stepped:
        """Return the state after a step, and the rows of all vehicles."""
        program, commanded = self._program, self._alone
        numbers, command_types = self._no_numbers, ()
        # guidance alone is the most frequent case, and a step takes some microseconds
        if type(commands) is not dict or commands:
            numbers = np.asarray(command_values(commands, program.vehicles), self._dtype)
            command_types = tuple((name, type(command)) for name, command in commands.items())
            commanded = self._commanded.get(command_types) or self._accept(command_types)
        step = commanded.step if self._record is None else commanded.recorded_step
        if self._needs_context:
            with program.precision_context():
                return self._watched(step, numbers)
        return step(program.numbers, numbers, self._floats, self._words)

    def _accept(self, command_types: CommandTypes) -> "CommandedStep":
        """Return the compiled steps for commands of these types."""
        program = self._program
        require_cascade(command_types, program.vehicles)
        inputs = FixedCommands(command_types, program.vehicles)
        functions = functions_of(program.fleet, inputs, self._engine)
        self._commanded[command_types] = commanded = CommandedStep(functions)
        return commanded

    def _watched(self, step: PackedStep, values: np.ndarray) -> Stepped:
        """Advance with controllers in plain Python, whose errors are those of the step.

        Raises:
            OwnComponentError: if a controller has failed.
        """
        program = self._program
        arguments = program.numbers, values, self._floats, self._words
        if not program.on_host:
            return step(*arguments)
        with watched(program.fleet):
            later = jax.block_until_ready(step(*arguments))
        failure = first_failure(program.fleet)
        if failure is not None:
            raise OwnComponentError(failure.reason()) from failure.cause
        return later

    def jump_to_mission_step(self, vehicle: str, step: str) -> None:
        """Make a vehicle begin a step of its mission with the next physics step."""
        self._change(lambda fleet, state: jump_to_mission_step(fleet, state, vehicle, step))

    def set_active_behaviors(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Activate only these of a vehicle's behaviors, from the next physics step on."""
        self._change(lambda fleet, state: with_active_behaviors(fleet, state, vehicle, behaviors))

    def observe(self) -> Observations:
        """Return the observation of each vehicle."""
        return Observations(self._look, self._floats, self._words, self._tick)

    def set_parameters(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with a fleet that differs only in its parameters.

        Where these are numbers, nothing is compiled.

        Raises:
            ScenarioError: if the state of the former fleet does not fit this one.
        """
        fleet = with_hosts_of(fleet, self._program.fleet)
        if self._program.fits(fleet):
            self._program.set_parameters(fleet, vehicles)
            return
        program = Program(fleet, vehicles, engine=self._engine)
        if program.functions.form.packing != self._packing:
            message = (
                "this changes the controller's state, as its rate and filters do, and is not "
                "possible in flight; set it before reset()"
            )
            raise ScenarioError(message)
        self._compile(program)

    def _compile(self, program: Program) -> None:
        self._program = program
        self._packing = program.functions.form.packing
        self._dtype = np.dtype(np.float32 if program.fleet.single_precision else np.float64)
        self._no_numbers = np.zeros(0, self._dtype)
        self._alone = CommandedStep(program.functions)
        self._commanded: dict[CommandTypes, CommandedStep] = {}
        self._needs_context = program.functions.chosen_engine.engine.name == "xla"
        # a bound method, as it is passed on in every step; observations of before keep theirs
        self._look = Observer(program, self._packing).look
        self._status_places = self._places_of_status()
        self._quantities = [
            program.layout.quantities[name]
            for group in program.fleet.groups
            for name in group.names
        ]

    def _places_of_status(self) -> np.ndarray:
        """Return the index of each vehicle's status in the packed state, group by group."""
        floats, words = self._packing.buffers()
        words[:] = np.arange(words.size)
        with self._program.precision_context():
            numbered = self._packing.unpack_from(floats, words)
        # of a number of two words the low one comes first
        return np.concatenate(
            [np.ravel(group.status).astype(np.uint64) & 0xFFFFFFFF for group in numbered.groups]
        ).astype(int)

    def _hold(self, state: FleetState) -> None:
        """Continue with a state."""
        self._floats, self._words = self._packing.buffers()
        self._packing.pack_into(state, self._floats, self._words)

    def _change(self, change: Callable[[Fleet, FleetState], FleetState]) -> None:
        """Continue with a changed state."""
        with self._program.precision_context():
            self._hold(change(self._program.fleet, self.state))


class CommandedStep:
    """Compiled steps under commands of certain types, without and with rows; made when used."""

    def __init__(self, functions: FleetFunctions) -> None:
        self._functions = functions

    @cached_property
    def step(self) -> PackedStep:
        """The step without rows."""
        return self._functions.step_alone().step

    @cached_property
    def recorded_step(self) -> PackedStep:
        """The step with the rows of each group."""
        return self._functions.recorded_step().step
