"""Teams of vehicles, and the neighbor tables that they receive by radio."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Int, PRNGKeyArray

from kittiwake.core.component import Scheduled
from kittiwake.core.keys import fold_in_name
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.core.streams import Stream
from kittiwake.pytree import replace_unchecked
from kittiwake.sim.group import Group, name_hashes
from kittiwake.sim.schedule import Clock, ScheduledState, run
from kittiwake.sim.state import VehicleState
from kittiwake.world.radio import AbstractRadio, Broadcast
from kittiwake.world.surroundings import Surroundings

# the random stream of lost packets
RADIO = "radio"


class Membership(NamedTuple):
    """The team of a vehicle and the name of its leader."""

    team: str
    leader: str | None = None


def build_roster(names: Sequence[str], teams: Mapping[str, Membership]) -> Roster:
    """Return the roster of a fleet; a team's members are counted in the order of ``teams``."""
    return _roster(tuple(names), tuple(teams.items()))


@lru_cache(maxsize=4)
def _roster(names: tuple[str, ...], memberships: tuple[tuple[str, Membership], ...]) -> Roster:
    """Return the roster, which all draws of a scenario share."""
    teams = dict(memberships)
    alone = Membership("")
    members = [teams.get(name, alone) for name in names]
    indices = {name: index for index, name in enumerate(names)}
    team_names = sorted({member.team for member in {*members}})
    numbers = {name: number for number, name in enumerate(team_names)}
    team = np.array([numbers[member.team] for member in members], np.int32)
    counted = [indices[name] for name in teams if name in indices]
    counted += [indices[name] for name in names if name not in teams]
    ordered = np.array(counted, int)
    index_in_team = np.zeros(len(names), np.int32)
    for number in numbers.values():
        own = ordered[team[ordered] == number]
        index_in_team[own] = np.arange(len(own), dtype=np.int32)
    leaders = [indices[member.leader or name] for name, member in zip(names, members, strict=True)]
    return Roster(
        name_hash=name_hashes(names),
        team=_integers(team),
        index_in_team=_integers(index_in_team),
        size=_integers(np.bincount(team, minlength=1)[team]),
        leader=_integers(np.array(leaders)),
    )


def streams(radio: Scheduled[AbstractRadio] | None) -> tuple[str, ...]:
    """Return the names of the random streams of a world's radio."""
    return () if radio is None else (RADIO,)


@overload
def init(
    radio: Scheduled[AbstractRadio], roster: Roster, dt_s: float, key: PRNGKeyArray
) -> tuple[ScheduledState, NeighborTable]: ...
@overload
def init(
    radio: Scheduled[AbstractRadio] | None, roster: Roster, dt_s: float, key: PRNGKeyArray
) -> tuple[ScheduledState | None, NeighborTable | None]: ...
def init(
    radio: Scheduled[AbstractRadio] | None, roster: Roster, dt_s: float, key: PRNGKeyArray
) -> tuple[ScheduledState | None, NeighborTable | None]:
    """Return the radio's initial state and empty neighbor tables; None without a radio."""
    if radio is None:
        return None, None
    vehicles = len(roster.team)
    stream = fold_in_name(fold_in_name(key, Stream.WORLD.of(RADIO)), Stream.INIT)
    first = ScheduledState(radio.component.init(vehicles, dt_s * radio.every, stream))
    silent = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (vehicles, *leaf.shape)), StateReport.silent()
    )
    reports = Broadcast(
        silent, silent.position_world_m, jnp.zeros(vehicles, bool), roster, jnp.asarray(dt_s)
    )
    clock = Clock(jnp.asarray(0, jnp.int32), dt_s)
    shapes = jax.eval_shape(lambda: run(radio, first, reports, clock, stream))[1]
    empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return (first if radio.every == 1 else first.with_zero_output(shapes)), empty


def broadcast(
    groups: Sequence[VehicleState], truths: Sequence[Kinematics], roster: Roster, dt_s: float
) -> Broadcast:
    """Return what all vehicles sent at the previous step."""
    sent = [
        (state.broadcast, truth.position_world_m)
        for state, truth in zip(groups, truths, strict=True)
    ]
    reports, positions = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *sent)
    present = jnp.concatenate([state.status == 0 for state in groups])
    return Broadcast(reports, positions, present, roster, jnp.asarray(dt_s))


def split(neighbors: NeighborTable | None, groups: Sequence[Group]) -> list[NeighborTable | None]:
    """Return the neighbor tables of each group's vehicles."""
    if neighbors is None:
        return [None] * len(groups)
    ends = np.cumsum([len(group.names) for group in groups])
    begins = [0, *ends[:-1]]
    return [
        jax.tree.map(lambda leaf, a=begin, b=end: leaf[a:b], neighbors)
        for begin, end in zip(begins, ends, strict=True)
    ]


def advance(
    radio: Scheduled[AbstractRadio], neighbors: NeighborTable, clock: Clock
) -> NeighborTable:
    """Return the neighbor tables extrapolated from the last radio update to the present."""
    if radio.every == 1:
        return neighbors
    steps = jnp.asarray(clock.tick % radio.every, jnp.result_type(float))
    return jax.vmap(NeighborTable.after, (0, None))(neighbors, steps * clock.dt_s)


def with_neighbors(around: Surroundings, neighbors: NeighborTable | None) -> Surroundings:
    """Return surroundings that contain the neighbor tables."""
    return replace_unchecked(around, neighbors=neighbors)


def _integers(numbers: ArrayLike) -> Int[Array, " _"]:
    # kept with the roster, and therefore of no trace
    with jax.ensure_compile_time_eval():
        return jax.device_put(np.asarray(numbers, np.int32))
