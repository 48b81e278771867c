"""Computation delay: actuator commands take effect some physics steps after they are computed.

The commands in between are kept in the order of their age, so that a linear model of the step has
the delay as poles at zero.
"""

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import Command
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.vehicle import AssembledVehicle


def initial_commands(vehicle: AssembledVehicle, gravity_mps2: Real) -> Command | None:
    """Return the commands under way at the start, which keep the actuators; None without delay."""
    if vehicle.delay_steps == 0:
        return None
    command = vehicle.dynamics.initial_command(vehicle.start.kinematics(), gravity_mps2)
    return jax.tree.map(
        lambda number: jnp.broadcast_to(number, (vehicle.delay_steps, *jnp.shape(number))),
        as_arrays(command),
    )


def delayed(under_way: Command | None, computed: Command) -> tuple[Command | None, Command]:
    """Return the commands that are under way after this step, and the one that takes effect.

    Args:
        under_way: the commands computed before, along a leading axis and oldest first; None
            without a delay.
        computed: the command computed at this step.
    """
    if under_way is None:
        return None, computed
    later = jax.tree.map(
        lambda earlier, now: jnp.concatenate([earlier[1:], now[None]]),
        under_way,
        match_dtypes(computed, jax.tree.map(lambda numbers: numbers[0], under_way)),
    )
    return later, jax.tree.map(lambda numbers: numbers[0], under_way)
