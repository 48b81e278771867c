"""Conversions between this project's frames (ENU world, FLU body) and NED / FRD.

The axes: ENU is x east, y north, z up; NED is x north, y east, z down. FLU is x forward, y left,
z up; FRD is x forward, y right, z down. Each conversion is its own inverse.
"""

import math

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.vec3 import Vec3


def swap_enu_ned(v: Vec3) -> Vec3:
    """A world vector in NED from ENU, or in ENU from NED."""
    return Vec3(v.y, v.x, -v.z)


def swap_flu_frd(v: Vec3) -> Vec3:
    """A body vector in FRD from FLU, or in FLU from FRD."""
    return Vec3(v.x, -v.y, -v.z)


def swap_euler(angles: EulerZYX) -> EulerZYX:
    """Angles of FRD in NED from those of FLU in ENU, or the reverse.

    Roll keeps its sign, pitch changes it, and yaw is counted from the other horizontal axis in the
    other direction. Yaw is not wrapped.
    """
    return EulerZYX(angles.roll_rad, -angles.pitch_rad, math.pi / 2.0 - angles.yaw_rad)
