"""One vehicle through one physics step: sense, estimate, guide, control, move."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import CommandChoice, MotorsOff
from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.keys import named, named_each
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit, finite
from kittiwake.core.neighbors import StateReport
from kittiwake.core.streams import Stream
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.interfaces.guidance import AvoidanceInputs, GuidanceInputs
from kittiwake.interfaces.instrument import Sample
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sim.schedule import Clock, Held, is_due, run
from kittiwake.sim.state import Snapshot, VehicleState
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import World

NON_FINITE = "non-finite "


class Senses(NamedTuple):
    """What a vehicle believes and sees."""

    estimate: Kinematics
    measurements: dict[str, Any]
    fresh: dict[str, Flag]


class ExternalCommand(NamedTuple):
    """A command from outside, and whether this vehicle is to obey it; None where all are."""

    command: Any
    addressed: Flag | None


class Perception(eqx.Module):
    """What a vehicle is, sees and believes at a tick, before it decides what to do.

    ``sensors`` and the other held parts are those of the step to come.
    """

    status: Count
    surroundings: Surroundings
    turbulence: Held
    sensors: dict[str, Held]
    samples: dict[str, Sample]
    estimator: Held
    estimate: Kinematics


def begin(
    vehicle: Vehicle,
    world: World,
    surroundings: Surroundings,
    processes: dict[str, Any],
    dt_s: Real,
    key: PRNGKeyArray,
) -> VehicleState:
    """A vehicle before its first step; ``key`` is the vehicle's own.

    Of the world's processes only the form matters.
    """
    parts = {
        Stream.TURBULENCE: vehicle.turbulence,
        Stream.GUIDANCE: vehicle.guidance,
        **{Stream.CONTROLLER.of(i): level for i, level in enumerate(vehicle.cascade)},
        **{Stream.AVOIDANCE.of(i): part for i, part in enumerate(vehicle.avoidance)},
    }
    instruments = [Stream.SENSOR.of(name) for name in vehicle.sensors]
    streams = named_each(key, [*parts, *instruments, Stream.ESTIMATOR, Stream.DYNAMICS])
    held = {name: Held(_first(part.component, streams[name])) for name, part in parts.items()}
    start = as_arrays(vehicle.start.kinematics())
    inputs = SensorInputs(jnp.zeros(()), start, surroundings, world, processes)
    sensors: dict[str, Held] = {}
    samples: dict[str, Sample] = {}
    for name, part in vehicle.sensors.items():
        stream = streams[Stream.SENSOR.of(name)]
        first, samples[name] = part.component.begin(inputs, dt_s * part.every, stream)
        sensors[name] = Held(as_arrays(first), None if part.every == 1 else samples[name])
    believed = vehicle.estimator.component.begin(
        start, named(streams[Stream.ESTIMATOR], Stream.INIT)
    )
    state = VehicleState(
        dynamics=as_arrays(vehicle.dynamics.init(vehicle.start.kinematics(), surroundings)),
        turbulence=held[Stream.TURBULENCE],
        sensors=sensors,
        estimator=Held(as_arrays(believed)),
        guidance=held[Stream.GUIDANCE],
        cascade=_stale(vehicle.cascade, held, Stream.CONTROLLER),
        avoidance=_stale(vehicle.avoidance, held, Stream.AVOIDANCE),
        status=jnp.asarray(0, jnp.int32),
        streams=streams,
        # all know where they begin
        broadcast=None if world.radio is None else _report(start),
    )
    return _holding(vehicle, state, start, surroundings, samples, dt_s)


def _holding(
    vehicle: Vehicle,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
    samples: dict[str, Sample],
    dt_s: Real,
) -> VehicleState:
    """With outputs of zeros where one is held between runs; at the first step all run."""
    clock = Clock(jnp.asarray(0, jnp.int32), dt_s)

    def after() -> tuple[Perception, _Decision]:
        turbulence, around = _disturb(vehicle, state, truth, surroundings, clock)
        estimator, estimate = _estimate(vehicle, state, truth, samples, clock)
        perceived = Perception(
            *(state.status, around, turbulence, state.sensors, samples, estimator, estimate)
        )
        return perceived, _decide(vehicle, state, perceived, (), clock)

    perceived, decision = jax.eval_shape(after)
    return replace(
        state,
        turbulence=state.turbulence.holding(perceived.turbulence.output),
        estimator=state.estimator.holding(perceived.estimator.output),
        guidance=state.guidance.holding(decision.guidance.output),
        cascade=tuple(
            level.holding(form.output)
            for level, form in zip(state.cascade, decision.cascade, strict=True)
        ),
        avoidance=tuple(
            part.holding(form.output)
            for part, form in zip(state.avoidance, decision.avoidance, strict=True)
        ),
    )


def perceive(
    vehicle: Vehicle,
    world: World,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
    processes: dict[str, Any],
    clock: Clock,
) -> Perception:
    """Judge, feel the gusts, sense and estimate."""
    status = judge(vehicle, world, state, truth, surroundings)
    turbulence, surroundings = _disturb(vehicle, state, truth, surroundings, clock)
    seen = SensorInputs(clock.time_s, truth, surroundings, world, processes)
    sensors, samples = _sense(vehicle, state, seen, clock)
    estimator, estimate = _estimate(vehicle, state, truth, samples, clock)
    return Perception(status, surroundings, turbulence, sensors, samples, estimator, estimate)


def act(
    vehicle: Vehicle,
    state: VehicleState,
    truth: Kinematics,
    perceived: Perception,
    orders: tuple[ExternalCommand, ...],
    clock: Clock,
) -> tuple[VehicleState, Snapshot]:
    """The vehicle one step later, and what it was, saw and did at this one."""
    status = perceived.status
    decision = _decide(vehicle, state, perceived, orders, clock)
    command = _applied(vehicle, decision.command, clock)
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
        legs=vehicle.guidance.component.legs(later.guidance.state),
        phase=_phase(vehicle, later),
        finished=_finished(vehicle, later),
        status=status,
    )
    return later, snapshot


def merge_reset(
    own: Callable[[Scheduled[Any], Held, Held], Held],
    vehicle: Vehicle,
    fresh: VehicleState,
    after: VehicleState,
) -> VehicleState:
    """A vehicle's state in which ``own`` chose, part by part, between two."""
    several = {
        name: tuple(map(own, getattr(vehicle, name), getattr(fresh, name), getattr(after, name)))
        for name in ("cascade", "avoidance")
    }
    return replace(
        fresh,
        turbulence=own(vehicle.turbulence, fresh.turbulence, after.turbulence),
        sensors={
            name: own(part, fresh.sensors[name], after.sensors[name])
            for name, part in vehicle.sensors.items()
        },
        estimator=own(vehicle.estimator, fresh.estimator, after.estimator),
        guidance=own(vehicle.guidance, fresh.guidance, after.guidance),
        **several,
    )


