"""A vehicle on its feet through one step; see feet.py for the equations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from kittiwake.contact.deck import DEPTH_M, GROUND, DeckState
from kittiwake.contact.ground_contact import NOTHING, UNKNOWN, GroundContact, SurfaceApproach
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist
from kittiwake.world.surroundings import Surroundings

Result = TypeVar("Result")

UP = Vec3(0.0, 0.0, 1.0)
# so many rest depths below a deck's edge a foot still comes upon it; deeper it would be thrown up
ENTRY = 2.0


class FootContact(eqx.Module):
    """What one foot meets in a step: a plane that moves on evenly; vectors in world axes.

    The grip is along the surface's own sides: where the foot holds on, or would if it touched now.
    """

    foot_m: Vec3
    height_m: Real
    q_world_from_surface: Quaternion
    normal: Vec3
    velocity_mps: Vec3
    dragged_m: Vec3
    grip_x_m: Real
    grip_y_m: Real
    number: Count


class FootForce(eqx.Module):
    """What a surface does to one foot at an instant, in world axes, and its lever."""

    force_n: Vec3
    torque_nm: Vec3
    normal_n: Real
    dragged_m: Vec3


class ContactStep(eqx.Module):
    """Feet over one step: what they met when it began, and the springs between.

    The feet are mapped over, so that a program does not grow with their number.
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
    def begun(
        cls,
        feet: LandingGear,
        footing: GroundContact,
        pose: Pose,
        twist: Twist,
        body: RigidBody,
        surroundings: Surroundings,
        dt_s: Real,
    ) -> "ContactStep":
        """At the beginning of a step."""
        liveliness = feet.liveliness(body)
        frequency_radps, decay_per_s = feet.springiness(liveliness, dt_s)
        share_kg = body.mass_kg / len(feet.points_body_m)
        rest_depth_m = surroundings.gravity_mps2 / frequency_radps**2
        return cls(
            landing_gear=feet,
            ground_contact=footing,
            footholds=_if_near(
                surroundings,
                lambda: _footholds(feet, footing, pose, surroundings, ENTRY * rest_depth_m),
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
        """Of all feet, some time after the step began."""
        return _if_near(self.surroundings, lambda: self._wrench(pose, twist, elapsed_s))

    def ended(self, pose: Pose, twist: Twist) -> GroundContact:
        """How the feet stand when the step has led to this pose and twist."""
        near = self.surroundings.surface_near
        return jax.lax.cond(near, lambda: self._ended(pose, twist), lambda: self._airborne())

    def _wrench(self, pose: Pose, twist: Twist, elapsed_s: Real) -> Wrench:
        press = self._presses(pose, twist, elapsed_s)
        inverse = pose.q_world_from_body.normalized().inverse()
        return Wrench(
            inverse.rotate(jax.tree.map(jnp.sum, press.force_n)),
            inverse.rotate(jax.tree.map(jnp.sum, press.torque_nm)),
        )

    def _ended(self, pose: Pose, twist: Twist) -> GroundContact:
        press = self._presses(pose, twist, self.dt_s)
        kept: Any = jax.vmap(self._kept)(press, self.footholds)
        touching = jnp.sum(press.normal_n > 0.0, dtype=jnp.int32)
        # the surface is that of the foot that presses hardest, as it was when the step began
        met = SurfaceApproach.of(
            jnp.asarray(self.footholds.number)[jnp.argmax(press.normal_n)],
            self.surroundings.decks,
            self.pose.position_world_m,
            self.twist.velocity_world_mps,
        )
        gripping = replace(self.ground_contact, grip_x_m=kept[0], grip_y_m=kept[1], over=kept[2])
        return gripping.stood(touching, met, self.dt_s)

    def _airborne(self) -> GroundContact:
        """After a step in which no surface is near."""
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

    def _presses(self, pose: Pose, twist: Twist, elapsed_s: Real) -> FootForce:
        """Of all feet, along a leading axis."""
        # between the ends of a step a quaternion is of unit length only nearly
        q = pose.q_world_from_body.normalized()
        omega = q.rotate(twist.angular_velocity_body_radps)

        def press(point_body_m: Vec3, foothold: FootContact) -> FootForce:
            lever = q.rotate(point_body_m)
            velocity = twist.velocity_world_mps + omega.cross(lever) - foothold.velocity_mps
            way = pose.position_world_m + lever - foothold.foot_m
            way = way - foothold.velocity_mps * elapsed_s
            return self._press(foothold, *jax.lax.optimization_barrier((lever, way, velocity)))

        return jax.vmap(press)(_side_by_side(self.landing_gear.points_body_m), self.footholds)

    def _press(
        self, foothold: FootContact, lever_m: Vec3, way_m: Vec3, velocity_mps: Vec3
    ) -> FootForce:
        """By the foot's way and velocity relative to the surface."""
        normal = foothold.normal
        rising, climbed = normal.dot(velocity_mps), normal.dot(way_m)
        deepest_m = jnp.maximum(
            DEPTH_M, 2.0 * len(self.landing_gear.points_body_m) * self.rest_depth_m
        )
        depth = jnp.minimum(-(foothold.height_m + climbed), deepest_m)
        damping = self.damping_nspm * jnp.clip(depth / self.rest_depth_m, 0.0, 1.0)
        push = jnp.maximum(self.stiffness_npm * depth - damping * rising, 0.0)
        push = jnp.where(depth > 0.0, push, 0.0)
        dragged = foothold.dragged_m + way_m - normal * climbed
        drag = dragged * self.stiffness_npm + (velocity_mps - normal * rising) * damping
        # without barriers each of the six sums would compute all of this again
        push, drag = jax.lax.optimization_barrier((push, drag))
        force = normal * push - drag.shortened(self.landing_gear.friction * push)
        return FootForce(force, lever_m.cross(force), push, dragged)

    def _kept(self, press: FootForce, foothold: FootContact) -> tuple[Real, Real, Count]:
        """Where a foot holds on after the step; one that slid or is in the air takes it along."""
        held = press.dragged_m.shortened(
            self.landing_gear.friction * press.normal_n / self.stiffness_npm
        )
        slid = foothold.q_world_from_surface.inverse().rotate(press.dragged_m - held)
        return (foothold.grip_x_m + slid.x, foothold.grip_y_m + slid.y, foothold.number)


def _if_near(surroundings: Surroundings, function: Callable[[], Result]) -> Result:
    """The function's result; zeros, without computing it, where no surface is near."""
    shapes = jax.eval_shape(function)

    def nothing() -> Result:
        return jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    return jax.lax.cond(surroundings.surface_near, function, nothing)


def _side_by_side(points: tuple[Vec3, ...]) -> Vec3:
    """The points along a leading axis."""
    return jax.tree.map(lambda *numbers: jnp.stack([jnp.asarray(n) for n in numbers]), *points)


def _footholds(
    gear: LandingGear,
    footing: GroundContact,
    pose: Pose,
    surroundings: Surroundings,
    entry_m: Real,
) -> FootContact:
    """Of all feet, along a leading axis."""

    def foothold(point_body_m: Vec3, grip_x_m: Real, grip_y_m: Real, over: Count) -> FootContact:
        foot_m = pose.position_world_m + pose.q_world_from_body.rotate(point_body_m)
        surface = _surface(foot_m, over, pose.position_world_m, surroundings, entry_m)
        q, there = surface.q_world_from_deck, surface.across(foot_m)
        remembered = over == surface.number
        grip_x_m = jnp.where(remembered, grip_x_m, there.x)
        grip_y_m = jnp.where(remembered, grip_y_m, there.y)
        found = FootContact(
            foot_m=foot_m,
            height_m=there.z,
            q_world_from_surface=q,
            normal=q.rotate(UP),
            velocity_mps=surface.velocity_at(foot_m),
            dragged_m=q.rotate(Vec3(there.x - grip_x_m, there.y - grip_y_m, 0.0)),
            grip_x_m=grip_x_m,
            grip_y_m=grip_y_m,
            number=surface.number,
        )
        return jax.tree.map(jnp.asarray, found)

    points = _side_by_side(gear.points_body_m)
    return jax.vmap(foothold)(points, footing.grip_x_m, footing.grip_y_m, footing.over)


def _surface(
    foot_m: Vec3, over: Count, position_world_m: Vec3, surroundings: Surroundings, entry_m: Real
) -> DeckState:
    """The highest surface that carries a foot, or would.

    A deck that the foot is on already holds it down to ``DEPTH_M``; one that it comes upon, only
    down to the entry, so that a foot that comes from the side or from below passes through.
    """
    chosen = _ground(position_world_m, surroundings)
    for deck in surroundings.decks:
        on_it = (over == deck.number) | (over == UNKNOWN)
        carries = deck.covers(foot_m, jnp.where(on_it, DEPTH_M, entry_m))
        higher = carries & (deck.across(foot_m).z < chosen.across(foot_m).z)
        chosen = jax.tree.map(partial(jnp.where, higher), deck, chosen)
    return chosen


def _ground(position_world_m: Vec3, surroundings: Surroundings) -> DeckState:
    """As a deck without end."""
    height_m = position_world_m.z - surroundings.height_above_ground_m
    return DeckState(
        center_world_m=Vec3(0.0, 0.0, height_m),
        q_world_from_deck=Quaternion.identity(),
        velocity_world_mps=Vec3.zero(),
        angular_velocity_world_radps=Vec3.zero(),
        length_m=jnp.inf,
        width_m=jnp.inf,
        number=jnp.asarray(GROUND, jnp.int32),
    )
