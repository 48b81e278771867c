"""Beams and fields of view of sensors, as pictures and ROS show them."""

from typing import NamedTuple

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class Beam(NamedTuple):
    """Beam of a sensor.

    Attributes:
        position_body_m: where it begins.
        direction_body: its direction, as a unit vector.
        element: index of its number in the measurement, such as ``3`` or ``0_2``; empty for a
            scalar.
        stretch: its length over the measured number.
        sound: True for sound, which is drawn as a cone; False for light.
        opening_rad: opening angle of a cone; 0 if the sensor is modeled as a line.
    """

    position_body_m: Vec3
    direction_body: Vec3
    element: str = ""
    stretch: float = 1.0
    sound: bool = False
    opening_rad: Real = 0.0


class FieldOfView(NamedTuple):
    """Field of view of a camera.

    Attributes:
        position_body_m: position of the camera.
        q_body_from_camera: rotation of its axes, of which x is the optical axis and y the left.
        half_width: half the width of the image at a distance of 1 m.
        width: pixels in a row.
        height: pixels in a column.
        stabilised: True for a gimbal that keeps the camera level.
    """

    position_body_m: Vec3
    q_body_from_camera: Quaternion
    half_width: float
    width: int
    height: int
    stabilised: bool = False

    @property
    def half_height(self) -> float:
        """Half the height of the image at a distance of 1 m."""
        return self.half_width * self.height / self.width

    @property
    def focal_length_px(self) -> float:
        """Focal length in pixels."""
        return 0.5 * self.width / self.half_width
