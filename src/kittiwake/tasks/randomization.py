"""Numbers of a scenario that are different in each episode.

A scenario says of any of its numbers what it is drawn from. Which numbers of the built fleet that
changes, and how, is found by building it a few times. Most are sums: ``leaf = leaf_0 + sum_i s_i
(x_i - x_i0)``, with slopes s_i from one build for each x_i; they are drawn anew for each episode.
Where builds at random draws show that this does not hold, as of gains that follow from a mass,
``VARIANTS`` builds are kept and an episode takes one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.keys import named, named_each, seed_key
from kittiwake.core.streams import Stream, draw_stream
from kittiwake.geometry.scalar import Real
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, written
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.scenario import BY_DIFFICULTY, DRAWN, Scenario
from kittiwake.sim.fleet import Fleet
from kittiwake.tasks.distributions import Distribution, distributions, uniforms

# builds that are kept where numbers do not enter as a sum
VARIANTS = 64
# random builds that have to agree with the sums
TRIALS = 3
SAME = 1e-7
ALWAYS = "randomize"
# what flies, and in what; all else, such as the task's own numbers, is the same in all episodes
FLYING = ("world", "vehicles")
NOTHING_FLIES = "changes nothing of what flies; numbers of the world and the vehicles can be drawn"
# the part of a vehicle that only says how a flight begins
START = "start"


class Part(NamedTuple):
    """One number that is drawn: a path, or a component of the vector there.

    Attributes:
        nominal: what the scenario says itself, None where it always varies fully.
    """

    path: str
    place: int | None
    distribution: Distribution
    nominal: float | None

    def drawn(self, unit: Real, difficulty: Real) -> Real:
        """What it is in an episode, by a number between 0 and 1."""
        value = self.distribution.quantile(unit)
        return value if self.nominal is None else self.nominal + difficulty * (value - self.nominal)


@dataclass(frozen=True)
class Randomization:
    """What is drawn for each episode, and what of a fleet that changes.

    Attributes:
        parts: what is drawn.
        leaves: the places of what changes among the fleet's leaves.
        base: their values at the parts' middles.
        slopes: of each leaf by each part; zero where it does not matter.
        variants: of each leaf the values in the builds that are kept, or None for a sum.
        ends: of each leaf whether it only says how an episode begins.
    """

    parts: tuple[Part, ...] = ()
    leaves: tuple[int, ...] = ()
    base: tuple[np.ndarray, ...] = ()
    slopes: tuple[np.ndarray, ...] = ()
    variants: tuple[np.ndarray | None, ...] = ()
    ends: tuple[bool, ...] = ()

    @classmethod
    def of(cls, scenario: Scenario) -> "Randomization":
        """What a scenario's ``randomize`` and ``curriculum`` say.

        Raises:
            ScenarioError: for what cannot be drawn, with file and line.
        """
        parts = _parts(scenario)
        if not parts:
            return cls()
        return _found(scenario, parts)

    def draw(self, key: PRNGKeyArray, difficulty: Real) -> tuple[Any, ...]:
        """What changes in an episode; ``difficulty`` counts for the curriculum, from 0 to 1."""
        if not self.parts:
            return ()
        dtype = jnp.result_type(float)
        drawn = self._drawn(key, difficulty)
        middle = jnp.asarray([part.distribution.at(0.5) for part in self.parts], dtype)
        chosen = jax.random.randint(named(key, Stream.VARIANT), (), 0, VARIANTS, jnp.int32)
        values = []
        for base, slopes, variants in zip(self.base, self.slopes, self.variants, strict=True):
            if variants is not None:
                values.append(jnp.asarray(_working(variants))[chosen])
                continue
            moved = jnp.tensordot(drawn - middle, jnp.asarray(slopes, dtype), 1)
            values.append(jnp.asarray(base, dtype) + moved)
        return tuple(values)

    def applied(self, fleet: Fleet, values: Sequence[Any]) -> Fleet:
        """The fleet at the beginning of an episode in which this was drawn."""
        return _replaced(fleet, self.leaves, values)

    def lasting(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Of what was drawn that which counts after the beginning."""
        return tuple(value for value, ends in zip(values, self.ends, strict=True) if not ends)

    def flown(self, fleet: Fleet, values: Sequence[Any]) -> Fleet:
        """The fleet later in the episode, with what is lasting."""
        return _replaced(fleet, self.lasting(self.leaves), values)

    def _drawn(self, key: PRNGKeyArray, difficulty: Real) -> Float[Array, " parts"]:
        """Of each part from a stream of its own, all at once."""
        streams = named_each(key, [draw_stream(part.path, part.place) for part in self.parts])
        units = uniforms(jnp.stack([*streams.values()]))
        return jnp.stack(
            [part.drawn(unit, difficulty) for part, unit in zip(self.parts, units, strict=True)]
        )


