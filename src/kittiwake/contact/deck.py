"""Flat surfaces that can be stood on, and that may move."""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp

from kittiwake.contact.solid import Solid
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3

# how far below a deck's surface a point still counts as pressed into it from above
DEPTH_M = 0.2
# of the surfaces that can be stood on: the ground, and the first of the decks
GROUND, FIRST_DECK = 1, 2


class Deck(eqx.Module):
    """A rectangle fixed to a vehicle, its sides along the body's axes; z points up from it."""

    center_body_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]

    def solid(self) -> Solid:
        """A plate below it."""
        half = 0.5 * DEPTH_M
        below = self.center_body_m - Vec3(0.0, 0.0, half)
        sizes = (0.5 * self.length_m, 0.5 * self.width_m, half)
        return Solid.at("box", sizes, below, Quaternion.identity())

    def carried_by(self, vehicle: Kinematics) -> "DeckState":
        """Where the deck is and how it moves."""
        q = vehicle.q_world_from_body
        omega = q.rotate(vehicle.angular_velocity_body_radps)
        lever = q.rotate(self.center_body_m)
        return DeckState(
            center_world_m=vehicle.position_world_m + lever,
            q_world_from_deck=q,
            velocity_world_mps=vehicle.velocity_world_mps + omega.cross(lever),
            angular_velocity_world_radps=omega,
            length_m=self.length_m,
            width_m=self.width_m,
        )


class DeckState(eqx.Module):
    """A rectangle that carries what stands on it: where it is, and how it moves on from there.

    ``number`` tells it from other surfaces.
    """

    center_world_m: Vec3
    q_world_from_deck: Quaternion
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3
    length_m: Real
    width_m: Real
    number: Count = FIRST_DECK

    def across(self, point_world_m: Vec3) -> Vec3:
        """A point in the axes of the surface, from its center; z is the height over it."""
        return self.q_world_from_deck.inverse().rotate(point_world_m - self.center_world_m)

    def covers(self, point_world_m: Vec3, depth_m: Real = DEPTH_M) -> Flag:
        """Whether a point lies over the rectangle, or so far below it at most."""
        there = self.across(point_world_m)
        along = jnp.abs(there.x) <= 0.5 * self.length_m
        return along & (jnp.abs(there.y) <= 0.5 * self.width_m) & (there.z >= -depth_m)

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """The velocity of the surface at a point of it."""
        lever = point_world_m - self.center_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)

    def distance2_m2(self, point_world_m: Vec3) -> Real:
        """The squared distance of a point from the rectangle."""
        there = self.across(point_world_m)
        x = jnp.maximum(jnp.abs(there.x) - 0.5 * self.length_m, 0.0)
        y = jnp.maximum(jnp.abs(there.y) - 0.5 * self.width_m, 0.0)
        return x * x + y * y + there.z * there.z
