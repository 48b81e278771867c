"""Fleet: many vehicles in one world, stepped together by pure functions."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import TypeVar

from kittiwake.contact.engine import AbstractContactEngine
from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.commands import Command
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.core.keys import fold_in_name, fold_in_names
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit
from kittiwake.core.neighbors import NeighborTable, Roster
from kittiwake.core.precision import require_precision
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.renderer import AbstractRenderer
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.sim import camera_bodies, interactions, team_radio, vehicle_step
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.contact import GroupMotion, resolve_contacts
from kittiwake.sim.external_commands import (
    ExternalCommand,
    combine_commands,
    commands_of_group,
)
from kittiwake.sim.group import Group
from kittiwake.sim.schedule import Clock, ScheduledState, run
from kittiwake.sim.state import FleetState, Snapshot, VehicleState
from kittiwake.world.environment import ProcessOutputs
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.waves import WAVES
from kittiwake.world.world import WorldModel

Selected = TypeVar("Selected")
Outputs = TypeVar("Outputs")


class FleetPerception(Module):
    """Perception of all vehicles at a tick, with the next state of the world's processes."""

    processes: dict[str, ScheduledState]
    radio: ScheduledState | None
    surroundings: tuple[Surroundings, ...]
    groups: tuple[vehicle_step.Perception, ...]