def _replaced(fleet: Fleet, places: Sequence[int], values: Sequence[Any]) -> Fleet:
    """With other leaves in these places."""
    if not places:
        return fleet
    leaves, structure = jax.tree.flatten(fleet)
    for place, value in zip(places, values, strict=True):
        leaves[place] = value
    return jax.tree.unflatten(structure, leaves)


def _parts(scenario: Scenario) -> list[Part]:
    problems = ProblemList(scenario.document.where)
    parts: list[Part] = []
    for key in DRAWN:
        for keys, entry in _flattened(scenario.document.data.get(key) or {}):
            path, place_in_file = ".".join(keys), (key, *keys)
            try:
                found, is_vector = distributions(entry)
                nominal: Sequence[float | None] = [None] * len(found)
                if key == BY_DIFFICULTY:
                    nominal = _nominal(scenario, path, len(found), is_vector=is_vector)
            except (ValueError, ScenarioError) as error:
                problems.note(place_in_file, str(error))
                continue
            if path.partition(".")[0] not in FLYING:
                problems.note(place_in_file, f"{NOTHING_FLIES}; leave it out")
                continue
            again = next((part.path for part in parts if _overlap(part.path, path)), None)
            if again is not None:
                message = f"is drawn twice, also as {again}; leave one of them out"
                problems.note(place_in_file, message)
            parts += [
                Part(path, place if is_vector else None, one, own)
                for place, (one, own) in enumerate(zip(found, nominal, strict=True))
            ]
    if problems.lines:
        _note_refusals(scenario, parts, problems)
    problems.refuse()
    return parts


def _note_refusals(scenario: Scenario, parts: Sequence[Part], problems: ProblemList) -> None:
    """Note the paths that the scenario cannot have, beside what else is wrong."""
    middles: dict[str, Any] = {}
    for part in parts:
        middle = part.distribution.at(0.5)
        if part.place is None:
            middles[part.path] = middle
        else:
            middles.setdefault(part.path, []).append(middle)
    for place_in_file, path in _paths(scenario):
        if path in middles and (reason := _refusal(scenario, path, middles[path])):
            problems.note(place_in_file, reason)