def limits(
    vehicle: Vehicle,
    world: World,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
) -> tuple[Limit, ...]:
    """What a vehicle is judged by, in order."""
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


def judge(
    vehicle: Vehicle,
    world: World,
    state: VehicleState,
    truth: Kinematics,
    surroundings: Surroundings,
) -> Count:
    """0 for a valid vehicle, else the place of the first violated quantity; a verdict stays."""
    flags = [limit.holds for limit in limits(vehicle, world, state, truth, surroundings)]
    verdict = jnp.asarray(0, jnp.int32)
    for place in range(len(flags), 0, -1):
        verdict = jnp.where(flags[place - 1], verdict, place)
    return jnp.where(state.status == 0, verdict, state.status)


def _disturb(
    vehicle: Vehicle, state: VehicleState, truth: Kinematics, calm: Surroundings, clock: Clock
) -> tuple[Held, Surroundings]:
    held, gust = run(
        vehicle.turbulence, state.turbulence, (truth, calm), clock, state.streams[Stream.TURBULENCE]
    )
    return held, calm.blown(gust)


def _sense(
    vehicle: Vehicle, state: VehicleState, inputs: SensorInputs, clock: Clock
) -> tuple[dict[str, Held], dict[str, Sample]]:
    sensors: dict[str, Held] = {}
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
    vehicle: Vehicle,
    state: VehicleState,
    truth: Kinematics,
    samples: dict[str, Sample],
    clock: Clock,
) -> tuple[Held, Kinematics]:
    inputs = EstimatorInputs(truth, *_readings(samples))
    return run(vehicle.estimator, state.estimator, inputs, clock, state.streams[Stream.ESTIMATOR])


