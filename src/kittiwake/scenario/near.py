"""Which of many places lie close together, without comparing each with each."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from math import floor

import numpy as np

from kittiwake.geometry.vec3 import Vec3

Cell = tuple[int, ...]


def near_pairs(places_m: Mapping[str, Vec3], distance_m: float) -> Iterator[tuple[str, str, float]]:
    """Each pair nearer than a distance, with its own distance.

    Places are sorted into cells as wide as the distance: a near one lies in the same cell or in one
    of those around it.
    """
    cells: dict[Cell, list[tuple[str, np.ndarray]]] = defaultdict(list)
    for name, place_m in places_m.items():
        here_m = np.asarray(place_m.array)
        cell = tuple(floor(x / distance_m) for x in here_m.tolist())
        for step in product((-1, 0, 1), repeat=3):
            around = tuple(c + s for c, s in zip(cell, step, strict=True))
            for other, there_m in cells.get(around, ()):
                apart_m = float(np.linalg.norm(here_m - there_m))
                if apart_m < distance_m:
                    yield other, name, apart_m
        cells[cell].append((name, here_m))
