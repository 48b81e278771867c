"""Randomization of scenario values in each episode.

A scenario gives a distribution for any of its values x_i. Building the fleet a few times shows
which of its numbers depend on them, and how. Most are linear: ``leaf = leaf_0 + sum_i s_i (x_i -
x_i0)``, with slopes s_i from one build for each x_i; they are computed for each episode. Where
builds with random values show that this does not hold, as for gains that depend on a mass,
``VARIANTS`` builds are kept and an episode takes one of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.keys import fold_in_name, fold_in_names, seed_key
from kittiwake.core.streams import Stream, draw_stream
from kittiwake.geometry.scalar import Real
from kittiwake.scenario.build import build
from kittiwake.scenario.distributions import uniforms
from kittiwake.scenario.document import apply_overrides, written
from kittiwake.scenario.problems import Plain, ProblemList
from kittiwake.scenario.randomization import (
    ALWAYS,
    NOT_PHYSICAL,
    Part,
    by_path,
    items_of,
    parts_of,
    randomized_paths,
    refusal,
)
from kittiwake.scenario.scenario import CURRICULUM, Scenario
from kittiwake.sim.fleet import Fleet
from kittiwake.tasks.task import Value

# number of builds that are kept for leaves that are not linear
VARIANTS = 64
# number of random builds that must agree with the linear model
TRIALS = 3
TOLERANCE = 1e-7
# part of a vehicle that matters only at the beginning of a flight
START = "start"


@dataclass(frozen=True)
class Randomization:
    """Values drawn for each episode, and their effect on the leaves of a fleet.

    Attributes:
        parts: randomized numbers.
        leaves: indices of the affected leaves among the fleet's leaves.
        base: values of these leaves with all parts at the middle of their distributions.
        slopes: derivative of each leaf with respect to each part; zero without effect.
        variants: values of each leaf in the builds that are kept; None for a linear leaf.
        ends: True for each leaf that matters only at the beginning of an episode.
    """

    parts: tuple[Part, ...] = ()
    leaves: tuple[int, ...] = ()
    base: tuple[np.ndarray, ...] = ()
    slopes: tuple[np.ndarray, ...] = ()
    variants: tuple[np.ndarray | None, ...] = ()
    ends: tuple[bool, ...] = ()

    @classmethod
    def of(cls, scenario: Scenario) -> "Randomization":
        """Return the randomization by a scenario's ``randomize`` and ``curriculum``.

        Raises:
            ScenarioError: for values that cannot be drawn, with file and line.
        """
        parts = parts_of(scenario)
        if not parts:
            return cls()
        return _found(scenario, parts)

    def draw(self, key: PRNGKeyArray, difficulty: Real) -> tuple[Array, ...]:
        """Draw the values of the affected leaves; ``difficulty`` scales the curriculum, 0 to 1."""
        if not self.parts:
            return ()
        dtype = jnp.result_type(float)
        drawn = self._draw_parts(key, difficulty)
        middle = jnp.asarray([part.distribution.at(0.5) for part in self.parts], dtype)
        chosen = jax.random.randint(fold_in_name(key, Stream.VARIANT), (), 0, VARIANTS, jnp.int32)
        values = []
        for base, slopes, variants in zip(self.base, self.slopes, self.variants, strict=True):
            if variants is not None:
                values.append(jnp.asarray(_working(variants))[chosen])
                continue
            moved = jnp.tensordot(drawn - middle, jnp.asarray(slopes, dtype), 1)
            values.append(jnp.asarray(base, dtype) + moved)
        return tuple(values)

    def apply(self, fleet: Fleet, values: Sequence[Array]) -> Fleet:
        """Return the fleet at the beginning of an episode with these values."""
        return _replaced(fleet, self.leaves, values)

    def lasting_values(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the drawn values that matter after the beginning of an episode."""
        return tuple(value for value, ends in zip(values, self.ends, strict=True) if not ends)

    def apply_lasting(self, fleet: Fleet, values: Sequence[Array]) -> Fleet:
        """Return the fleet later in the episode, with the lasting values."""
        return _replaced(fleet, self.lasting_values(self.leaves), values)

    def _draw_parts(self, key: PRNGKeyArray, difficulty: Real) -> Float[Array, " parts"]:
        """Draw all parts at once, each from a random stream of its own."""
        streams = fold_in_names(key, [draw_stream(part.path, part.place) for part in self.parts])
        units = uniforms(jnp.stack([*streams.values()]))
        return jnp.stack(
            [part.draw(unit, difficulty) for part, unit in zip(self.parts, units, strict=True)]
        )


def _replaced(fleet: Fleet, places: Sequence[int], values: Sequence[Array]) -> Fleet:
    """Return the fleet with other values of some leaves."""
    if not places:
        return fleet
    leaves, structure = jax.tree.flatten(fleet)
    for place, value in zip(places, values, strict=True):
        leaves[place] = value
    return jax.tree.unflatten(structure, leaves)


