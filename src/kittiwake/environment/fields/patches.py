"""Field of patches on a background.

    surface(x, y) = c0 + sum a exp(-((x - xi)^2 + (y - yi)^2) / (2 s^2))

Round patches of chlorophyll, or a spring of cold water where ``amount`` is negative.
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.field import AbstractField


class FieldPatch(Module):
    """Gaussian patch: its center, its standard deviation, and its peak amount."""

    position_world_m: Vec3
    deviation_m: Annotated[Real, POSITIVE]
    amount: Real


class Patches(AbstractField[tuple[()]]):
    """Gaussian patches on a background.

    Attributes:
        background: value far from the patches.
        patches: list of patches.
    """

    unit: str = field(static=True, default="")
    background: Real = 0.0
    patches: tuple[FieldPatch, ...] = ()
    trend_per_m: Real = 0.0
    drift_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)

    @override
    def at_surface(self, sample: tuple[()], east_m: Real, north_m: Real) -> Real:
        del sample
        values = (_patch_value(patch, east_m, north_m) for patch in self.patches)
        return sum(values, start=jnp.asarray(self.background, jnp.result_type(float)))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Patches"]:
        return {
            "two": cls(
                unit="ug/l",
                background=5.0,
                patches=(
                    FieldPatch(Vec3(4.0, 2.0, 10.0), 9.0, 4.0),
                    FieldPatch(Vec3(0.0, 5.0, 0.0), 3.0, -1.0),
                ),
                trend_per_m=0.1,
            )
        }


def _patch_value(patch: FieldPatch, east_m: Real, north_m: Real) -> Real:
    x = (east_m - patch.position_world_m.x) / patch.deviation_m
    y = (north_m - patch.position_world_m.y) / patch.deviation_m
    return patch.amount * jnp.exp(-0.5 * (x * x + y * y))
