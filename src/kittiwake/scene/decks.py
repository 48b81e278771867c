"""Platforms of the world, which may move and roll."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.parts import BodyPart, Poses
from kittiwake.rendering.shapes import box
from kittiwake.world.environment import AbstractPlatform

RGB, THICK_M = (82, 92, 106), 0.06


class Decks:
    """Plates of all platforms, one body part for each size."""

    def __init__(self, platforms: tuple[AbstractPlatform, ...]) -> None:
        groups: dict[tuple[float, float], list[int]] = {}
        for number, platform in enumerate(platforms):
            deck = platform.deck_state(0.0)
            size = float(deck.length_m), float(deck.width_m)
            groups.setdefault(size, []).append(number)
        self._groups = [np.array(numbers) for numbers in groups.values()]
        self.parts = tuple(
            BodyPart(f"platforms {i + 1}", _plate(*size), len(numbers), ())
            for i, (size, numbers) in enumerate(groups.items())
        )

        def poses_at(time_s: Real) -> tuple[Array, Array]:
            found = [platform.deck_state(time_s) for platform in platforms]
            places = [_stacked(s.center_world_m, "xyz") for s in found]
            return jnp.stack(places), jnp.stack(
                [_stacked(s.q_world_from_deck, "wxyz") for s in found]
            )

        self._poses = jax.jit(poses_at)

    def poses(self, time_s: float) -> list[Poses]:
        """Return the poses of the platforms at a time."""
        if not self._groups:
            return []
        with jax.enable_x64(True):  # noqa: FBT003  JAX's own
            places, q = (np.asarray(part, float) for part in self._poses(float(time_s)))
        return [Poses(places[numbers], q[numbers]) for numbers in self._groups]


def _plate(length_m: float, width_m: float) -> ColoredMesh:
    """Return a plate whose upper side is at z = 0."""
    plate = box((length_m, width_m, THICK_M), (0.0, 0.0, -0.5 * THICK_M))
    return plate.colored(RGB)


def _stacked(vector: Vec3 | Quaternion, axes: str) -> Array:
    return jnp.stack([jnp.asarray(getattr(vector, axis), float) for axis in axes])
