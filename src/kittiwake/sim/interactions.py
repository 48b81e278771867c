"""Surroundings of a fleet's vehicles: the world, decks, and the other vehicles."""

from collections.abc import Mapping, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from typing_extensions import TypeVar

from kittiwake.contact.deck import FIRST_DECK, DeckState
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import replace_unchecked
from kittiwake.sim.group import Group
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.water import Waves
from kittiwake.world.world import WorldModel

# number of nearest decks that each vehicle considers for contact
DECKS_NEAR = 4

Tree = TypeVar("Tree")


def world_surroundings(
    world: WorldModel,
    group: Group,
    truth: Kinematics,
    waves: Waves | None = None,
    time_s: Real = 0.0,
) -> Surroundings:
    """Return the surroundings of a group's vehicles, from the world without other vehicles."""
    return group.map(partial(_around, world, waves, time_s), truth)


def fleet_surroundings(
    world: WorldModel,
    groups: Sequence[Group],
    present: Sequence[InteractionInput],
    time_s: Real,
    waves: Waves | None,
    partners: Sequence[np.ndarray | None],
) -> list[Surroundings]:
    """Return the surroundings of each group's vehicles: world, decks and other vehicles.

    ``partners`` are the indices of their partners' decks, as ``partner_decks`` counts them.
    """
    around = [
        world_surroundings(world, group, presence.motion, waves, time_s)
        for group, presence in zip(groups, present, strict=True)
    ]
    decks = _decks(world, groups, present, time_s)
    if decks is not None:
        around = [
            jax.vmap(partial(_with_near_decks, decks))(own, presence.motion, here)
            for own, presence, here in zip(_own_decks(world, groups), present, around, strict=True)
        ]
    if world.interactions:
        inputs, shared = _concatenate(present), _concatenate(around)
        for interaction in world.interactions:
            shared = interaction(inputs, shared)
        around = _split(shared, [len(group.names) for group in groups])
    return [
        _with_partner_decks(decks, own, here) for own, here in zip(partners, around, strict=True)
    ]


def partner_decks(
    world: WorldModel, groups: Sequence[Group], partners: Mapping[str, str]
) -> tuple[np.ndarray | None, ...]:
    """Return for each group the deck indices of its vehicles' partners; None without partners.

    Decks are counted as in ``fleet_surroundings``: those of the world, then those of the vehicles,
    group by group.
    """
    carriers = [
        name for group in groups if group.vehicle.dynamics.deck is not None for name in group.names
    ]
    indices = {name: index for index, name in enumerate([*world.platform_names, *carriers])}
    return tuple(
        np.array([indices[partners[name]] if name in partners else 0 for name in group.names])
        if partners.keys() & {*group.names}
        else None
        for group in groups
    )


def unknown_partners(around: Surroundings) -> Surroundings:
    """Return surroundings with a placeholder deck for each vehicle's partner."""
    nowhere = Vec3.zero()
    deck = as_arrays(DeckState(nowhere, Quaternion.identity(), nowhere, nowhere, 0.0, 0.0))
    count = jnp.shape(around.gravity_mps2)
    return _with_partner(around, jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, count), deck))


def _with_partner_decks(
    decks: DeckState | None, own: np.ndarray | None, around: Surroundings
) -> Surroundings:
    if own is None:
        return around
    assert decks is not None, "a partner has a deck"
    return _with_partner(around, jax.tree.map(lambda leaf: leaf[own], decks))


def _with_partner(around: Surroundings, deck: DeckState) -> Surroundings:
    return replace_unchecked(around, partner=deck)


def surface_near(group: Group, truth: Kinematics, around: Surroundings, dt_s: Real) -> Flag:
    """Return True if any vehicle of a group may touch a surface during the step."""
    if group.member(0).dynamics.reach_m is None:
        return False
    return jnp.any(group.map(partial(_near, dt_s), truth, around))


def _decks(
    world: WorldModel, groups: Sequence[Group], present: Sequence[InteractionInput], time_s: Real
) -> DeckState | None:
    """Return all decks along a leading axis; None if there are none."""
    platforms = [as_arrays(platform.deck_state(time_s)) for platform in world.platforms]
    found = [jax.tree.map(lambda leaf: leaf[None], deck) for deck in platforms]
    found += [
        group.map(_deck, presence.motion)
        for group, presence in zip(groups, present, strict=True)
        if group.vehicle.dynamics.deck is not None
    ]
    if not found:
        return None
    decks = _concatenate(found)
    surface_ids = FIRST_DECK + jnp.arange(jnp.size(decks.length_m), dtype=jnp.int32)
    return replace_unchecked(decks, surface_id=surface_ids)


def _own_decks(world: WorldModel, groups: Sequence[Group]) -> list[jax.Array]:
    """Return for each group the index of the deck that each vehicle carries; -1 for none."""
    count = len(world.platforms)
    own: list[jax.Array] = []
    for group in groups:
        carries, size = group.vehicle.dynamics.deck is not None, len(group.names)
        own.append(count + jnp.arange(size) if carries else jnp.full(size, -1))
        count += size if carries else 0
    return own


def _around(
    world: WorldModel,
    waves: Waves | None,
    time_s: Real,
    vehicle: AssembledVehicle,
    truth: Kinematics,
) -> Surroundings:
    dynamics = vehicle.dynamics
    size_body_m, air_height_m = dynamics.size_body_m, dynamics.air_height_m
    return as_arrays(world.surroundings(truth, size_body_m, waves, air_height_m, time_s))


def _deck(vehicle: AssembledVehicle, truth: Kinematics) -> DeckState:
    deck = vehicle.dynamics.deck
    assert deck is not None
    return as_arrays(deck.carried_by(truth))


def _with_near_decks(
    decks: DeckState, own: jax.Array, truth: Kinematics, around: Surroundings
) -> Surroundings:
    """Return a vehicle's surroundings with the nearest decks other than its own."""
    position = truth.position_world_m
    # a rectangle of negative length is infinitely far away and covers nothing
    length_m = jnp.where(jnp.arange(jnp.size(decks.length_m)) == own, -jnp.inf, decks.length_m)
    decks = replace_unchecked(decks, length_m=length_m)
    distances = jax.vmap(lambda deck: deck.distance2_m2(position))(decks)
    _, nearest = jax.lax.top_k(-distances, min(jnp.size(distances), DECKS_NEAR))
    near = tuple(jax.tree.map(lambda leaf, i=i: leaf[i], decks) for i in nearest)
    return around.with_decks(near, position)


def _near(dt_s: Real, vehicle: AssembledVehicle, truth: Kinematics, around: Surroundings) -> Flag:
    reach_m = vehicle.dynamics.reach_m
    assert reach_m is not None
    return around.surface_within(reach_m, truth, dt_s)


def _concatenate(parts: Sequence[Tree]) -> Tree:
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


def _split(whole: Tree, sizes: list[int]) -> list[Tree]:
    ends = np.cumsum(sizes)
    return [
        jax.tree.map(lambda leaf, a=end - size, b=end: leaf[a:b], whole)
        for size, end in zip(sizes, ends, strict=True)
    ]
