"""Executor of a flight whose vehicles are members of a hub, which may add and remove some."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import NamedTuple

from typing_extensions import override

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.command_source import HubCommandSource, command_types
from kittiwake.adapters.hub.packets import VehicleAdded, VehicleNotice
from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.command_source import Notice, estimated_acceleration
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.flight_executor import CompiledExecutor, commanded_program
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.placement import require_room
from kittiwake.runtime.program import Program
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.described_vehicle import DescribedVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_changes import (
    with_new_vehicles_of,
    with_vehicle,
    without_vehicle,
)
from kittiwake.sim.plain_python.host_object import HostFailure
from kittiwake.sim.plain_python.hosts import with_hosts_of
from kittiwake.sim.state import FleetState

logger = logging.getLogger(__name__)

# connects a vehicle of a scenario to its port
Join = Callable[[Scenario, str, int], Member]


class _Change(NamedTuple):
    """A built change of the vehicles, and the connection of the one that is added, if any."""

    scenario: Scenario
    flown: Scenario
    program: Program
    layout: RowLayout
    fresh: FleetState
    joined: dict[str, Member]


class HubExecutor(AbstractContextManager["HubExecutor"]):
    """Executor that flies a compiled program, and another one once the vehicles are others.

    In real time a program is built beside the flight. In lockstep, where the hub waits for the
    members, it is waited for, so that a flight is the same each time.

    Attributes:
        layout: columns of each vehicle's rows.
        flown: the scenario with all vehicles that have flown.
        clock: the clock for which blocks wait.
    """

    def __init__(
        self,
        simulation: Simulation,
        source: HubCommandSource,
        clock: RealTimeClock,
        join: Join,
        *,
        lockstep: bool,
    ) -> None:
        self._compiled, self.clock = CompiledExecutor(simulation.program, source, clock), clock
        self.layout: RowLayout = self._compiled.layout
        self.flown = simulation.scenario
        # of the newest program, in the thread: its scenario, and those of all that have flown
        self._built = self._known = self.flown
        self._known_layout = self.layout
        self._source, self._join, self._lockstep = source, join, lockstep
        self._thread = ThreadPoolExecutor(1, "hub-vehicles")
        self._changes: deque[Future[_Change | None]] = deque()

    @override
    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        return self._compiled.rate_hz

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles the steps."""
        return self._compiled.engine

    def begin(self, seed: int, steps: int) -> FlightState:
        """Compile a block and return the initial state."""
        self._seed = seed
        return self._compiled.begin(seed, steps)

    def due(self, tick: int) -> bool:
        """Return True if the clock lets the block through; waits a moment for it."""
        return self._compiled.due(tick)

    def fly(self, state: FlightState, tick: int) -> tuple[FlightState, RowBlock]:
        """Make the changes that are built, then fly the next block."""
        for notice in self._source.take_changes():
            self._changes.append(self._thread.submit(self._build, notice))
        while self._changes and (self._lockstep or self._changes[0].done()):
            change = self._changes.popleft().result()
            if change is not None:
                state = self._make(change, state)
        later, block = self._compiled.fly(state, tick)
        given = self._compiled.layout
        return later, {
            name: self.layout.arranged(given, name, rows) for name, rows in block.items()
        }

    def violations(self, state: FlightState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        return self._compiled.violations(state)

    def notices(self) -> Sequence[Notice]:
        """Return those of the command source."""
        return self._compiled.notices()

    def failure(self) -> HostFailure | None:
        """Return the first failure of a controller in plain Python in this flight."""
        return self._compiled.failure()

    def end(self) -> None:
        """Wait for a block that was begun."""
        self._compiled.end()

    def _build(self, notice: VehicleNotice) -> _Change | None:
        """Build a change beside the flight; None if it is not possible."""
        joined: dict[str, Member] = {}
        try:
            scenario = self._changed(notice)
            simulation = Simulation(scenario)
            fleet = with_hosts_of(simulation.program.fleet, self._compiled.program.fleet)
            types = command_types(scenario.vehicles)
            program = commanded_program(fleet, scenario.vehicles, types)
            program.compile_block(self._source.steps, estimated_acceleration)
            fresh, flown = program.start(self._seed), with_new_vehicles_of(self._known, scenario)
            # traced here, as the flight does not wait
            layout = program.layout.joined(self._known_layout).of(scenario.vehicles)
            if isinstance(notice, VehicleAdded):
                joined[notice.name] = self._join(scenario, notice.name, notice.port)
        except KittiwakeError as error:
            logger.warning("%s: the flight does not follow the hub: %s", notice.name, error)
            return None
        self._built, self._known = scenario, flown
        self._known_layout = program.layout.joined(self._known_layout)
        return _Change(scenario, flown, program, layout, fresh, joined)

    def _changed(self, notice: VehicleNotice) -> Scenario:
        """Return the scenario with a change of the hub."""
        if not isinstance(notice, VehicleAdded):
            return without_vehicle(self._built, notice.name)
        vehicle = DescribedVehicle.parse(notice.vehicle, "vehicle")
        scenario = with_vehicle(self._built, notice.name, vehicle)
        scenario.check_flight()
        added = {notice.name: scenario.vehicles[notice.name]}
        require_room(scenario.world, added, self._source.positions())
        return scenario

    def _make(self, change: _Change, state: FlightState) -> FlightState:
        """Continue with other vehicles; those that were there keep their states."""
        self.flown, self.layout = change.flown, change.layout
        self._source.change(change.scenario, change.joined)
        return self._compiled.change_program(change.program, state, change.fresh)
