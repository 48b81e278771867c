"""Sonar that reports the nearest echo within a cone.

One ray is on the axis, the others on rings about it: ring k of n at the angle alpha k / n from the
axis, alpha being half the cone's opening, its rays equally spaced about the axis. A ray echoes if
it hits a surface at an angle to the normal up to the limit of incidence. Edges and corners do not
echo, and the intensity is uniform over the cone.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import RangeMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ranging import AbstractUltrasonic
from kittiwake.sensors.ranging_pose import mounted_pose, to_body_axes
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.sensors.ultrasonic import INCIDENCE_LIMIT_RAD, INCIDENCE_RAD

HALF_ANGLE_RAD = Bounds(0.0, math.pi / 2)
RINGS, RAYS = Bounds(1.0, 32.0), Bounds(3.0, 128.0)


class SonarCone(AbstractUltrasonic[tuple[()], RangeMeasurement]):
    """Nearest echo in a cone about the x axis of the mount.

    Attributes:
        mount: pose on the vehicle.
        half_angle_rad: angle between the axis and the outermost rays.
        rings: number of rings of rays.
        rays_per_ring: rays of each ring.
    """

    measures: ClassVar[type] = RangeMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = Mount()
    half_angle_rad: Annotated[Real, HALF_ANGLE_RAD] = math.radians(15.0)
    rings: Annotated[int, RINGS] = field(static=True, default=3)
    rays_per_ring: Annotated[int, RAYS] = field(static=True, default=12)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    max_incidence_rad: Annotated[Real, INCIDENCE_RAD] = INCIDENCE_LIMIT_RAD
    max_range_rate_mps: Annotated[Real, POSITIVE] | None = None
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.0

    def directions(self) -> Float[Array, "rays 3"]:
        """Return the directions of the rays, in mount axes."""
        dtype = jnp.result_type(float)
        angles = jnp.arange(self.rays_per_ring, dtype=dtype) * (2.0 * math.pi / self.rays_per_ring)
        ring = jnp.arange(1, self.rings + 1, dtype=dtype) * (self.half_angle_rad / self.rings)
        polar, azimuth = jnp.repeat(ring, self.rays_per_ring), jnp.tile(angles, self.rings)
        radius = jnp.sin(polar)
        rays = jnp.stack(
            [jnp.cos(polar), radius * jnp.cos(azimuth), radius * jnp.sin(azimuth)], axis=-1
        )
        return jnp.concatenate([jnp.asarray([[1.0, 0.0, 0.0]], dtype), rays])

    @override
    def axes_body(self) -> Float[Array, "1 3"]:
        return to_body_axes(self.directions()[:1], self.mount)

    @override
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, ""]:
        pose, rays = mounted_pose(inputs.truth, self.mount), self.directions()[None]
        return self.detection_limits().nearest_ranges_m(scene, pose, rays, jnp.zeros((1, 3)))[0]

    @property
    @override
    def opening_rad(self) -> Real:
        return 2.0 * self.half_angle_rad