def _paths(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Places in the file of what is drawn, and which value of the scenario each is."""
    for key in DRAWN:
        for keys, _ in _flattened(scenario.document.data.get(key) or {}):
            yield (key, *keys), ".".join(keys)


def _overlap(path: str, other: str) -> bool:
    """Whether one is the other, or a part of it."""
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")


def _flattened(entry: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Keys, which may hold dots, with the distributions that are written under them."""
    if not isinstance(entry, Mapping) or (keys and _is_distribution(entry)):
        yield keys, entry
        return
    for key, value in entry.items():
        yield from _flattened(value, (*keys, str(key)))


def _is_distribution(entry: Mapping[str, Any]) -> bool:
    """Whether it is one, or meant as one."""
    return len(entry) == 1 and isinstance(next(iter(entry.values())), list)


def _nominal(scenario: Scenario, path: str, count: int, *, is_vector: bool) -> list[float]:
    """What the scenario says of a path that is drawn."""
    here: Any = scenario.document.data
    for segment in path.split("."):
        if isinstance(here, list) and segment.isdigit() and int(segment) < len(here):
            here = here[int(segment)]
        else:
            here = here.get(segment) if isinstance(here, Mapping) else None
    given = here if isinstance(here, list) else [here]
    if (
        isinstance(here, list) != is_vector
        or len(given) != count
        or not all(map(_is_number, given))
    ):
        wanted = f"a vector of {count} numbers" if is_vector else "a number"
        reason = (
            _refusal(scenario, path, [0.0] * count if is_vector else 0.0) if here is None else ""
        )
        message = reason or f"the scenario has no such number; write {wanted} at '{path}' first"
        raise ScenarioError(message)
    return [float(number) for number in given]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refusal(scenario: Scenario, path: str, value: Any) -> str:
    """Why a scenario cannot have a value; empty if it can."""
    item = f"{path}={written(value)}"
    try:
        build(apply_overrides(scenario.document, [item]), scenario.folder)
    except KittiwakeError as error:
        return str(error).replace(f"--set {item}: ", "")
    return ""


class _Builds:
    """Fleets of a scenario with other numbers."""

    def __init__(self, scenario: Scenario, parts: Sequence[Part]) -> None:
        self._scenario, self._parts = scenario, parts
        self._frame = _frame(scenario.fleet())

    def leaves(self, values: Sequence[float]) -> list[np.ndarray]:
        """The numbers of the fleet with these values of the parts.

        Raises:
            ScenarioError: if it cannot be built, or is another kind of fleet.
        """
        given: dict[str, Any] = {}
        for part, value in zip(self._parts, values, strict=True):
            if part.place is None:
                given[part.path] = value
            else:
                given.setdefault(part.path, []).append(value)
        items = [f"{path}={written(value)}" for path, value in given.items()]
        try:
            changed = build(apply_overrides(self._scenario.document, items), self._scenario.folder)
        except KittiwakeError as error:
            self._blame(given)
            message = f"{ALWAYS}: what can be drawn cannot be flown: {error}"
            raise ScenarioError(message) from None
        fleet = changed.fleet()
        if _frame(fleet) != self._frame:
            document = self._scenario.document
            places = [where for where, path in _paths(self._scenario) if path in given]
            message = (
                f"{document.where(places[0])}: {', '.join(given)} changes more than numbers, such "
                "as what there is, "
                "how often it runs or what it remembers; these are the same in all episodes"
            )
            raise ScenarioError(message)
        return [np.asarray(leaf) for leaf in jax.tree.leaves(fleet)]

    def _blame(self, given: Mapping[str, Any]) -> None:
        """Refuses each value that cannot be flown even alone, by its line in the file."""
        document = self._scenario.document
        problems = ProblemList(document.where)
        for place_in_file, path in _paths(self._scenario):
            if reason := _refusal(self._scenario, path, given[path]):
                said = f"{written(given[path])}, which can be drawn, cannot be flown: {reason}"
                problems.note(place_in_file, said)
        problems.refuse()


def _frame(fleet: Fleet) -> Any:
    """Of what form all numbers of a fleet are."""
    return jax.tree.structure(fleet), [np.shape(leaf) for leaf in jax.tree.leaves(fleet)]


def _found(scenario: Scenario, parts: Sequence[Part]) -> Randomization:
    builds = _Builds(scenario, parts)
    middle = [part.distribution.at(0.5) for part in parts]
    base = builds.leaves(middle)
    slopes = [np.zeros((len(parts), *leaf.shape)) for leaf in base]
    for number, part in enumerate(parts):
        moved = next((end for end in part.distribution.ends if end != middle[number]), None)
        if moved is None:
            continue
        other = builds.leaves([*middle[:number], moved, *middle[number + 1 :]])
        if all(map(np.array_equal, base, other)):
            message = f"{ALWAYS}: {part.path} {NOTHING_FLIES}; leave it out"
            raise ScenarioError(message)
        for leaf, (before, after) in enumerate(zip(base, other, strict=True)):
            slopes[leaf][number] = _difference(after, before) / (moved - middle[number])
    drawn = _draws(parts, TRIALS + VARIANTS)
    sums = np.ones(len(base), bool)
    # what is drawn may not be what the scenario says, though always the same
    said = [np.asarray(leaf) for leaf in jax.tree.leaves(scenario.fleet())]
    changed = np.array([not np.array_equal(*two) for two in zip(said, base, strict=True)])
    changed |= np.array([bool(np.any(slope)) for slope in slopes])
    for values in drawn[:TRIALS]:
        for leaf, (before, after) in enumerate(zip(base, builds.leaves(values), strict=True)):
            told = before + np.tensordot(np.subtract(values, middle), slopes[leaf], 1)
            same = (
                np.allclose(told, after, rtol=SAME, atol=SAME)
                if _is_real(after)
                else np.array_equal(before, after)
            )
            sums[leaf] &= same
            changed[leaf] |= not np.array_equal(before, after)
    kept = _all_tied(slopes, sums, changed)
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
    """Joint draws, always the same ones."""
    units = jax.random.uniform(named(seed_key(0), Stream.RANDOMIZE), (count, len(parts)))
    return [
        [float(part.distribution.quantile(unit)) for part, unit in zip(parts, row, strict=True)]
        for row in units
    ]


def _all_tied(slopes: list[np.ndarray], sums: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Of leaves, which have to be taken from one build.

    What is no sum, and what depends on any part on which such a leaf depends.
    """
    depends = np.array([[bool(np.any(own)) for own in slope] for slope in slopes])
    tied = changed & ~sums
    while True:
        parts = depends[tied].any(axis=0) if tied.any() else np.zeros(depends.shape[1], bool)
        more = tied | (changed & depends[:, parts].any(axis=1))
        if (more == tied).all():
            return tied
        tied = more


def _refuse_curriculum(parts: Sequence[Part], slopes: list[np.ndarray], kept: np.ndarray) -> None:
    for number, part in enumerate(parts):
        touched = any(np.any(slopes[leaf][number]) for leaf in np.flatnonzero(kept))
        if part.nominal is not None and touched:
            message = (
                f"{BY_DIFFICULTY}: {part.path} changes other numbers in a way that cannot be "
                f"made a little of; write it under {ALWAYS}"
            )
            raise ScenarioError(message)


def _difference(after: np.ndarray, before: np.ndarray) -> Any:
    return after - before if _is_real(after) else 0.0


def _is_real(leaf: np.ndarray) -> bool:
    return np.issubdtype(leaf.dtype, np.floating)


def _working(values: np.ndarray) -> np.ndarray:
    return values.astype(jnp.result_type(float)) if _is_real(values) else values
