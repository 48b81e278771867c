"""Minimum separation of vehicles."""

import numpy as np
from jaxtyping import Float64

# below this number all pairs are computed, V^2 / 2 distances for each time; from it on, one k-d
# tree for each time is faster, at about V log V
TREE_FROM_VEHICLES = 200


def min_separation(positions_m: Float64[np.ndarray, "times vehicles 3"]) -> float:
    """Return the minimum distance between two vehicles; NaN if two are never present together.

    A vehicle is absent when a coordinate is not finite.
    """
    present = np.isfinite(positions_m).all(axis=2, keepdims=True)
    positions_m = np.where(present, positions_m, np.nan)
    if positions_m.shape[1] < TREE_FROM_VEHICLES:
        least = _by_pairs(positions_m)
    else:
        least = _by_trees(positions_m)
    return least if least < np.inf else np.nan


def _by_pairs(positions_m: Float64[np.ndarray, "times vehicles 3"]) -> float:
    x, y, z = np.ascontiguousarray(np.moveaxis(positions_m, 2, 0))
    least = np.inf
    for one in range(x.shape[1] - 1):
        own, others = np.s_[:, one, None], np.s_[:, one + 1 :]
        squares = (x[others] - x[own]) ** 2 + (y[others] - y[own]) ** 2 + (z[others] - z[own]) ** 2
        least = np.fmin.reduce(squares, axis=None, initial=least)
    return float(np.sqrt(least))


def _by_trees(positions_m: Float64[np.ndarray, "times vehicles 3"]) -> float:
    from scipy.spatial import KDTree  # takes 0.75 s to import

    least = np.inf
    for snapshot in positions_m:
        points = snapshot[~np.isnan(snapshot[:, 0])]
        if len(points) < 2:
            continue
        tree = KDTree(points, compact_nodes=False, balanced_tree=False)
        # the first neighbor is the point itself; distances above the minimum so far are not needed
        distances, _ = tree.query(points, k=2, distance_upper_bound=least)
        least = min(least, float(distances[:, 1].min()))
    return least
