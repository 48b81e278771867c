"""From which side of obstacles vehicles are seen best."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float, Float64

from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scene.frame import Show
from kittiwake.world.ray import AbstractObstacle, Ray, cast

# in distances of the eye: what lies further behind a vehicle is open country
OPEN = 15.0
# what a clear sight counts, against an open view behind; the side of choice, against others
CLEAR, CHOSEN = 5.0, 0.05

Vectors = Float[np.ndarray, "n 3"]


def clearest(show: Show, places_world_m: Vectors, to_eye_world_m: Sequence[Vectors]) -> int:
    """Which of several ways around is best: of each where eyes are, as seen from places.

    Best is where no obstacle is between the eye and the place, and much is seen behind it; the
    first one of equally good ones. Walls that are drawn as glass hide nothing.
    """
    solid = [one for one in show.scenario.world.obstacles if not isinstance(one, Hallway)]
    if not solid:
        return 0
    ways = np.concatenate(to_eye_world_m)
    distances = np.linalg.norm(ways, axis=1)
    places = np.tile(places_world_m, (len(to_eye_world_m), 1))
    towards = ways / distances[:, None]
    # one call, since each size is compiled on its own
    free = _free_m(solid, np.concatenate([places, places]), np.concatenate([towards, -towards]))
    before, behind = np.split(free, 2)
    worth = CLEAR * (before > distances) + np.minimum(behind / distances, OPEN) / OPEN
    worths = worth.reshape(len(to_eye_world_m), -1).mean(axis=1)
    worths[0] += CHOSEN
    return int(np.argmax(worths))


def _free_m(
    obstacles: Sequence[AbstractObstacle], places_world_m: Vectors, directions: Vectors
) -> Float64[np.ndarray, " n"]:
    """How far the first obstacle is; infinite if there is none."""

    def free(place: jax.Array, direction: jax.Array) -> jax.Array:
        return jax.numpy.asarray(cast(obstacles, Ray(Vec3(*place), Vec3(*direction))).distance_m)

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        return np.asarray(jax.jit(jax.vmap(free))(places_world_m, directions), float)
