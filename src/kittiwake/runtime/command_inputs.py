"""External commands as arguments of compiled functions."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import Command, zero_command
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.commands import (
    Commands,
    CommandTypes,
    accepted_commands,
    command_columns,
    command_values,
    commands_from_values,
    require_cascade,
)
from kittiwake.sim.external_commands import ExternalCommand
from kittiwake.sim.fleet import Fleet


@runtime_checkable
class CommandInputs(Protocol):
    """External commands that a program is compiled for."""

    @property
    def identity(self) -> Hashable:
        """Value that is the same for inputs that arrange commands alike."""
        ...

    def zeros(self) -> ArrayTree:
        """Return an example of ``values``."""
        ...

    def values(self, commands: Commands, vehicles: Mapping[str, AssembledVehicle]) -> ArrayTree:
        """Return the argument that holds commands, by vehicle.

        Raises:
            CommandError: for a command that is not allowed.
        """
        ...

    def arranged(self, fleet: Fleet, values: ArrayTree) -> Sequence[tuple[ExternalCommand, ...]]:
        """Return the commands of each group, inside a compiled function."""
        ...


@dataclass(frozen=True)
class FixedCommands:
    """Commands of one type to each of some vehicles; the others follow their guidance."""

    command_types: CommandTypes = ()
    recipients: Mapping[str, AssembledVehicle] = field(default_factory=dict)

    @property
    def identity(self) -> Hashable:
        """The types of the commands, with the columns of each."""
        columns = command_columns(self.command_types, self.recipients)
        return self.command_types, tuple(map(tuple, columns))

    def zeros(self) -> np.ndarray:
        """Return zeros for all numbers."""
        count = sum(map(len, command_columns(self.command_types, self.recipients)))
        return np.zeros(count, jnp.result_type(float))

    def values(self, commands: Commands, vehicles: Mapping[str, AssembledVehicle]) -> np.ndarray:
        """Return the numbers of all commands."""
        ordered = {name: commands[name] for name, _ in self.command_types}
        with np.errstate(over="ignore"):
            return np.asarray(command_values(ordered, vehicles), jnp.result_type(float))

    def arranged(self, fleet: Fleet, values: Array) -> Sequence[tuple[ExternalCommand, ...]]:
        """Return the commands of each group."""
        commands = commands_from_values(self.command_types, values, self.recipients)
        return fleet.group_commands(commands)


class CommandRows(NamedTuple):
    """Commands of one type for a group: a row of numbers and a flag for each vehicle."""

    numbers: np.ndarray
    addressed: np.ndarray


class CommandSlots:
    """Slots for commands of every type that a vehicle accepts, with a flag for those in use."""

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        self._names = [group.names for group in fleet.groups]
        self._indices = fleet.indices
        self._command_types = [accepted_commands(vehicles[names[0]]) for names in self._names]
        self._counts = [vehicles[names[0]].dynamics.actuator_count for names in self._names]
        self._dtype = np.float32 if fleet.single_precision else np.float64
        self._last: tuple[Commands, list[list[CommandRows]]] = ({}, self.zeros())

    @property
    def identity(self) -> Hashable:
        """The types of the commands that each vehicle accepts."""
        return (*map(tuple, (self._names, self._command_types, self._counts)), self._dtype)

    def check(self, vehicle: str, command: Any, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Raise an error for a command that a vehicle does not accept.

        Raises:
            CommandError: for a command with numbers that are not allowed.
            CascadeError: for a command type that it does not accept.
        """
        command_values({vehicle: command}, vehicles)
        if type(command) not in self._command_types[self._indices[vehicle][0]]:
            require_cascade(((vehicle, type(command)),), vehicles)

    def zeros(self) -> list[list[CommandRows]]:
        """Return slots that are not in use."""
        return [
            [
                CommandRows(
                    np.tile(
                        np.asarray(_zero_values(command_type, count), self._dtype), (len(names), 1)
                    ),
                    np.zeros(len(names), bool),
                )
                for command_type in command_types
            ]
            for names, command_types, count in zip(
                self._names, self._command_types, self._counts, strict=True
            )
        ]

    def values(
        self, commands: Commands, vehicles: Mapping[str, AssembledVehicle]
    ) -> list[list[CommandRows]]:
        """Return commands as arrays, with zeros for vehicles without a command."""
        if commands == self._last[0]:
            return self._last[1]
        command_rows = self.zeros()
        for name, command in commands.items():
            group_index, index = self._indices[name]
            own = command_rows[group_index][self._command_types[group_index].index(type(command))]
            own.numbers[index] = command_values({name: command}, vehicles)
            own.addressed[index] = True
        self._last = dict(commands), command_rows
        return command_rows

    def arranged(
        self, fleet: Fleet, values: list[list[CommandRows]]
    ) -> Sequence[tuple[ExternalCommand, ...]]:
        """Return the commands of each group."""
        del fleet
        return [
            tuple(
                ExternalCommand(
                    jax.vmap(partial(_command_of, command_type))(jnp.asarray(own.numbers)),
                    jnp.asarray(own.addressed),
                )
                for command_type, own in zip(command_types, of_group, strict=True)
            )
            for command_types, of_group in zip(self._command_types, values, strict=True)
        ]


def _command_of(command_type: type[Command], numbers: Array) -> Command:
    """Return a command from its numbers."""
    return from_columns(
        command_type, dict(zip(column_names(command_type, len(numbers)), numbers, strict=True))
    )


def _zero_values(command_type: type[Command], count: int) -> list[float]:
    """Return the numbers of a zero command to a vehicle with so many actuators."""
    return [float(number) for number in to_columns(zero_command(command_type, count)).values()]
