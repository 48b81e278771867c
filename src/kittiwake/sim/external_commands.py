"""Commands from outside, which replace the setpoints of guidance."""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp

from kittiwake.core.commands import Command
from kittiwake.geometry.scalar import Flag
from kittiwake.sim.group import Group


class ExternalCommand(NamedTuple):
    """A command that replaces the setpoint of guidance.

    ``addressed`` is true if the command is for this vehicle; None if it is for all vehicles of the
    group. A group's program computes every vehicle's response to a command, addressed or not.
    """

    command: Command
    addressed: Flag | None


def commands_of_group(group: Group, commands: Mapping[str, Command]) -> tuple[ExternalCommand, ...]:
    """Return commands by vehicle name as those of a group: one entry per command type."""
    given = {name: commands[name] for name in group.names if name in commands}
    stacked: list[ExternalCommand] = []
    for command_type in dict.fromkeys(type(command) for command in given.values()):
        own = {name: command for name, command in given.items() if type(command) is command_type}
        # vehicles without such a command compute with another one's and discard the result
        filler = next(iter(own.values()))
        rows = [own.get(name, filler) for name in group.names]
        command = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *rows)
        addressed = jnp.asarray([name in own for name in group.names])
        stacked.append(
            ExternalCommand(command, None if len(own) == len(group.names) else addressed)
        )
    return tuple(stacked)


def combine_commands(
    group: Group,
    lower: tuple[ExternalCommand, ...],
    higher: tuple[ExternalCommand, ...],
) -> tuple[ExternalCommand, ...]:
    """Return both tuples of commands; those of ``higher`` have priority."""
    if not higher:
        return lower
    everyone = jnp.ones(len(group.names), bool)
    with_flags = (
        one if one.addressed is not None else ExternalCommand(one.command, everyone)
        for one in lower
    )
    return (*with_flags, *higher)
