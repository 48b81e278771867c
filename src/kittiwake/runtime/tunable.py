"""A compiled flight whose numbers can be changed while it goes on.

``Program`` folds what a scenario says into the program, so that a flight of its own is as fast as
it can be. Here the numbers of vehicles, wind and current are arguments, and so are commands: who is
to obey which of all signals that it could follow.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import zero_command
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.commands import SIGNALS, leads_down, numbers_of, refuse_dead_ends
from kittiwake.runtime.program import violation_among
from kittiwake.runtime.state_transfer import exchanged
from kittiwake.runtime.watch import Violation
from kittiwake.sim.fleet import Fleet, rolled
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState
from kittiwake.sim.vehicle_step import ExternalCommand


class Written(NamedTuple):
    """Signals of one kind as rows of numbers, one for each vehicle of a group, and who obeys."""

    numbers: np.ndarray
    addressed: np.ndarray


class LiveProgram:
    """Blocks of ``steps`` steps of a tunable fleet."""

    def __init__(
        self, fleet: Fleet, vehicles: Mapping[str, Vehicle], steps: int, seed: int
    ) -> None:
        self.fleet = fleet
        # a method of a fleet takes its time, which blocks of a few steps do not have
        self._places = {name: fleet.place(name) for name in fleet.names}
        self._kinds = [takes(vehicles[group.names[0]]) for group in fleet.groups]
        self._vehicles = vehicles
        self._limits = jax.jit(lambda state: fleet.limits(state))
        with self._mode():
            self._numbers = _numbers(fleet)
            self._init = jax.jit(partial(_begun, fleet))
            self._key = seed_key(seed)
            # in which what another fleet does not remember begins
            self.fresh = self._begun(_starts(fleet))
            step = jax.jit(self._step)
            orders = self._written({})
            self._asked: tuple[Mapping[str, Any], Any] = ({}, orders)
            snapshots = jax.eval_shape(step, self._numbers, self.fresh, orders)[1]
            names = columns(fleet, snapshots)
            self.columns = {
                name: ("time_s", *group_names)
                for group, group_names in zip(fleet.groups, names, strict=True)
                for name in group.names
            }
            kept = partial(rows, fleet)

            def flown(numbers: Any, state: FleetState, orders: Any) -> tuple[FleetState, Any]:
                return rolled(lambda now: step(numbers, now, orders), state, steps, kept)

            self._block = jax.jit(flown).lower(self._numbers, self.fresh, orders).compile()

    def fits(self, fleet: Fleet) -> bool:
        """Whether another fleet differs in numbers only, so that it can be flown by ``tune``."""
        with self._mode():
            return _frame_of(fleet) == _frame_of(self.fleet) and _same_rest(fleet, self.fleet)

    def begin_anew(self, fleet: Fleet, vehicles: Mapping[str, Vehicle], seed: int) -> None:
        """The same for another flight, with a seed of its own."""
        self.tune(fleet, vehicles)
        with self._mode():
            self._key = seed_key(seed)
            self.fresh = self._begun(_starts(fleet))

    def tune(self, fleet: Fleet, vehicles: Mapping[str, Vehicle]) -> None:
        """Goes on with the numbers of a fleet that fits."""
        with self._mode():
            self._numbers = _numbers(fleet)
        self.fleet, self._vehicles = fleet, vehicles

    def placed(self, state: FleetState, vehicle: str, start: Start) -> FleetState:
        """The state in which a vehicle begins anew somewhere; only its guidance goes on."""
        number, lane = self._places[vehicle]
        with self._mode():
            starts = _starts(self.fleet)
            there = jax.tree.map(lambda leaf, new: np.full_like(leaf, new), starts[number], start)
            starts[number] = exchanged(starts[number], there, lane)
            begun, before = self._begun(starts).groups[number], state.groups[number]
            kept = before.guidance, before.streams
            fresh = eqx.tree_at(lambda own: (own.guidance, own.streams), begun, kept)
            group = exchanged(before, fresh, lane)
            return eqx.tree_at(lambda whole: whole.groups[number], state, group)

    def check(self, vehicle: str, signal: Any) -> None:
        """Refuses what a vehicle cannot be commanded by.

        Raises:
            CommandError: for a signal with numbers that are not allowed.
            LadderError: for one of a kind that it does not take.
        """
        numbers_of({vehicle: signal}, self._vehicles)
        if type(signal) not in self._kinds[self._places[vehicle][0]]:
            refuse_dead_ends(((vehicle, type(signal)),), self._vehicles)

    def fly(
        self, state: FleetState, commands: Mapping[str, Any]
    ) -> tuple[FleetState, list[np.ndarray]]:
        """The state after a block, and each group's rows; commands by vehicle hold all the time.

        Raises:
            CommandError: for what no vehicle can take.
        """
        if commands != self._asked[0]:
            self._asked = dict(commands), self._written(commands)
        with self._mode():
            later, recorded = self._block(self._numbers, state, self._asked[1])
            return later, [np.asarray(group, np.float64) for group in recorded]

    def violations(self, state: FleetState) -> Violation:
        """A function of a vehicle and a status that says which limit it has left."""
        with self._mode():
            return violation_among(self.fleet, self._limits(state))

    def _step(self, numbers: Any, state: FleetState, orders: Any) -> Any:
        fleet = _with(self.fleet, numbers)
        given = [
            tuple(
                ExternalCommand(jax.vmap(partial(_signal, kind))(own.numbers), own.addressed)
                for kind, own in zip(kinds, written, strict=True)
            )
            for kinds, written in zip(self._kinds, orders, strict=True)
        ]
        return fleet.step_with_commands(state, given)

    def _written(self, commands: Mapping[str, Any]) -> list[list[Written]]:
        """Commands as arrays; what is not addressed asks for nothing."""
        dtype = np.float32 if self.fleet.single_precision else np.float64
        written = [
            [
                Written(
                    np.tile(np.asarray(_nothing(kind), dtype), (len(group.names), 1)),
                    np.zeros(len(group.names), bool),
                )
                for kind in kinds
            ]
            for group, kinds in zip(self.fleet.groups, self._kinds, strict=True)
        ]
        for name, signal in commands.items():
            number, lane = self._places[name]
            own = written[number][self._kinds[number].index(type(signal))]
            own.numbers[lane] = numbers_of({name: signal}, self._vehicles)
            own.addressed[lane] = True
        return written

    def _begun(self, starts: list[Start]) -> FleetState:
        return self._init(self._numbers, starts, self._key)

    def _mode(self) -> Any:
        return jax.enable_x64(not self.fleet.single_precision)


def takes(vehicle: Vehicle) -> tuple[type, ...]:
    """The kinds of signals that a vehicle can be commanded by, from high to low."""
    return tuple(kind for kind in SIGNALS if leads_down(kind, vehicle))


def _signal(kind: type, numbers: jax.Array) -> Any:
    """A signal of its numbers."""
    return from_columns(kind, dict(zip(column_names(kind), numbers, strict=True)))


def _nothing(kind: type) -> list[float]:
    """The numbers of a signal that asks for nothing."""
    columns = to_columns(zero_command(kind))
    return [float(columns[name]) for name in column_names(kind)]


def _tunable_parts(fleet: Fleet) -> Any:
    return [group.vehicle for group in fleet.groups], fleet.world.wind, fleet.world.current


def _numbers(fleet: Fleet) -> Any:
    return as_arrays(_tunable_parts(fleet))


def _with(fleet: Fleet, parts: Any) -> Fleet:
    vehicles, wind, current = parts
    groups = [
        replace(group, vehicle=own) for group, own in zip(fleet.groups, vehicles, strict=True)
    ]
    world = replace(fleet.world, wind=wind, current=current)
    return replace(fleet, groups=tuple(groups), world=world)


def _starts(fleet: Fleet) -> list[Start]:
    """Of each group's vehicles, along an axis."""
    dtype = np.float32 if fleet.single_precision else np.float64
    return [
        jax.tree.map(
            lambda *own: np.stack(own).astype(dtype),
            *(group.member(lane).start for lane in range(len(group.names))),
        )
        for group in fleet.groups
    ]


def _begun(fleet: Fleet, numbers: Any, starts: list[Start], key: PRNGKeyArray) -> FleetState:
    """The state at the start, with these numbers, from these places."""
    tuned = _with(fleet, numbers)
    groups = [group.starting(own) for group, own in zip(tuned.groups, starts, strict=True)]
    return replace(tuned, groups=tuple(groups)).init(key)


def _frame_of(fleet: Fleet) -> Any:
    """What arrays a program was compiled for."""
    shapes = [(np.shape(leaf), jnp.result_type(leaf)) for leaf in jax.tree.leaves(_numbers(fleet))]
    return jax.tree.structure(fleet), shapes


def _same_rest(one: Fleet, other: Fleet) -> bool:
    """Whether what was folded in is the same."""
    rests = (
        jax.tree.leaves(_with(fleet, jax.tree.map(lambda _: 0.0, _tunable_parts(fleet))))
        for fleet in (one, other)
    )
    return all(np.array_equal(a, b) for a, b in zip(*rests, strict=True))
