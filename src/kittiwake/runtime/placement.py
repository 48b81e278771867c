"""Placement of a vehicle in flight: another start, from which all but its guidance begins anew."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import jax
import numpy as np

from kittiwake.core.errors import CommandError
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.units import stored_name
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import replace_unchecked
from kittiwake.runtime.program import Program
from kittiwake.runtime.state_transfer import with_index_replaced
from kittiwake.scenario.definition import as_plain
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.starts import lost_starts, near_pairs
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import numbers_of
from kittiwake.world.world import WorldModel


def start_at(truth: Kinematics, motion: Mapping[str, Any]) -> Start:
    """Return a motion as a start, with given keys of a scenario's ``start`` in place of its own.

    Raises:
        ScenarioError: if there is no such key, or its value is not allowed.
    """
    euler = truth.euler_world_from_body
    present = {
        "position_world_m": truth.position_world_m,
        "roll_rad": euler.roll_rad,
        "pitch_rad": euler.pitch_rad,
        "yaw_rad": euler.yaw_rad,
        "velocity_world_mps": truth.velocity_world_mps,
        "angular_velocity_body_radps": truth.angular_velocity_body_radps,
    }
    replaced = {stored_name(key) for key in motion}
    kept = {
        key: jax.tree.map(float, value) for key, value in present.items() if key not in replaced
    }
    return build_component(Start, as_plain({**kept, **motion}), lambda _: "sim.set_state")


def require_place(scenario: Scenario, vehicle: str, start: Start) -> None:
    """Check that a vehicle can be placed at a start.

    Raises:
        CommandError: if it would be lost there, or if a number is not finite.
        ScenarioError: if its model does not support such a start.
    """
    if not all(isfinite(float(number)) for number in jax.tree.leaves(start)):
        message = f"'{vehicle}' cannot be placed there: it would have numbers that are not finite"
        raise CommandError(message)
    moved = replace(scenario.vehicles[vehicle], start=start)
    moved.dynamics.check_start(start)
    for lost in lost_starts(scenario.world, {vehicle: moved}):
        message = f"'{vehicle}' cannot be placed there: {lost.message}"
        raise CommandError(message)


def require_room(
    world: WorldModel,
    added: Mapping[str, AssembledVehicle],
    positions_world_m: Mapping[str, Vec3],
) -> None:
    """Check that vehicles can be added at their starts.

    Args:
        world: the environment.
        added: the vehicles.
        positions_world_m: the present positions of the others.

    Raises:
        CommandError: if one of them would be lost there, or lose another one.
    """
    for lost in lost_starts(world, added):
        message = f"'{lost.vehicle}' cannot be added there: {lost.message}"
        raise CommandError(message)
    if not world.collision_distance_m:
        return
    starts = {name: vehicle.start.position_world_m for name, vehicle in added.items()}
    distance_m = float(world.collision_distance_m)
    for one, other, apart_m in near_pairs({**positions_world_m, **starts}, distance_m):
        if one in added or other in added:
            message = (
                f"'{other}' cannot be added there: it would be {apart_m:.6g} m from '{one}', which "
                f"is not at least {distance_m:g} (world.collision_distance_m)"
            )
            raise CommandError(message)


def placed(
    program: Program, state: FleetState, vehicle: str, start: Start, seed: int
) -> FleetState:
    """Return the state with a vehicle reset at another start; only its guidance continues.

    Args:
        program: a program in which the vehicle does not share its start with others.
        state: the state of its fleet.
        vehicle: the name of the vehicle.
        start: the other start.
        seed: the seed of the flight.
    """
    fleet = program.fleet
    group_index, index = fleet.locate(vehicle)
    with program.precision_context():
        elsewhere = with_start(fleet, group_index, index, start)
        assert program.fits(elsewhere), "a start is no structure"
        initial = program.functions.init(numbers_of(elsewhere), seed_key(seed)).groups[group_index]
        own = state.groups[group_index]
        fresh = replace_unchecked(initial, guidance=own.guidance, streams=own.streams)
        return state.with_group(group_index, with_index_replaced(own, fresh, index))


def shares_start(fleet: Fleet, vehicle: str) -> bool:
    """Return True if the start of a vehicle is one of several vehicles, which has no axis."""
    group = fleet.groups[fleet.locate(vehicle)[0]]
    return len(group.names) > 1 and not all(map(np.ndim, jax.tree.leaves(group.vehicle.start)))


def with_start(fleet: Fleet, group_index: int, index: int, start: Start) -> Fleet:
    """Return the fleet in which one vehicle has another start."""
    group = fleet.groups[group_index]
    before = group.vehicle.start
    if any(map(np.ndim, jax.tree.leaves(before))):
        new = jax.tree.map(lambda leaf, one: np.full_like(leaf, one), before, start)
        start = with_index_replaced(before, new, index)
    else:
        start = jax.tree.map(float, start)
    started = replace_unchecked(group, vehicle=replace_unchecked(group.vehicle, start=start))
    groups = (*fleet.groups[:group_index], started, *fleet.groups[group_index + 1 :])
    return replace_unchecked(fleet, groups=groups)
