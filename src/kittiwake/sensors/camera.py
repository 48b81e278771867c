"""Camera with color images, and optionally the depth of each pixel.

A pinhole with square pixels as in ``range_camera``: w pixels wide and h high, the focal length is f
= w / (2 tan(A / 2)) pixels with the horizontal field of view A. The picture shows the solids of the
scene: ground, obstacles, platforms, decks with their markers, other vehicles. Depths are along the
optical axis, at the center of the pixel. Noise is added to the intensities, which are clipped to 0
to 1::

    c' = clip(c + sigma N(0, 1), 0, 1)

Neglected: lens distortion, blur, exposure time, shadows and glare, and the shape of waves.
"""

import math
from functools import partial
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.beam import FieldOfView
from kittiwake.interfaces.renderer import AbstractRenderer, BodyPoses, ImageFormat, Viewpoint
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.camera_view import (
    DOWNWARDS,
    FIELD_RAD,
    PIXELS,
    CameraView,
    Gimbal,
    bodies,
)
from kittiwake.sensors.mount import Mount

# largest intensity of a picture with 8 bits per color
WHITE = 255.0
COLORS = 3


class ImageMeasurement(AbstractMeasurement):
    """Picture by row, from the top, and column, from the left: red, green and blue from 0 to 1.

    Pixels of unknown depth hold the longest range, not valid; both are None without depth.
    """

    color: Float[Array, "rows columns 3"]
    depth_m: Float[Array, "rows columns"] | None = None
    valid: Bool[Array, "rows columns"] | None = None


class ColorMeasurement(AbstractMeasurement):
    """Fields of an ``ImageMeasurement`` without depth."""

    color: Float[Array, "rows columns 3"]


class Camera(AbstractSensor[tuple[()], ImageMeasurement]):
    """Camera along the x axis of its mount; looks down by default.

    Attributes:
        mount: position on the vehicle, and direction of view.
        gimbal: ``fixed`` to the vehicle, or ``stabilised`` against the horizon.
        width: width of the picture in pixels.
        height: height of the picture in pixels.
        horizontal_field_of_view_rad: angle between the left edge and the right one.
        depth: true to measure depth, too.
        min_range_m: smallest depth that it measures.
        max_range_m: largest depth that it measures.
        intensity_deviation: sigma, standard deviation of each color of each pixel.
    """

    measures: ClassVar[type] = ImageMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = DOWNWARDS
    gimbal: Gimbal = field(static=True, default="fixed")
    width: Annotated[int, PIXELS] = field(static=True, default=64)
    height: Annotated[int, PIXELS] = field(static=True, default=48)
    horizontal_field_of_view_rad: Annotated[Real, FIELD_RAD] = math.radians(60.0)
    depth: bool = field(static=True, default=False)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 20.0
    intensity_deviation: Annotated[Real, NOT_NEGATIVE] = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if the range is empty."""
        near, far = self.min_range_m, self.max_range_m
        if isinstance(near, int | float) and isinstance(far, int | float) and not near < far:
            message = (
                f"min_range_m: got {near:g}; must be below max_range_m, {far:g}. Write a smaller "
                "value or omit it"
            )
            raise ValueError(message)

    @property
    @override
    def renders(self) -> bool:
        return True

    @override
    def measured_type(self) -> type:
        return ImageMeasurement if self.depth else ColorMeasurement

    @property
    @override
    def image_size(self) -> int:
        return self.width * self.height * (COLORS + 2 * self.depth)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], ImageMeasurement]:
        del dt_s
        dtype = jnp.result_type(float)
        size = (self.height, self.width)
        shapes = [jax.ShapeDtypeStruct((*size, COLORS), np.uint8)]
        shapes += [jax.ShapeDtypeStruct(size, np.float32)] * self.depth
        view = CameraView.of(inputs.truth, self.mount, self.gimbal)
        viewpoint = view.viewpoint_row(self.horizontal_field_of_view_rad, inputs)
        frame = ImageFormat(self.width, self.height, with_depth=self.depth)
        rgb, *depth = bodies(inputs).call_renderer(
            partial(_render, frame), tuple(shapes), viewpoint
        )
        noise = jax.random.normal(key, rgb.shape, dtype) * self.intensity_deviation
        color = jnp.clip(rgb.astype(dtype) / WHITE + noise, 0.0, 1.0)
        return state, ImageMeasurement(color, *self._depth_fields(depth, dtype))

    def _depth_fields(
        self, depth: list[Array], dtype: np.dtype
    ) -> tuple[()] | tuple[Float[Array, "rows columns"], Bool[Array, "rows columns"]]:
        """Return depths within the range and their validity; nothing without depth."""
        if not depth:
            return ()
        measured = depth[0].astype(dtype)
        valid = (measured >= self.min_range_m) & (measured <= self.max_range_m)
        return jnp.where(valid, measured, self.max_range_m), valid

    @override
    def field_of_view(self) -> FieldOfView:
        stabilised = self.gimbal == "stabilised"
        return self.mount.field_of_view(
            self.horizontal_field_of_view_rad, self.width, self.height, stabilised=stabilised
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Camera"]:
        return {
            "with depth": cls(width=4, height=3, depth=True, intensity_deviation=0.1),
            "held by a gimbal": cls(Mount(), "stabilised", 3, 2),
        }


def _render(
    frame: ImageFormat, renderer: AbstractRenderer, viewpoint: Viewpoint, poses: BodyPoses
) -> tuple[np.ndarray, ...]:
    rgb, depth = renderer.picture(frame, viewpoint, poses)
    return (rgb,) if depth is None else (rgb, depth)
