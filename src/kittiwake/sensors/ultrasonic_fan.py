"""Ring of ultrasonic sensors, each the nearest echo of a fan of rays.

Sensor i of N looks along the azimuth 2 pi i / N + pi / N, counted to the left from forward. Its
rays are at n_h azimuths and n_v elevations about that, equally spaced and symmetric, the outermost
at the edges of the fan. The reading is r = min(r_j) + U(-b, b).

Source: Micklisch et al. 2021, sensors and algorithms 1 and 2: 20 Hz, b = 0.005 m, 5 m. Corrected:
its fan begins at one edge and omits the other, and its rays' horizontal components lack the cosine
of the elevation. The number of sensors, the angles and the numbers of rays are not published:
chosen here.
"""

import math
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.beam import Beam
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ranging import AbstractUltrasonic
from kittiwake.sensors.ranging_pose import directions, mounted_pose, spread, to_body_axes
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.sensors.ultrasonic import INCIDENCE_RAD

WIDTH_RAD, HEIGHT_RAD = Bounds(0.0, 2.0 * math.pi), Bounds(0.0, math.pi)
SENSORS, RAYS = Bounds(1.0, 64.0), Bounds(1.0, 99.0)


class UltrasonicFan(AbstractUltrasonic[tuple[()], RangesMeasurement]):
    """Ring of ultrasonic sensors with fans of rays and bounded noise.

    Attributes:
        sensors: number of sensors on the ring.
        ring_radius_m: radius of the ring.
        mount: pose of the ring on the vehicle.
        horizontal_rad: full horizontal angle of a fan.
        vertical_rad: full vertical angle of a fan.
        horizontal_rays: number of rays across; odd numbers include one on the axis.
        vertical_rays: number of rays up and down.
    """

    measures: ClassVar[type] = RangesMeasurement
    default_rate_hz: ClassVar[float | None] = 20.0

    sensors: Annotated[int, SENSORS] = field(static=True, default=8)
    ring_radius_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    mount: Mount = Mount()
    horizontal_rad: Annotated[Real, WIDTH_RAD] = math.radians(30.0)
    vertical_rad: Annotated[Real, HEIGHT_RAD] = math.radians(30.0)
    horizontal_rays: Annotated[int, RAYS] = field(static=True, default=7)
    vertical_rays: Annotated[int, RAYS] = field(static=True, default=5)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    max_incidence_rad: Annotated[Real, INCIDENCE_RAD] | None = None
    max_range_rate_mps: Annotated[Real, POSITIVE] | None = None
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.005

    def azimuths_rad(self) -> Float[Array, " sensors"]:
        """Return the azimuth of each sensor, to the left from forward."""
        indices = jnp.arange(self.sensors, dtype=jnp.result_type(float))
        return (2.0 * indices + 1.0) * (math.pi / self.sensors)

    @override
    def axes_body(self) -> Float[Array, "sensors 3"]:
        azimuth = self.azimuths_rad()
        return to_body_axes(directions(azimuth, jnp.zeros_like(azimuth)), self.mount)

    @override
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, " sensors"]:
        azimuth, pose = self.azimuths_rad(), mounted_pose(inputs.truth, self.mount)
        ring = directions(azimuth, jnp.zeros_like(azimuth)) * self.ring_radius_m
        return self.detection_limits().nearest_ranges_m(
            scene, pose, jax.vmap(self._fan)(azimuth), ring
        )

    def _fan(self, azimuth_rad: Real) -> Float[Array, "rays 3"]:
        azimuths = azimuth_rad + spread(self.horizontal_rad, self.horizontal_rays)
        elevations = spread(self.vertical_rad, self.vertical_rays)
        return directions(
            jnp.repeat(azimuths, len(elevations)), jnp.tile(elevations, len(azimuths))
        )

    @property
    @override
    def opening_rad(self) -> Real:
        return self.horizontal_rad

    @override
    def beam_geometry(self) -> dict[str, Beam]:
        radius = self.ring_radius_m
        return {
            f"fan_{beam.element}": beam._replace(
                position_body_m=beam.position_body_m + beam.direction_body * radius
            )
            for beam in super().beam_geometry().values()
        }
