"""Impulse on a vehicle in flight: its velocity changes at once, as by a contact without duration.

dv = J / m,   for a vessel with the added mass of the water
"""

from dataclasses import replace

import jax
import jax.numpy as jnp

from kittiwake.contact.engine import ContactMotion
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module, replace_unchecked
from kittiwake.runtime.program import Program
from kittiwake.sim.state import FleetState


def with_impulse(
    program: Program, state: FleetState, vehicle: str, impulse_world_ns: Vec3
) -> FleetState:
    """Return the state after an impulse at the center of mass of a vehicle; a lost one stays.

    Raises:
        ScenarioError: if its model does not support contact.
    """
    group_index, index = program.fleet.locate(vehicle)
    own = state.groups[group_index]
    dynamics = program.vehicles[vehicle].dynamics
    with program.precision_context():
        before = jax.tree.map(lambda leaf: jnp.asarray(leaf)[index], own.dynamics)
        after = match_dtypes(as_arrays(_pushed(dynamics, before, impulse_world_ns)), before)
        is_valid = jnp.asarray(own.status)[index] == 0
        pushed = jax.tree.map(
            lambda leaf, old, new: jnp.asarray(leaf).at[index].set(jnp.where(is_valid, new, old)),
            own.dynamics,
            before,
            after,
        )
        return state.with_group(group_index, replace_unchecked(own, dynamics=pushed))


def _pushed(dynamics: AbstractDynamics, state: Module, impulse_world_ns: Vec3) -> Module:
    motion = dynamics.kinematics(state)
    gained_mps = impulse_world_ns / dynamics.collider().mass_kg
    contact = ContactMotion(
        motion=replace(motion, velocity_world_mps=motion.velocity_world_mps + gained_mps),
        impulse_world_ns=impulse_world_ns,
        impulse_body_nms=Vec3(0.0, 0.0, 0.0),
        dt_s=0.0,
        ground_contact=dynamics.ground_contact(state),
    )
    return dynamics.apply_contact(state, contact)
