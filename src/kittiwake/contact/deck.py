"""Decks: flat, possibly moving surfaces on which vehicles stand."""

from typing import Annotated

import jax.numpy as jnp

from kittiwake.contact.solid import Solid
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# a point counts as in contact down to this depth below a deck's surface
DEPTH_M = 0.2
# ids of surfaces: the ground, and the first of the decks
GROUND, FIRST_DECK = 1, 2


class Deck(Module):
    """Rectangle fixed to a vehicle, with its sides along the body's x and y axes.

    Attributes:
        center_body_m: center of the surface.
        length_m: side along the body's x axis.
        width_m: side along the body's y axis.
    """

    center_body_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]

    def solid(self) -> Solid:
        """Return the plate below the deck's surface."""
        half = 0.5 * DEPTH_M
        below = self.center_body_m - Vec3(0.0, 0.0, half)
        sizes = (0.5 * self.length_m, 0.5 * self.width_m, half)
        return Solid.at("box", sizes, below, Quaternion.identity())

    def carried_by(self, vehicle: Kinematics) -> "DeckState":
        """Return the pose and the motion of the deck on a vehicle."""
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


class DeckState(Module):
    """Pose, motion and size of a deck.

    ``surface_id`` identifies the deck among all surfaces.
    """

    center_world_m: Vec3
    q_world_from_deck: Quaternion
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3
    length_m: Real
    width_m: Real
    surface_id: Integer = FIRST_DECK

    def to_deck_axes(self, point_world_m: Vec3) -> Vec3:
        """Return a point in deck axes, relative to the center; z is the height above the deck."""
        return self.q_world_from_deck.inverse().rotate(point_world_m - self.center_world_m)

    def covers(self, point_world_m: Vec3, depth_m: Real = DEPTH_M) -> Flag:
        """Return True if a point is above the rectangle, or at most ``depth_m`` below it."""
        there = self.to_deck_axes(point_world_m)
        along = jnp.abs(there.x) <= 0.5 * self.length_m
        return along & (jnp.abs(there.y) <= 0.5 * self.width_m) & (there.z >= -depth_m)

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """Return the velocity of the deck at a point."""
        lever = point_world_m - self.center_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)

    def distance2_m2(self, point_world_m: Vec3) -> Real:
        """Return the squared distance of a point from the rectangle."""
        there = self.to_deck_axes(point_world_m)
        x = jnp.maximum(jnp.abs(there.x) - 0.5 * self.length_m, 0.0)
        y = jnp.maximum(jnp.abs(there.y) - 0.5 * self.width_m, 0.0)
        return x * x + y * y + there.z * there.z
