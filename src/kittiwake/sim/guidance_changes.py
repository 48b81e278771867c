"""Changes of what guides one vehicle of a flying fleet."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import ArrayTree
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.pytree import replace_unchecked
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState


def jump_to_mission_step(fleet: Fleet, state: FleetState, name: str, step: str) -> FleetState:
    """Return the state from which a vehicle continues at a step of its mission.

    Raises:
        CommandError: if there is no such vehicle, or no such step.
    """
    return _with_guidance(
        fleet, state, name, lambda guidance, own: guidance.jump_to_mission_step(own, step)
    )


def with_active_behaviors(
    fleet: Fleet, state: FleetState, name: str, behaviors: Sequence[str]
) -> FleetState:
    """Return the state in which only these behaviors guide a vehicle.

    Raises:
        CommandError: if there is no such vehicle, or no such behavior.
    """
    return _with_guidance(
        fleet, state, name, lambda guidance, own: guidance.with_active_behaviors(own, behaviors)
    )


def _with_guidance(
    fleet: Fleet,
    state: FleetState,
    name: str,
    change: Callable[[AbstractGuidance, ArrayTree], ArrayTree],
) -> FleetState:
    """Return the state with the guidance state of one vehicle changed."""
    group_index, index = fleet.locate(name)
    own = state.groups[group_index]
    states = own.guidance.state
    guidance = fleet.groups[group_index].vehicle.guidance.component
    one = jax.tree.map(lambda leaf: leaf[index], states)
    changed = change(guidance, one)
    states = jax.tree.map(lambda leaf, new: jnp.asarray(leaf).at[index].set(new), states, changed)
    return state.with_group(
        group_index, replace_unchecked(own, guidance=replace_unchecked(own.guidance, state=states))
    )
