"""Pictures of the world for sensors that see it, taken on the host while a compiled step waits.

Who draws is handed to the fleet; sensors find it among what evolves in the world, with the places
of all bodies at that moment. The numbers go there in single precision, in which graphics are
computed anyway. Nothing can be differentiated through a picture: its derivatives are zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float32, UInt8

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.vec3 import Vec3

# under which sensors find the bodies among what evolves in the world
BODIES = "bodies"
# of a place: position and quaternion
PLACE = 7

Places = Float32[np.ndarray, "bodies 7"]
Numbers = Float32[Array, "_"]


class ImageFormat(NamedTuple):
    """What a picture is to be like.

    Attributes:
        width: in pixels.
        height: in pixels.
        deep: whether the depth is asked for.
    """

    width: int
    height: int
    deep: bool = False


class Shot(NamedTuple):
    """From where a picture is taken.

    The camera looks along its own x axis, y to the left, z up. ``own`` is the number of the body
    that carries it, which it does not see; -1 for none.
    """

    position_world_m: Float32[np.ndarray, "3"]
    q_world_from_camera: Float32[np.ndarray, "4"]
    horizontal_field_of_view_rad: float
    own: int


class Picture(NamedTuple):
    """By row, from above, and column, from the left.

    The depth is that along the optical axis; infinite where nothing is, None if not asked for.
    """

    rgb: UInt8[np.ndarray, "rows columns 3"]
    depth_m: Float32[np.ndarray, "rows columns"] | None


class AbstractRenderer(ABC):
    """Draws a world whose bodies have a fixed order: its platforms, then all of its vehicles."""

    @abstractmethod
    def picture(self, frame: ImageFormat, shot: Shot, places: Places) -> Picture:
        """The world with its bodies at these places; the same bits for the same numbers."""


# for a ``core.world.World`` and its vehicles in the order of the bodies
Rendering = Callable[[Any, Mapping[str, Any]], AbstractRenderer]


class Bodies(eqx.Module):
    """Who draws, and where everything is that can move."""

    renderer: AbstractRenderer = eqx.field(static=True)
    places: Float[Array, "bodies 7"]

    def seen(
        self,
        look: Callable[..., tuple[np.ndarray, ...]],
        form: tuple[jax.ShapeDtypeStruct, ...],
        shot: Numbers,
        *asked: Numbers,
    ) -> tuple[Array, ...]:
        """What ``look(renderer, shot, places, *asked)`` says on the host: arrays of a given form.

        Vehicles that are mapped over come in one call.
        """
        numbers = (jnp.asarray(part, jnp.float32) for part in (self.places, shot, *asked))
        return jax.pure_callback(
            partial(_looked, look, self.renderer),
            form,
            *jax.lax.stop_gradient(tuple(numbers)),
            vmap_method="expand_dims",
        )


def shot(
    position_world_m: Vec3, q_world_from_camera: Quaternion, field_rad: Real, own: Count
) -> Numbers:
    """A ``Shot`` as numbers that a compiled step can hand out."""
    p, q = position_world_m, q_world_from_camera
    return numbers_of(p.x, p.y, p.z, q.w, q.x, q.y, q.z, field_rad, own)


def numbers_of(*parts: Real | Count) -> Numbers:
    """Numbers in single precision."""
    return jnp.stack([jnp.asarray(part, jnp.float32) for part in parts])


def place(position_world_m: Vec3, q_world_from_body: Quaternion) -> Float[Array, "7"]:
    """Of one body."""
    p, q = position_world_m, q_world_from_body
    parts = [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    return jnp.stack([jnp.asarray(part, jnp.result_type(float)) for part in parts])


def _looked(
    look: Callable[..., tuple[np.ndarray, ...]], renderer: AbstractRenderer, *given: Any
) -> tuple[np.ndarray, ...]:
    """What is seen of one shot, or of each of many along any leading axes."""
    places, *rows = (np.asarray(part) for part in given)
    axes = np.broadcast_shapes(places.shape[:-2], *(row.shape[:-1] for row in rows))
    places = np.broadcast_to(places, (*axes, *places.shape[-2:]))
    rows = [np.broadcast_to(row, (*axes, *row.shape[-1:])) for row in rows]
    seen: list[tuple[np.ndarray, ...]] = []
    for at in np.ndindex(axes):
        taken, *asked = (row[at] for row in rows)
        seen.append(look(renderer, _shot(taken), places[at], *asked))
    return tuple(np.stack(part).reshape(*axes, *part[0].shape) for part in zip(*seen, strict=True))


def _shot(numbers: np.ndarray) -> Shot:
    return Shot(numbers[:3], numbers[3:PLACE], float(numbers[PLACE]), round(float(numbers[-1])))
