"""Plume at rest: an anisotropic Gaussian in space.

    c = c0 exp(-(f^2 / sx^2 + l^2 / sy^2 + h^2 / sz^2) / 2)

f, l, h: forward, to the left and up from the source, in axes rotated by a yaw. Source: QRSim (R. De
Nardi, 2013), GaussianPlumeArea: c0 = 1, deviations from 3 to 20 m and a yaw within half a turn, all
drawn for each flight.
"""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.plumes.sources import (
    Range,
    random_positions,
    random_values,
    validate_order,
)
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.plume import AbstractCloud, AbstractPlume, Site


class GaussianCloud(AbstractCloud):
    """Gaussian about a center."""

    position_world_m: Vec3
    deviations_m: Vec3
    yaw_rad: Real
    peak: Real

    @override
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        del time_s
        offset, s = position_world_m - self.position_world_m, self.deviations_m
        sine, cosine = sin_cos(self.yaw_rad)
        forward = (cosine * offset.x + sine * offset.y) / s.x
        left = (cosine * offset.y - sine * offset.x) / s.y
        up = offset.z / s.z
        return self.peak * jnp.exp(-0.5 * (forward * forward + left * left + up * up))


class GaussianPlume(AbstractPlume[GaussianCloud]):
    """Cloud at rest; position, deviations and yaw are drawn for each flight if not given.

    A position is drawn from the middle 80 % of each side of the world's area.

    Attributes:
        position_world_m: center; drawn by default.
        deviations_m: standard deviations along the axes; drawn by default.
        yaw_rad: yaw of the axes; drawn by default.
        deviation_range_m: range from which the deviations are drawn.
        peak: concentration at the center.
    """

    position_world_m: Vec3 | None = None
    deviations_m: (
        tuple[Annotated[Real, POSITIVE], Annotated[Real, POSITIVE], Annotated[Real, POSITIVE]]
        | None
    ) = None
    yaw_rad: Real | None = None
    deviation_range_m: Range = (3.0, 20.0)
    peak: Annotated[Real, POSITIVE] = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError if the higher limit comes first."""
        validate_order("deviation_range_m", self.deviation_range_m)

    @override
    def check(self, site: Site, period_s: float) -> None:
        del period_s
        if self.position_world_m is None:
            site.area.check_drawable()

    @override
    def init_cloud(self, site: Site, key: PRNGKeyArray) -> GaussianCloud:
        place_key, deviation_key, yaw_key = jax.random.split(key, 3)
        position, spread, yaw = self.position_world_m, self.deviations_m, self.yaw_rad
        if position is None:
            position = Vec3.of(random_positions(site.area, place_key, 1)[0])
        if spread is None:
            spread = tuple(random_values(self.deviation_range_m, deviation_key, 3))
        if yaw is None:
            yaw = jnp.pi * jax.random.uniform(yaw_key, (), jnp.result_type(float))
        return GaussianCloud(position, Vec3.of(spread), yaw, self.peak)

    @classmethod
    @override
    def examples(cls) -> dict[str, "GaussianPlume"]:
        return {"drawn": cls(), "given": cls(Vec3(4.0, 2.0, 10.0), (4.0, 9.0, 15.0), 0.6)}