def _readings(samples: dict[str, Sample]) -> tuple[dict[str, Any], dict[str, Flag]]:
    """What sensors say, and whether it is new."""
    measurements = {name: sample.measurement for name, sample in samples.items()}
    return measurements, {name: sample.fresh for name, sample in samples.items()}


class _Decision(NamedTuple):
    """What a vehicle is asked for and does, and the states that go with it."""

    guidance: Held
    setpoint: Any
    cascade: tuple[Held, ...]
    avoidance: tuple[Held, ...]
    command: Any


def _decide(
    vehicle: Vehicle,
    state: VehicleState,
    perceived: Perception,
    orders: tuple[ExternalCommand, ...],
    clock: Clock,
) -> _Decision:
    """Guide and control."""
    estimate, peers = perceived.estimate, perceived.surroundings.neighbors
    measurements, fresh = _readings(perceived.samples)
    readings = vehicle.dynamics.actuators(state.dynamics)
    guidance, setpoint = run(
        vehicle.guidance,
        state.guidance,
        GuidanceInputs(clock.time_s, clock.tick, estimate, measurements, fresh, readings, peers),
        clock,
        state.streams[Stream.GUIDANCE],
    )
    # what nobody reads is not carried down the ladder
    senses = Senses(estimate, *((measurements, fresh) if vehicle.avoidance else ({}, {})))
    for order in orders:
        if order.addressed is None:  # nobody follows the guidance
            way = _run_cascade(vehicle, state, order.command, senses, clock)
            return _Decision(guidance, setpoint, *way)
    first, *others = setpoint.commands if isinstance(setpoint, CommandChoice) else (setpoint,)
    outcome = _run_cascade(vehicle, state, first, senses, clock)
    for place, signal in enumerate(others, start=1):
        way = _run_cascade(vehicle, state, signal, senses, clock)
        meant = setpoint.place == place
        outcome = tree_where(meant, _with_outputs_of(way, outcome), _with_outputs_of(outcome, way))
    for order in orders:
        assert order.addressed is not None
        ordered = _run_cascade(vehicle, state, order.command, senses, clock)
        outcome = tree_where(order.addressed, ordered, outcome)
    return _Decision(guidance, setpoint, *outcome)


def _report(estimate: Kinematics) -> StateReport:
    """What a vehicle tells others."""
    place, velocity = estimate.position_world_m, estimate.velocity_world_mps
    yaw_rad = estimate.euler_world_from_body.yaw_rad
    return as_arrays(StateReport(place, velocity, yaw_rad, jnp.asarray(True)))


class _CascadeResult(NamedTuple):
    """What it takes to get down from a signal, and where that leads."""

    cascade: tuple[Held, ...]
    avoidance: tuple[Held, ...]
    command: Any


def _with_outputs_of(way: _CascadeResult, other: _CascadeResult) -> _CascadeResult:
    """A way that, before the first step, has the outputs of rungs that only another one passes."""

    def told(held: Held, another: Held) -> Held:
        return replace(held, output=another.output) if held.output is None else held

    return way._replace(
        cascade=tuple(map(told, way.cascade, other.cascade)),
        avoidance=tuple(map(told, way.avoidance, other.avoidance)),
    )


