"""What others notice of a vehicle."""

import equinox as eqx

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class Wake(eqx.Module):
    """The air that a vehicle throws down along its z axis: by its thrust, through a disc."""

    thrust_n: Real
    disc_area_m2: Real


# of a vehicle without rotors
NO_WAKE = Wake(0.0, 1.0)


class InteractionInput(eqx.Module):
    """How a vehicle moves, what it does to the air, and the sides of the box around it."""

    motion: Kinematics
    wake: Wake
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
