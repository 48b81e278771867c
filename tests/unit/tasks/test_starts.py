"""Initial positions of agents that a task draws."""

import jax
import jax.numpy as jnp
import numpy as np
from tests.unit.tasks import scenes

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.starts import first_separated, inner_area, scatter_starts
from kittiwake.world.world import FlightArea

AREA = FlightArea((-20.0, 40.0), (0.0, 30.0), (0.0, 10.0))


def places(count, apart_m, flights=400):
    given = jax.tree.map(
        lambda leaf: np.full(count, leaf), as_arrays(Start(Vec3(0.0, 0.0, 5.0), yaw_rad=0.3))
    )
    drawn = jax.jit(jax.vmap(lambda key: scatter_starts(given, inner_area(AREA), apart_m, key)))(
        scenes.keys(flights)
    )
    np.testing.assert_array_equal(drawn.yaw_rad, 0.3)
    np.testing.assert_array_equal(drawn.position_world_m.z, 5.0)
    return np.stack([drawn.position_world_m.x, drawn.position_world_m.y], axis=-1)


def test_single_start_is_uniform_in_the_inner_area():
    level = places(1, 2.0)[:, 0]
    assert (level.min(axis=0) >= [-17.0, 1.5]).all()
    assert (level.max(axis=0) <= [37.0, 28.5]).all()
    np.testing.assert_allclose(level.mean(axis=0), [10.0, 15.0], atol=3.0)
    np.testing.assert_allclose(level.std(axis=0), np.array([54.0, 27.0]) / np.sqrt(12), rtol=0.1)


def test_several_starts_keep_their_distance():
    level = places(3, 8.0)
    ways = level[:, [0, 0, 1]] - level[:, [1, 2, 2]]
    assert np.linalg.norm(ways, axis=-1).min() >= 8.0


def test_widest_layout_is_taken_if_none_keeps_the_distance():
    layouts = jnp.asarray([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]], [[5.0, 5.0]] * 2])
    np.testing.assert_array_equal(first_separated(layouts, 10.0), layouts[1])
    np.testing.assert_array_equal(first_separated(layouts, 0.5), layouts[0])
