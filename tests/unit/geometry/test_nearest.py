"""Nearest neighbors by all pairs and by cells against SciPy's k-d tree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import KDTree

from kittiwake.geometry import nearest as module
from kittiwake.geometry.nearest import CELLS, MAX_AT_ONCE, nearest

MANY = MAX_AT_ONCE + 40


@pytest.fixture(params=["pairs", "cells"], autouse=True)
def search(request, monkeypatch):
    if request.param == "cells":
        monkeypatch.setattr(module, "MAX_ALL_PAIRS", MAX_AT_ONCE)


def found(points, within_m, most, present=None, dtype=float):
    present = jnp.ones(len(points), bool) if present is None else jnp.asarray(present)
    search = jax.jit(lambda points, present: nearest(points, present, within_m, most))
    return search(jnp.asarray(points, dtype), present)


def expected(points, within_m, most):
    """Return expected neighbors as sets and their distances in order, padded by own indices."""
    distances, indices = KDTree(points).query(points, k=most + 1, distance_upper_bound=within_m)
    return distances[:, 1:], indices[:, 1:]


CLOUDS = {
    "even": lambda rng: rng.uniform(0.0, 30.0, (500, 3)),
    "of few points": lambda rng: rng.uniform(0.0, 10.0, (MAX_AT_ONCE - 1, 3)),
    "clustered": lambda rng: np.concatenate(
        [rng.normal(place, 1.0, (150, 3)) for place in (0.0, 50.0, -80.0)]
    ),
    "in one cell": lambda rng: rng.uniform(0.0, 1.0, (200, 3)),
    "in a line": lambda rng: np.outer(np.arange(300.0), [7.0, 0.0, 0.0]) + rng.normal(size=3),
    "wider than all cells": lambda rng: (
        rng.uniform(-3.0, 3.0, (200, 3)) * 2.0 * CELLS
        + np.tile(rng.normal(0.0, 1.5, (20, 3)), (10, 1))
    ),
    "higher than all cells": lambda rng: np.concatenate(
        [rng.normal([0.0, 0.0, 6.0 * CELLS], 2.0, (100, 3)), rng.normal(0.0, 2.0, (100, 3))]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("cloud", CLOUDS.values(), ids=CLOUDS)
@pytest.mark.parametrize("most", [1, 7])
def test_neighbors_equal_those_of_a_kd_tree(cloud, most):
    points = cloud(np.random.default_rng(3))
    near = found(points, 5.0, most)
    distances, indices = expected(points, 5.0, most)
    np.testing.assert_array_equal(near.found, np.isfinite(distances))
    ways = points[np.asarray(near.indices)] - points[:, None]
    np.testing.assert_allclose(
        np.where(near.found, np.linalg.norm(ways, axis=2), np.inf), distances, rtol=1e-6
    )
    known = np.isfinite(distances)
    np.testing.assert_array_equal(np.asarray(near.indices)[known], indices[known])
    crowd = [len(one) - 1 for one in KDTree(points).query_ball_point(points, 5.0)]
    np.testing.assert_array_equal(near.neighbor_count, crowd)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, MAX_AT_ONCE, MANY])
def test_absent_points_have_no_neighbors_and_are_none(size):
    points = np.random.default_rng(1).uniform(0.0, 5.0, (size, 3))
    points[0] = np.nan
    present = np.arange(size) > 0
    near = found(points, 50.0, 3, present)
    assert not near.found[0].any()
    assert not (np.asarray(near.indices)[1:][np.asarray(near.found)[1:]] == 0).any()
    assert int(near.neighbor_count[-1]) == size - 2


@pytest.mark.parametrize("size", [MAX_AT_ONCE, MANY])
def test_coincident_points_are_found(size):
    near = found(np.zeros((size, 3)), 1.0, 2)
    assert bool(near.found.all())
    assert (np.asarray(near.neighbor_count) == size - 1).all()
    assert (np.asarray(near.indices) != np.arange(size)[:, None]).all()


def test_without_a_radius_all_pairs_are_examined():
    points = np.random.default_rng(2).uniform(-1e5, 1e5, (MANY, 3))
    near = found(points, np.inf, 1)
    np.testing.assert_array_equal(near.indices[:, 0], KDTree(points).query(points, k=2)[1][:, 1])


@pytest.mark.slow
def test_mapped_search_equals_a_loop():
    worlds = np.random.default_rng(4).uniform(0.0, 20.0, (3, MANY, 3))
    alone = [found(points, 4.0, 3).indices for points in worlds]
    together = jax.vmap(lambda p: found(p, 4.0, 3).indices)(jnp.asarray(worlds, float))
    np.testing.assert_array_equal(together, np.stack(alone))
