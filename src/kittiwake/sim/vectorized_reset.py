"""Reset of a fleet inside a running batch, whose worlds share one clock."""

import dataclasses
from functools import partial

import jax.numpy as jnp

from kittiwake.core.arrays import match_dtypes
from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Integer
from kittiwake.sim import vehicle_step
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.schedule import ScheduledState
from kittiwake.sim.state import FleetState


def reset_at_tick(fleet: Fleet, state: FleetState, tick: Integer) -> FleetState:
    """Return an initial state moved to a later tick.

    A component that does not run at every step runs at the reset, and then again when the clock
    makes it due: its first period may be shorter.
    """
    stepped = fleet.step(state)[0]

    def merge(
        scheduled: Scheduled[AbstractComponent], initial: ScheduledState, after: ScheduledState
    ) -> ScheduledState:
        if scheduled.every == 1:
            return initial
        due = jnp.asarray(tick) % scheduled.every == 0
        return tree_where(due, initial, match_dtypes(after, initial))

    groups = tuple(
        group.map(partial(vehicle_step.merge_reset, merge), initial, after)
        for group, initial, after in zip(fleet.groups, state.groups, stepped.groups, strict=True)
    )
    processes = {
        name: merge(part, state.processes[name], stepped.processes[name])
        for name, part in fleet.world.processes.items()
    }
    radio = state.radio
    if fleet.world.radio is not None and radio is not None and stepped.radio is not None:
        radio = merge(fleet.world.radio, radio, stepped.radio)
    began = jnp.asarray(tick, jnp.int32)
    return dataclasses.replace(
        state, tick=began, began=began, groups=groups, processes=processes, radio=radio
    )
