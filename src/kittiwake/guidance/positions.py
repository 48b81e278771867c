"""Checks of the positions that a vehicle is sent to, before the flight."""

from collections.abc import Sequence

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext


def check_positions(context: BuildContext, positions_world_m: Sequence[Vec3], key: str) -> None:
    """Check that positions are inside the area, above the ground and outside of obstacles.

    Raises:
        ScenarioError: for the first position that is not.
    """
    world = context.world
    for position in positions_world_m:
        for axis in "xyz":
            low, high = getattr(world.area, f"{axis}_m")
            if not low <= getattr(position, axis) <= high:
                message = (
                    f"{_described(key, position)} is outside the area, where {axis} is {low:g} to "
                    f"{high:g} m; write a position inside, or a larger world.area"
                )
                raise ScenarioError(message)
        if position.z < world.ground_z_m:
            message = (
                f"{_described(key, position)} is below the ground, which is at z = "
                f"{world.ground_z_m:g}; write a higher position"
            )
            raise ScenarioError(message)
    if world.obstacles and positions_world_m:
        points = np.array(
            [[position.x, position.y, position.z] for position in positions_world_m], float
        )
        for position, distance_m, index in zip(
            positions_world_m, *world.clearances(points), strict=True
        ):
            if distance_m < 0.0:
                obstacle = world.obstacle_called(int(index))
                message = (
                    f"{_described(key, position)} is inside of {obstacle}, "
                    f"{-distance_m:.3g} m deep; write a position outside"
                )
                raise ScenarioError(message)


def _described(key: str, position: Vec3) -> str:
    return f"{key}: [{position.x:g}, {position.y:g}, {position.z:g}]"
