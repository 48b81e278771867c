"""Mounting pose of a sensor on a vehicle."""

from math import tan

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import FieldOfView
from kittiwake.pytree import Module


class Mount(Module):
    """Position of a sensor relative to the center of mass, and rotation of its axes in the body.

    A directional sensor looks along its own x axis, with y to its left and z up: a pitch of 90
    degrees makes it look down, a yaw of 90 degrees makes it look left.
    """

    position_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    roll_rad: Real = 0.0
    pitch_rad: Real = 0.0
    yaw_rad: Real = 0.0

    @property
    def q_body_from_sensor(self) -> Quaternion:
        """Rotation from sensor axes to body axes."""
        return Quaternion.from_euler(EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad))

    def field_of_view(
        self, horizontal_rad: Real, width: int, height: int, *, stabilised: bool = False
    ) -> FieldOfView:
        """Return the field of view of a camera here with images of this size in pixels."""
        half_width = tan(0.5 * float(horizontal_rad))
        return FieldOfView(
            self.position_body_m, self.q_body_from_sensor, half_width, width, height, stabilised
        )
