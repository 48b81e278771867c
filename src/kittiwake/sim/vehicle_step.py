"""One physics step of one vehicle: sense, estimate, guide, control, move.

``perceive`` checks the limits, applies gusts, samples the sensors and runs the estimator. ``act``
runs the guidance, takes its setpoint (or an external command) down the control cascade to the
actuator command, and integrates the dynamics. ``Fleet`` maps both over the vehicles of a group, so
the code here is written for a single vehicle and has no batch axis.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import Command, CommandChoice
from kittiwake.core.component import AbstractComponent, AbstractKeyedComponent, Scheduled
from kittiwake.core.keys import fold_in_name, fold_in_names
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit, finite
from kittiwake.core.measurements import Measurements
from kittiwake.core.neighbors import StateReport
from kittiwake.core.streams import Stream
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.interfaces.guidance import GuidanceInputs
from kittiwake.interfaces.instrument import Sample
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.sim.cascade_step import (
    CascadeInputs,
    actuator_command,
    fill_outputs,
    initial_state,
    run_cascade,
)
from kittiwake.sim.command_delay import delayed, initial_commands
from kittiwake.sim.external_commands import ExternalCommand
from kittiwake.sim.schedule import Clock, ScheduledState, is_due, run
from kittiwake.sim.state import Snapshot, VehicleState
from kittiwake.world.environment import ProcessOutputs
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import WorldModel

NON_FINITE = "non-finite "


class Perception(Module):
    """First half of a step: the vehicle's status, surroundings, samples and estimate.

    ``turbulence``, ``sensors`` and ``estimator`` are the next states of these components.
    """

    status: Integer
    surroundings: Surroundings
    turbulence: ScheduledState
    sensors: dict[str, ScheduledState]
    samples: dict[str, Sample]
    estimator: ScheduledState
    estimate: Kinematics


def init(
    vehicle: AssembledVehicle,
    world: WorldModel,
    surroundings: Surroundings,
    processes: ProcessOutputs,
    dt_s: Real,
    key: PRNGKeyArray,
) -> VehicleState:
    """Return the initial state of a vehicle.

    Args:
        vehicle: the vehicle.
        world: the environment.
        surroundings: the conditions at the vehicle's start.
        processes: outputs of the world's processes; only their shapes and dtypes matter.
        dt_s: the physics step.
        key: the vehicle's own random key.
    """
    parts = {
        Stream.TURBULENCE: vehicle.turbulence,
        Stream.GUIDANCE: vehicle.guidance,
        **{Stream.CONTROLLER.of(i): level for i, level in enumerate(vehicle.cascade)},
        **{Stream.AVOIDANCE.of(i): part for i, part in enumerate(vehicle.avoidance)},
    }
    instruments = [Stream.SENSOR.of(name) for name in vehicle.sensors]
    streams = fold_in_names(key, [*parts, *instruments, Stream.ESTIMATOR, Stream.DYNAMICS])
    held = {
        name: ScheduledState(initial_state(part.component, streams[name]))
        for name, part in parts.items()
    }
    start = as_arrays(vehicle.start.kinematics())
    inputs = SensorInputs(jnp.zeros(()), start, surroundings, world, processes)
    sensors: dict[str, ScheduledState] = {}
    samples: dict[str, Sample] = {}
    for name, part in vehicle.sensors.items():
        stream = streams[Stream.SENSOR.of(name)]
        first, samples[name] = part.component.init(inputs, dt_s * part.every, stream)
        sensors[name] = ScheduledState(as_arrays(first), None if part.every == 1 else samples[name])
    initial_estimator = vehicle.estimator.component.init(
        start, fold_in_name(streams[Stream.ESTIMATOR], Stream.INIT)
    )
    state = VehicleState(
        dynamics=as_arrays(vehicle.dynamics.init(vehicle.start.kinematics(), surroundings)),
        turbulence=held[Stream.TURBULENCE],
        sensors=sensors,
        estimator=ScheduledState(as_arrays(initial_estimator)),
        guidance=held[Stream.GUIDANCE],
        cascade=_stale(vehicle.cascade, held, Stream.CONTROLLER),
        avoidance=_stale(vehicle.avoidance, held, Stream.AVOIDANCE),
        status=jnp.asarray(0, jnp.int32),
        streams=streams,
        # the first report contains the true start
        broadcast=None if world.radio is None else _report(start),
        under_way=initial_commands(vehicle, surroundings.gravity_mps2),
    )
    return _with_zero_outputs(vehicle, state, start, surroundings, samples, dt_s)


def _with_zero_outputs(
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
    samples: dict[str, Sample],
    dt_s: Real,
) -> VehicleState:
    """Return the state with zeros as held outputs; at the first step all components run."""
    clock = Clock(jnp.asarray(0, jnp.int32), dt_s)

    def first_step() -> tuple[Perception, _Decision]:
        turbulence, around = _disturb(vehicle, state, truth, surroundings, clock)
        estimator, estimate = _estimate(vehicle, state, truth, samples, clock)
        perceived = Perception(
            status=state.status,
            surroundings=around,
            turbulence=turbulence,
            sensors=state.sensors,
            samples=samples,
            estimator=estimator,
            estimate=estimate,
        )
        return perceived, _decide(vehicle, state, perceived, (), clock)

    perceived, decision = jax.eval_shape(first_step)
    return replace(
        state,
        turbulence=state.turbulence.with_zero_output(perceived.turbulence.output),
        estimator=state.estimator.with_zero_output(perceived.estimator.output),
        guidance=state.guidance.with_zero_output(decision.guidance.output),
        cascade=tuple(
            level.with_zero_output(shapes.output)
            for level, shapes in zip(state.cascade, decision.cascade, strict=True)
        ),
        avoidance=tuple(
            part.with_zero_output(shapes.output)
            for part, shapes in zip(state.avoidance, decision.avoidance, strict=True)
        ),
    )


def perceive(
    vehicle: AssembledVehicle,
    world: WorldModel,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
    processes: ProcessOutputs,
    clock: Clock,
    world_time_s: Real,
) -> Perception:
    """Return the first half of a step: check limits, apply gusts, sense and estimate.

    The components follow ``clock``, which is that of the vehicle. Sensors measure the world at
    ``world_time_s``.
    """
    status = check_limits(vehicle, world, state, truth, surroundings)
    turbulence, surroundings = _disturb(vehicle, state, truth, surroundings, clock)
    inputs = SensorInputs(world_time_s, truth, surroundings, world, processes)
    sensors, samples = _sense(vehicle, state, inputs, clock)
    estimator, estimate = _estimate(vehicle, state, truth, samples, clock)
    return Perception(status, surroundings, turbulence, sensors, samples, estimator, estimate)


def act(
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    perceived: Perception,
    commands: tuple[ExternalCommand, ...],
    clock: Clock,
) -> tuple[VehicleState, Snapshot]:
    """Return the second half of a step: the vehicle's next state, and the snapshot of this one."""
    status = perceived.status
    decision = _decide(vehicle, state, perceived, commands, clock)
    under_way, command = delayed(state.under_way, decision.command)
    command = actuator_command(vehicle, command, clock)
    moved = vehicle.dynamics.step(
        state.dynamics,
        command,
        perceived.surroundings,
        clock.dt_s,
        jax.random.fold_in(state.streams[Stream.DYNAMICS], clock.tick),
    )
    later = VehicleState(
        dynamics=tree_where(status == 0, match_dtypes(moved, state.dynamics), state.dynamics),
        turbulence=perceived.turbulence,
        sensors=perceived.sensors,
        estimator=perceived.estimator,
        guidance=tree_where(status == 0, decision.guidance, state.guidance),
        cascade=decision.cascade,
        avoidance=decision.avoidance,
        status=status,
        streams=state.streams,
        broadcast=None if state.broadcast is None else _report(perceived.estimate),
        under_way=under_way,
    )
    snapshot = Snapshot(
        truth=truth,
        surroundings=perceived.surroundings,
        samples=perceived.samples,
        estimate=perceived.estimate,
        uncertainty=vehicle.estimator.component.uncertainty(perceived.estimator.state),
        setpoint=decision.setpoint,
        command=command,
        actuators=vehicle.dynamics.actuators(state.dynamics),
        ground_contact=vehicle.dynamics.ground_contact(state.dynamics),
        faults=_faults(vehicle, clock),
        waypoints_reached=vehicle.guidance.component.waypoints_reached(later.guidance.state),
        phase=_phase(vehicle, later),
        finished=_finished(vehicle, later),
        status=status,
    )
    return later, snapshot


