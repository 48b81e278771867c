"""How near vehicles came to each other."""

import numpy as np
from jaxtyping import Float64

# Up to here all distances from one vehicle are computed at once, at V^2 / 2 distances an instant;
# beyond, a k-d tree an instant is faster, at about V log V.
TREE_FROM_VEHICLES = 200


def min_separation(positions_m: Float64[np.ndarray, "times vehicles 3"]) -> float:
    """The least distance between two vehicles at any one time; NaN if two are never there at once.

    A vehicle is not there where a coordinate is not finite.
    """
    there = np.isfinite(positions_m).all(axis=2, keepdims=True)
    positions_m = np.where(there, positions_m, np.nan)
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
    from scipy.spatial import KDTree  # three quarters of a second to import

    least = np.inf
    for snapshot in positions_m:
        points = snapshot[~np.isnan(snapshot[:, 0])]
        if len(points) < 2:
            continue
        tree = KDTree(points, compact_nodes=False, balanced_tree=False)
        # the first is the point itself; nothing beyond the least so far need be looked for
        distances, _ = tree.query(points, k=2, distance_upper_bound=least)
        least = min(least, float(distances[:, 1].min()))
    return least
