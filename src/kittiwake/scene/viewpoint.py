"""Choice of a viewpoint from which obstacles do not hide the vehicles."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float, Float64

from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.world.ray import AbstractObstacle, Ray, cast_ray

# free distance behind a vehicle that counts as open, relative to the viewing distance
OPEN = 15.0
# weights of an unobstructed view, and of the preferred direction
UNOBSTRUCTED, PREFERRED = 5.0, 0.05

Vectors = Float[np.ndarray, "n 3"]


def clearest(
    flight: FlightInfo, positions_world_m: Vectors, to_eye_world_m: Sequence[Vectors]
) -> int:
    """Return the index of the best viewing direction, by the vectors from positions to the eye.

    The best direction has no obstacle between eye and position, and an open view behind it; of
    equal directions the first one. Translucent walls do not count as obstacles.
    """
    solid = [one for one in flight.scenario.world.obstacles if not isinstance(one, Hallway)]
    if not solid:
        return 0
    vectors = np.concatenate(to_eye_world_m)
    distances = np.linalg.norm(vectors, axis=1)
    positions = np.tile(positions_world_m, (len(to_eye_world_m), 1))
    directions_to_eye = vectors / distances[:, None]
    # one call, because each array size is compiled separately
    free = _free_m(
        solid,
        np.concatenate([positions, positions]),
        np.concatenate([directions_to_eye, -directions_to_eye]),
    )
    before, behind = np.split(free, 2)
    scores = UNOBSTRUCTED * (before > distances) + np.minimum(behind / distances, OPEN) / OPEN
    totals = scores.reshape(len(to_eye_world_m), -1).mean(axis=1)
    totals[0] += PREFERRED
    return int(np.argmax(totals))


def _free_m(
    obstacles: Sequence[AbstractObstacle], positions_world_m: Vectors, directions: Vectors
) -> Float64[np.ndarray, " n"]:
    """Return the distances to the first obstacle; infinite without one."""

    def free(place: jax.Array, direction: jax.Array) -> jax.Array:
        return jax.numpy.asarray(
            cast_ray(obstacles, Ray(Vec3(*place), Vec3(*direction))).distance_m
        )

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        return np.asarray(jax.jit(jax.vmap(free))(positions_world_m, directions), float)
