"""Compiled functions of a fleet, reused from flight to flight.

By default the numbers of a fleet are compiled in as constants, which is fastest. The numbers of its
``live`` part are arguments instead, so that they can be changed in flight. So are external commands
(``CommandInputs``).
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeAlias

import jax
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, ArrayLike

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_inputs import CommandInputs, FixedCommands
from kittiwake.runtime.commands import Commands
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.sim.fleet import Fleet, scan_steps
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState, Snapshot

NO_COMMANDS: Commands = MappingProxyType({})
# returns a part of a fleet
Part = Callable[[Fleet], ArrayTree]
# returns values to keep, from the snapshot of one vehicle
Keep = Callable[[Snapshot], ArrayTree]
# from a state and the commands of a block, the state after it, the rows of each group, and the
# values kept of the last step of each group
RunBlock: TypeAlias = Callable[
    [FleetState, Commands], tuple[FleetState, list[np.ndarray], list[np.ndarray]]
]


class Program:
    """Compiled functions of a fleet.

    Attributes:
        fleet: the fleet, with its present parameters.
        vehicles: its vehicles in the order of the scenario.
        inputs: the external commands that its steps accept.
        indices: the number of each vehicle's group, and the index of the vehicle in it.
        parameters: the numbers of the live part; None without a live part.
        init: compiled function from parameters and a key to the initial state.
        step: compiled function from parameters, values of ``inputs`` and a state to the next state
            and the snapshots.
    """

    def __init__(
        self,
        fleet: Fleet,
        vehicles: Mapping[str, AssembledVehicle],
        inputs: CommandInputs | None = None,
        live: Part | None = None,
    ) -> None:
        """Prepare to compile; ``live`` returns the part of the fleet whose numbers are arguments.

        ``live`` is None if all numbers are constants.
        """
        self.fleet, self.vehicles, self._live = fleet, vehicles, live
        self.inputs = FixedCommands() if inputs is None else inputs
        # looked up once, since the fleet's method is slow compared with a block of few steps
        self.indices = {name: fleet.locate(name) for name in fleet.names}
        self.parameters = self._numbers(fleet)
        self.init = jax.jit(lambda parameters, key: self.with_parameters(parameters).init(key))
        # traced once, for the layout of rows and for blocks of any length
        self.step = jax.jit(lambda *arguments: self._step_once(*arguments))
        self._limits = jax.jit(
            lambda parameters, state: self.with_parameters(parameters).limits(state)
        )
        self._blocks: dict[tuple[int, Keep | None], RunBlock] = {}

    @cached_property
    def on_host(self) -> bool:
        """True if a controller of a vehicle runs on the host."""
        return any(group.vehicle.on_host for group in self.fleet.groups)

    def precision_context(self) -> AbstractContextManager[None]:
        """Return the context of the floating-point mode in which all functions run."""
        return jax.enable_x64(not self.fleet.single_precision)

    def start(self, seed: int) -> FleetState:
        """Return the initial state."""
        with self.precision_context():
            return self.init(self.parameters, seed_key(seed))

    def compile_block(self, steps: int, keep: Keep | None = None) -> RunBlock:
        """Return a compiled function of many steps under constant commands.

        ``keep`` returns values of one vehicle to be kept of the last step, besides the rows.
        """
        if (steps, keep) not in self._blocks:

            def kept(snapshots: tuple[Snapshot, ...]) -> tuple[tuple[Array, ...], list[ArrayTree]]:
                last = () if keep is None else map(jax.vmap(keep), snapshots)
                return rows(self.fleet, snapshots), [*last]

            def flown(
                parameters: ArrayTree, state: FleetState, values: ArrayTree
            ) -> tuple[FleetState, tuple[Array, ...], list[ArrayTree]]:
                step = partial(self.step, parameters, values)
                later, (recorded, last) = scan_steps(step, state, steps, kept)
                return later, recorded, [each[-1] for each in last]

            with self.precision_context():
                example = (self.parameters, self.shape, self.inputs.zeros())
                compiled = jax.jit(flown).lower(*example).compile()
            self._blocks[steps, keep] = partial(self._fly, compiled)
        return self._blocks[steps, keep]

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Columns of each vehicle's rows, time first."""
        with self.precision_context():
            arguments = (self.parameters, self.inputs.zeros(), self.shape)
            names = columns(self.fleet, jax.eval_shape(self.step, *arguments)[1])
        return {name: ("time_s", *names[self.indices[name][0]]) for name in self.vehicles}

    @cached_property
    def layout(self) -> RowLayout:
        """Contents of each vehicle's rows."""
        with self.precision_context():
            limits = jax.eval_shape(self._limits, self.parameters, self.shape)
        return RowLayout(
            columns=self.columns,
            quantities={
                name: tuple(limit.name for limit in limits[self.indices[name][0]])
                for name in self.vehicles
            },
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
        rows = self.each_vehicle([np.moveaxis(group, 1, 0) for group in groups])
        return {name: np.column_stack([times, own]) for name, own in rows.items()}

    def each_vehicle(self, groups: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the parts of groups' arrays, whose first axis is that of the vehicles."""
        places = {name: self.indices[name] for name in self.vehicles}
        return {name: groups[group][index] for name, (group, index) in places.items()}

    def violations(self, state: FleetState) -> Violation:
        """Return a function from a vehicle and its status to the limit that it has left."""
        with self.precision_context():
            groups = jax.tree.map(np.asarray, self._limits(self.parameters, state))

        def violation(name: str, status: int) -> str:
            group, index = self.indices[name]
            limit = jax.tree.map(lambda leaf: float(leaf[index]), groups[group][status - 1])
            return limit.violation()

        return violation

    def fits(self, fleet: Fleet) -> bool:
        """Return True if another fleet differs only in its live part."""
        with self.precision_context():
            return self._structure(fleet) == self._structure(self.fleet) and all(
                np.array_equal(one, other)
                for one, other in zip(
                    self._constants(fleet), self._constants(self.fleet), strict=True
                )
            )

    def set_parameters(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with the parameters of a fleet that fits."""
        self.fleet, self.vehicles = fleet, vehicles
        self.parameters = self._numbers(fleet)

    def _numbers(self, fleet: Fleet) -> ArrayTree:
        """Return the numbers of the live part as arrays; None without a live part."""
        if self._live is None:
            return None
        with self.precision_context():
            return as_arrays(self._live(fleet))

    def with_parameters(self, parameters: ArrayTree) -> Fleet:
        """Return the fleet with other numbers in its live part."""
        return self._replaced(self.fleet, parameters)

    def _step_once(
        self, parameters: ArrayTree, values: ArrayTree, state: FleetState
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        fleet = self.with_parameters(parameters)
        return fleet.step_with_commands(state, self.inputs.arranged(fleet, values))

    @cached_property
    def shape(self) -> FleetState:
        """Shapes and types of the state."""
        with self.precision_context():
            return jax.eval_shape(self.init, self.parameters, seed_key(0))

    def _fly(
        self, compiled: Compiled, state: FleetState, commands: Commands = NO_COMMANDS
    ) -> tuple[FleetState, list[np.ndarray], list[np.ndarray]]:
        with self.precision_context():
            later, *both = compiled(
                self.parameters, state, self.inputs.values(commands, self.vehicles)
            )
            recorded, kept = ([np.asarray(one, np.float64) for one in each] for each in both)
            return later, recorded, kept

    def _structure(
        self, fleet: Fleet
    ) -> tuple[Hashable, Hashable, list[tuple[tuple[int, ...], np.dtype]]]:
        """Return the tree structure, shapes and types of the arrays that are compiled for."""
        live = jax.tree.leaves(self._numbers(fleet))
        # a commander keeps the numbers of the vehicles for which it was built
        commander = None if fleet.commander is None else fleet.commander.identity
        return (
            jax.tree.structure(replace(fleet, commander=None)),
            commander,
            [(leaf.shape, leaf.dtype) for leaf in live],
        )

    def _constants(self, fleet: Fleet) -> list[ArrayLike]:
        blank = jax.tree.map(lambda _: 0.0, self._numbers(fleet))
        return jax.tree.leaves(self._replaced(fleet, blank))

    def _replaced(self, fleet: Fleet, parameters: ArrayTree) -> Fleet:
        """Return a fleet with other numbers in its live part."""
        if self._live is None:
            return fleet
        leaves, treedef = jax.tree.flatten(fleet)
        # by leaves, since ``tree_at`` refuses parts without any, such as a calm wind
        live = self._live(jax.tree.unflatten(treedef, range(len(leaves))))
        numbers = jax.tree.leaves(parameters)
        for index, number in zip(jax.tree.leaves(live), numbers, strict=True):
            leaves[index] = number
        return jax.tree.unflatten(treedef, leaves)


def _receivers(vehicle: AssembledVehicle) -> tuple[str, ...]:
    """Return the names of a vehicle's satellite receivers."""
    return tuple(
        name
        for name, sensor in vehicle.sensors.items()
        if sensor.component.sensor.measures is GnssMeasurement
    )
