"""State of the contact between a vehicle's feet and the ground or a deck."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kittiwake.contact.deck import DeckState
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# a touch after this time in the air is a landing: the first, and any later one (not a bounce)
FLIGHT_S, BOUNCE_S = 0.2, 0.5
# values of ``over`` besides ids of surfaces: no surface nearby; unknown before the first step
NOTHING, UNKNOWN = 0, -1


class GroundContact(Module):
    """Contact state of a vehicle's feet.

    Attributes:
        grip_x_m: the anchor point of each foot's static friction, along the surface's x axis:
            relative to the center of a deck, or to the world's origin on the ground.
        grip_y_m: the same along the surface's y axis.
        over: the id of the surface below each foot.
        touching: the number of feet in contact.
        airborne_s: the time since the last contact.
        landings: the number of landings.
        touch_speed_mps: the speed relative to the surface at the last landing.
        touched_deck: 1 if the last landing was on a deck, 0 if it was on the ground.
        touch_offset_m: the distance from the deck's center at the last landing; 0 on the ground.
        on_deck: 1 if the vehicle stands on a deck now, else 0.
    """

    grip_x_m: Float[Array, " feet"]
    grip_y_m: Float[Array, " feet"]
    over: Int[Array, " feet"]
    touching: Integer
    airborne_s: Real
    landings: Integer
    touch_speed_mps: Real
    touched_deck: Integer
    touch_offset_m: Real
    on_deck: Integer

    def after_step(
        self, touching: Integer, approach: "SurfaceApproach", dt_s: Real
    ) -> "GroundContact":
        """Return the state after a step, with the number of feet in contact at its end."""
        flight_s = jnp.where(self.landings > 0, BOUNCE_S, FLIGHT_S)
        landed = (touching > 0) & (self.airborne_s >= flight_s)
        return replace(
            self,
            touching=touching,
            airborne_s=jnp.where(touching > 0, 0.0, self.airborne_s + dt_s),
            landings=jnp.where(landed, self.landings + 1, self.landings),
            touch_speed_mps=jnp.where(landed, approach.speed_mps, self.touch_speed_mps),
            touched_deck=jnp.where(landed, approach.on_deck, self.touched_deck),
            touch_offset_m=jnp.where(landed, approach.offset_m, self.touch_offset_m),
            on_deck=jnp.where(touching > 0, approach.on_deck, 0).astype(jnp.int32),
        )


class SurfaceApproach(NamedTuple):
    """Approach of a vehicle to a surface.

    Attributes:
        speed_mps: the speed relative to the surface.
        on_deck: 1 for a deck, 0 for the ground.
        offset_m: the distance from the deck's center, along the deck; 0 on the ground.
    """

    speed_mps: Real
    on_deck: Integer
    offset_m: Real

    @classmethod
    def of(
        cls,
        surface_id: Integer,
        decks: Sequence[DeckState],
        position_world_m: Vec3,
        velocity_world_mps: Vec3,
    ) -> "SurfaceApproach":
        """Return the approach to the surface with an id: one of the decks, or the ground."""
        speed_mps, on_deck, offset_m = velocity_world_mps.norm(), jnp.asarray(0, jnp.int32), 0.0
        for deck in decks:
            this, point = surface_id == deck.surface_id, deck.to_deck_axes(position_world_m)
            relative_mps = (velocity_world_mps - deck.velocity_at(position_world_m)).norm()
            speed_mps = jnp.where(this, relative_mps, speed_mps)
            on_deck = jnp.where(this, 1, on_deck).astype(jnp.int32)
            offset_m = jnp.where(this, Vec3(point.x, point.y, 0.0).norm(), offset_m)
        return cls(speed_mps, on_deck, offset_m)
