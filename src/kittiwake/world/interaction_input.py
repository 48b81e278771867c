"""State of a vehicle that affects other vehicles."""

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Wake(Module):
    """Downwash of a vehicle along its z axis: its thrust through a disc."""

    thrust_n: Real
    disc_area_m2: Real


# wake of a vehicle without rotors
NO_WAKE = Wake(0.0, 1.0)


class InteractionInput(Module):
    """Motion of a vehicle, its wake, and the sides of its bounding box."""

    motion: Kinematics
    wake: Wake
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
