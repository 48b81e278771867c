"""Many vehicles in one world, stepped together."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.contact.engine import AbstractContactEngine, AbstractPhysics
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import CommandError, PrecisionError, did_you_mean
from kittiwake.core.keys import named, named_each
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit
from kittiwake.core.neighbors import NeighborTable, Roster
from kittiwake.core.streams import Stream
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Count, Flag
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.renderer import AbstractRenderer, Rendering
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sim import camera_bodies, interactions, team_radio, vehicle_step
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.contact import GroupMotion, resolve_contacts
from kittiwake.sim.group import Group, grouped
from kittiwake.sim.schedule import Clock, Held, run
from kittiwake.sim.state import FleetState, Snapshot, VehicleState
from kittiwake.sim.team_radio import Membership
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.waves import WAVES
from kittiwake.world.world import World


class Perceived(eqx.Module):
    """What all vehicles see and believe at a tick, with the world's parts of the step to come."""

    processes: dict[str, Held]
    radio: Held | None
    surroundings: tuple[Surroundings, ...]
    groups: tuple[vehicle_step.Perception, ...]


class Fleet(eqx.Module):
    """Everything about a simulation that does not evolve, with its pure functions.

    ``init``, ``advance`` and ``rollout`` can be jitted, mapped and differentiated. They run in the
    floating-point mode that the fleet was built for. Worlds that are mapped over along a named
    ``shared_axis`` decide together what to compute.
    """

    world: World
    groups: tuple[Group, ...]
    engine: AbstractContactEngine | None
    partners: tuple[np.ndarray | None, ...]
    roster: Roster
    renderer: AbstractRenderer | None = eqx.field(static=True)
    rate_hz: float = eqx.field(static=True)
    single_precision: bool = eqx.field(static=True, default=False)
    shared_axis: str | None = eqx.field(static=True, default=None)
    commander: AbstractCommander | None = eqx.field(static=True, default=None)

    @classmethod
    def of(
        cls,
        world: World,
        vehicles: Mapping[str, Vehicle],
        rate_hz: float,
        physics: AbstractPhysics | None = None,
        partners: Mapping[str, str] = MappingProxyType({}),
        teams: Mapping[str, Membership] = MappingProxyType({}),
        rendering: Rendering | None = None,
        *,
        single_precision: bool = False,
        tunable: bool = False,
    ) -> "Fleet":
        """A fleet of these vehicles by name; those of equal structure are stepped as one.

        What they touch is their own affair if no physics is given. ``partners`` says of vehicles
        whose deck they follow: another vehicle's, or a platform's of the world. ``teams`` says who
        flies with whom; those of whom it says nothing are one team. ``rendering`` makes what draws
        for cameras, where there are some. Of a ``tunable`` fleet the vehicles' numbers are arrays.
        """
        dtype = np.dtype(np.float32 if single_precision else np.float64)
        with jax.enable_x64(not single_precision):
            groups = grouped(vehicles, dtype, tunable=tunable)
        ordered = {name: vehicles[name] for group in groups for name in group.names}
        engine = None if physics is None else physics.engine(world, ordered)
        decks = interactions.partners_of(world, groups, partners)
        renderer = camera_bodies.renderer_of(rendering, world, ordered)
        roster = team_radio.roster_of([*ordered], teams)
        return cls(world, groups, engine, decks, roster, renderer, rate_hz, single_precision)

    @property
    def names(self) -> tuple[str, ...]:
        """All vehicles' names, group by group."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def dt_s(self) -> float:
        """The physics step."""
        return 1.0 / self.rate_hz

    def init(self, key: PRNGKeyArray) -> FleetState:
        """The state at the start; each vehicle's streams follow from the key and its name."""
        self._check_precision()
        clock = Clock(jnp.asarray(0, jnp.int32), self.dt_s)
        evolving = [*self.world.processes, *team_radio.streams(self.world.radio)]
        called = named_each(key, [Stream.WORLD.of(name) for name in evolving])
        streams = {name: called[Stream.WORLD.of(name)] for name in evolving}
        processes = {
            name: Held(as_arrays(part.component.init(named(streams[name], Stream.INIT))))
            for name, part in self.world.processes.items()
        }
        form = jax.eval_shape(lambda: self._processed(processes, streams, clock))
        seen = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), form[1])
        if WAVES in self.world.processes:  # on which vessels begin
            seen[WAVES] = self._processed(processes, streams, clock)[1][WAVES]
        starts = [group.map(_start, group.name_hashes) for group in self.groups]
        seen |= camera_bodies.bodies(self.renderer, self.world, starts, clock)
        processes = {name: held.holding(form[0][name].output) for name, held in processes.items()}
        radio, peers = team_radio.begin(self.world.radio, self.roster, self.dt_s, key)
        groups = tuple(
            self._begin(group, seen, known, key, has_partners=partners is not None)
            for group, known, partners in zip(
                self.groups, team_radio.split(peers, self.groups), self.partners, strict=True
            )
        )
        state = FleetState(clock.tick, clock.tick, groups, processes, streams, radio)
        if self.commander is None:
            return state
        own = self.commander.begin(self, state, self.perceive(state), named(key, Stream.TASK))
        return dataclasses.replace(state, commander=as_arrays(own))

    def advance(self, state: FleetState, commands: Mapping[str, Any] | None = None) -> FleetState:
        """The state one step later; ``commands`` by vehicle name replace what guidance asks for."""
        return self.step(state, commands)[0]

    def step(
        self, state: FleetState, commands: Mapping[str, Any] | None = None
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """The state one step later, and what each group was, saw and did at this one."""
        return self.step_with_commands(state, self.orders(commands or {}))

    def step_with_commands(
        self, state: FleetState, orders: Sequence[tuple[vehicle_step.ExternalCommand, ...]]
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """The same under orders: of each group those of each kind, and who is to obey them."""
        perceived = self.perceive(state)
        if self.commander is None:
            return self.act(state, perceived, orders)
        own, signals = self.commander.command(self, state, perceived)
        own_orders = zip(self.groups, self.orders(signals), orders, strict=True)
        both = [_before(group, first, last) for group, first, last in own_orders]
        later, snapshots = self.act(state, perceived, both)
        own = as_arrays(self.commander.after(own, snapshots))
        return dataclasses.replace(later, commander=own), snapshots

    def perceive(self, state: FleetState) -> Perceived:
        """The first half of a step: what there is, and what all vehicles see and believe of it."""
        self._check_precision(state)
        clock = self._clock(state)
        truths = self.truths(state)
        processes, seen = self._processed(state.processes, state.streams, clock)
        surroundings = self._surroundings(state, truths, seen)
        seen |= camera_bodies.bodies(self.renderer, self.world, truths, clock)
        radio, surroundings = self._heard(state, truths, surroundings, clock)
        groups = tuple(
            group.map(partial(self._perceive, clock, seen), vehicle_state, truth, around)
            for group, vehicle_state, truth, around in zip(
                self.groups, state.groups, truths, surroundings, strict=True
            )
        )
        return Perceived(processes, radio, tuple(surroundings), groups)

    def act(
        self,
        state: FleetState,
        perceived: Perceived,
        orders: Sequence[tuple[vehicle_step.ExternalCommand, ...]],
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """The second half: guide, control and move."""
        clock = self._clock(state)
        truths = self.truths(state)
        outcomes = [
            group.map(
                partial(_act, clock, self._surface_near(group, truth, around)),
                *(vehicle_state, truth, own, order),
            )
            for group, vehicle_state, truth, around, own, order in zip(
                self.groups,
                state.groups,
                truths,
                perceived.surroundings,
                perceived.groups,
                orders,
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

    def jump_to_step(self, state: FleetState, name: str, step: str) -> FleetState:
        """The state in which a vehicle has been asked for a step of its mission.

        Raises:
            CommandError: if there is no such vehicle, or no such step.
        """
        return self._told(state, name, lambda guidance, own: guidance.jump_to_step(own, step))

    def with_active_behaviors(
        self, state: FleetState, name: str, behaviors: Sequence[str]
    ) -> FleetState:
        """The state in which only these of a vehicle's behaviors count.

        Raises:
            CommandError: if there is no such vehicle, or no such behavior.
        """
        return self._told(
            state, name, lambda guidance, own: guidance.with_active_behaviors(own, behaviors)
        )

    def _told(
        self, state: FleetState, name: str, change: Callable[[AbstractGuidance, Any], Any]
    ) -> FleetState:
        """With the state of one vehicle's guidance changed."""
        number, own = self.place(name)
        states = state.groups[number].guidance.state
        guidance = self.groups[number].vehicle.guidance.component
        one = jax.tree.map(lambda leaf: leaf[own], states)
        changed = change(guidance, one)
        told = jax.tree.map(lambda leaf, new: jnp.asarray(leaf).at[own].set(new), states, changed)
        return eqx.tree_at(lambda whole: whole.groups[number].guidance.state, state, told)

    def rollout(
        self,
        state: FleetState,
        steps: int,
        select: Callable[[tuple[Snapshot, ...]], Any] = lambda _: None,
    ) -> tuple[FleetState, Any]:
        """``steps`` steps in one loop, and what ``select`` keeps of each, stacked along time."""
        return rolled(self.step, state, steps, select)

    def limits(self, state: FleetState) -> tuple[tuple[Limit, ...], ...]:
        """What each group's vehicles are judged by; ``status`` counts these, from 1."""
        self._check_precision(state)
        truths = self.truths(state)
        clock = self._clock(state)
        seen = self._processed(state.processes, state.streams, clock)[1]
        surroundings = self._surroundings(state, truths, seen)
        return tuple(
            as_arrays(group.map(partial(_limits, self.world), vehicle_state, truth, around))
            for group, vehicle_state, truth, around in zip(
                self.groups, state.groups, truths, surroundings, strict=True
            )
        )

    def place(self, name: str) -> tuple[int, int]:
        """The group of a vehicle, and its lane there.

        Raises:
            CommandError: if there is no such vehicle; the message names the nearest one.
        """
        for number, group in enumerate(self.groups):
            if name in group.names:
                return number, group.names.index(name)
        message = f"there is no vehicle '{name}'. {did_you_mean(name, list(self.names))}"
        raise CommandError(message)

    def reset_at_tick(self, state: FleetState, tick: Count) -> FleetState:
        """A state that begins on a clock which stands at a tick already.

        What runs less often than at each step runs when it begins, and then again as soon as the
        clock says: its first period may be shorter.
        """
        ran = self.step(state)[0]

        def own(scheduled: Scheduled[Any], fresh: Held, after: Held) -> Held:
            if scheduled.every == 1:
                return fresh
            due = jnp.asarray(tick) % scheduled.every == 0
            return tree_where(due, fresh, match_dtypes(after, fresh))

        groups = tuple(
            group.map(partial(vehicle_step.merge_reset, own), begun, after)
            for group, begun, after in zip(self.groups, state.groups, ran.groups, strict=True)
        )
        processes = {
            name: own(part, state.processes[name], ran.processes[name])
            for name, part in self.world.processes.items()
        }
        radio = state.radio
        if self.world.radio is not None and radio is not None and ran.radio is not None:
            radio = own(self.world.radio, radio, ran.radio)
        begun_at = jnp.asarray(tick, jnp.int32)
        return dataclasses.replace(
            state, tick=begun_at, began=begun_at, groups=groups, processes=processes, radio=radio
        )

    def _clock(self, state: FleetState) -> Clock:
        return Clock(state.tick, self.dt_s, state.began)

    def _surface_near(self, group: Group, truth: Kinematics, around: Surroundings) -> Flag:
        """Whether any vehicle of a group may touch what it stands on, which no engine is to do."""
        if self.engine is not None:
            return False
        near = interactions.surface_near(group, truth, around, self.dt_s)
        if self.shared_axis is None or isinstance(near, bool):
            return near
        return jax.lax.pmax(near.astype(jnp.int32), self.shared_axis) > 0

    def _perceive(
        self,
        clock: Clock,
        processes: dict[str, Any],
        vehicle: Vehicle,
        state: VehicleState,
        truth: Kinematics,
        around: Surroundings,
    ) -> vehicle_step.Perception:
        return vehicle_step.perceive(vehicle, self.world, state, truth, around, processes, clock)

    def _processed(
        self, held: dict[str, Held], streams: dict[str, PRNGKeyArray], clock: Clock
    ) -> tuple[dict[str, Held], dict[str, Any]]:
        """What evolves in the world: its state and what there is to see of it, by name."""
        later: dict[str, Held] = {}
        seen: dict[str, Any] = {}
        for name, part in self.world.processes.items():
            later[name], seen[name] = run(part, held[name], clock.time_s, clock, streams[name])
        return later, seen

    def _heard(
        self,
        state: FleetState,
        truths: Sequence[Kinematics],
        surroundings: Sequence[Surroundings],
        clock: Clock,
    ) -> tuple[Held | None, list[Surroundings]]:
        """The radio, and the surroundings of vehicles that know what it told them."""
        if self.world.radio is None or state.radio is None:
            return None, [*surroundings]
        told = team_radio.broadcast(state.groups, truths, self.roster, self.dt_s)
        key = named(state.streams[team_radio.RADIO], Stream.STEP)
        radio, peers = run(self.world.radio, state.radio, told, clock, key)
        each = team_radio.split(team_radio.advance(self.world.radio, peers, clock), self.groups)
        return radio, [
            team_radio.with_neighbors(*one) for one in zip(surroundings, each, strict=True)
        ]

    def _begin(
        self,
        group: Group,
        processes: dict[str, Any],
        peers: NeighborTable | None,
        key: PRNGKeyArray,
        *,
        has_partners: bool,
    ) -> VehicleState:
        start = group.map(_start, group.name_hashes)
        around = interactions.alone(self.world, group, start, processes.get(WAVES))
        (around,) = camera_bodies.numbered(self.renderer, self.world, [around])
        if has_partners:
            around = interactions.unknown_partners(around)
        around = team_radio.with_neighbors(around, peers)
        keys = jax.vmap(lambda name_hash: jax.random.fold_in(key, name_hash))(group.name_hashes)
        return group.map(
            lambda vehicle, here, own: vehicle_step.begin(
                vehicle, self.world, here, processes, self.dt_s, own
            ),
            *(around, keys),
        )

    def truths(self, state: FleetState) -> list[Kinematics]:
        """How each group's vehicles move."""
        return [g.map(_truth, s.dynamics) for g, s in zip(self.groups, state.groups, strict=True)]

    def _surroundings(
        self, state: FleetState, truths: Sequence[Kinematics], seen: dict[str, Any]
    ) -> list[Surroundings]:
        present = [
            group.map(_presence, vehicle_state.dynamics, truth)
            for group, vehicle_state, truth in zip(self.groups, state.groups, truths, strict=True)
        ]
        time_s = self._clock(state).time_s
        around = interactions.together(
            *(self.world, self.groups, present, time_s, seen.get(WAVES), self.partners)
        )
        return camera_bodies.numbered(self.renderer, self.world, around)

    def orders(self, commands: Mapping[str, Any]) -> list[tuple[vehicle_step.ExternalCommand, ...]]:
        """Commands by vehicle name as each group's orders.

        Raises:
            CommandError: if there is no such vehicle.
        """
        for name in commands:
            self.place(name)
        return [_group_orders(group, commands) for group in self.groups]

    def _check_precision(self, state: FleetState | None = None) -> None:
        wanted = jnp.dtype(jnp.float32 if self.single_precision else jnp.float64)
        for leaf in jax.tree.leaves(state):
            if jnp.issubdtype(leaf.dtype, jnp.floating) and leaf.dtype != wanted:
                message = (
                    f"this state holds {leaf.dtype} numbers, the simulation computes in {wanted}; "
                    "take the state from its own init"
                )
                raise PrecisionError(message)
        if jax.config.read("jax_enable_x64") == self.single_precision:
            asked, now = ("32", "64") if self.single_precision else ("64", "32")
            message = (
                f"this simulation computes in float{asked}, but JAX is in float{now} mode. Call it "
                f"inside 'with jax.enable_x64({not self.single_precision}):', or load the scenario "
                f'with precision="float{now}".'
            )
            raise PrecisionError(message)


def _limits(
    world: World, vehicle: Vehicle, state: VehicleState, truth: Kinematics, around: Surroundings
) -> tuple[Limit, ...]:
    return vehicle_step.limits(vehicle, world, state, truth, around)


def _act(
    clock: Clock,
    surface_near: Flag,
    vehicle: Vehicle,
    state: VehicleState,
    truth: Kinematics,
    perceived: vehicle_step.Perception,
    orders: tuple[vehicle_step.ExternalCommand, ...],
) -> tuple[VehicleState, Snapshot]:
    around = dataclasses.replace(perceived.surroundings, surface_near=surface_near)
    perceived = dataclasses.replace(perceived, surroundings=around)
    return vehicle_step.act(vehicle, state, truth, perceived, orders, clock)


def _truth(vehicle: Vehicle, dynamics: Any) -> Kinematics:
    return vehicle.dynamics.kinematics(dynamics)


def _start(vehicle: Vehicle, name_hash: jax.Array) -> Kinematics:
    del name_hash
    return as_arrays(vehicle.start.kinematics())


def _presence(vehicle: Vehicle, dynamics: Any, truth: Kinematics) -> InteractionInput:
    body = vehicle.dynamics
    return as_arrays(InteractionInput(truth, body.wake(dynamics), body.size_body_m))


def _group_orders(
    group: Group, commands: Mapping[str, Any]
) -> tuple[vehicle_step.ExternalCommand, ...]:
    given = {name: commands[name] for name in group.names if name in commands}
    orders: list[vehicle_step.ExternalCommand] = []
    for kind in dict.fromkeys(type(signal) for signal in given.values()):
        fitting = {name: signal for name, signal in given.items() if type(signal) is kind}
        # vehicles that this order does not address compute with anybody's and discard it
        filler = next(iter(fitting.values()))
        lanes = [fitting.get(name, filler) for name in group.names]
        signal = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *lanes)
        addressed = jnp.asarray([name in fitting for name in group.names])
        orders.append(
            vehicle_step.ExternalCommand(
                signal, None if len(fitting) == len(group.names) else addressed
            )
        )
    return tuple(orders)


def _before(
    group: Group,
    first: tuple[vehicle_step.ExternalCommand, ...],
    last: tuple[vehicle_step.ExternalCommand, ...],
) -> tuple[vehicle_step.ExternalCommand, ...]:
    """Both orders of a group, of which the last ones count where they address a vehicle."""
    if not last:
        return first
    everybody = jnp.ones(len(group.names), bool)
    named_ones = (
        one if one.addressed is not None else vehicle_step.ExternalCommand(one.command, everybody)
        for one in first
    )
    return (*named_ones, *last)


def rolled(
    step: Callable[[FleetState], tuple[FleetState, tuple[Snapshot, ...]]],
    state: FleetState,
    steps: int,
    select: Callable[[tuple[Snapshot, ...]], Any],
) -> tuple[FleetState, Any]:
    """``Fleet.rollout`` with its ``step``, or with one that was traced before."""

    def once(carried: FleetState, _: None) -> tuple[FleetState, Any]:
        later, snapshots = step(carried)
        return later, select(snapshots)

    # a gradient computes each step again instead of keeping what lies inside it: without this
    # its program, in which every kept number is an output, takes minutes to compile
    forgetful = jax.checkpoint(once, prevent_cse=False)
    return jax.lax.scan(forgetful, state, None, length=steps)
