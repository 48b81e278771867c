"""Tuning by evolution of candidates: any objective, without derivatives.

CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772) of the library
``cmaes``.
"""

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from kittiwake.core.errors import KittiwakeError
from kittiwake.core.extras import import_optional
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tuning.least_squares import Note, Point
from kittiwake.runtime.tuning.objective import Score, scores
from kittiwake.runtime.tuning.search_space import SearchSpace

# first standard deviation: of limits, and of a coordinate without both
SHARE_OF_LIMITS, WITHOUT_LIMITS = 0.25, 0.3
# a failed flight is worse than any that was completed
FAILED = 1e12


def require_library() -> ModuleType:
    """Return the library.

    Raises:
        MissingExtraError: if it is not installed.
    """
    return import_optional("cmaes", "tune")


def evolved(
    space: SearchSpace,
    seeds: Sequence[int],
    objective: str,
    evaluations: int,
    *,
    maximize: bool,
    seed: int,
    note: Note,
) -> Point:
    """Return the best point of some generations of candidates.

    Args:
        space: the search space.
        seeds: seed of each flight of a candidate.
        objective: the objective.
        evaluations: the most candidates.
        maximize: True to look for the largest value.
        seed: seed of the evolution.
        note: called with each candidate, its objective, which is infinite if a flight failed, and
            why it was refused.

    Raises:
        MissingExtraError: without cmaes.
    """
    cmaes = require_library()
    low, high = space.limits
    bounded = np.isfinite(low) & np.isfinite(high)
    scale = np.where(bounded, SHARE_OF_LIMITS * (high - low), WITHOUT_LIMITS)
    center = space.start
    limits = np.stack([(low - center) / scale, (high - center) / scale], axis=1)
    search = cmaes.CMA(mean=np.zeros(len(center)), sigma=1.0, bounds=limits, seed=seed % 2**32)
    best, best_rank = center, None
    for flown in range(0, evaluations, search.population_size):
        asked = [search.ask() for _ in range(min(search.population_size, evaluations - flown))]
        points = [center + scale * each for each in asked]
        found = _scored(space, points, seeds, objective)
        for point, (score, refusal) in zip(points, found, strict=True):
            note(point, np.inf if score.failures else score.value, refusal)
            rank = score.rank(maximize=maximize)
            if best_rank is None or rank < best_rank:
                best, best_rank = point, rank
        if len(asked) < search.population_size:
            # the last generation, which is not a whole one
            break
        ranks = [score.rank(maximize=maximize) for score, _ in found]
        search.tell(
            [
                (each, failures * FAILED + (value if np.isfinite(value) else FAILED))
                for each, (failures, value) in zip(asked, ranks, strict=True)
            ]
        )
        if search.should_stop():
            break
    return best


def _scored(
    space: SearchSpace, points: Sequence[Point], seeds: Sequence[int], objective: str
) -> list[tuple[Score, str]]:
    """Return the score of each point, and why its values are refused; empty if they are not.

    All flights fail where they are refused.
    """
    flown: dict[int, Simulation] = {}
    refusals: dict[int, str] = {}
    for index, point in enumerate(points):
        try:
            candidate = space.simulation(point)
            for seed in seeds:
                candidate.drawn(seed)
        except KittiwakeError as error:
            refusals[index] = str(error)
        else:
            flown[index] = candidate
    found = dict(zip(flown, scores([*flown.values()], seeds, objective), strict=True))
    none = Score(np.inf, len(seeds), len(seeds))
    return [(found.get(index, none), refusals.get(index, "")) for index in range(len(points))]