class _Builds:
    """Builds of a scenario's fleet with other values."""

    def __init__(self, scenario: Scenario, parts: Sequence[Part]) -> None:
        self._scenario, self._parts = scenario, parts
        self._frame = _frame(scenario.fleet())

    def leaves(self, values: Sequence[float]) -> list[np.ndarray]:
        """Return the leaves of the fleet with these values of the parts.

        Raises:
            ScenarioError: if it cannot be built, or has another structure.
        """
        given = by_path(self._parts, values)
        try:
            document = apply_overrides(self._scenario.document, items_of(given))
            changed = build(document, self._scenario.folder)
        except KittiwakeError as error:
            self._blame(given)
            message = f"{ALWAYS}: a value that can be drawn is invalid: {error}"
            raise ScenarioError(message) from None
        fleet = changed.fleet()
        if _frame(fleet) != self._frame:
            document = self._scenario.document
            places = [where for where, path in randomized_paths(self._scenario) if path in given]
            message = (
                f"{document.where(places[0])}: {', '.join(given)} changes more than numbers, such "
                "as components, rates or states; these are equal in all episodes"
            )
            raise ScenarioError(message)
        return [np.asarray(leaf) for leaf in jax.tree.leaves(fleet)]

    def _blame(self, given: Mapping[str, Plain]) -> None:
        """Raise an error that lists each value that is invalid even alone, with its line."""
        document = self._scenario.document
        problems = ProblemList(document.where)
        for place_in_file, path in randomized_paths(self._scenario):
            if reason := refusal(self._scenario, path, given[path]):
                message = f"{written(given[path])}, which can be drawn, is invalid: {reason}"
                problems.add(place_in_file, message)
        problems.raise_if_any()


def _frame(fleet: Fleet) -> tuple[Hashable, list[tuple[int, ...]]]:
    """Return the structure of a fleet and the shapes of its leaves."""
    return jax.tree.structure(fleet), [np.shape(leaf) for leaf in jax.tree.leaves(fleet)]


def _found(scenario: Scenario, parts: Sequence[Part]) -> Randomization:
    builds = _Builds(scenario, parts)
    middle = [part.distribution.at(0.5) for part in parts]
    base = builds.leaves(middle)
    slopes = [np.zeros((len(parts), *leaf.shape)) for leaf in base]
    for index, part in enumerate(parts):
        moved = next((end for end in part.distribution.ends if end != middle[index]), None)
        if moved is None:
            continue
        other = builds.leaves([*middle[:index], moved, *middle[index + 1 :]])
        if all(map(np.array_equal, base, other)):
            message = f"{ALWAYS}: {part.path} {NOT_PHYSICAL}; remove it"
            raise ScenarioError(message)
        for leaf, (before, after) in enumerate(zip(base, other, strict=True)):
            slopes[leaf][index] = _difference(after, before) / (moved - middle[index])
    drawn = _draws(parts, TRIALS + VARIANTS)
    linear = np.ones(len(base), bool)
    # a constant distribution may still differ from the value in the scenario
    written_leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(scenario.fleet())]
    changed = np.array([not np.array_equal(*two) for two in zip(written_leaves, base, strict=True)])
    changed |= np.array([bool(np.any(slope)) for slope in slopes])
    for values in drawn[:TRIALS]:
        for leaf, (before, after) in enumerate(zip(base, builds.leaves(values), strict=True)):
            predicted = before + np.tensordot(np.subtract(values, middle), slopes[leaf], 1)
            same = (
                np.allclose(predicted, after, rtol=TOLERANCE, atol=TOLERANCE)
                if _is_real(after)
                else np.array_equal(before, after)
            )
            linear[leaf] &= same
            changed[leaf] |= not np.array_equal(before, after)
    kept = _tied_leaves(slopes, linear, changed)
    _refuse_curriculum(parts, slopes, kept)
    tables = [builds.leaves(values) for values in drawn[TRIALS:]] if kept.any() else []
    places = [int(place) for place in np.flatnonzero(changed)]
    paths = jax.tree_util.tree_leaves_with_path(scenario.fleet())
    starting = [any(getattr(key, "name", None) == START for key in path) for path, _ in paths]
    return Randomization(
        parts=tuple(parts),
        leaves=tuple(places),
        base=tuple(base[place] for place in places),
        slopes=tuple(slopes[place] for place in places),
        variants=tuple(
            np.stack([table[place] for table in tables]) if kept[place] else None
            for place in places
        ),
        ends=tuple(starting[place] for place in places),
    )


def _draws(parts: Sequence[Part], count: int) -> list[list[float]]:
    """Return joint draws of all parts, the same in every call."""
    units = jax.random.uniform(fold_in_name(seed_key(0), Stream.RANDOMIZE), (count, len(parts)))
    return [
        [float(part.distribution.quantile(unit)) for part, unit in zip(parts, row, strict=True)]
        for row in units
    ]


def _tied_leaves(slopes: list[np.ndarray], linear: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Return True for each leaf that must be taken from a kept build.

    These are the nonlinear leaves, and all leaves that depend on any part of theirs.
    """
    depends = np.array([[bool(np.any(own)) for own in slope] for slope in slopes])
    tied = changed & ~linear
    while True:
        parts = depends[tied].any(axis=0) if tied.any() else np.zeros(depends.shape[1], bool)
        more = tied | (changed & depends[:, parts].any(axis=1))
        if (more == tied).all():
            return tied
        tied = more


def _refuse_curriculum(parts: Sequence[Part], slopes: list[np.ndarray], kept: np.ndarray) -> None:
    for index, part in enumerate(parts):
        touched = any(np.any(slopes[leaf][index]) for leaf in np.flatnonzero(kept))
        if part.nominal is not None and touched:
            message = (
                f"{CURRICULUM}: {part.path} has a nonlinear effect on other numbers, which "
                f"cannot be scaled by the difficulty; write it under {ALWAYS}"
            )
            raise ScenarioError(message)


def _difference(after: np.ndarray, before: np.ndarray) -> np.ndarray | float:
    return after - before if _is_real(after) else 0.0


def _is_real(leaf: np.ndarray) -> bool:
    return np.issubdtype(leaf.dtype, np.floating)


def _working(values: np.ndarray) -> np.ndarray:
    return values.astype(jnp.result_type(float)) if _is_real(values) else values
