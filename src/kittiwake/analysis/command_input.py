"""Command of a vehicle as the input of its linear model, of the actuators or of a higher type.

A command of a higher type passes the controllers that lead from it to the actuators. These must be
functions of the command and the motion alone: a controller with states, such as an integral or a
filter, is part of a sampled loop.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.analysis.coordinates import Coordinates
from kittiwake.analysis.newton import newton
from kittiwake.analysis.trim import SETPOINT, TOLERANCE, Trim, command_inputs
from kittiwake.core.arrays import as_arrays
from kittiwake.core.command_numbers import COMMAND_TYPES, one_of_commands
from kittiwake.core.commands import MotorsOff, zero_command
from kittiwake.core.errors import CascadeError, ScenarioError, described_value
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Kinematics
from kittiwake.interfaces.cascade import cascade_path, controller_name
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

# a vector of any length
Vector = Float[Array, " _"]


@dataclass(frozen=True, eq=False)
class CommandInput:
    """Command at a steady state, its coordinates, and the controllers below it.

    Attributes:
        command: the command of the steady state.
        coordinates: the coordinates of its deviations.
        levels: the controllers that convert it to the actuator command, from high to low.
    """

    command: Any
    coordinates: Coordinates
    levels: tuple[AbstractController, ...] = ()

    @classmethod
    def of(cls, trim: Trim, command_type: type | None) -> "CommandInput":
        """Return the command of a type that holds a steady state.

        Raises:
            ScenarioError: if no controllers without states lead from the type to the actuator
                command, or if none of its commands holds the steady state.
        """
        if command_type is None or command_type is trim.dynamics.command_type:
            return cls(trim.command, command_inputs(trim.command))
        levels = _levels(trim, command_type)
        begin = as_arrays(_first_command(trim, command_type))
        coordinates = command_inputs(begin, prefix=SETPOINT)
        reached = cls(begin, coordinates, levels).steady(trim)
        return cls(reached, coordinates, levels)

    def actuator_command(self, deviation: Vector, motion: Kinematics) -> Any:
        """Return the actuator command of a deviation at a motion."""
        command = self.coordinates.deviated(as_arrays(self.command), deviation)
        for level in self.levels:
            # without states there is nothing to which a time step could matter
            command = level.step((), (command, motion), jnp.nan, seed_key(0))[1]
        return command

    def steady(self, trim: Trim) -> Any:
        """Return the command that results in the actuator command of a steady state.

        Raises:
            ScenarioError: if there is none.
        """
        motion = as_arrays(trim.start.kinematics())
        wanted = as_arrays(trim.command)
        actuator_inputs = command_inputs(trim.command)

        def residual(deviation: Vector) -> Vector:
            given = self.actuator_command(deviation, motion)
            return actuator_inputs.deviation(wanted, as_arrays(given))

        both = jax.jit(lambda x: (residual(x), jax.jacfwd(residual)(x)))
        begin = np.zeros(len(self.coordinates.names))
        deviation, left = newton(lambda x: both(jnp.asarray(x)), begin)
        scale = max(1.0, *map(abs, map(float, jax.tree.leaves(trim.command))))
        if not np.abs(left).max() < TOLERANCE * scale:
            message = (
                f"`command_type`: no {type(self.command).__name__} gives the actuator command of "
                "this steady state; leave it out, for the actuator command as input"
            )
            raise ScenarioError(message)
        return self.coordinates.deviated(as_arrays(self.command), jnp.asarray(deviation))


def _levels(trim: Trim, command_type: Any) -> tuple[AbstractController, ...]:
    """Return the controllers from a command type to the actuator command.

    Raises:
        ScenarioError: if there are none, or if one of them has states.
    """
    controllers = [level.component for level in trim.vehicle.cascade]
    actuator_type = trim.dynamics.command_type
    # an instance's own class cannot be meant, nor a text
    if command_type not in COMMAND_TYPES or command_type is MotorsOff:
        levels = dict.fromkeys([*(one.consumes for one in controllers), actuator_type])
        given, allowed = described_value(command_type), one_of_commands([*levels])
        message = f"`command_type`: got {given}; must be {allowed.partition(', such as')[0]}"
        raise ScenarioError(message)
    try:
        path = cascade_path(controllers, command_type, actuator_type)
    except CascadeError as error:
        message = f"`command_type`: {error}"
        raise ScenarioError(message) from None
    levels = tuple(controllers[i] for i in path)
    for level in levels:
        if level.on_host or jax.tree.leaves(level.init(seed_key(0))):
            message = (
                f"`command_type`: the controller {controller_name(level)}, below "
                f"{command_type.__name__}, "
                + ("is plain Python" if level.on_host else "has states of its own")
                + "; write a lower command type, or kw.linearize(scenario), the sampled closed loop"
            )
            raise ScenarioError(message)
    return levels


def _first_command(trim: Trim, command_type: type[Module]) -> Module:
    """Return a command near that of a steady state: its motion, and the thrust of its weight."""
    motion = trim.start.kinematics()
    gravity_mps2 = float(trim.world.gravity_mps2)
    parameters = trim.dynamics.vehicle_parameters(gravity_mps2)
    known: Mapping[str, Any] = {
        **{field.name: getattr(motion, field.name) for field in fields(motion)},
        "yaw_rad": trim.start.yaw_rad,
        "thrust_n": parameters.get("mass_kg", 0.0) * gravity_mps2,
    }
    names = {field.name for field in fields(command_type)}
    given = {name: value for name, value in known.items() if name in names}
    return replace(zero_command(command_type), **given)
