"""Many vehicles in one world: groups of equal structure, mapped over, and stepped together."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractComponent, AbstractDynamics
from kittiwake.core.errors import CommandError, PrecisionError, did_you_mean
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.core.presence import Presence
from kittiwake.core.support import Support
from kittiwake.core.surroundings import Surroundings
from kittiwake.core.vehicle import Vehicle
from kittiwake.core.world import World
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.sim import lane
from kittiwake.sim.schedule import Clock, Held, strong
from kittiwake.sim.state import FleetState, Snapshot, VehicleState


class Group(eqx.Module):
    """Vehicles of equal structure.

    The parameters of a component that all of them share stay plain numbers, which the compiler
    folds in. Others are stacked along the vehicles' axis even where they are equal: what the
    compiler makes of one vehicle then does not depend on the numbers of another.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    stacked: tuple[bool, ...] = eqx.field(static=True)
    vehicle: Vehicle
    name_hashes: jax.Array

    def map(self, function: Callable[..., Any], *over: Any) -> Any:
        """``function(vehicle, *over)`` for each vehicle; ``over`` has leading vehicle axes."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        varying = [
            leaf for leaf, is_stacked in zip(leaves, self.stacked, strict=True) if is_stacked
        ]

        def one(own: list[Any], *slices: Any) -> Any:
            remaining = iter(own)
            mine = [
                next(remaining) if is_stacked else leaf
                for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
            ]
            return function(jax.tree.unflatten(treedef, mine), *slices)

        # behind the barrier, numbers that happen to be equal are not folded into the program
        return jax.vmap(one)(jax.lax.optimization_barrier(varying), *over)

    def member(self, lane: int) -> Vehicle:
        """One of the vehicles."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        own = [
            leaf[lane] if is_stacked else leaf
            for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
        ]
        return jax.tree.unflatten(treedef, own)


