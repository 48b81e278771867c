"""Contact of vehicles, decks and obstacles, resolved by a contact engine."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.contact.engine import AbstractContactEngine, ContactMotion
from kittiwake.contact.ground_contact import SurfaceApproach
from kittiwake.core.arrays import ArrayTree, as_arrays, match_dtypes
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.sim.group import Group
from kittiwake.sim.schedule import Clock
from kittiwake.sim.state import VehicleState
from kittiwake.world.environment import AbstractPlatform
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import WorldModel

Row = Float[Array, "13"]


class GroupMotion(NamedTuple):
    """A group's vehicles in a step: their states after it without contact.

    ``truth`` and ``around`` are the motions and surroundings before the step.
    """

    group: Group
    states: VehicleState
    truth: Kinematics
    around: Surroundings


class ContactOutcome(NamedTuple):
    """Result of the contact engine for one vehicle, as in ``contact.engine.Contacts``."""

    motion: Row
    touched: Flag
    feet_touching: Integer
    surface: Integer
    impulse: Float[Array, "6"]


def resolve_contacts(
    engine: AbstractContactEngine, world: WorldModel, moves: Sequence[GroupMotion], clock: Clock
) -> tuple[VehicleState, ...]:
    """Return the states after a step, including contact."""
    platforms = [_platform(platform, clock) for platform in world.platforms]
    free = [move.group.map(_truth, move.states.dynamics) for move in moves]
    before = [row for row, _ in platforms] + [jax.vmap(_row)(move.truth) for move in moves]
    after = [row for _, row in platforms] + [jax.vmap(_row)(motion) for motion in free]
    valid = [move.states.status == 0 for move in moves]
    present = jnp.concatenate([jnp.ones(len(platforms), bool), *valid])
    found = engine.contacts(
        jnp.concatenate(before), jnp.concatenate(after), present, float(clock.dt_s)
    )
    ends = np.cumsum([len(platforms), *(len(move.group.names) for move in moves)]).tolist()
    outcomes = ContactOutcome(
        motion=jnp.asarray(found.motions),
        touched=jnp.asarray(found.touched),
        feet_touching=jnp.asarray(found.feet_touching),
        surface=jnp.asarray(found.surface),
        impulse=jnp.asarray(found.impulses),
    )
    return tuple(
        move.group.map(
            partial(_apply_contact, clock.dt_s),
            move.states,
            move.truth,
            move.around,
            jax.tree.map(lambda leaf, a=begin, b=end: leaf[a:b], outcomes),
        )
        for move, (begin, end) in zip(moves, pairwise(ends), strict=True)
    )


def _truth(vehicle: AssembledVehicle, dynamics: ArrayTree) -> Kinematics:
    return vehicle.dynamics.kinematics(dynamics)


def _apply_contact(
    dt_s: Real,
    vehicle: AssembledVehicle,
    state: VehicleState,
    before: Kinematics,
    around: Surroundings,
    outcome: ContactOutcome,
) -> VehicleState:
    """Return a vehicle's state, as moved by the engine if it touched something."""
    dynamics, own = vehicle.dynamics, state.dynamics
    ground_contact = dynamics.ground_contact(own)
    if ground_contact is not None:
        # the vehicle's own model has counted this step as airborne
        earlier = replace(ground_contact, airborne_s=ground_contact.airborne_s - dt_s)
        position, velocity = before.position_world_m, before.velocity_world_mps
        ground_contact = earlier.after_step(
            outcome.feet_touching,
            SurfaceApproach.of(outcome.surface, around.decks, position, velocity),
            dt_s,
        )
    contact = ContactMotion(
        motion=_motion(outcome.motion, before, around, dt_s),
        impulse_world_ns=Vec3.of(outcome.impulse[:3]),
        impulse_body_nms=Vec3.of(outcome.impulse[3:]),
        dt_s=dt_s,
        ground_contact=ground_contact,
    )
    moved = dynamics.apply_contact(own, contact)
    return replace(
        state,
        dynamics=tree_where(
            outcome.touched & (state.status == 0), match_dtypes(as_arrays(moved), own), own
        ),
    )


def _motion(row: Row, before: Kinematics, around: Surroundings, dt_s: Real) -> Kinematics:
    """Return the motion in a row, with the mean specific force over the step."""
    velocity, q = Vec3.of(row[7:10]), Quaternion(row[3], row[4], row[5], row[6])
    gained = (velocity - before.velocity_world_mps) / dt_s
    inverse = q.inverse()
    return Kinematics(
        position_world_m=Vec3.of(row[:3]),
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=velocity,
        velocity_body_mps=inverse.rotate(velocity),
        angular_velocity_body_radps=Vec3.of(row[10:]),
        specific_force_body_mps2=inverse.rotate(gained + Vec3(0.0, 0.0, around.gravity_mps2)),
    )


def _row(motion: Kinematics) -> Row:
    return _motion_row(
        motion.position_world_m,
        motion.q_world_from_body,
        motion.velocity_world_mps,
        motion.angular_velocity_body_radps,
    )


def _platform(
    platform: AbstractPlatform, clock: Clock
) -> tuple[Float[Array, "1 13"], Float[Array, "1 13"]]:
    """Return a platform's motion at the beginning and at the end of the step."""

    def row(time_s: Real) -> Float[Array, "1 13"]:
        surface = platform.deck_state(time_s)
        q = surface.q_world_from_deck
        rates = q.inverse().rotate(surface.angular_velocity_world_radps)
        return _motion_row(surface.center_world_m, q, surface.velocity_world_mps, rates)[None]

    return row(clock.time_s), row(clock.time_s + clock.dt_s)


def _motion_row(position: Vec3, q: Quaternion, velocity: Vec3, rates: Vec3) -> Row:
    parts = [position.x, position.y, position.z, q.w, q.x, q.y, q.z]
    parts += [velocity.x, velocity.y, velocity.z, rates.x, rates.y, rates.z]
    return jnp.stack([jnp.asarray(part, jnp.result_type(float)) for part in parts])
