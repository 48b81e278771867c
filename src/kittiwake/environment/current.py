"""Water current, without waves."""

from typing import Annotated

from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractCurrent


class StillWater(AbstractCurrent):
    """Water at rest."""

    @override
    def velocity_world_mps(self, position_world_m: Vec3) -> Vec3:
        del position_world_m
        return Vec3.zero()


class UniformCurrent(AbstractCurrent):
    """Uniform horizontal current.

    ``towards_rad`` is the direction of flow, clockwise from north, as on charts.

    Attributes:
        speed_mps: speed.
        towards_rad: direction that it flows to, clockwise from north.
    """

    speed_mps: Annotated[Real, NOT_NEGATIVE]
    towards_rad: Real

    @override
    def velocity_world_mps(self, position_world_m: Vec3) -> Vec3:
        del position_world_m
        sine, cosine = sin_cos(self.towards_rad)
        return Vec3(self.speed_mps * sine, self.speed_mps * cosine, 0.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "UniformCurrent"]:
        return {"stream": cls(speed_mps=0.4, towards_rad=0.5)}
