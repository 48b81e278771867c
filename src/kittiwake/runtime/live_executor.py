"""Interactive flight: pause, command, change parameters and inject faults at run time.

It flies a program whose parameters and commands are arguments (``Program``), so most requests
take effect with the next block. Other changes need another program, which ``ProgramBuilder`` builds
in a thread of its own, so the flight never waits: they take effect with the first block after that
program is ready.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from kittiwake.core.errors import CommandError, KittiwakeError, did_you_mean
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.active_maneuvers import ActiveManeuvers
from kittiwake.runtime.change_description import describe_change
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.command_inputs import CommandSlots
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.commands import accepted_commands, command_values, require_cascade
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.impulse import with_impulse
from kittiwake.runtime.live_rows import LiveRows
from kittiwake.runtime.maneuvers import Capabilities, Maneuver, capabilities_of
from kittiwake.runtime.placement import placed, require_place, require_room
from kittiwake.runtime.program import Program
from kittiwake.runtime.program_builder import (
    BuildRequest,
    Built,
    Change,
    PendingChange,
    ProgramBuilder,
)
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.described_vehicle import DescribedVehicle
from kittiwake.scenario.document import Override
from kittiwake.scenario.dormant_faults import fallible_parts
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.tuning import with_gains
from kittiwake.scenario.vehicle_changes import (
    NewVehicle,
    require_few,
    require_new_name,
    with_new_vehicles_of,
    with_vehicle,
    without_vehicle,
)
from kittiwake.sim.guidance_changes import jump_to_mission_step, with_active_behaviors
from kittiwake.sim.plain_python.host_object import HostFailure
from kittiwake.sim.plain_python.hosts import first_failure, forget_failures, watched
from kittiwake.sim.state import FleetState

BLOCKS_HZ = 50.0

Request = Callable[[FleetState], FleetState]


class LiveExecutor(AbstractContextManager["LiveExecutor"]):
    """Executor of a live flight; requests may come from any thread.

    Attributes:
        flown: the scenario of the start, with all vehicles that have been added.
        upcoming: names of the vehicles that fly from the next block on.
        clock: decides when the next block is flown.
        on_block: called with each block.
        problems: messages about requests that failed, to be shown to the user.
        blocks_hz: rate of the blocks, and so of the times at which requests take effect; limited by
            the physics rate.
    """

    def __init__(
        self,
        scenario: Scenario,
        layout: RowLayout,
        clock: RealTimeClock,
        on_block: Callable[[RowBlock], None] = lambda _: None,
        problems: SimpleQueue[str] | None = None,
        blocks_hz: float = BLOCKS_HZ,
        former: Program | None = None,
    ) -> None:
        """Prepare a flight.

        Args:
            scenario: the scenario.
            layout: columns of each vehicle's rows.
            clock: decides when the next block is flown.
            on_block: called with each block.
            problems: receives messages about requests that failed.
            blocks_hz: rate of the blocks.
            former: live program of an earlier flight, for reuse.
        """
        self.clock, self.on_block = clock, on_block
        self.problems = SimpleQueue() if problems is None else problems
        self.blocks_hz, self._former = blocks_hz, former
        self.time_s = 0.0
        self._builder = ProgramBuilder(scenario, self.problems, self._apply_build)
        self._active = ActiveManeuvers()
        self._capabilities: dict[str, Capabilities] = {}
        self._rows = LiveRows(layout, scenario.vehicles)
        self.flown = scenario
        self.upcoming = scenario.vehicles.keys()
        self._program: Program | None = None
        self._requests: SimpleQueue[Request] = SimpleQueue()
        self._notices: SimpleQueue[Notice] = SimpleQueue()

    @override
    def __exit__(self, *_: object) -> None:
        self._builder.close()

    def abandon(self) -> None:
        """Stop building programs, in a process that is about to end."""
        self._builder.abandon()

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows; only adding and removing vehicles changes them."""
        return self._rows.layout

    @property
    def scenario(self) -> Scenario:
        """The scenario with all changes that are flown now or from the next block on."""
        return self._builder.scenario

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        return self.scenario.rate_hz

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles the steps."""
        return self._flown_program.functions.chosen_engine

    @property
    def ready(self) -> bool:
        """True if requests take effect with the next block."""
        return self._builder.latest is not None

    @property
    def ended(self) -> bool:
        """True once the flight has ended; all requests but changes are refused."""
        return self._builder.closed

    @property
    def latest(self) -> Program | None:
        """The newest program; None before the first one is built."""
        return self._builder.latest

    @property
    def maneuvers(self) -> Mapping[str, Maneuver]:
        """The active maneuvers, by vehicle."""
        return self._active.maneuvers

    @property
    def failing(self) -> Mapping[str, Mapping[str, float]]:
        """The failed parts of each vehicle, with the times of their failures in seconds."""
        return self._builder.failing

    @property
    def requested_scenario(self) -> Scenario:
        """The scenario with all requested changes, whether flown already or not."""
        return self._builder.requested_scenario

    def begin(self, seed: int, steps: int) -> FlightState:
        """Build the program, unless the former one fits, and return the initial state."""
        self._steps = max(1, round(self.rate_hz / self.blocks_hz))
        self._seed = seed
        program = self._builder.open(BuildRequest(self._steps, seed, self._former))
        self._use(program)
        forget_failures(program.fleet)
        return program.begin(seed, steps - 1)

    def due(self, tick: int) -> bool:
        """Return True if the clock lets the next block through; waits a moment for it."""
        return self.clock.wait(tick / self.rate_hz)

    def fly(self, state: FlightState, tick: int) -> tuple[FlightState, RowBlock]:
        """Apply all pending requests, then fly the next block."""
        self.time_s = tick / self.rate_hz
        for request in _drain(self._requests):
            state = FlightState.of(request(state.fleet))
        with watched(self._flown_program.fleet):
            state, arrays, _ = self._block(state, self._commands())
        times = np.arange(tick, tick + len(arrays[0])) / self.rate_hz
        block = self._rows.add(self._flown_program.by_vehicle(times, arrays))
        self.on_block(block)
        return state, block

    def violations(self, state: FlightState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        return self._flown_program.violations(state.fleet)

    def notices(self) -> Sequence[Notice]:
        """Return what was done to vehicles since the last call."""
        return [*_drain(self._notices)]

    def failure(self) -> HostFailure | None:
        """Return the first failure of a controller in plain Python in this flight."""
        return first_failure(self._flown_program.fleet)

    def end(self) -> None:
        """Do nothing, since blocks are flown when they are due."""

    def capabilities(self, vehicle: str) -> Capabilities:
        """Return the command types and limits of a vehicle.

        Raises:
            CommandError: if there is no such vehicle.
        """
        known = self._capabilities
        if vehicle not in known:
            self._require_vehicle(vehicle)
            record = self.scenario.vehicles[vehicle]
            known[vehicle] = capabilities_of(record, accepted_commands(record), self.scenario.world)
        return known[vehicle]

    def estimate(self, vehicle: str) -> VehicleEstimate | None:
        """Return a vehicle's state estimate; None before the first block."""
        return self._rows.estimate(vehicle)

    def command(self, vehicle: str, maneuver: Maneuver | None) -> None:
        """Start a maneuver, which lasts until the next one; None resumes the vehicle's guidance.

        Raises:
            CommandError: for an unknown vehicle, or a command that it does not accept.
            CascadeError: for a command type from which no controller of the vehicle leads to its
                actuator command.
        """
        if maneuver is None:
            self._require_flight()
            self._require_vehicle(vehicle)
            if self._active.stop(vehicle):
                self._notices.put((vehicle, "resumes guidance"))
            return
        self.check(vehicle, maneuver)
        self._active.start(vehicle, maneuver)

    def check(self, vehicle: str, maneuver: Maneuver) -> None:
        """Raise the errors of ``command`` without starting the maneuver."""
        self._require_flight()
        capabilities = self.capabilities(vehicle)
        now = self.estimate(vehicle) or self._initial_estimate(vehicle)
        command = self._active.first_command(vehicle, maneuver, now, capabilities)
        command_values({vehicle: command}, self.scenario.vehicles)
        require_cascade(((vehicle, type(command)),), self.scenario.vehicles)

    def jump_to_mission_step(self, vehicle: str, step: str) -> None:
        """Make a vehicle begin a step of its mission.

        Raises:
            CommandError: if there is no such vehicle.
        """
        self._require_flight()
        self._require_vehicle(vehicle)
        self._request_change(lambda fleet, state: jump_to_mission_step(fleet, state, vehicle, step))

    def place(self, vehicle: str, start: Start) -> None:
        """Move a vehicle to another start, where all but its guidance is reset.

        Raises:
            CommandError: if there is no such vehicle, or if it would be lost there.
        """
        self._require_flight()
        self._require_vehicle(vehicle)
        require_place(self.scenario, vehicle, start)
        self._requests.put(lambda state: self._place(state, vehicle, start))

    def push(self, vehicle: str, impulse_world_ns: Vec3) -> None:
        """Change a vehicle's velocity by an impulse at its center of mass, before the next block.

        Raises:
            CommandError: if there is no such vehicle, or a number is not finite.
            ScenarioError: if the vehicle's model does not support contact.
        """
        self._require_flight()
        self._require_vehicle(vehicle)
        self.scenario.vehicles[vehicle].dynamics.collider()
        if not np.isfinite(impulse_world_ns.array).all():
            message = f"'{vehicle}' cannot be pushed: the impulse has numbers that are not finite"
            raise CommandError(message)
        self._requests.put(lambda state: self._push(state, vehicle, impulse_world_ns))

    def set_active_behaviors(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Activate only these of a vehicle's behaviors.

        Raises:
            CommandError: if there is no such vehicle.
        """
        self._require_flight()
        self._require_vehicle(vehicle)
        self._request_change(
            lambda fleet, state: with_active_behaviors(fleet, state, vehicle, behaviors)
        )

    def change(self, path: str, value: str) -> None:
        """Replace a value of the scenario, written as in its file; the newest request counts.

        After the end of a flight it counts for the next one.
        """
        subject = path.split(".")[1] if path.startswith("vehicles.") else "world"
        item = f"{path}={value}"
        given = Override(item, item)
        description = describe_change(path, value)
        self._request_build(
            path, subject, description, lambda scenario: with_changes(scenario, [given])
        )

    def set_gains(self, entry: str, controller: str, **gains: Any) -> None:
        """Change gains of a controller, for all vehicles of an entry of the scenario.

        After the end of a flight they count for the next one.
        """
        key = f"{entry} {controller} {' '.join(gains)}"
        description = ", ".join(f"{controller}.{gain}={value}" for gain, value in gains.items())
        self._request_build(
            key, entry, description, lambda scenario: with_gains(scenario, entry, controller, gains)
        )

    def add_vehicle(self, name: str, entry: NewVehicle) -> None:
        """Add a vehicle, which begins at its start as soon as its program is built.

        Args:
            name: its name, or that of an entry with a ``count``.
            entry: its entry, as in a scenario file, or as another program describes it.

        Raises:
            ScenarioError: if the name was used before in this flight, the vehicle is not allowed or
                would be lost at its start, or the scenario has a task.
            CommandError: if another vehicle is too close to its start.
        """
        self._require_flight()
        requested = self.requested_scenario
        require_new_name(self.flown, name)
        later = with_vehicle(requested, name, entry)
        if isinstance(entry, DescribedVehicle):
            require_few({*self.flown.vehicles, *requested.vehicles})
            later.check_flight()
        with_new_vehicles_of(self.flown, later)
        added = {key: own for key, own in later.vehicles.items() if key not in requested.vehicles}
        present = {
            key: now.motion.position_world_m
            for key in requested.vehicles
            if (now := self.estimate(key)) is not None
        }
        require_room(later.world, added, present)
        self._request_build(f"add {name}", name, "", lambda known: with_vehicle(known, name, entry))

    def remove_vehicle(self, name: str) -> None:
        """Remove a vehicle, or all vehicles of an entry with a ``count``.

        Raises:
            ScenarioError: if there is no such vehicle or no other one, if another vehicle depends
                on it, or if the scenario has a task.
        """
        self._require_flight()
        without_vehicle(self.requested_scenario, name)
        self._request_build(f"remove {name}", name, "", lambda known: without_vehicle(known, name))

    def fail(self, vehicle: str, part: str, *, failed: bool) -> None:
        """Make a part of a vehicle fail, or work again.

        Raises:
            CommandError: if there is no such vehicle, or no such part of it.
        """
        self._require_flight()
        self._require_vehicle(vehicle)
        known = fallible_parts(self.scenario.vehicles[vehicle])
        if part not in known:
            message = f"'{vehicle}' has no part '{part}' to fail. {did_you_mean(part, [*known])}"
            raise CommandError(message)
        self._builder.fail(vehicle, part, self.time_s, failed=failed)

    def take_problems(self) -> list[str]:
        """Return and clear the messages about requests that failed."""
        return [*_drain(self.problems)]

    def start_rows(self) -> RowBlock:
        """Return a row of each vehicle at its start, with NaN for all but its pose and velocity."""
        return self._rows.at_start(self.scenario.vehicles)

    def _commands(self) -> dict[str, Any]:
        """Return the commands of all active maneuvers for the next block."""
        inputs, commands = self._flown_program.inputs, {}
        assert isinstance(inputs, CommandSlots)
        for name, maneuver in self.maneuvers.items():
            now = self.estimate(name)
            if now is None:
                continue  # maneuvers start after the first block
            command = self._active.command(name, maneuver, now, self.capabilities(name))
            try:
                inputs.check(name, command, self._flown_program.vehicles)
            except KittiwakeError as error:
                self.problems.put(str(error))
                self._active.refuse(name, maneuver)
                continue
            commands[name] = command
            if self._active.begins(name, maneuver):
                self._notices.put((name, f"commanded: {maneuver.description}"))
        return commands

    def _place(self, state: FleetState, vehicle: str, start: Start) -> FleetState:
        if vehicle not in self._flown_program.vehicles:
            self.problems.put(f"'{vehicle}' has been removed")
            return state
        self._notices.put((vehicle, f"placed at {_format_vector(start.position_world_m)} m"))
        # the commands of the next block begin at the new pose
        self._rows.place(vehicle, start)
        return placed(self._flown_program, state, vehicle, start, self._seed)

    def _push(self, state: FleetState, vehicle: str, impulse_world_ns: Vec3) -> FleetState:
        if vehicle not in self._flown_program.vehicles:
            self.problems.put(f"'{vehicle}' has been removed")
            return state
        self._notices.put((vehicle, f"pushed by ({_format_vector(impulse_world_ns)}) N s"))
        return with_impulse(self._flown_program, state, vehicle, impulse_world_ns)

    def _initial_estimate(self, vehicle: str) -> VehicleEstimate:
        """Return a vehicle's estimate before the first block."""
        return VehicleEstimate(0.0, self.scenario.vehicles[vehicle].start.kinematics())

    @property
    def _flown_program(self) -> Program:
        assert self._program is not None, "the flight has begun"
        return self._program

    def _require_vehicle(self, vehicle: str) -> None:
        names = [*self.layout.columns]
        if vehicle not in names:
            message = f"there is no vehicle '{vehicle}'. {did_you_mean(vehicle, names)}"
            raise CommandError(message)

    def _require_flight(self) -> None:
        if self.ended:
            message = "the flight has ended; restart it"
            raise CommandError(message)

    def _request_change(self, change: Callable[[Any, FleetState], FleetState]) -> None:
        """Queue a change of the state, to be made before the next block."""

        def request(state: FleetState) -> FleetState:
            fleet = self._flown_program.fleet
            try:
                with jax.enable_x64(not fleet.single_precision):
                    return change(fleet, state)
            except KittiwakeError as error:
                self.problems.put(str(error))
                return state

        self._requests.put(request)

    def _request_build(self, key: str, subject: str, description: str, change: Change) -> None:
        """Queue a change of the scenario; of several with the same key only the newest is made."""
        self._builder.change(key, PendingChange(subject, description, change))

    def _apply_build(self, built: Built) -> None:
        """Queue a built program for the next block; runs in the builder's thread."""
        # computed here, as the flight does not wait
        scenario = self._builder.scenario
        flown, layout = with_new_vehicles_of(self.flown, scenario), None
        if scenario.vehicles.keys() != self.upcoming:
            # without the faults that a user may inject
            layout = Program(scenario.fleet(), scenario.vehicles).layout

        def begin(state: FleetState) -> FleetState:
            self.flown = flown
            if built.fresh is None:
                built.program.set_parameters(built.fleet, built.vehicles)
            else:
                before = self._flown_program.fleet
                if layout is not None:
                    self._change_vehicles(layout, scenario)
                self._use(built.program)
                state = transfer_state(before, state, built.fleet, built.fresh)
            for notice in built.notices:
                self._notices.put(notice)
            return state

        self._requests.put(begin)
        self.upcoming = scenario.vehicles.keys()
        # those of the vehicles before the change
        self._capabilities = {}

    def _change_vehicles(self, layout: RowLayout, scenario: Scenario) -> None:
        """Log the vehicles of a layout from now on; columns of those that were there stay."""
        for removed in self.layout.columns.keys() - layout.columns.keys():
            self._active.forget(removed)
        self._rows.change_vehicles(layout, scenario.vehicles)

    def _use(self, program: Program) -> None:
        """Fly another program from now on."""
        self._program, self._block = program, program.compile_block(self._steps)
        self._rows.follow(program)


def _format_vector(vector: Vec3) -> str:
    return ", ".join(f"{float(getattr(vector, axis)):.6g}" for axis in "xyz")


def _drain(queue: SimpleQueue[Any]) -> Iterable[Any]:
    """Yield everything that is in a queue now."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return