class Fleet(eqx.Module):
    """Everything about a simulation that does not evolve, with its pure functions.

    ``init``, ``advance`` and ``rollout`` can be jitted, mapped and differentiated. They run in the
    floating-point mode that the fleet was built for.
    """

    world: World
    groups: tuple[Group, ...]
    rate_hz: float = eqx.field(static=True)
    single_precision: bool = eqx.field(static=True, default=False)

    @classmethod
    def of(
        cls,
        world: World,
        vehicles: Mapping[str, Vehicle],
        rate_hz: float,
        *,
        single_precision: bool = False,
    ) -> "Fleet":
        """A fleet of these vehicles by name; those of equal structure are stepped as one."""
        dtype = np.dtype(np.float32 if single_precision else np.float64)
        alike: dict[Any, dict[str, Vehicle]] = {}
        for name, vehicle in vehicles.items():
            alike.setdefault(_structure(vehicle), {})[name] = vehicle
        with jax.enable_x64(not single_precision):
            groups = tuple(_group(members, dtype) for members in alike.values())
        return cls(world, groups, rate_hz, single_precision)

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
        groups = tuple(self._begin(group, key) for group in self.groups)
        state = FleetState(jnp.asarray(0, jnp.int32), groups)
        # a component that does not run at every step holds an output, whose form is known only
        # from a first step; its value is replaced before it is used, because it counts as stale
        held = jax.eval_shape(lambda s: self.step(s)[0], state)
        return _with_outputs(state, held)

    def advance(self, state: FleetState, commands: Mapping[str, Any] | None = None) -> FleetState:
        """The state one step later; ``commands`` by vehicle name replace what guidance asks for."""
        return self.step(state, commands)[0]

    def step(
        self, state: FleetState, commands: Mapping[str, Any] | None = None
    ) -> tuple[FleetState, tuple[Snapshot, ...]]:
        """The state one step later, and what each group was, saw and did at this one."""
        self._check_precision(state)
        clock = Clock(state.tick, self.dt_s)
        truths = self.truths(state)
        surroundings = self._surroundings(self._presences(state, truths), clock.time_s)
        orders = self._orders(commands or {})
        outcomes = [
            group.map(
                partial(self._live, clock, self._surface_near(group, truth, around)),
                *(vehicle_state, truth, around, order),
            )
            for group, vehicle_state, truth, around, order in zip(
                self.groups, state.groups, truths, surroundings, orders, strict=True
            )
        ]
        later = FleetState(state.tick + 1, tuple(outcome[0] for outcome in outcomes))
        return later, tuple(outcome[1] for outcome in outcomes)

    def rollout(
        self,
        state: FleetState,
        steps: int,
        select: Callable[[tuple[Snapshot, ...]], Any] = lambda _: None,
    ) -> tuple[FleetState, Any]:
        """``steps`` steps in one loop, and what ``select`` keeps of each, stacked along time."""

        def once(carried: FleetState, _: None) -> tuple[FleetState, Any]:
            later, snapshots = self.step(carried)
            return later, select(snapshots)

        # a gradient computes each step again instead of keeping what lies inside it: without this
        # its program, in which every kept number is an output, takes minutes to compile
        forgetful = jax.checkpoint(once, prevent_cse=False)
        return jax.lax.scan(forgetful, state, None, length=steps)

    def limits(self, state: FleetState) -> tuple[tuple[Limit, ...], ...]:
        """What each group's vehicles are judged by; ``status`` counts these, from 1."""
        self._check_precision(state)
        truths = self.truths(state)
        time_s = Clock(state.tick, self.dt_s).time_s
        surroundings = self._surroundings(self._presences(state, truths), time_s)
        return tuple(
            strong(group.map(partial(_limits, self.world), vehicle_state, truth, around))
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

    def _live(
        self,
        clock: Clock,
        surface_near: Flag,
        vehicle: Vehicle,
        state: VehicleState,
        truth: Kinematics,
        around: Surroundings,
        orders: tuple[lane.Order, ...],
    ) -> tuple[VehicleState, Snapshot]:
        around = dataclasses.replace(around, surface_near=surface_near)
        return lane.live(vehicle, self.world, state, truth, around, orders, clock)

    def _begin(self, group: Group, key: PRNGKeyArray) -> VehicleState:
        start = group.map(_start, group.name_hashes)
        around = self._world_around(group, start)
        keys = jax.vmap(lambda name_hash: jax.random.fold_in(key, name_hash))(group.name_hashes)
        return group.map(lane.begin, around, keys)

    def truths(self, state: FleetState) -> list[Kinematics]:
        """How each group's vehicles move."""
        return [g.map(_truth, s.dynamics) for g, s in zip(self.groups, state.groups, strict=True)]

    def _presences(self, state: FleetState, truths: Sequence[Kinematics]) -> list[Presence]:
        return [
            group.map(_presence, vehicle_state.dynamics, truth)
            for group, vehicle_state, truth in zip(self.groups, state.groups, truths, strict=True)
        ]

    def _world_around(self, group: Group, truth: Kinematics) -> Surroundings:
        return group.map(partial(_around, self.world), truth)

    def _surroundings(self, present: Sequence[Presence], time_s: Real) -> list[Surroundings]:
        """Each group's surroundings: the world's, then what vehicles do to each other."""
        around = [
            self._world_around(group, presence.motion)
            for group, presence in zip(self.groups, present, strict=True)
        ]
        decks = self._decks(present, time_s)
        if decks is not None:
            around = [
                jax.vmap(partial(_beside, decks))(own, presence.motion, here)
                for own, presence, here in zip(self._own_decks(), present, around, strict=True)
            ]
        if not self.world.interactions:
            return around
        everyone = _joined(present)
        shared = _joined(around)
        for interaction in self.world.interactions:
            shared = interaction(everyone, shared)
        return _split(shared, [len(group.names) for group in self.groups])

    def _surface_near(self, group: Group, truth: Kinematics, around: Surroundings) -> Flag:
        """Whether any vehicle of a group may touch a surface in the step that begins."""
        if group.member(0).dynamics.reach_m is None:
            return False
        return jnp.any(group.map(partial(_near, self.dt_s), truth, around))

    def _decks(self, present: Sequence[Presence], time_s: Real) -> Support | None:
        """All that can be stood on beside the ground, along a leading axis; None if nothing can."""
        platforms = [strong(platform.support(time_s)) for platform in self.world.platforms]
        found = [jax.tree.map(lambda leaf: leaf[None], support) for support in platforms]
        found += [
            group.map(_deck, presence.motion)
            for group, presence in zip(self.groups, present, strict=True)
            if group.vehicle.dynamics.deck is not None
        ]
        return _joined(found) if found else None

    def _own_decks(self) -> list[jax.Array]:
        """Of each group's vehicles, which of the decks each carries itself; -1 for none."""
        count = len(self.world.platforms)
        own: list[jax.Array] = []
        for group in self.groups:
            carries, size = group.vehicle.dynamics.deck is not None, len(group.names)
            own.append(count + jnp.arange(size) if carries else jnp.full(size, -1))
            count += size if carries else 0
        return own

    def _orders(self, commands: Mapping[str, Any]) -> list[tuple[lane.Order, ...]]:
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
    return lane.limits(vehicle, world, state, truth, around)


def _truth(vehicle: Vehicle, dynamics: Any) -> Kinematics:
    return vehicle.dynamics.kinematics(dynamics)


def _start(vehicle: Vehicle, name_hash: jax.Array) -> Kinematics:
    del name_hash
    return strong(vehicle.start.kinematics())


def _presence(vehicle: Vehicle, dynamics: Any, truth: Kinematics) -> Presence:
    return strong(Presence(truth, vehicle.dynamics.wake(dynamics)))


def _around(world: World, vehicle: Vehicle, truth: Kinematics) -> Surroundings:
    return strong(world.surroundings(truth, vehicle.dynamics.size_body_m))


def _deck(vehicle: Vehicle, truth: Kinematics) -> Support:
    deck = vehicle.dynamics.deck
    assert deck is not None
    return strong(deck.carried_by(truth))


def _beside(
    decks: Support, own: jax.Array, truth: Kinematics, around: Surroundings
) -> Surroundings:
    """The surroundings of a vehicle with the nearest deck that it does not carry itself."""
    position = truth.position_world_m
    # a rectangle of negative length is infinitely far away and covers nothing
    length_m = jnp.where(jnp.arange(jnp.size(decks.length_m)) == own, -jnp.inf, decks.length_m)
    decks = eqx.tree_at(lambda all_decks: all_decks.length_m, decks, length_m)
    nearest = jnp.argmin(jax.vmap(lambda deck: deck.distance2_m2(position))(decks))
    return around.beside(jax.tree.map(lambda leaf: leaf[nearest], decks), position)


def _near(dt_s: float, vehicle: Vehicle, truth: Kinematics, around: Surroundings) -> Flag:
    reach_m = vehicle.dynamics.reach_m
    assert reach_m is not None
    return around.surface_within(reach_m, truth.position_world_m, truth.velocity_world_mps, dt_s)


def _structure(vehicle: Vehicle) -> Any:
    leaves, treedef = jax.tree.flatten(vehicle)
    return treedef, tuple(np.shape(leaf) for leaf in leaves)


def _group(members: Mapping[str, Vehicle], dtype: np.dtype[Any]) -> Group:
    trees = list(members.values())
    treedef = jax.tree.structure(trees[0])
    columns = list(zip(*(jax.tree.leaves(tree) for tree in trees), strict=True))
    stacked = _stacked(trees)
    leaves = [
        _number(np.stack(c), dtype) if is_stacked else _number(c[0], dtype)
        for c, is_stacked in zip(columns, stacked, strict=True)
    ]
    hashes = jnp.asarray([crc32(name.encode()) for name in members], jnp.uint32)
    return Group(tuple(members), stacked, jax.tree.unflatten(treedef, leaves), hashes)


def _stacked(vehicles: Sequence[Vehicle]) -> tuple[bool, ...]:
    """For each leaf, whether the component that it belongs to is not one object for all."""
    parts = [jax.tree.flatten(vehicle, is_leaf=_is_component)[0] for vehicle in vehicles]
    return tuple(
        any(part is not column[0] for part in column)
        for column in zip(*parts, strict=True)
        for _ in jax.tree.leaves(column[0])
    )


def _is_component(node: Any) -> bool:
    return isinstance(node, AbstractComponent | AbstractDynamics | Start)


def _number(leaf: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as it is; an array of floats in the working precision."""
    if isinstance(leaf, bool | int | float):
        return leaf
    array = np.asarray(leaf)
    floating = np.issubdtype(array.dtype, np.floating)
    return jnp.asarray(array.astype(dtype) if floating else array)


def _group_orders(group: Group, commands: Mapping[str, Any]) -> tuple[lane.Order, ...]:
    given = {name: commands[name] for name in group.names if name in commands}
    orders: list[lane.Order] = []
    for kind in dict.fromkeys(type(signal) for signal in given.values()):
        fitting = {name: signal for name, signal in given.items() if type(signal) is kind}
        # vehicles that this order does not address compute with anybody's and discard it
        filler = next(iter(fitting.values()))
        lanes = [fitting.get(name, filler) for name in group.names]
        signal = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *lanes)
        addressed = np.asarray([name in fitting for name in group.names])
        orders.append(lane.Order(signal, jnp.asarray(addressed)))
    return tuple(orders)


def _with_outputs(state: FleetState, shapes: FleetState) -> FleetState:
    def fill(held: Held, shape: Held) -> Held:
        output = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shape.output)
        return Held(held.state, output, held.stale)

    return jax.tree.map(
        lambda held, shape: fill(held, shape) if isinstance(held, Held) else held,
        state,
        shapes,
        is_leaf=lambda node: isinstance(node, Held),
    )


def _joined(parts: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


def _split(whole: Any, sizes: list[int]) -> list[Any]:
    ends = np.cumsum(sizes)
    return [
        jax.tree.map(lambda leaf, a=end - size, b=end: leaf[a:b], whole)
        for size, end in zip(sizes, ends, strict=True)
    ]
