"""The control cascade of one vehicle's step: from a command down to the actuator command."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.commands import Command, MotorsOff
from kittiwake.core.component import AbstractKeyedComponent
from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.keys import fold_in_name
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import Measurements
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Flag
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.controller import HostSetpoint
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.sim.schedule import Clock, ScheduledState, run
from kittiwake.sim.state import VehicleState


class CascadeInputs(NamedTuple):
    """Inputs of controllers and avoidance besides the command: estimate and measurements."""

    estimate: Kinematics
    measurements: Measurements
    fresh: dict[str, Flag]


class CascadeResult(NamedTuple):
    """Actuator command, and the next states of the controllers and avoidances used."""

    cascade: tuple[ScheduledState, ...]
    avoidance: tuple[ScheduledState, ...]
    command: Command


def fill_outputs(result: CascadeResult, other: CascadeResult) -> CascadeResult:
    """Return a result with missing outputs from another one, so that both have one structure.

    Before the first step, a controller that the path to ``result`` skips has no output yet.
    """

    def fill(held: ScheduledState, another: ScheduledState) -> ScheduledState:
        return replace(held, output=another.output) if held.output is None else held

    return result._replace(
        cascade=tuple(map(fill, result.cascade, other.cascade)),
        avoidance=tuple(map(fill, result.avoidance, other.avoidance)),
    )


def run_cascade(
    vehicle: AssembledVehicle,
    state: VehicleState,
    command: Command,
    inputs: CascadeInputs,
    clock: Clock,
    is_flown: Flag | None = None,
) -> CascadeResult:
    """Return the result of the cascade from a command down to the actuator command.

    Controllers that are not on this path are reset to their initial states. ``is_flown`` is false
    if the vehicle follows another command; it only affects controllers on the host. By default it
    is true.
    """
    run_from = partial(_run_from, vehicle, clock)
    if not vehicle.on_host:
        return fusion_barrier(run_from, state, as_arrays(command), inputs)
    flown = jnp.asarray(is_flown is None or is_flown)
    return fusion_barrier(run_from, state, as_arrays(command), inputs, flown)


def _run_from(
    vehicle: AssembledVehicle,
    clock: Clock,
    state: VehicleState,
    command: Command,
    inputs: CascadeInputs,
    is_flown: Flag | None = None,
) -> CascadeResult:
    levels, streams = [level.component for level in vehicle.cascade], state.streams
    cascade = [
        reset_state(level, held, streams[Stream.CONTROLLER.of(i)])
        for i, (level, held) in enumerate(zip(levels, state.cascade, strict=True))
    ]
    avoidance = [
        reset_state(part.component, held, streams[Stream.AVOIDANCE.of(i)])
        for i, (part, held) in enumerate(zip(vehicle.avoidance, state.avoidance, strict=True))
    ]
    if isinstance(command, MotorsOff):
        return CascadeResult(tuple(cascade), tuple(avoidance), as_arrays(vehicle.dynamics.off()))
    pending = list(enumerate(vehicle.avoidance))

    def avoid(command: Command) -> Command:
        """Return the command after all avoidances of its command type, each applied once."""
        command_type = type(command)
        for i, part in [one for one in pending if one[1].component.command_type is command_type]:
            pending.remove((i, part))
            avoidance[i], command = run(
                part,
                state.avoidance[i],
                AvoidanceInputs(command, *inputs),
                clock,
                streams[Stream.AVOIDANCE.of(i)],
            )
        return command

    command = avoid(command)
    is_flown = True if is_flown is None else is_flown
    for i in cascade_path(levels, type(command), vehicle.dynamics.command_type):
        on_host = levels[i].on_host
        setpoint = HostSetpoint(command, clock.time_s, is_flown) if on_host else command
        cascade[i], command = run(
            vehicle.cascade[i],
            state.cascade[i],
            (setpoint, inputs.estimate),
            clock,
            streams[Stream.CONTROLLER.of(i)],
        )
        command = avoid(command)
    return CascadeResult(tuple(cascade), tuple(avoidance), as_arrays(command))


def actuator_command(vehicle: AssembledVehicle, command: Command, clock: Clock) -> Command:
    """Return the command within the vehicle's bounds, as its faulty actuators execute it."""
    command = vehicle.dynamics.limit_command(command)
    for fault in vehicle.faults:
        command = fault.apply(command, clock.time_s)
    return as_arrays(command)


def reset_state(
    component: AbstractKeyedComponent, held: ScheduledState, stream: PRNGKeyArray
) -> ScheduledState:
    """Return the initial state of a skipped component, which runs at the next opportunity."""
    stale = None if held.stale is None else jnp.ones_like(held.stale)
    return ScheduledState(initial_state(component, stream), held.output, stale)


def initial_state(component: AbstractKeyedComponent, stream: PRNGKeyArray) -> ArrayTree:
    """Return a component's initial state, drawn from its stream."""
    return as_arrays(component.init(fold_in_name(stream, Stream.INIT)))