class Fleet(Module):
    """All parameters of a simulation, with the pure functions that initialize and step it.

    ``init``, ``advance`` and ``rollout`` can be jitted, mapped and differentiated. They require
    the floating-point mode for which the fleet was built. Worlds that are mapped over along a
    named ``shared_axis`` share the decision whether contact has to be computed.

    Attributes:
        world: the environment.
        groups: the vehicles, in groups of equal structure.
        engine: the contact engine; None if each vehicle computes its own contact.
        partners: for each group, the deck index of each vehicle's partner; None without partners.
        roster: the teams and leaders.
        renderer: the renderer of the cameras; None without cameras.
        rate_hz: the physics rate.
        single_precision: true for float32, false for float64.
        shared_axis: the name of the mapped axis of a batch of worlds; None for one world.
        commander: commands vehicles from within the simulation, such as the agents of a task.
    """

    world: WorldModel
    groups: tuple[Group, ...]
    engine: AbstractContactEngine | None
    partners: tuple[np.ndarray | None, ...]
    roster: Roster
    renderer: AbstractRenderer | None = field(static=True)
    rate_hz: float = field(static=True)
    single_precision: bool = field(static=True, default=False)
    shared_axis: str | None = field(static=True, default=None)
    commander: AbstractCommander | None = field(static=True, default=None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all vehicles, group by group."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def indices(self) -> dict[str, tuple[int, int]]:
        """The number of each vehicle's group, and the index of the vehicle in it."""
        return {
            name: (number, index)
            for number, group in enumerate(self.groups)
            for index, name in enumerate(group.names)
        }

    @property
    def dt_s(self) -> float:
        """Length of a physics step."""
        return 1.0 / self.rate_hz

    def init(self, key: PRNGKeyArray) -> FleetState:
        """Return the initial state; random streams are derived from the key and the names."""
        require_precision(single=self.single_precision)
        clock = Clock(jnp.asarray(0, jnp.int32), self.dt_s)
        evolving = [*self.world.processes, *team_radio.streams(self.world.radio)]
        keys = fold_in_names(key, [Stream.WORLD.of(name) for name in evolving])
        streams = {name: keys[Stream.WORLD.of(name)] for name in evolving}
        processes = {
            name: ScheduledState(
                as_arrays(part.component.init(fold_in_name(streams[name], Stream.INIT)))
            )
            for name, part in self.world.processes.items()
        }
        shapes = jax.eval_shape(lambda: self._step_processes(processes, streams, clock))
        outputs = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes[1])
        if WAVES in self.world.processes:  # vessels start on the waves
            outputs[WAVES] = self._step_processes(processes, streams, clock)[1][WAVES]
        starts = [group.map(_start, group.name_hashes) for group in self.groups]
        outputs |= camera_bodies.bodies(self.renderer, self.world, starts, clock)
        processes = {
            name: held.with_zero_output(shapes[0][name].output) for name, held in processes.items()
        }
        radio, tables = team_radio.init(self.world.radio, self.roster, self.dt_s, key)
        groups = tuple(
            self._begin(group, outputs, neighbors, key, has_partners=partners is not None)
            for group, neighbors, partners in zip(
                self.groups, team_radio.split(tables, self.groups), self.partners, strict=True
            )
        )
        additions = {group.addition: clock.tick for group in self.groups if group.addition}
        state = FleetState(
            clock.tick, clock.tick, groups, processes, streams, radio, additions=additions
        )
        if self.commander is None:
            return state
        own = self.commander.init(self, state, self.perceive(state), fold_in_name(key, Stream.TASK))
        return dataclasses.replace(state, commander=as_arrays(own))

    def advance(
        self, state: FleetState, commands: Mapping[str, Command] | None = None
    ) -> FleetState:
        """Return the next state; ``commands``, by vehicle name, replace setpoints of guidance."""
        return self.step(state, commands)[0]

    def step(
        self, state: FleetState, commands: Mapping[str, Command] | None = None
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """Return the next state, and the snapshot of each group at this step."""
        return self.step_with_commands(state, self.group_commands(commands or {}))

    def step_with_commands(
        self, state: FleetState, commands: Sequence[tuple[ExternalCommand, ...]]
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """Return the same as ``step``, for commands as ``group_commands`` arranges them."""
        perceived = self.perceive(state)
        if self.commander is None:
            return self.act(state, perceived, commands)
        own, agent_commands = self.commander.command(self, state, perceived)
        both = [
            combine_commands(group, lower, higher)
            for group, lower, higher in zip(
                self.groups, self.group_commands(agent_commands), commands, strict=True
            )
        ]
        later, snapshots = self.act(state, perceived, both)
        own = as_arrays(self.commander.after(own, snapshots))
        return dataclasses.replace(later, commander=own), snapshots

    def perceive(self, state: FleetState) -> FleetPerception:
        """Return the first half of a step: world processes, surroundings, sensors, estimates."""
        require_precision(state, single=self.single_precision)
        clock = self._clock(state)
        truths = self.truths(state)
        processes, outputs = self._step_processes(state.processes, state.streams, clock)
        surroundings = self._surroundings(state, truths, outputs)
        outputs |= camera_bodies.bodies(self.renderer, self.world, truths, clock)
        radio, surroundings = self._step_radio(state, truths, surroundings, clock)
        groups = tuple(
            group.map(
                partial(self._perceive, self._group_clock(group, state), clock.time_s, outputs),
                vehicle_state,
                truth,
                around,
            )
            for group, vehicle_state, truth, around in zip(
                self.groups, state.groups, truths, surroundings, strict=True
            )
        )
        return FleetPerception(processes, radio, tuple(surroundings), groups)

    def act(
        self,
        state: FleetState,
        perceived: FleetPerception,
        commands: Sequence[tuple[ExternalCommand, ...]],
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """Return the second half of a step: guidance, control and dynamics."""
        clock = self._clock(state)
        truths = self.truths(state)
        outcomes = [
            group.map(
                partial(
                    _act,
                    self._group_clock(group, state),
                    self._surface_near(group, truth, around),
                ),
                vehicle_state,
                truth,
                own,
                group_commands,
            )
            for group, vehicle_state, truth, around, own, group_commands in zip(
                self.groups,
                state.groups,
                truths,
                perceived.surroundings,
                perceived.groups,
                commands,
                strict=True,
            )
        ]
        groups = tuple(outcome[0] for outcome in outcomes)
        if self.engine is not None:
            around = perceived.surroundings
            moves = [
                GroupMotion(*move) for move in zip(self.groups, groups, truths, around, strict=True)
            ]
            groups = resolve_contacts(self.engine, self.world, moves, clock)
        later = dataclasses.replace(
            state,
            tick=state.tick + 1,
            groups=groups,
            processes=perceived.processes,
            radio=perceived.radio,
        )
        return later, tuple(outcome[1] for outcome in outcomes)

    def rollout(
        self,
        state: FleetState,
        steps: int,
        select: Callable[[tuple[Snapshot, ...]], Selected] = lambda _: None,
    ) -> tuple[FleetState, Selected]:
        """Return the state after ``steps`` steps, and the outputs of ``select`` along time."""
        return scan_steps(self.step, state, steps, select)

    def limits(self, state: FleetState) -> tuple[tuple[Limit, ...], ...]:
        """Return the limits of each group's vehicles; ``status`` is an index of these, from 1."""
        require_precision(state, single=self.single_precision)
        truths = self.truths(state)
        clock = self._clock(state)
        outputs = self._step_processes(state.processes, state.streams, clock)[1]
        surroundings = self._surroundings(state, truths, outputs)
        return tuple(
            as_arrays(group.map(partial(_limits, self.world), vehicle_state, truth, around))
            for group, vehicle_state, truth, around in zip(
                self.groups, state.groups, truths, surroundings, strict=True
            )
        )

    def locate(self, name: str) -> tuple[int, int]:
        """Return the number of a vehicle's group, and the index of the vehicle in it.

        Raises:
            CommandError: if there is no such vehicle; the message names the nearest one.
        """
        for group_index, group in enumerate(self.groups):
            if name in group.names:
                return group_index, group.names.index(name)
        message = f"there is no vehicle '{name}'. {did_you_mean(name, list(self.names))}"
        raise CommandError(message)

    def _clock(self, state: FleetState) -> Clock:
        return Clock(state.tick, self.dt_s, state.began)

    def _group_clock(self, group: Group, state: FleetState) -> Clock:
        """Return the clock of a group's components, which begins when its vehicles do."""
        if not group.addition:
            return self._clock(state)
        return Clock(state.tick - state.additions[group.addition], self.dt_s)

    def _surface_near(self, group: Group, truth: Kinematics, around: Surroundings) -> Flag:
        """Return True if a vehicle of the group may touch a surface, without a contact engine."""
        if self.engine is not None:
            return False
        near = interactions.surface_near(group, truth, around, self.dt_s)
        if self.shared_axis is None or isinstance(near, bool):
            return near
        return jax.lax.pmax(near.astype(jnp.int32), self.shared_axis) > 0

    def _perceive(
        self,
        clock: Clock,
        world_time_s: Real,
        processes: ProcessOutputs,
        vehicle: AssembledVehicle,
        state: VehicleState,
        truth: Kinematics,
        around: Surroundings,
    ) -> vehicle_step.Perception:
        return vehicle_step.perceive(
            vehicle, self.world, state, truth, around, processes, clock, world_time_s
        )

    def _step_processes(
        self, held: dict[str, ScheduledState], streams: dict[str, PRNGKeyArray], clock: Clock
    ) -> tuple[dict[str, ScheduledState], ProcessOutputs]:
        """Return the next state and the output of each process of the world, by name."""
        later: dict[str, ScheduledState] = {}
        outputs: ProcessOutputs = {}
        for name, part in self.world.processes.items():
            later[name], outputs[name] = run(part, held[name], clock.time_s, clock, streams[name])
        return later, outputs

    def _step_radio(
        self,
        state: FleetState,
        truths: Sequence[Kinematics],
        surroundings: Sequence[Surroundings],
        clock: Clock,
    ) -> tuple[ScheduledState | None, list[Surroundings]]:
        """Return the next state of the radio, and surroundings with the neighbor tables."""
        if self.world.radio is None or state.radio is None:
            return None, [*surroundings]
        reports = team_radio.broadcast(state.groups, truths, self.roster, self.dt_s)
        key = fold_in_name(state.streams[team_radio.RADIO], Stream.STEP)
        radio, tables = run(self.world.radio, state.radio, reports, clock, key)
        tables = team_radio.advance(self.world.radio, tables, clock)
        return radio, [
            team_radio.with_neighbors(around, neighbors)
            for around, neighbors in zip(
                surroundings, team_radio.split(tables, self.groups), strict=True
            )
        ]

    def _begin(
        self,
        group: Group,
        processes: ProcessOutputs,
        neighbors: NeighborTable | None,
        key: PRNGKeyArray,
        *,
        has_partners: bool,
    ) -> VehicleState:
        start = group.map(_start, group.name_hashes)
        around = interactions.world_surroundings(self.world, group, start, processes.get(WAVES))
        (around,) = camera_bodies.with_body_index(self.renderer, self.world, [around])
        if has_partners:
            around = interactions.unknown_partners(around)
        around = team_radio.with_neighbors(around, neighbors)
        keys = jax.vmap(lambda name_hash: jax.random.fold_in(key, name_hash))(group.name_hashes)
        return group.map(
            lambda vehicle, own_around, own_key: vehicle_step.init(
                vehicle, self.world, own_around, processes, self.dt_s, own_key
            ),
            around,
            keys,
        )

    def truths(self, state: FleetState) -> list[Kinematics]:
        """Return the true motions of each group's vehicles."""
        return [g.map(_truth, s.dynamics) for g, s in zip(self.groups, state.groups, strict=True)]

    def _surroundings(
        self, state: FleetState, truths: Sequence[Kinematics], outputs: ProcessOutputs
    ) -> list[Surroundings]:
        inputs = [
            group.map(_interaction_input, vehicle_state.dynamics, truth)
            for group, vehicle_state, truth in zip(self.groups, state.groups, truths, strict=True)
        ]
        around = interactions.fleet_surroundings(
            world=self.world,
            groups=self.groups,
            present=inputs,
            time_s=self._clock(state).time_s,
            waves=outputs.get(WAVES),
            partners=self.partners,
        )
        return camera_bodies.with_body_index(self.renderer, self.world, around)

    def group_commands(self, commands: Mapping[str, Command]) -> list[tuple[ExternalCommand, ...]]:
        """Return commands by vehicle name as each group's commands: one entry per command type.

        Raises:
            CommandError: if there is no such vehicle.
        """
        for name in commands:
            self.locate(name)
        return [commands_of_group(group, commands) for group in self.groups]


def _limits(
    world: WorldModel,
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    around: Surroundings,
) -> tuple[Limit, ...]:
    return vehicle_step.limits(vehicle, world, state, truth, around)


def _act(
    clock: Clock,
    surface_near: Flag,
    vehicle: AssembledVehicle,
    state: VehicleState,
    truth: Kinematics,
    perceived: vehicle_step.Perception,
    commands: tuple[ExternalCommand, ...],
) -> tuple[VehicleState, Snapshot]:
    around = dataclasses.replace(perceived.surroundings, surface_near=surface_near)
    perceived = dataclasses.replace(perceived, surroundings=around)
    return vehicle_step.act(vehicle, state, truth, perceived, commands, clock)


def _truth(vehicle: AssembledVehicle, dynamics: ArrayTree) -> Kinematics:
    return vehicle.dynamics.kinematics(dynamics)


def _start(vehicle: AssembledVehicle, name_hash: jax.Array) -> Kinematics:
    del name_hash
    return as_arrays(vehicle.start.kinematics())


def _interaction_input(
    vehicle: AssembledVehicle, dynamics: ArrayTree, truth: Kinematics
) -> InteractionInput:
    wake, size_body_m = vehicle.dynamics.wake(dynamics), vehicle.dynamics.size_body_m
    return as_arrays(InteractionInput(truth, wake, size_body_m))


def scan_steps(
    step: Callable[[FleetState], tuple[FleetState, Outputs]],
    state: FleetState,
    steps: int,
    select: Callable[[Outputs], Selected],
) -> tuple[FleetState, Selected]:
    """Return the same as ``Fleet.rollout``, for any step function."""

    def body(carry: FleetState, _: None) -> tuple[FleetState, Selected]:
        later, outputs = step(carry)
        return later, select(outputs)

    # a gradient recomputes each step instead of storing its intermediate values: otherwise the
    # program, in which every stored value is an output, takes minutes to compile
    checkpointed = jax.checkpoint(body, prevent_cse=False)
    return jax.lax.scan(checkpointed, state, None, length=steps)
