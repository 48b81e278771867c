"""How a vehicle stands on the ground or on a deck."""

import equinox as eqx
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Count, Real


class Footing(eqx.Module):
    """What feet remember.

    Attributes:
        dragged_x_m: of each foot, how far it was dragged along the first side of its surface.
        dragged_y_m: and along the second.
        touching: how many feet touch.
        airborne_s: for how long none has touched.
        landings: how often the vehicle has come down out of the air.
        touch_speed_mps: the speed relative to the surface at the last landing.
        touched_deck: whether that was on a deck, 1, or on the ground, 0.
        touch_offset_m: how far from the deck's centre it was, along the deck; 0 on the ground.
    """

    dragged_x_m: Float[Array, " feet"]
    dragged_y_m: Float[Array, " feet"]
    touching: Count
    airborne_s: Real
    landings: Count
    touch_speed_mps: Real
    touched_deck: Count
    touch_offset_m: Real
