"""Contact forces of a vehicle's feet over one step; ``landing_gear`` has the equations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import jax
import jax.numpy as jnp

from kittiwake.contact.deck import DEPTH_M, GROUND, DeckState
from kittiwake.contact.ground_contact import NOTHING, UNKNOWN, GroundContact, SurfaceApproach
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist
from kittiwake.pytree import Module
from kittiwake.world.surroundings import Surroundings

Result = TypeVar("Result")

UP = Vec3(0.0, 0.0, 1.0)
# a foot comes upon a deck down to this depth, in rest depths; a deeper one would be ejected
ENTRY = 2.0


class FootContact(Module):
    """Surface below one foot over a step: a plane that moves uniformly; vectors in world axes.

    Attributes:
        foot_m: the position of the foot at the beginning of the step.
        height_m: its height above the plane.
        q_world_from_surface: the attitude of the surface.
        normal: the unit normal.
        velocity_mps: the velocity of the surface at the foot.
        dragged_m: the offset of the foot from its grip, along the surface.
        grip_x_m: the anchor point of static friction, or where it would be on contact, along the
            surface's x axis.
        grip_y_m: the same along the surface's y axis.
        surface_id: the id of the surface.
    """

    foot_m: Vec3
    height_m: Real
    q_world_from_surface: Quaternion
    normal: Vec3
    velocity_mps: Vec3
    dragged_m: Vec3
    grip_x_m: Real
    grip_y_m: Real
    surface_id: Integer


class FootForce(Module):
    """Contact force on one foot, its moment about the center of mass, and its spring's offset."""

    force_n: Vec3
    torque_nm: Vec3
    normal_n: Real
    dragged_m: Vec3