def merge_reset(
    merge: Callable[[Scheduled[AbstractComponent], ScheduledState, ScheduledState], ScheduledState],
    vehicle: AssembledVehicle,
    initial: VehicleState,
    after: VehicleState,
) -> VehicleState:
    """Return the initial state with every scheduled component's state passed through ``merge``.

    Args:
        merge: chooses between a component's initial state and its state after the first step.
        vehicle: the vehicle.
        initial: the initial state.
        after: the state after the first step.
    """
    sequences = {
        name: tuple(
            map(merge, getattr(vehicle, name), getattr(initial, name), getattr(after, name))
        )
        for name in ("cascade", "avoidance")
    }
    return replace(
        initial,
        turbulence=merge(vehicle.turbulence, initial.turbulence, after.turbulence),
        sensors={
            name: merge(part, initial.sensors[name], after.sensors[name])
            for name, part in vehicle.sensors.items()
        },
        estimator=merge(vehicle.estimator, initial.estimator, after.estimator),
        guidance=merge(vehicle.guidance, initial.guidance, after.guidance),
        **sequences,
    )


def limits(
    vehicle: AssembledVehicle,
    world: WorldModel,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
) -> tuple[Limit, ...]:
    """Return the limits of a vehicle, in the order in which they are checked."""
    q = truth.q_world_from_body
    sums = {
        "position_world_m": _sum(truth.position_world_m),
        "velocity_body_mps": _sum(truth.velocity_body_mps),
        "attitude": q.w + q.x + q.y + q.z,
        "angular_velocity_body_radps": _sum(truth.angular_velocity_body_radps),
    }
    return (
        *(finite(f"{NON_FINITE}{name}", value) for name, value in sums.items()),
        *vehicle.dynamics.limits(state.dynamics),
        *world.limits(truth, surroundings),
    )


