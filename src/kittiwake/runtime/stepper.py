"""Stepper of a fleet from Python, step by step."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import LogError, OwnComponentError, ScenarioError, StateError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.commands import (
    Commands,
    CommandTypes,
    command_values,
    commands_from_values,
    require_cascade,
)
from kittiwake.runtime.flight_record import FlightRecord, Memory
from kittiwake.runtime.live_parameters import cascade_parameters, live_parameters
from kittiwake.runtime.observation import Observations, Observer
from kittiwake.runtime.placement import placed, require_place, start_at
from kittiwake.runtime.program import NO_COMMANDS, Program
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.runtime.step_record import SteppedFlight, StepRecord
from kittiwake.runtime.stepped_state import SteppedState
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.size import steps_in
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.guidance_changes import jump_to_mission_step, with_active_behaviors
from kittiwake.sim.packing import Packing
from kittiwake.sim.plain_python.hosts import first_failure, forget_failures, watched, with_hosts_of
from kittiwake.sim.record import rows
from kittiwake.sim.state import FleetState
from kittiwake.sim.vehicle_step import NON_FINITE

# floats and words of a state
PackedState: TypeAlias = tuple[Array, Array]
# those of the next state, and the rows of each group; none without a record
Stepped: TypeAlias = tuple[Array, Array, tuple[Array, ...]]


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

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        # the numbers of the cascades are compiled in, too, until a gain is changed
        self._compile(Program(fleet, vehicles))

    def reset(self, seed: int, recording: RecordSettings | None) -> None:
        """Return to the start; without ``recording`` no rows are kept."""
        self._seed = seed
        self._begin(self._program.start(seed), 0, recording)

    def _begin(self, state: FleetState, tick: int, recording: RecordSettings | None) -> None:
        """Continue from a state, with a new record."""
        program = self._program
        forget_failures(program.fleet)
        with program.precision_context():
            self._floats, self._words = self._pack(state)
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
        with self._program.precision_context():
            return self._unpack(self._floats, self._words)

    def set_state(self, state: FleetState) -> None:
        """Continue from another state of the same fleet; at another time the record begins anew.

        Raises:
            StateError: if it is that of other vehicles or components.
        """
        program = self._program
        if Packing.of(state) != self._packing:
            message = "this state is that of other vehicles or components, or of another precision"
            raise StateError(message)
        if (tick := int(state.tick)) != self._tick:
            self._begin(state, tick, self._recording)
            return
        with program.precision_context():
            self._floats, self._words = self._pack(state)

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
        # the step that completes the present rows would advance components in plain Python
        last = None if self._program.on_host else self._computed(self._last_commands)[2]
        outcome, memory = self._record.finished(last)
        flight = SteppedFlight(
            self._record.layout,
            self._seed,
            max(self.time_s, 1.0 / self._program.fleet.rate_hz),
            self.state,
            outcome,
        )
        return flight, memory

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
        if self._placing is None:
            single = program.fleet.single_precision
            fleet = scenario.fleet(None, single_precision=single, live_parameters=True)
            self._placing = Program(fleet, program.vehicles, live=live_parameters)
        state = placed(self._placing, self.state, vehicle, start, self._seed)
        with program.precision_context():
            self._floats, self._words = self._pack(state)

    def change_vehicles(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with other vehicles; those that were there keep their states."""
        before = self._program
        program = Program(with_hosts_of(fleet, before.fleet), vehicles)
        fresh = program.start(self._seed)
        with program.precision_context():
            state = transfer_state(before.fleet, self.state, program.fleet, fresh)
        if self._record is not None:
            removed = [name for name in before.vehicles if name not in vehicles]
            self._record.change_program(program, removed)
        self._compile(program)
        with program.precision_context():
            self._floats, self._words = self._pack(state)
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
        program = self._program
        # guidance alone is the most frequent case, and a step takes some microseconds
        numbers, command_types = self._no_numbers, ()
        if type(commands) is not dict or commands:
            numbers = np.asarray(command_values(commands, program.vehicles), self._floats.dtype)
            command_types = tuple((name, type(command)) for name, command in commands.items())
        if command_types not in self._accepted:
            require_cascade(command_types, program.vehicles)
            self._accepted.add(command_types)
        arguments = (program.parameters, self._floats, self._words, numbers, command_types)
        advance = self._advance if self._record is None else self._advance_recorded
        with program.precision_context():
            if program.on_host:
                return self._watched(advance, arguments)
            return advance(*arguments)

    def _watched(
        self,
        advance: Callable[..., Stepped],
        arguments: tuple[ArrayTree, Array, Array, np.ndarray, CommandTypes],
    ) -> Stepped:
        """Advance with controllers in plain Python, whose errors are those of the step.

        Raises:
            OwnComponentError: if a controller has failed.
        """
        fleet = self._program.fleet
        with watched(fleet):
            later = jax.block_until_ready(advance(*arguments))
        failure = first_failure(fleet)
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
        """Continue with a fleet that differs only in the parameters of its control cascades.

        The first call compiles again, with those parameters as arguments; later calls take no time.

        Raises:
            ScenarioError: if the state of the former fleet does not fit this one.
        """
        fleet = with_hosts_of(fleet, self._program.fleet)
        if self._program.fits(fleet):
            self._program.set_parameters(fleet, vehicles)
            return
        program = Program(fleet, vehicles, live=cascade_parameters)
        if Packing.of(program.shape) != self._packing:
            message = (
                "this changes the controller's state, as its rate and filters do, and is not "
                "possible in flight; set it before reset()"
            )
            raise ScenarioError(message)
        self._compile(program)

    def _compile(self, program: Program) -> None:
        self._program = program
        self._accepted: set[CommandTypes] = set()
        self._no_numbers = np.zeros(0, np.float32 if program.fleet.single_precision else np.float64)
        self._packing = Packing.of(program.shape)
        # a bound method, as it is passed on in every step
        self._look = Observer(program, self._packing).look
        self._placing: Program | None = None
        self._status_places = self._places_of_status()
        self._quantities = [
            program.layout.quantities[name]
            for group in program.fleet.groups
            for name in group.names
        ]
        with program.precision_context():
            self._pack: Callable[[FleetState], PackedState] = jax.jit(self._packing.pack)
            self._unpack = jax.jit(self._packing.unpack)
            self._advance = jax.jit(partial(self._advanced, recorded=False), static_argnums=4)
            self._advance_recorded = jax.jit(
                partial(self._advanced, recorded=True), static_argnums=4
            )

    def _places_of_status(self) -> np.ndarray:
        """Return the index of each vehicle's status in the packed state, group by group."""
        program = self._program
        with program.precision_context():
            counts = jax.eval_shape(self._packing.pack, program.shape)
            numbered = self._packing.unpack(
                jnp.zeros(counts[0].shape, counts[0].dtype),
                jnp.arange(counts[1].size, dtype=np.uint32),
            )
        # of a number of two words the low one comes first
        return np.concatenate(
            [np.ravel(group.status).astype(np.uint64) & 0xFFFFFFFF for group in numbered.groups]
        ).astype(int)

    def _change(self, change: Callable[[Fleet, FleetState], FleetState]) -> None:
        """Continue with a changed state."""
        with self._program.precision_context():
            state = self._unpack(self._floats, self._words)
            self._floats, self._words = self._pack(change(self._program.fleet, state))

    def _advanced(
        self,
        parameters: ArrayTree,
        floats: Array,
        words: Array,
        numbers: Array,
        command_types: CommandTypes,
        *,
        recorded: bool,
    ) -> Stepped:
        program, state = self._program, self._packing.unpack(floats, words)
        if not command_types:
            later, snapshots = program.step(parameters, program.inputs.zeros(), state)
        else:
            commands = commands_from_values(command_types, numbers, program.vehicles)
            later, snapshots = program.with_parameters(parameters).step(state, commands)
        # a group's rows are an output each: to join them takes longer than to return them
        return (*self._packing.pack(later), rows(program.fleet, snapshots) if recorded else ())