class ContactStep(Module):
    """Contact of all feet over one step: surfaces at the beginning, springs and dampers.

    The feet are mapped over, so that the program does not grow with their number.
    """

    landing_gear: LandingGear
    ground_contact: GroundContact
    footholds: FootContact
    pose: Pose
    twist: Twist
    surroundings: Surroundings
    stiffness_npm: Real
    damping_nspm: Real
    rest_depth_m: Real
    dt_s: Real

    @classmethod
    def start(
        cls,
        landing_gear: LandingGear,
        ground_contact: GroundContact,
        pose: Pose,
        twist: Twist,
        body: RigidBody,
        surroundings: Surroundings,
        dt_s: Real,
    ) -> "ContactStep":
        """Return the contact at the beginning of a step."""
        rocking_ratio = landing_gear.rocking_ratio(body)
        frequency_radps, decay_per_s = landing_gear.frequency_and_decay(rocking_ratio, dt_s)
        share_kg = body.mass_kg / len(landing_gear.points_body_m)
        rest_depth_m = surroundings.gravity_mps2 / frequency_radps**2
        return cls(
            landing_gear=landing_gear,
            ground_contact=ground_contact,
            footholds=_if_near(
                surroundings,
                lambda: _footholds(
                    landing_gear, ground_contact, pose, surroundings, ENTRY * rest_depth_m
                ),
            ),
            pose=pose,
            twist=twist,
            surroundings=surroundings,
            stiffness_npm=share_kg * frequency_radps**2,
            damping_nspm=2.0 * share_kg * decay_per_s,
            rest_depth_m=rest_depth_m,
            dt_s=dt_s,
        )

    def wrench(self, pose: Pose, twist: Twist, elapsed_s: Real) -> Wrench:
        """Return the wrench of all feet at a time since the step began."""
        return _if_near(self.surroundings, lambda: self._wrench(pose, twist, elapsed_s))

    def finish(self, pose: Pose, twist: Twist) -> GroundContact:
        """Return the contact state at the end of the step, for the pose and twist then."""
        near = self.surroundings.surface_near
        return jax.lax.cond(near, lambda: self._finish(pose, twist), lambda: self._airborne())

    def _wrench(self, pose: Pose, twist: Twist, elapsed_s: Real) -> Wrench:
        forces = self._foot_forces(pose, twist, elapsed_s)
        inverse = pose.q_world_from_body.normalized().inverse()
        return Wrench(
            inverse.rotate(jax.tree.map(jnp.sum, forces.force_n)),
            inverse.rotate(jax.tree.map(jnp.sum, forces.torque_nm)),
        )

    def _finish(self, pose: Pose, twist: Twist) -> GroundContact:
        forces = self._foot_forces(pose, twist, self.dt_s)
        grip = jax.vmap(self._grip)(forces, self.footholds)
        touching = jnp.sum(forces.normal_n > 0.0, dtype=jnp.int32)
        # the surface with the largest normal force, as it was when the step began
        approach = SurfaceApproach.of(
            jnp.asarray(self.footholds.surface_id)[jnp.argmax(forces.normal_n)],
            self.surroundings.decks,
            self.pose.position_world_m,
            self.twist.velocity_world_mps,
        )
        gripping = replace(self.ground_contact, grip_x_m=grip[0], grip_y_m=grip[1], over=grip[2])
        return gripping.after_step(touching, approach, self.dt_s)

    def _airborne(self) -> GroundContact:
        """Return the contact state after a step without a surface nearby."""
        before = self.ground_contact
        return replace(
            before,
            grip_x_m=jnp.zeros_like(before.grip_x_m),
            grip_y_m=jnp.zeros_like(before.grip_y_m),
            over=jnp.full_like(before.over, NOTHING),
            touching=jnp.zeros((), jnp.int32),
            on_deck=jnp.zeros((), jnp.int32),
            airborne_s=before.airborne_s + self.dt_s,
        )

    def _foot_forces(self, pose: Pose, twist: Twist, elapsed_s: Real) -> FootForce:
        """Return the forces of all feet, along a leading axis."""
        # within a step the quaternion is only approximately of unit length
        q = pose.q_world_from_body.normalized()
        omega = q.rotate(twist.angular_velocity_body_radps)

        def force(point_body_m: Vec3, foothold: FootContact) -> FootForce:
            lever = q.rotate(point_body_m)
            velocity = twist.velocity_world_mps + omega.cross(lever) - foothold.velocity_mps
            offset = pose.position_world_m + lever - foothold.foot_m
            offset = offset - foothold.velocity_mps * elapsed_s
            return self._force(foothold, *jax.lax.optimization_barrier((lever, offset, velocity)))

        return jax.vmap(force)(_stack(self.landing_gear.points_body_m), self.footholds)

    def _force(
        self, foothold: FootContact, lever_m: Vec3, offset_m: Vec3, velocity_mps: Vec3
    ) -> FootForce:
        """Return the force on a foot, by its offset and velocity relative to the surface."""
        normal = foothold.normal
        rising, climbed = normal.dot(velocity_mps), normal.dot(offset_m)
        deepest_m = jnp.maximum(
            DEPTH_M, 2.0 * len(self.landing_gear.points_body_m) * self.rest_depth_m
        )
        depth = jnp.minimum(-(foothold.height_m + climbed), deepest_m)
        damping = self.damping_nspm * jnp.clip(depth / self.rest_depth_m, 0.0, 1.0)
        push = jnp.maximum(self.stiffness_npm * depth - damping * rising, 0.0)
        push = jnp.where(depth > 0.0, push, 0.0)
        dragged = foothold.dragged_m + offset_m - normal * climbed
        drag = dragged * self.stiffness_npm + (velocity_mps - normal * rising) * damping
        # without barriers each of the six sums would recompute all of this
        push, drag = jax.lax.optimization_barrier((push, drag))
        force = normal * push - drag.clip_norm(self.landing_gear.friction * push)
        return FootForce(force, lever_m.cross(force), push, dragged)

    def _grip(self, force: FootForce, foothold: FootContact) -> tuple[Real, Real, Integer]:
        """Return the grip after the step; it moves with a foot that slides or is in the air."""
        held = force.dragged_m.clip_norm(
            self.landing_gear.friction * force.normal_n / self.stiffness_npm
        )
        slid = foothold.q_world_from_surface.inverse().rotate(force.dragged_m - held)
        return (foothold.grip_x_m + slid.x, foothold.grip_y_m + slid.y, foothold.surface_id)