def check_limits(
    vehicle: AssembledVehicle,
    world: WorldModel,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
) -> Integer:
    """Return 0 for a valid vehicle, else the 1-based index of the first limit ever violated."""
    flags = [limit.is_satisfied for limit in limits(vehicle, world, state, truth, surroundings)]
    status = jnp.asarray(0, jnp.int32)
    for index in range(len(flags), 0, -1):
        status = jnp.where(flags[index - 1], status, index)
    return jnp.where(state.status == 0, status, state.status)


def _disturb(
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    calm: Surroundings,
    clock: Clock,
) -> tuple[ScheduledState, Surroundings]:
    held, gust = run(
        vehicle.turbulence, state.turbulence, (truth, calm), clock, state.streams[Stream.TURBULENCE]
    )
    return held, calm.with_gust(gust)


def _sense(
    vehicle: AssembledVehicle, state: VehicleState, inputs: SensorInputs, clock: Clock
) -> tuple[dict[str, ScheduledState], dict[str, Sample]]:
    sensors: dict[str, ScheduledState] = {}
    samples: dict[str, Sample] = {}
    for name, sensor in vehicle.sensors.items():
        before = state.sensors[name]
        sensors[name], sample = run(
            sensor, before, inputs, clock, state.streams[Stream.SENSOR.of(name)]
        )
        fresh = sample.fresh & is_due(sensor, before, clock)
        samples[name] = replace(sample, fresh=fresh)
    return sensors, samples


def _estimate(
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    samples: dict[str, Sample],
    clock: Clock,
) -> tuple[ScheduledState, Kinematics]:
    measurements, fresh = _measurements(samples)
    inputs = EstimatorInputs(truth, measurements, fresh, clock.time_s)
    return run(vehicle.estimator, state.estimator, inputs, clock, state.streams[Stream.ESTIMATOR])


def _measurements(samples: dict[str, Sample]) -> tuple[Measurements, dict[str, Flag]]:
    """Return the measurements, and the flags of new ones, by sensor name."""
    measurements = {name: sample.measurement for name, sample in samples.items()}
    return measurements, {name: sample.fresh for name, sample in samples.items()}


class _Decision(NamedTuple):
    """Setpoint and actuator command of a step, with the next states of guidance and cascade."""

    guidance: ScheduledState
    setpoint: Command | CommandChoice
    cascade: tuple[ScheduledState, ...]
    avoidance: tuple[ScheduledState, ...]
    command: Command


