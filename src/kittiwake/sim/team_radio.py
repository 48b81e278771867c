"""Who flies with whom, and what vehicles hear of each other."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import Scheduled
from kittiwake.core.keys import named
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.core.streams import Stream
from kittiwake.sim.group import Group, name_hash
from kittiwake.sim.schedule import Clock, Held, run
from kittiwake.sim.state import VehicleState
from kittiwake.world.radio import AbstractRadio, Broadcast
from kittiwake.world.surroundings import Surroundings

# the stream of what is lost on the way
RADIO = "radio"


class Membership(NamedTuple):
    """Which team a vehicle belongs to, and whom it follows."""

    team: str
    leader: str | None = None


def roster_of(names: Sequence[str], teams: Mapping[str, Membership]) -> Roster:
    """Who belongs together; a team's members are counted as ``teams`` names them."""
    members = {name: teams.get(name, Membership("")) for name in names}
    places = {name: place for place, name in enumerate(names)}
    kinds = sorted({member.team for member in members.values()})
    counted = [name for name in teams if name in places]
    counted += [name for name in names if name not in teams]
    crews = {kind: [name for name in counted if members[name].team == kind] for kind in kinds}
    number = {name: place for crew in crews.values() for place, name in enumerate(crew)}
    return Roster(
        name_hash=jnp.asarray([name_hash(name) for name in names], jnp.uint32),
        team=_whole([kinds.index(members[name].team) for name in names]),
        number=_whole([number[name] for name in names]),
        size=_whole([len(crews[members[name].team]) for name in names]),
        leader=_whole([places[members[name].leader or name] for name in names]),
    )


def streams(radio: Scheduled[AbstractRadio] | None) -> tuple[str, ...]:
    """The streams of a world's radio."""
    return () if radio is None else (RADIO,)


def begin(
    radio: Scheduled[AbstractRadio] | None, roster: Roster, dt_s: float, key: PRNGKeyArray
) -> tuple[Held | None, NeighborTable | None]:
    """The radio before the first step, and what vehicles know then: nothing."""
    if radio is None:
        return None, None
    vehicles = len(roster.team)
    stream = named(named(key, Stream.WORLD.of(RADIO)), Stream.INIT)
    first = Held(radio.component.begin(vehicles, dt_s * radio.every, stream))
    silent = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (vehicles, *leaf.shape)), StateReport.silent()
    )
    told = Broadcast(
        silent, silent.position_world_m, jnp.zeros(vehicles, bool), roster, jnp.asarray(dt_s)
    )
    clock = Clock(jnp.asarray(0, jnp.int32), dt_s)
    form = jax.eval_shape(lambda: run(radio, first, told, clock, stream))[1]
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), form)
    return (first if radio.every == 1 else first.holding(form)), nothing


def broadcast(
    groups: Sequence[VehicleState], truths: Sequence[Kinematics], roster: Roster, dt_s: float
) -> Broadcast:
    """What all vehicles told at the step before."""
    told = [
        (state.broadcast, truth.position_world_m)
        for state, truth in zip(groups, truths, strict=True)
    ]
    reports, places = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *told)
    present = jnp.concatenate([state.status == 0 for state in groups])
    return Broadcast(reports, places, present, roster, jnp.asarray(dt_s))


def split(peers: NeighborTable | None, groups: Sequence[Group]) -> list[NeighborTable | None]:
    """What the vehicles of each group know."""
    if peers is None:
        return [None] * len(groups)
    ends = np.cumsum([len(group.names) for group in groups])
    begins = [0, *ends[:-1]]
    return [
        jax.tree.map(lambda leaf, a=begin, b=end: leaf[a:b], peers)
        for begin, end in zip(begins, ends, strict=True)
    ]


def advance(radio: Scheduled[AbstractRadio], peers: NeighborTable, clock: Clock) -> NeighborTable:
    """What vehicles know now, if the radio has told it them some steps before."""
    if radio.every == 1:
        return peers
    steps = jnp.asarray(clock.tick % radio.every, jnp.result_type(float))
    return jax.vmap(NeighborTable.after, (0, None))(peers, steps * clock.dt_s)


def with_neighbors(around: Surroundings, peers: NeighborTable | None) -> Surroundings:
    """Surroundings of vehicles that know of others."""
    return eqx.tree_at(lambda own: own.neighbors, around, peers, is_leaf=lambda leaf: leaf is None)


def _whole(numbers: Sequence[int]) -> Any:
    return jnp.asarray(numbers, jnp.int32)