def _run_cascade(
    vehicle: Vehicle, state: VehicleState, signal: Any, senses: Senses, clock: Clock
) -> _CascadeResult:
    """Down the ladder from the signal's rung to the native one; rungs above it begin anew."""
    return fusion_barrier(
        partial(_run_cascade_from, vehicle, clock), state, as_arrays(signal), senses
    )


def _run_cascade_from(
    vehicle: Vehicle, clock: Clock, state: VehicleState, signal: Any, senses: Senses
) -> _CascadeResult:
    levels, streams = [level.component for level in vehicle.cascade], state.streams
    cascade = [
        _reset(level, held, streams[Stream.CONTROLLER.of(i)])
        for i, (level, held) in enumerate(zip(levels, state.cascade, strict=True))
    ]
    avoidance = [
        _reset(part.component, held, streams[Stream.AVOIDANCE.of(i)])
        for i, (part, held) in enumerate(zip(vehicle.avoidance, state.avoidance, strict=True))
    ]
    if isinstance(signal, MotorsOff):
        return _CascadeResult(tuple(cascade), tuple(avoidance), as_arrays(vehicle.dynamics.off()))
    waiting = list(enumerate(vehicle.avoidance))

    def clear(asked: Any) -> Any:
        """What is asked for on a rung, after what avoids on it."""
        for i, part in [one for one in waiting if one[1].component.command_type is type(asked)]:
            waiting.remove((i, part))
            avoidance[i], asked = run(
                part,
                state.avoidance[i],
                AvoidanceInputs(asked, *senses),
                clock,
                streams[Stream.AVOIDANCE.of(i)],
            )
        return asked

    signal = clear(signal)
    for i in cascade_path(levels, type(signal), vehicle.dynamics.command_type):
        cascade[i], signal = run(
            vehicle.cascade[i],
            state.cascade[i],
            (signal, senses.estimate),
            clock,
            streams[Stream.CONTROLLER.of(i)],
        )
        signal = clear(signal)
    return _CascadeResult(tuple(cascade), tuple(avoidance), as_arrays(signal))


def _applied(vehicle: Vehicle, command: Any, clock: Clock) -> Any:
    """The command inside the vehicle's bounds, and as far as what is broken lets it."""
    command = vehicle.dynamics.limit_command(command)
    for fault in vehicle.faults:
        command = fault.applied(command, clock.time_s)
    return as_arrays(command)


def _stale(
    parts: tuple[Scheduled[Any], ...], held: dict[str, Held], stream: Stream
) -> tuple[Held, ...]:
    """Of parts that can be passed over, before the first step."""
    return tuple(
        replace(held[stream.of(i)], stale=None if part.every == 1 else jnp.asarray(True))
        for i, part in enumerate(parts)
    )


def _reset(component: AbstractComponent, held: Held, stream: PRNGKeyArray) -> Held:
    overdue = None if held.stale is None else jnp.ones_like(held.stale)
    return Held(_first(component, stream), held.output, overdue)


def _first(component: AbstractComponent, stream: PRNGKeyArray) -> Any:
    return as_arrays(component.init(named(stream, Stream.INIT)))


def _faults(vehicle: Vehicle, clock: Clock) -> Count | None:
    """How many of a vehicle's faults have begun; None for one without any."""
    if not vehicle.faults:
        return None
    return sum(jnp.asarray(fault.is_active(clock.time_s), jnp.int32) for fault in vehicle.faults)


def _phase(vehicle: Vehicle, state: VehicleState) -> Count | None:
    """Which part of its task a vehicle is at; None for a task of one part."""
    guidance = vehicle.guidance.component
    return None if len(guidance.phases()) == 1 else guidance.phase(state.guidance.state)


def _finished(vehicle: Vehicle, state: VehicleState) -> Flag | None:
    """Whether a vehicle's task is done; None for one without an end."""
    guidance = vehicle.guidance.component
    return guidance.finished(state.guidance.state) if guidance.ends else None


def _sum(v: Vec3) -> Real:
    """A number that is finite where all components are, or nearly so at the end of the range."""
    return v.x + v.y + v.z