def _decide(
    vehicle: AssembledVehicle,
    state: VehicleState,
    perceived: Perception,
    commands: tuple[ExternalCommand, ...],
    clock: Clock,
) -> _Decision:
    """Run guidance, and the cascade from the setpoint or from an external command."""
    estimate = perceived.estimate
    measurements, fresh = _measurements(perceived.samples)
    guidance_inputs = GuidanceInputs(
        time_s=clock.time_s,
        tick=clock.tick,
        estimate=estimate,
        measurements=measurements,
        fresh=fresh,
        readings=vehicle.dynamics.actuators(state.dynamics),
        neighbors=perceived.surroundings.neighbors,
    )
    guidance, setpoint = run(
        vehicle.guidance, state.guidance, guidance_inputs, clock, state.streams[Stream.GUIDANCE]
    )
    # without avoidance nothing in the cascade reads measurements
    inputs = CascadeInputs(estimate, *((measurements, fresh) if vehicle.avoidance else ({}, {})))
    for external in commands:
        if external.addressed is None:  # all vehicles of the group follow this command
            result = run_cascade(vehicle, state, external.command, inputs, clock)
            return _Decision(guidance, setpoint, *result)
    choice = setpoint if isinstance(setpoint, CommandChoice) else CommandChoice((setpoint,), 0)
    first, *others = choice.commands
    flown = [_is_flown(choice.index == index, commands) for index in range(len(choice.commands))]
    result = run_cascade(vehicle, state, first, inputs, clock, flown[0])
    for index, command in enumerate(others, start=1):
        other = run_cascade(vehicle, state, command, inputs, clock, flown[index])
        result = tree_where(
            choice.index == index,
            fill_outputs(other, result),
            fill_outputs(result, other),
        )
    for place, external in enumerate(commands, start=1):
        assert external.addressed is not None
        is_flown = _is_flown(external.addressed, commands[place:])
        other = run_cascade(vehicle, state, external.command, inputs, clock, is_flown)
        result = tree_where(external.addressed, other, result)
    return _Decision(guidance, setpoint, *result)


def _is_flown(chosen: Flag, later: tuple[ExternalCommand, ...]) -> Flag:
    """Return True for a chosen command that no later one replaces."""
    for external in later:
        assert external.addressed is not None
        chosen = jnp.logical_and(chosen, jnp.logical_not(external.addressed))
    return chosen


def _report(estimate: Kinematics) -> StateReport:
    """Return the report that a vehicle sends to the others."""
    report = StateReport(
        position_world_m=estimate.position_world_m,
        velocity_world_mps=estimate.velocity_world_mps,
        yaw_rad=estimate.euler_world_from_body.yaw_rad,
        sent=jnp.asarray(True),
    )
    return as_arrays(report)


def _stale(
    parts: tuple[Scheduled[AbstractKeyedComponent], ...],
    held: dict[str, ScheduledState],
    stream: Stream,
) -> tuple[ScheduledState, ...]:
    """Return the initial states of components that may be skipped, marked as stale."""
    return tuple(
        replace(held[stream.of(i)], stale=None if part.every == 1 else jnp.asarray(True))
        for i, part in enumerate(parts)
    )


def _faults(vehicle: AssembledVehicle, clock: Clock) -> Integer | None:
    """Return the number of active faults; None for a vehicle without faults."""
    if not vehicle.faults:
        return None
    return sum(jnp.asarray(fault.is_active(clock.time_s), jnp.int32) for fault in vehicle.faults)


def _phase(vehicle: AssembledVehicle, state: VehicleState) -> Integer | None:
    """Return the index of the present phase of guidance; None for guidance with one phase."""
    guidance = vehicle.guidance.component
    return None if len(guidance.phases()) == 1 else guidance.phase(state.guidance.state)


def _finished(vehicle: AssembledVehicle, state: VehicleState) -> Flag | None:
    """Return True if the task of guidance is done; None for a task without an end."""
    guidance = vehicle.guidance.component
    return guidance.finished(state.guidance.state) if guidance.ends else None


def _sum(v: Vec3) -> Real:
    """Return the sum of the components, which is not finite if a component is not."""
    return v.x + v.y + v.z
