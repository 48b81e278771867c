"""Vehicles that a physics engine moves on where they touch something."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.contact.engine import AbstractContactEngine, ContactMotion
from kittiwake.contact.ground_contact import SurfaceApproach
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sim.group import Group
from kittiwake.sim.schedule import Clock
from kittiwake.sim.state import VehicleState
from kittiwake.world.environment import AbstractPlatform
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import World

Row = Float[Array, "13"]


class GroupMotion(NamedTuple):
    """A group's vehicles in a step: their states after it, as if they met nothing.

    Their motions and surroundings are those before it.
    """

    group: Group
    states: VehicleState
    truth: Kinematics
    around: Surroundings


class ContactOutcome(NamedTuple):
    """What the engine says of one vehicle, as in ``core.engine.Touches``."""

    motion: Row
    touched: Flag
    feet_touching: Count
    surface: Count
    impulse: Float[Array, "6"]


def resolve_contacts(
    engine: AbstractContactEngine, world: World, moves: Sequence[GroupMotion], clock: Clock
) -> tuple[VehicleState, ...]:
    """The states after a step, with what touching does."""
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
    said = (found.motions, found.touched, found.feet_touching, found.surface, found.impulses)
    everyone = ContactOutcome(*map(jnp.asarray, said))
    return tuple(
        move.group.map(
            partial(_moved, clock.dt_s),
            *(move.states, move.truth, move.around),
            jax.tree.map(lambda leaf, a=begin, b=end: leaf[a:b], everyone),
        )
        for move, (begin, end) in zip(moves, pairwise(ends), strict=True)
    )


def _truth(vehicle: Vehicle, dynamics: Any) -> Kinematics:
    return vehicle.dynamics.kinematics(dynamics)


def _moved(
    dt_s: Real,
    vehicle: Vehicle,
    state: VehicleState,
    before: Kinematics,
    around: Surroundings,
    met: ContactOutcome,
) -> VehicleState:
    """A vehicle's state, by the engine if it touched something."""
    body, own = vehicle.dynamics, state.dynamics
    footing = body.ground_contact(own)
    if footing is not None:
        # its own model has counted the step as one in the air
        earlier = replace(footing, airborne_s=footing.airborne_s - dt_s)
        place, velocity = before.position_world_m, before.velocity_world_mps
        footing = earlier.stood(
            met.feet_touching, SurfaceApproach.of(met.surface, around.decks, place, velocity), dt_s
        )
    carried = body.apply_contact(
        own,
        ContactMotion(
            _motion(met.motion, before, around, dt_s),
            *(Vec3.of(met.impulse[:3]), Vec3.of(met.impulse[3:]), dt_s),
            footing,
        ),
    )
    return replace(
        state,
        dynamics=tree_where(
            met.touched & (state.status == 0), match_dtypes(as_arrays(carried), own), own
        ),
    )


def _motion(row: Row, before: Kinematics, around: Surroundings, dt_s: Real) -> Kinematics:
    """The motion in a row, with the mean specific force of the step that led to it."""
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
    return _joined(
        motion.position_world_m,
        motion.q_world_from_body,
        motion.velocity_world_mps,
        motion.angular_velocity_body_radps,
    )


def _platform(platform: AbstractPlatform, clock: Clock) -> tuple[Any, Any]:
    """A platform's motion when the step begins, and when it ends."""

    def row(time_s: Real) -> Float[Array, "1 13"]:
        surface = platform.support(time_s)
        q = surface.q_world_from_deck
        rates = q.inverse().rotate(surface.angular_velocity_world_radps)
        return _joined(surface.center_world_m, q, surface.velocity_world_mps, rates)[None]

    return row(clock.time_s), row(clock.time_s + clock.dt_s)


def _joined(place: Vec3, q: Quaternion, velocity: Vec3, rates: Vec3) -> Row:
    parts = [place.x, place.y, place.z, q.w, q.x, q.y, q.z]
    parts += [velocity.x, velocity.y, velocity.z, rates.x, rates.y, rates.z]
    return jnp.stack([jnp.asarray(part, jnp.result_type(float)) for part in parts])
