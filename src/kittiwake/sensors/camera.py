"""A camera that gives pictures in color, with the depth of each pixel if wanted.

A pinhole with square pixels as in ``range_camera``: w pixels wide and h high, the focal length is
f = w / (2 tan(A / 2)) pixels with the horizontal field of view A. The picture is drawn of the
solids that there are: ground, obstacles, platforms, decks with their markers, other vehicles.
Depths are those along the optical axis, in the pixel's middle. Noise is added to the intensities,
which are cut to 0 to 1::

    c' = clip(c + sigma N(0, 1), 0, 1)

Neglected: lens distortion, blur, the time of exposure, shadows and glare, and the shape of waves.
"""

import math
from functools import partial
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.renderer import AbstractRenderer, ImageFormat, Places, Shot
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.sensors.camera_view import (
    DOWNWARDS,
    FIELD_RAD,
    PIXELS,
    CameraView,
    Gimbal,
    bodies,
)
from kittiwake.sensors.mount import Mount

# of a picture's intensities
WHITE = 255.0
COLORS = 3


class ImageMeasurement(AbstractMeasurement):
    """A picture by row, from above, and column, from the left: red, green and blue from 0 to 1.

    Where no depth is known it holds the longest range, not valid; both are None without depth.
    """

    color: Float[Array, "rows columns 3"]
    depth_m: Float[Array, "rows columns"] | None = None
    valid: Bool[Array, "rows columns"] | None = None


class ColorMeasurement(AbstractMeasurement):
    """What an ``ImageMeasurement`` without depths holds."""

    color: Float[Array, "rows columns 3"]


class Camera(AbstractSensor):
    """Pictures along the x axis of its mount; downwards if not told otherwise.

    Attributes:
        mount: where it is on the vehicle, and where it looks.
        gimbal: ``fixed`` to the vehicle, or ``stabilised`` against the horizon.
        width: of the picture, in pixels.
        height: of the picture, in pixels.
        horizontal_field_of_view_rad: from the left edge to the right one.
        depth: whether it tells depths, too.
        min_range_m: the least depth that it tells.
        max_range_m: the largest.
        intensity_deviation: sigma, of each color of each pixel.
    """

    measures: ClassVar[type] = ImageMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = DOWNWARDS
    gimbal: Gimbal = eqx.field(static=True, default="fixed")
    width: Annotated[int, PIXELS] = eqx.field(static=True, default=64)
    height: Annotated[int, PIXELS] = eqx.field(static=True, default=48)
    horizontal_field_of_view_rad: Annotated[Real, FIELD_RAD] = math.radians(60.0)
    depth: bool = eqx.field(static=True, default=False)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 20.0
    intensity_deviation: Annotated[Real, NOT_NEGATIVE] = 0.0

    def __check_init__(self) -> None:
        """Refuses ranges of which there is none."""
        near, far = self.min_range_m, self.max_range_m
        if isinstance(near, int | float) and isinstance(far, int | float) and not near < far:
            message = (
                f"min_range_m: {near:g} is not below max_range_m, {far:g}; write a smaller one, "
                "or leave it out"
            )
            raise ValueError(message)

    @property
    @override
    def renders(self) -> bool:
        return True

    @override
    def measured_kind(self) -> type:
        return ImageMeasurement if self.depth else ColorMeasurement

    @property
    @override
    def numbers(self) -> int:
        return self.width * self.height * (COLORS + 2 * self.depth)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], ImageMeasurement]:
        del dt_s
        dtype = jnp.result_type(float)
        size = (self.height, self.width)
        form = [jax.ShapeDtypeStruct((*size, COLORS), np.uint8)]
        form += [jax.ShapeDtypeStruct(size, np.float32)] * self.depth
        view = CameraView.of(inputs.truth, self.mount, self.gimbal)
        asked = view.shot(self.horizontal_field_of_view_rad, inputs)
        frame = ImageFormat(self.width, self.height, deep=self.depth)
        rgb, *depth = bodies(inputs).seen(partial(_look, frame), tuple(form), asked)
        noise = jax.random.normal(key, rgb.shape, dtype) * self.intensity_deviation
        color = jnp.clip(rgb.astype(dtype) / WHITE + noise, 0.0, 1.0)
        return state, ImageMeasurement(color, *self._told(depth, dtype))

    def _told(
        self, depth: list[Array], dtype: np.dtype
    ) -> tuple[()] | tuple[Float[Array, "rows columns"], Bool[Array, "rows columns"]]:
        """Depths in the range, and where there are any."""
        if not depth:
            return ()
        told = depth[0].astype(dtype)
        valid = (told >= self.min_range_m) & (told <= self.max_range_m)
        return jnp.where(valid, told, self.max_range_m), valid


def _look(
    frame: ImageFormat, renderer: AbstractRenderer, taken: Shot, places: Places
) -> tuple[np.ndarray, ...]:
    rgb, depth = renderer.picture(frame, taken, places)
    return (rgb,) if depth is None else (rgb, depth)
