"""How a vehicle stands on the ground or on a deck."""

import equinox as eqx
from jaxtyping import Array, Float, Int

from kittiwake.geometry.scalar import Count, Real

# what a foot is over, beside the numbers of surfaces: none nearby; not known before a first step
NOTHING, UNKNOWN = 0, -1


class Footing(eqx.Module):
    """What feet remember.

    Attributes:
        grip_x_m: of each foot, where along the first side of its surface it holds on: on a deck
            from its centre, on the ground from the world's origin.
        grip_y_m: and along the second.
        over: of each foot, the number of the surface that it stands on or comes down to.
        touching: how many feet touch.
        airborne_s: for how long none has touched.
        landings: how often the vehicle has come down out of the air.
        touch_speed_mps: the speed relative to the surface at the last landing.
        touched_deck: whether that was on a deck, 1, or on the ground, 0.
        touch_offset_m: how far from the deck's centre it was, along the deck; 0 on the ground.
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
