"""Renderer interface: images of the world for camera sensors, rendered on the host.

The renderer is passed to the fleet; sensors receive it as a world process, with the poses of all
bodies at the present step. Rendering is a host callback from the compiled step, with inputs in
single precision. Images are not differentiable: their derivatives are zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float32, UInt8

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field

# key under which sensors find ``Bodies`` among the outputs of the world's processes
BODIES = "bodies"
# numbers of a pose: position and quaternion
POSE_SIZE = 7

BodyPoses = Float32[np.ndarray, "bodies 7"]
Numbers = Float32[Array, "_"]


class ImageFormat(NamedTuple):
    """Format of a rendered image.

    Attributes:
        width: in pixels.
        height: in pixels.
        with_depth: true to render depth, too.
    """

    width: int
    height: int
    with_depth: bool = False


class Viewpoint(NamedTuple):
    """Pose and field of view of a camera.

    The camera looks along its own x axis, y to the left, z up. ``own`` is the index of the body
    that carries the camera, which is not rendered; -1 for none.
    """

    position_world_m: Float32[np.ndarray, "3"]
    q_world_from_camera: Float32[np.ndarray, "4"]
    horizontal_field_of_view_rad: float
    own: int


class RenderedImage(NamedTuple):
    """Rendered image, by row from the top and column from the left.

    The depth is along the optical axis; infinite for the background, None if not requested.
    """

    rgb: UInt8[np.ndarray, "rows columns 3"]
    depth_m: Float32[np.ndarray, "rows columns"] | None


class AbstractRenderer(ABC):
    """Renderer of a world; its bodies are the world's platforms, then all vehicles of the fleet."""

    @abstractmethod
    def picture(self, frame: ImageFormat, viewpoint: Viewpoint, poses: BodyPoses) -> RenderedImage:
        """Return an image of the world with its bodies at these poses, deterministically."""


# builds the renderer of a ``world.world.World`` and its vehicles, in the order of the bodies
Rendering = Callable[[Any, Mapping[str, Any]], AbstractRenderer]


class Bodies(Module):
    """The renderer, and the poses of all bodies."""

    renderer: AbstractRenderer = field(static=True)
    poses: Float[Array, "bodies 7"]

    def call_renderer(
        self,
        function: Callable[..., tuple[np.ndarray, ...]],
        shapes: tuple[jax.ShapeDtypeStruct, ...],
        viewpoint: Numbers,
        *arguments: Numbers,
    ) -> tuple[Array, ...]:
        """Return ``function(renderer, viewpoint, poses, *arguments)``, computed on the host.

        ``shapes`` are those of the results. Vehicles that are mapped over share one callback.
        """
        inputs = (jnp.asarray(part, jnp.float32) for part in (self.poses, viewpoint, *arguments))
        return jax.pure_callback(
            partial(_call_each, function, self.renderer),
            shapes,
            *jax.lax.stop_gradient(tuple(inputs)),
            vmap_method="expand_dims",
        )


def viewpoint_row(
    position_world_m: Vec3, q_world_from_camera: Quaternion, field_rad: Real, own: Integer
) -> Numbers:
    """Return a ``Viewpoint`` as an array, the form in which a callback receives it."""
    p, q = position_world_m, q_world_from_camera
    return as_float32(p.x, p.y, p.z, q.w, q.x, q.y, q.z, field_rad, own)


def as_float32(*parts: Real | Integer) -> Numbers:
    """Return numbers as an array in single precision."""
    return jnp.stack([jnp.asarray(part, jnp.float32) for part in parts])


def pose_row(position_world_m: Vec3, q_world_from_body: Quaternion) -> Float[Array, "7"]:
    """Return the pose of a body as an array."""
    p, q = position_world_m, q_world_from_body
    parts = [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    return jnp.stack([jnp.asarray(part, jnp.result_type(float)) for part in parts])


def _call_each(
    function: Callable[..., tuple[np.ndarray, ...]], renderer: AbstractRenderer, *inputs: Any
) -> tuple[np.ndarray, ...]:
    """Call the function for each element along the leading axes, and stack the results."""
    poses, *rows = (np.asarray(part) for part in inputs)
    axes = np.broadcast_shapes(poses.shape[:-2], *(row.shape[:-1] for row in rows))
    poses = np.broadcast_to(poses, (*axes, *poses.shape[-2:]))
    rows = [np.broadcast_to(row, (*axes, *row.shape[-1:])) for row in rows]
    results: list[tuple[np.ndarray, ...]] = []
    for index in np.ndindex(axes):
        viewpoint, *arguments = (row[index] for row in rows)
        results.append(function(renderer, _viewpoint(viewpoint), poses[index], *arguments))
    return tuple(
        np.stack(part).reshape(*axes, *part[0].shape) for part in zip(*results, strict=True)
    )


def _viewpoint(row: np.ndarray) -> Viewpoint:
    return Viewpoint(row[:3], row[3:POSE_SIZE], float(row[POSE_SIZE]), round(float(row[-1])))
