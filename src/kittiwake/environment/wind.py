"""Mean wind above the ground.

The shear follows MIL-F-8785C (1980), section 3.7.3.2, for flight close to the ground:

    u(h) = u20 ln(h / z0) / ln(20 / z0),    h and z0 in feet

u20: speed at 20 ft (6.096 m); z0 = 0.15 ft: roughness length of the standard's terminal flight
phases. Valid from 3 ft to 1000 ft above flat ground. Gusts are part of the turbulence models.
"""

import math
from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.core.units import FOOT_M
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractWind

ROUGHNESS_LENGTH_FT = 0.15
REFERENCE_HEIGHT_FT = 20.0
# far beyond any wind, and small enough to avoid overflow
SPEED_MPS, ANGLE_RAD = Bounds(0.0, 1e3), Bounds(-1e3, 1e3)
# QRSim cuts the wind off here instead of at z0. In the 3 cm between, the logarithm is negative and
# the wind reverses; kept, as its published figures contain it and no vehicle flies there.
CALM_BELOW_FT = 0.05


class Calm(AbstractWind):
    """Air at rest."""

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        del height_above_ground_m, time_s
        return Vec3.zero()


class ShearWind(AbstractWind):
    """Horizontal wind that increases with the logarithm of the height.

    ``from_rad`` is the direction that it comes from, clockwise from north, as in weather reports.

    Attributes:
        speed_at_6m_mps: speed at 20 ft over the ground.
        from_rad: direction that it comes from, clockwise from north.
    """

    speed_at_6m_mps: Annotated[Real, SPEED_MPS]
    from_rad: Annotated[Real, ANGLE_RAD]

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        del time_s
        h = jnp.asarray(height_above_ground_m) / FOOT_M
        blowing = h > CALM_BELOW_FT
        logarithm = jnp.log(jnp.where(blowing, h, 1.0) / ROUGHNESS_LENGTH_FT)
        profile = logarithm / math.log(REFERENCE_HEIGHT_FT / ROUGHNESS_LENGTH_FT)
        speed = jnp.where(blowing, self.speed_at_6m_mps * profile, 0.0)
        sine, cosine = sin_cos(self.from_rad)
        return Vec3(-speed * sine, -speed * cosine, 0.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "ShearWind"]:
        return {"breeze": cls(speed_at_6m_mps=3.0, from_rad=0.5)}
