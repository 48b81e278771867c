"""Compiled program whose parameters can be changed in flight.

``Program`` compiles a scenario's parameters in as constants, which is fastest. Here the parameters
of vehicles, wind and current are arguments. So are external commands: one slot for each vehicle and
each command type that the vehicle accepts, with a flag for the slots in use.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import zero_command
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.commands import (
    COMMAND_TYPES,
    accepts_command,
    command_values,
    require_cascade,
)
from kittiwake.runtime.program import violation_among
from kittiwake.runtime.state_transfer import with_index_replaced
from kittiwake.runtime.watch import Violation
from kittiwake.sim.fleet import Fleet, scan_steps
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState
from kittiwake.sim.vehicle_step import ExternalCommand


class CommandRows(NamedTuple):
    """Commands of one type for a group: a row of numbers and a flag for each vehicle."""

    numbers: np.ndarray
    addressed: np.ndarray


class LiveProgram:
    """Compiled blocks of ``steps`` steps with the parameters as arguments.

    Attributes:
        fleet: the fleet with the present parameters.
        fresh: an initial state, for what a former fleet's state does not hold.
        columns: columns of each vehicle's rows, time first.
    """

    def __init__(
        self, fleet: Fleet, vehicles: Mapping[str, Vehicle], steps: int, seed: int
    ) -> None:
        self.fleet = fleet
        # looked up once, since the fleet's method is slow compared with a block of few steps
        self._indices = {name: fleet.locate(name) for name in fleet.names}
        self._kinds = [accepted_commands(vehicles[group.names[0]]) for group in fleet.groups]
        self._vehicles = vehicles
        self._limits = jax.jit(lambda state: fleet.limits(state))
        with self._mode():
            self._numbers = _numbers(fleet)
            self._init = jax.jit(partial(_initial_state, fleet))
            self._key = seed_key(seed)
            self.fresh = self._initial_state(_starts(fleet))
            step = jax.jit(self._step)
            commands = self._command_rows({})
            self._last_commands: tuple[Mapping[str, Any], Any] = ({}, commands)
            snapshots = jax.eval_shape(step, self._numbers, self.fresh, commands)[1]
            names = columns(fleet, snapshots)
            self.columns = {
                name: ("time_s", *group_names)
                for group, group_names in zip(fleet.groups, names, strict=True)
                for name in group.names
            }
            select = partial(rows, fleet)

            def flown(numbers: Any, state: FleetState, commands: Any) -> tuple[FleetState, Any]:
                return scan_steps(lambda now: step(numbers, now, commands), state, steps, select)

            self._block = jax.jit(flown).lower(self._numbers, self.fresh, commands).compile()

    def fits(self, fleet: Fleet) -> bool:
        """Return True if another fleet differs only in the parameters that ``tune`` can set."""
        with self._mode():
            same_structure = _structure_of(fleet) == _structure_of(self.fleet)
            return same_structure and _equal_constants(fleet, self.fleet)

    def restart(self, fleet: Fleet, vehicles: Mapping[str, Vehicle], seed: int) -> None:
        """Prepare for another flight, with another seed, of a fleet that fits."""
        self.tune(fleet, vehicles)
        with self._mode():
            self._key = seed_key(seed)
            self.fresh = self._initial_state(_starts(fleet))

    def tune(self, fleet: Fleet, vehicles: Mapping[str, Vehicle]) -> None:
        """Continue with the parameters of a fleet that fits."""
        with self._mode():
            self._numbers = _numbers(fleet)
        self.fleet, self._vehicles = fleet, vehicles

    def placed(self, state: FleetState, vehicle: str, start: Start) -> FleetState:
        """Return the state with a vehicle reset at another start; only its guidance continues."""
        number, index = self._indices[vehicle]
        with self._mode():
            starts = _starts(self.fleet)
            new = jax.tree.map(lambda leaf, one: np.full_like(leaf, one), starts[number], start)
            starts[number] = with_index_replaced(starts[number], new, index)
            initial, before = self._initial_state(starts).groups[number], state.groups[number]
            kept = before.guidance, before.streams
            fresh = eqx.tree_at(lambda own: (own.guidance, own.streams), initial, kept)
            group = with_index_replaced(before, fresh, index)
            return eqx.tree_at(lambda whole: whole.groups[number], state, group)

    def check(self, vehicle: str, command: Any) -> None:
        """Raise an error for a command that a vehicle does not accept.

        Raises:
            CommandError: for a command with numbers that are not allowed.
            CascadeError: for a command type that it does not accept.
        """
        command_values({vehicle: command}, self._vehicles)
        if type(command) not in self._kinds[self._indices[vehicle][0]]:
            require_cascade(((vehicle, type(command)),), self._vehicles)

    def fly(
        self, state: FleetState, commands: Mapping[str, Any]
    ) -> tuple[FleetState, list[np.ndarray]]:
        """Fly a block under constant commands, by vehicle; return the state and each group's rows.

        Raises:
            CommandError: for a command that is not allowed.
        """
        if commands != self._last_commands[0]:
            self._last_commands = dict(commands), self._command_rows(commands)
        with self._mode():
            later, recorded = self._block(self._numbers, state, self._last_commands[1])
            return later, [np.asarray(group, np.float64) for group in recorded]

    def violations(self, state: FleetState) -> Violation:
        """Return a function from a vehicle and its status to the limit that it has left."""
        with self._mode():
            return violation_among(self.fleet, self._limits(state))

    def _step(self, numbers: Any, state: FleetState, commands: Any) -> Any:
        fleet = _with(self.fleet, numbers)
        given = [
            tuple(
                ExternalCommand(jax.vmap(partial(_command_of, kind))(own.numbers), own.addressed)
                for kind, own in zip(kinds, of_group, strict=True)
            )
            for kinds, of_group in zip(self._kinds, commands, strict=True)
        ]
        return fleet.step_with_commands(state, given)

    def _command_rows(self, commands: Mapping[str, Any]) -> list[list[CommandRows]]:
        """Return commands as arrays, with zeros for vehicles without a command."""
        dtype = np.float32 if self.fleet.single_precision else np.float64
        command_rows = [
            [
                CommandRows(
                    np.tile(np.asarray(_zero_values(kind), dtype), (len(group.names), 1)),
                    np.zeros(len(group.names), bool),
                )
                for kind in kinds
            ]
            for group, kinds in zip(self.fleet.groups, self._kinds, strict=True)
        ]
        for name, command in commands.items():
            number, index = self._indices[name]
            own = command_rows[number][self._kinds[number].index(type(command))]
            own.numbers[index] = command_values({name: command}, self._vehicles)
            own.addressed[index] = True
        return command_rows

    def _initial_state(self, starts: list[Start]) -> FleetState:
        return self._init(self._numbers, starts, self._key)

    def _mode(self) -> Any:
        return jax.enable_x64(not self.fleet.single_precision)


def accepted_commands(vehicle: Vehicle) -> tuple[type, ...]:
    """Return the command types that a vehicle accepts, from high to low."""
    return tuple(kind for kind in COMMAND_TYPES if accepts_command(kind, vehicle))


def _command_of(kind: type, numbers: jax.Array) -> Any:
    """Return a command from its numbers."""
    return from_columns(kind, dict(zip(column_names(kind), numbers, strict=True)))


def _zero_values(kind: type) -> list[float]:
    """Return the numbers of a zero command."""
    columns = to_columns(zero_command(kind))
    return [float(columns[name]) for name in column_names(kind)]


def _tunable_parts(fleet: Fleet) -> Any:
    return [group.vehicle for group in fleet.groups], fleet.world.wind, fleet.world.current


def _numbers(fleet: Fleet) -> Any:
    return as_arrays(_tunable_parts(fleet))


def _with(fleet: Fleet, parts: Any) -> Fleet:
    vehicles, wind, current = parts
    groups = [
        replace(group, vehicle=own) for group, own in zip(fleet.groups, vehicles, strict=True)
    ]
    world = replace(fleet.world, wind=wind, current=current)
    return replace(fleet, groups=tuple(groups), world=world)


def _starts(fleet: Fleet) -> list[Start]:
    """Return the starts of each group's vehicles, stacked along an axis."""
    dtype = np.float32 if fleet.single_precision else np.float64
    return [
        jax.tree.map(
            lambda *own: np.stack(own).astype(dtype),
            *(group.member(index).start for index in range(len(group.names))),
        )
        for group in fleet.groups
    ]


def _initial_state(
    fleet: Fleet, numbers: Any, starts: list[Start], key: PRNGKeyArray
) -> FleetState:
    """Return the initial state with these parameters and starts."""
    tuned = _with(fleet, numbers)
    groups = [group.with_starts(own) for group, own in zip(tuned.groups, starts, strict=True)]
    return replace(tuned, groups=tuple(groups)).init(key)


def _structure_of(fleet: Fleet) -> Any:
    """Return the tree structure, shapes and types of the arrays that a program is compiled for."""
    shapes = [(np.shape(leaf), jnp.result_type(leaf)) for leaf in jax.tree.leaves(_numbers(fleet))]
    # a commander keeps the numbers of the vehicles for which it was built
    commander = None if fleet.commander is None else fleet.commander.identity
    return jax.tree.structure(replace(fleet, commander=None)), commander, shapes


def _equal_constants(one: Fleet, other: Fleet) -> bool:
    """Return True if the constants that are compiled in are the same."""
    rests = (
        jax.tree.leaves(_with(fleet, jax.tree.map(lambda _: 0.0, _tunable_parts(fleet))))
        for fleet in (one, other)
    )
    return all(np.array_equal(a, b) for a, b in zip(*rests, strict=True))
