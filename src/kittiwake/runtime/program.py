"""Program of a fleet: its compiled functions, with its present numbers and vehicles.

Numbers are arguments of the functions (``FleetFunctions``), and so are external commands
(``CommandInputs``), so both can be changed in flight.
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeAlias

import jax
import numpy as np

from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_inputs import CommandInputs, FixedCommands
from kittiwake.runtime.commands import Commands
from kittiwake.runtime.engine import CompiledStep, EngineName
from kittiwake.runtime.fleet_functions import Keep, functions_of
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Structure, numbers_of
from kittiwake.tasks.task_commander import with_last_tick

NO_COMMANDS: Commands = MappingProxyType({})
# the state after a block, the rows of each group, and what is kept of the last step of each group
FlownBlock: TypeAlias = tuple[FlightState, list[np.ndarray], list[np.ndarray]]
# from a state, and optionally commands, to a block
RunBlock: TypeAlias = Callable[..., FlownBlock]


class Program:
    """Compiled functions of a fleet, with its numbers and vehicles.

    Attributes:
        fleet: the fleet, with its present parameters.
        vehicles: its vehicles in the order of the scenario.
        inputs: the external commands that its steps accept.
        indices: the number of each vehicle's group, and the index of the vehicle in it.
        functions: the functions, which fleets of one structure share.
        numbers: the numbers of the fleet.
    """

    def __init__(
        self,
        fleet: Fleet,
        vehicles: Mapping[str, AssembledVehicle],
        inputs: CommandInputs | None = None,
        engine: EngineName | None = None,
    ) -> None:
        """Prepare to compile; ``engine`` is None for the one that suits the fleet."""
        self.inputs = FixedCommands() if inputs is None else inputs
        self.functions = functions_of(fleet, self.inputs, engine)
        self.indices = fleet.indices
        self.set_parameters(fleet, vehicles)

    @cached_property
    def on_host(self) -> bool:
        """True if a controller of a vehicle runs on the host."""
        return any(group.vehicle.on_host for group in self.fleet.groups)

    def precision_context(self) -> AbstractContextManager[None]:
        """Return the context of the floating-point mode in which all functions run."""
        return self.functions.precision_context()

    @property
    def shape(self) -> FleetState:
        """Shapes and types of the state."""
        return self.functions.shape

    def start(self, seed: int) -> FleetState:
        """Return the initial state."""
        with self.precision_context():
            return self.functions.init(self.numbers, seed_key(seed))

    def begin(self, seed: int, last_tick: int) -> FlightState:
        """Return the initial state of a flight whose last step has a number."""
        if self.fleet.commander is not None:
            return FlightState.of(with_last_tick(self.start(seed), last_tick))
        with self.precision_context():
            return self.functions.start(self.numbers, seed_key(seed))

    def compile_block(self, steps: int, keep: Keep | None = None) -> RunBlock:
        """Return a compiled function of many steps under constant commands.

        ``keep`` returns values of one vehicle to be kept of the last step, besides the rows.
        """
        step = self.functions.recorded_step(keep)
        with self.precision_context():
            step.prepare(steps)
        return partial(self._fly, step, steps)

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Columns of each vehicle's rows, time first."""
        names = self.functions.columns
        return {name: ("time_s", *names[self.indices[name][0]]) for name in self.vehicles}

    @cached_property
    def layout(self) -> RowLayout:
        """Contents of each vehicle's rows."""
        limits = self.functions.limit_names
        return RowLayout(
            columns=self.columns,
            quantities={name: limits[self.indices[name][0]] for name in self.vehicles},
            faults={
                name: tuple(fault.event() for fault in vehicle.faults)
                for name, vehicle in self.vehicles.items()
                if vehicle.faults
            },
            phases={name: own.guidance.component.phases() for name, own in self.vehicles.items()},
            receivers={name: _receivers(own) for name, own in self.vehicles.items()},
        )

    def by_vehicle(self, times: np.ndarray, groups: list[np.ndarray]) -> RowBlock:
        """Return groups' rows by vehicle, with the time as first column."""
        return self.each_vehicle([_with_times(times, group) for group in groups])

    def each_vehicle(self, groups: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the parts of groups' arrays, whose first axis is that of the vehicles."""
        places = {name: self.indices[name] for name in self.vehicles}
        return {name: groups[group][index] for name, (group, index) in places.items()}

    def violations(self, state: FleetState) -> Violation:
        """Return a function from a vehicle and its status to the limit that it has left."""
        with self.precision_context():
            groups = jax.tree.map(np.asarray, self.functions.limits(self.numbers, state))

        def violation(name: str, status: int) -> str:
            group, index = self.indices[name]
            limit = jax.tree.map(lambda leaf: float(leaf[index]), groups[group][status - 1])
            return limit.violation()

        return violation

    def fits(self, fleet: Fleet) -> bool:
        """Return True if another fleet differs only in its numbers."""
        return _identity(fleet) == _identity(self.fleet)

    def set_parameters(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with the parameters of a fleet that fits."""
        self.fleet, self.vehicles = fleet, vehicles
        self.numbers = numbers_of(fleet)

    def _fly(
        self, step: CompiledStep, steps: int, state: FlightState, commands: Commands = NO_COMMANDS
    ) -> FlownBlock:
        with self.precision_context():
            values = self.inputs.values(commands, self.vehicles)
            later, outputs = step.steps(self.numbers, values, state, steps)
        recorded = [np.asarray(one) for one in outputs]
        count = len(self.fleet.groups)
        return later, recorded[:count], [each[-1].astype(np.float64) for each in recorded[count:]]


def _with_times(times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows with the time as first column, vehicle by vehicle instead of time by time."""
    steps, vehicles, columns = rows.shape
    whole = np.empty((vehicles, steps, columns + 1))
    whole[..., 0], whole[..., 1:] = times, np.moveaxis(rows, 1, 0)
    return whole


def _identity(fleet: Fleet) -> tuple[Structure, Hashable]:
    """Return the structure of a fleet, where commanders that act alike count as the same."""
    # a commander keeps the numbers of the vehicles for which it was built
    commander = None if fleet.commander is None else fleet.commander.identity
    return Structure.of(replace(fleet, commander=None)), commander


def _receivers(vehicle: AssembledVehicle) -> tuple[str, ...]:
    """Return the names of a vehicle's satellite receivers."""
    return tuple(
        name
        for name, sensor in vehicle.sensors.items()
        if sensor.component.sensor.measures is GnssMeasurement
    )
