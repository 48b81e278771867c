"""Conversions between this project's frames (ENU world, FLU body) and NED / FRD.

The axes: ENU is x east, y north, z up; NED is x north, y east, z down. FLU is x forward, y left,
z up; FRD is x forward, y right, z down. Each conversion is its own inverse.
"""

import math

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.vec3 import Vec3


def swap_enu_ned(v: Vec3) -> Vec3:
    """Convert a world vector from ENU to NED, or from NED to ENU."""
    return Vec3(v.y, v.x, -v.z)


def swap_flu_frd(v: Vec3) -> Vec3:
    """Convert a body vector from FLU to FRD, or from FRD to FLU."""
    return Vec3(v.x, -v.y, -v.z)


def swap_euler(angles: EulerZYX) -> EulerZYX:
    """Convert the angles of FLU in ENU to those of FRD in NED, or the reverse.

    Roll keeps its sign, pitch changes it, and yaw is counted from the other horizontal axis in the
    other direction. Yaw is not wrapped.
    """
    return EulerZYX(angles.roll_rad, -angles.pitch_rad, math.pi / 2.0 - angles.yaw_rad)
