"""Depth camera: a depth image by ray casting.

A pinhole with square pixels, w wide and h high: the ray through the center of the pixel in row v
and column u, counted from the upper left pixel, has in the camera's axes (x along the optical axis,
y to the left, z up) the direction

    (1, (w / 2 - u - 1/2) / f, (h / 2 - v - 1/2) / f),    f = w / (2 tan(A / 2))

with the horizontal field of view A. A pixel holds the distance along the ray, or its part along the
optical axis. The noise is sigma N(0, 1) in each pixel; all pixels are taken at one instant.
"""

import math
from typing import Annotated, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import Beam, FieldOfView
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ranging import AbstractOptical
from kittiwake.sensors.ranging_pose import DetectionLimits, mounted_pose, to_body_axes
from kittiwake.sensors.ray_scene import RayScene

PIXELS = Bounds(1.0, 1024.0)
# below a half space, which no image plane covers
FIELD_RAD = Bounds(0.0, math.radians(170.0), open_below=True)


class DepthMeasurement(AbstractMeasurement):
    """Depth image by row, from the top, and column, from the left.

    Pixels that see nothing hold the longest range, not valid.
    """

    depth_m: Float[Array, "rows columns"]
    valid: Bool[Array, "rows columns"]


class RangeCamera(AbstractOptical[DepthMeasurement]):
    """Depth camera along the x axis of its mount.

    Attributes:
        mount: pose on the vehicle.
        width: w, columns of the image.
        height: h, rows of the image.
        horizontal_field_of_view_rad: A, from the left to the right edge.
        along: depth along the optical ``axis``, or distance along the ``ray``.
    """

    measures: ClassVar[type] = DepthMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = Mount()
    width: Annotated[int, PIXELS] = field(static=True, default=16)
    height: Annotated[int, PIXELS] = field(static=True, default=12)
    horizontal_field_of_view_rad: Annotated[Real, FIELD_RAD] = math.radians(60.0)
    along: Literal["axis", "ray"] = field(static=True, default="axis")
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 10.0
    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.0

    @property
    @override
    def image_size(self) -> int:
        return 4 * self.width * self.height

    def directions(self) -> Float[Array, "pixels 3"]:
        """Return the directions of the rays through the pixels, row by row, in mount axes."""
        dtype = jnp.result_type(float)
        focal = 0.5 * self.width / jnp.tan(0.5 * self.horizontal_field_of_view_rad)
        left = 0.5 * self.width - jnp.arange(self.width, dtype=dtype) - 0.5
        up = 0.5 * self.height - jnp.arange(self.height, dtype=dtype) - 0.5
        left, up = jnp.tile(left, self.height) / focal, jnp.repeat(up, self.width) / focal
        length = jnp.sqrt(1.0 + left * left + up * up)
        return jnp.stack([jnp.ones_like(left), left, up], axis=-1) / length[:, None]

    @override
    def axes_body(self) -> Float[Array, "pixels 3"] | None:
        return to_body_axes(self.directions(), self.mount) if self.along == "ray" else None

    @override
    def detected_ranges_m(
        self, scene: RayScene, inputs: SensorInputs
    ) -> Float[Array, "rows columns"]:
        rays, pose = self.directions(), mounted_pose(inputs.truth, self.mount)
        # the range limits the reported depth, not the distance along the ray
        unlimited = DetectionLimits(0.0, jnp.inf)
        distance = unlimited.nearest_ranges_m(scene, pose, rays[:, None], jnp.zeros_like(rays))
        hit = jnp.isfinite(distance)
        factor = rays[:, 0] if self.along == "axis" else 1.0
        depth = jnp.where(hit, jnp.where(hit, distance, 0.0) * factor, jnp.inf)
        return self.detection_limits().within_m(depth).reshape(self.height, self.width)

    @override
    def beam_geometry(self) -> dict[str, Beam]:
        # in double precision, whatever the precision of the flight
        with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
            own = np.array(self.directions(), float)
            body = np.array(to_body_axes(self.directions(), self.mount), float)
        stretches = 1.0 / own[:, 0] if self.along == "axis" else np.ones(len(own))
        pixels = [f"{i // self.width}_{i % self.width}" for i in range(len(own))]
        position = self.mount.position_body_m
        return {
            pixel: Beam(position, Vec3.of(axis), pixel, stretch)
            for pixel, axis, stretch in zip(pixels, body.tolist(), stretches.tolist(), strict=True)
        }

    @override
    def field_of_view(self) -> FieldOfView:
        return self.mount.field_of_view(self.horizontal_field_of_view_rad, self.width, self.height)

    @classmethod
    @override
    def examples(cls) -> dict[str, "RangeCamera"]:
        return {
            "upwards": cls(width=4, height=3, deviation_m=0.01),
            "along the rays": cls(width=3, height=2, along="ray", max_range_m=100.0),
        }
