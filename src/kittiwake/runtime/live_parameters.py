"""Live part of a fleet: the parameters that can be changed in flight."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.runtime.program import Program
from kittiwake.runtime.state_transfer import with_index_replaced
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState


def live_parameters(fleet: Fleet) -> Any:
    """Return the vehicles of each group, wind and current."""
    return [group.vehicle for group in fleet.groups], fleet.world.wind, fleet.world.current


def cascade_parameters(fleet: Fleet) -> Any:
    """Return the control cascade of each group."""
    return [group.vehicle.cascade for group in fleet.groups]


def placed(
    program: Program, state: FleetState, vehicle: str, start: Start, seed: int
) -> FleetState:
    """Return the state with a vehicle reset at another start; only its guidance continues.

    Args:
        program: a program with ``live_parameters``.
        state: the state of its fleet.
        vehicle: the name of the vehicle.
        start: the other start.
        seed: the seed of the flight.
    """
    group_index, index = program.fleet.locate(vehicle)
    with program.precision_context():
        before = program.parameters[0][group_index].start
        new = jax.tree.map(lambda leaf, one: np.full_like(leaf, one), before, start)
        parameters = eqx.tree_at(
            lambda parameters: parameters[0][group_index].start,
            program.parameters,
            with_index_replaced(before, new, index),
        )
        initial, own = (
            program.init(parameters, seed_key(seed)).groups[group_index],
            state.groups[group_index],
        )
        kept = own.guidance, own.streams
        fresh = eqx.tree_at(lambda group: (group.guidance, group.streams), initial, kept)
        group = with_index_replaced(own, fresh, index)
        return eqx.tree_at(lambda whole: whole.groups[group_index], state, group)
