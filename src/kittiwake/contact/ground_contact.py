"""How a vehicle stands on the ground or on a deck."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kittiwake.contact.deck import DeckState
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.vec3 import Vec3

# after so long in the air a touch is a landing; and again after one, or it is a bounce
FLIGHT_S, BOUNCE_S = 0.2, 0.5
# what a foot is over, beside the numbers of surfaces: none nearby; not known before a first step
NOTHING, UNKNOWN = 0, -1


class GroundContact(eqx.Module):
    """What feet remember.

    Attributes:
        grip_x_m: of each foot, where along the first side of its surface it holds on: on a deck
            from its center, on the ground from the world's origin.
        grip_y_m: and along the second.
        over: of each foot, the number of the surface that it stands on or comes down to.
        touching: how many feet touch.
        airborne_s: for how long none has touched.
        landings: how often the vehicle has come down out of the air.
        touch_speed_mps: the speed relative to the surface at the last landing.
        touched_deck: whether that was on a deck, 1, or on the ground, 0.
        touch_offset_m: how far from the deck's center it was, along the deck; 0 on the ground.
        on_deck: whether it stands on a deck now, 1, or not, 0.
    """

    grip_x_m: Float[Array, " feet"]
    grip_y_m: Float[Array, " feet"]
    over: Int[Array, " feet"]
    touching: Count
    airborne_s: Real
    landings: Count
    touch_speed_mps: Real
    touched_deck: Count
    touch_offset_m: Real
    on_deck: Count

    def stood(self, touching: Count, met: "SurfaceApproach", dt_s: Real) -> "GroundContact":
        """After another step, at the end of which so many feet touch what was met."""
        flight_s = jnp.where(self.landings > 0, BOUNCE_S, FLIGHT_S)
        landed = (touching > 0) & (self.airborne_s >= flight_s)
        return replace(
            self,
            touching=touching,
            airborne_s=jnp.where(touching > 0, 0.0, self.airborne_s + dt_s),
            landings=jnp.where(landed, self.landings + 1, self.landings),
            touch_speed_mps=jnp.where(landed, met.speed_mps, self.touch_speed_mps),
            touched_deck=jnp.where(landed, met.on_deck, self.touched_deck),
            touch_offset_m=jnp.where(landed, met.offset_m, self.touch_offset_m),
            on_deck=jnp.where(touching > 0, met.on_deck, 0).astype(jnp.int32),
        )


class SurfaceApproach(NamedTuple):
    """How fast a vehicle comes to a surface, whether that is a deck, and how far from its center.

    The speed is relative to the surface; the distance is along the deck, 0 on the ground.
    """

    speed_mps: Real
    on_deck: Count
    offset_m: Real

    @classmethod
    def of(
        cls,
        number: Count,
        decks: Sequence[DeckState],
        position_world_m: Vec3,
        velocity_world_mps: Vec3,
    ) -> "SurfaceApproach":
        """With the surface of a number, which is one of the decks or the ground."""
        speed_mps, on_deck, offset_m = velocity_world_mps.norm(), jnp.asarray(0, jnp.int32), 0.0
        for deck in decks:
            this, across = number == deck.number, deck.across(position_world_m)
            relative_mps = (velocity_world_mps - deck.velocity_at(position_world_m)).norm()
            speed_mps = jnp.where(this, relative_mps, speed_mps)
            on_deck = jnp.where(this, 1, on_deck).astype(jnp.int32)
            offset_m = jnp.where(this, Vec3(across.x, across.y, 0.0).norm(), offset_m)
        return cls(speed_mps, on_deck, offset_m)