def _if_near(surroundings: Surroundings, function: Callable[[], Result]) -> Result:
    """Return the function's result if a surface is near; else zeros, without computing it."""
    shapes = jax.eval_shape(function)

    def zeros() -> Result:
        return jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    return jax.lax.cond(surroundings.surface_near, function, zeros)


def _stack(points: tuple[Vec3, ...]) -> Vec3:
    """Return the points along a leading axis."""
    return jax.tree.map(lambda *numbers: jnp.stack([jnp.asarray(n) for n in numbers]), *points)


def _footholds(
    gear: LandingGear,
    contact: GroundContact,
    pose: Pose,
    surroundings: Surroundings,
    entry_m: Real,
) -> FootContact:
    """Return the surfaces below all feet, along a leading axis."""

    def foothold(point_body_m: Vec3, grip_x_m: Real, grip_y_m: Real, over: Integer) -> FootContact:
        foot_m = pose.position_world_m + pose.q_world_from_body.rotate(point_body_m)
        surface = _surface(foot_m, over, pose.position_world_m, surroundings, entry_m)
        q, point = surface.q_world_from_deck, surface.to_deck_axes(foot_m)
        unchanged = over == surface.surface_id
        grip_x_m = jnp.where(unchanged, grip_x_m, point.x)
        grip_y_m = jnp.where(unchanged, grip_y_m, point.y)
        found = FootContact(
            foot_m=foot_m,
            height_m=point.z,
            q_world_from_surface=q,
            normal=q.rotate(UP),
            velocity_mps=surface.velocity_at(foot_m),
            dragged_m=q.rotate(Vec3(point.x - grip_x_m, point.y - grip_y_m, 0.0)),
            grip_x_m=grip_x_m,
            grip_y_m=grip_y_m,
            surface_id=surface.surface_id,
        )
        return jax.tree.map(jnp.asarray, found)

    points = _stack(gear.points_body_m)
    return jax.vmap(foothold)(points, contact.grip_x_m, contact.grip_y_m, contact.over)


def _surface(
    foot_m: Vec3, over: Integer, position_world_m: Vec3, surroundings: Surroundings, entry_m: Real
) -> DeckState:
    """Return the highest surface that supports a foot.

    A deck on which the foot stands already supports it down to ``DEPTH_M``; another deck only down
    to ``entry_m``, so that a foot coming from the side or from below passes through.
    """
    chosen = _ground(position_world_m, surroundings)
    for deck in surroundings.decks:
        on_it = (over == deck.surface_id) | (over == UNKNOWN)
        carries = deck.covers(foot_m, jnp.where(on_it, DEPTH_M, entry_m))
        higher = carries & (deck.to_deck_axes(foot_m).z < chosen.to_deck_axes(foot_m).z)
        chosen = jax.tree.map(partial(jnp.where, higher), deck, chosen)
    return chosen


def _ground(position_world_m: Vec3, surroundings: Surroundings) -> DeckState:
    """Return the ground as an infinite deck."""
    height_m = position_world_m.z - surroundings.height_above_ground_m
    return DeckState(
        center_world_m=Vec3(0.0, 0.0, height_m),
        q_world_from_deck=Quaternion.identity(),
        velocity_world_mps=Vec3.zero(),
        angular_velocity_world_radps=Vec3.zero(),
        length_m=jnp.inf,
        width_m=jnp.inf,
        surface_id=jnp.asarray(GROUND, jnp.int32),
    )
