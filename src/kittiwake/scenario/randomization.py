"""Randomized values of a scenario: their distributions, and the draws of a flight.

``randomize`` gives a distribution for any of a scenario's numbers. A flight draws them from its
seed, each from a stream of its own that is named after its path, so that another randomized number
changes no other draw. The scenario is then built with the drawn values. Environments draw them anew
for each episode (``tasks.randomization``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from kittiwake.core.errors import KittiwakeError, ScenarioError, listed
from kittiwake.core.streams import draw_stream
from kittiwake.core.units import stored_path
from kittiwake.geometry.scalar import Real
from kittiwake.scenario.build import build
from kittiwake.scenario.distributions import Distribution, distributions
from kittiwake.scenario.document import Override, apply_overrides, written
from kittiwake.scenario.problems import KeyPath, Plain, ProblemList
from kittiwake.scenario.scenario import CURRICULUM, RANDOMIZE, RANDOMIZED, Scenario
from kittiwake.scenario.schema import parameter_paths

ALWAYS = RANDOMIZE[0]
# sections that may be randomized; all else, such as task parameters, is equal in all episodes
PHYSICAL = ("world", "vehicles")
NOT_PHYSICAL = "has no effect on the world or the vehicles; only their numbers can be drawn"


class Part(NamedTuple):
    """Randomized number: the value at a path, or a component of the vector there.

    Attributes:
        path: path of the value in the scenario.
        place: index of the component; None for a number.
        distribution: distribution of the number.
        nominal: value in the scenario for the curriculum; None for full variation.
    """

    path: str
    place: int | None
    distribution: Distribution
    nominal: float | None

    def draw(self, unit: Real, difficulty: Real) -> Real:
        """Return the value in an episode for a uniform random number from 0 to 1."""
        value = self.distribution.quantile(unit)
        return value if self.nominal is None else self.nominal + difficulty * (value - self.nominal)


def is_randomized(scenario: Scenario) -> bool:
    """Return True if flights of a scenario draw values."""
    return any(scenario.document.data.get(key) for key in RANDOMIZE)


def drawn(scenario: Scenario, seed: int) -> Scenario:
    """Return the scenario of a flight, with the values that its seed draws under ``randomize``.

    They stand in its document in place of the distributions, and in ``draws``.

    Raises:
        ScenarioError: for values that cannot be drawn, with file and line, or cannot be flown.
    """
    if not is_randomized(scenario):
        return scenario
    return _built(scenario, draws_of(scenario, seed), f"seed {seed} draws")


def draws_of(scenario: Scenario, seed: int) -> dict[str, Plain]:
    """Return the values that a seed draws by path, whether or not they can be flown.

    Raises:
        ScenarioError: for values that cannot be drawn, with file and line.
    """
    parts = parts_of(scenario, RANDOMIZE)
    return by_path(parts, [part.distribution.drawn(_unit(seed, part)) for part in parts])


def check_draws(scenario: Scenario) -> None:
    """Build a scenario with the lowest, and with the highest value of each draw.

    Raises:
        ScenarioError: for values that cannot be drawn or flown.
    """
    if is_randomized(scenario):
        parts = parts_of(scenario, RANDOMIZE)
        for side in range(2):
            values = [part.distribution.ends[side] for part in parts]
            _built(scenario, by_path(parts, values), "a seed can draw")


def _built(scenario: Scenario, draws: dict[str, Plain], words: str) -> Scenario:
    """Return the scenario with drawn values in place of the distributions."""
    data = {key: value for key, value in scenario.document.data.items() if key not in RANDOMIZE}
    document = replace(scenario.document, data=data)
    try:
        changed = apply_overrides(document, items_of(draws))
        built = build(changed, scenario.folder, former=scenario.built)
    except KittiwakeError as error:
        given = ", ".join(f"{path} = {written(value)}" for path, value in draws.items())
        message = f"{ALWAYS}: {words} {given}, which cannot be flown: {error}"
        raise ScenarioError(message) from None
    return built.with_parts(added=scenario.added, seed=scenario.seed, draws=draws)


def randomized_as(scenario: Scenario, source: Scenario) -> Scenario:
    """Return a scenario with what another one draws, to be drawn with another seed."""
    given = {key: value for key, value in source.document.data.items() if key in RANDOMIZE}
    document = replace(scenario.document, data=scenario.document.data | given)
    return scenario.with_parts(document=document)


def by_path(parts: Sequence[Part], values: Sequence[float]) -> dict[str, Plain]:
    """Return numbers of parts as the scenario's values, by path."""
    found: dict[str, Plain] = {}
    for part, value in zip(parts, values, strict=True):
        if part.place is None:
            found[part.path] = value
        else:
            found.setdefault(part.path, []).append(value)
    return found


def items_of(values: Mapping[str, Plain]) -> list[Override]:
    """Return drawn values by path as overrides."""
    items = (f"{path}={written(value)}" for path, value in values.items())
    return [Override(item, f"drawn {item}") for item in items]


def _unit(seed: int, part: Part) -> float:
    """Return the uniform number from 0 to 1 that a seed gives a part."""
    stream = f"{seed}.{draw_stream(part.path, part.place)}"
    digest = blake2b(stream.encode(), digest_size=8).digest()
    # as many bits as a number in double precision has
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def parts_of(scenario: Scenario, keys: Sequence[str] = RANDOMIZED) -> list[Part]:
    """Return the numbers that a scenario draws, as written under some of its keys.

    Raises:
        ScenarioError: for values that cannot be drawn, with file and line.
    """
    problems = ProblemList(scenario.document.where)
    parts: list[Part] = []
    for key in keys:
        for names, entry in _flattened(scenario.document.data.get(key) or {}):
            path, place_in_file = ".".join(names), (key, *names)
            try:
                found, is_vector = distributions(entry)
                nominal: Sequence[float | None] = [None] * len(found)
                if key == CURRICULUM:
                    nominal = _nominal(scenario, path, len(found), is_vector=is_vector)
            except (ValueError, ScenarioError) as error:
                problems.add(place_in_file, str(error))
                continue
            if path.partition(".")[0] not in PHYSICAL:
                paths = parameter_paths(path, scenario.document.data.get("vehicles"))
                instead = f"write {listed(paths)}" if paths else "remove it"
                problems.add(place_in_file, f"{NOT_PHYSICAL}; {instead}")
                continue
            again = next(
                (own.path for own in parts if replaces(own.path, path) or replaces(path, own.path)),
                None,
            )
            if again is not None:
                message = f"is drawn twice, also as {again}; remove one of them"
                problems.add(place_in_file, message)
            parts += [
                Part(path, place if is_vector else None, one, own)
                for place, (one, own) in enumerate(zip(found, nominal, strict=True))
            ]
    if problems.lines:
        _note_refusals(scenario, parts, problems)
    problems.raise_if_any()
    return parts


def _note_refusals(scenario: Scenario, parts: Sequence[Part], problems: ProblemList) -> None:
    """Note the paths with values that the scenario does not accept."""
    middles = by_path(parts, [part.distribution.at(0.5) for part in parts])
    for place_in_file, path in randomized_paths(scenario):
        if path in middles and (reason := refusal(scenario, path, middles[path])):
            problems.add(place_in_file, reason)


def randomized_paths(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Yield the keys in the file and the path in the scenario of each randomized value."""
    for key in RANDOMIZED:
        for keys, _ in _flattened(scenario.document.data.get(key) or {}):
            yield (key, *keys), ".".join(keys)


def replaces(path: str, former: str) -> bool:
    """Return True if a value at a path leaves nothing of one at another, in whatever unit."""
    return f"{stored_path(former)}.".startswith(f"{stored_path(path)}.")


def drawn_at(scenario: Scenario, path: str) -> str | None:
    """Return the path of a draw that replaces the value at a path; None if there is none."""
    drawn_paths = (own for keys, own in randomized_paths(scenario) if keys[0] in RANDOMIZE)
    return next((own for own in drawn_paths if replaces(own, path)), None)


def refuse_drawn(scenario: Scenario, path: str, words: str) -> None:
    """Refuse a path whose value each seed draws.

    Raises:
        ScenarioError: if it is one; ``words`` begin the message.
    """
    if (own := drawn_at(scenario, path)) is not None:
        message = (
            f"{words}{path}: is drawn from each seed, as {own} is under {ALWAYS}; remove it there, "
            f"or all draws with {ALWAYS}={{}}"
        )
        raise ScenarioError(message)


def _flattened(entry: Plain, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Plain]]:
    """Yield the keys, which may contain dots, with the distributions under them."""
    if not isinstance(entry, Mapping) or (keys and _is_distribution(entry)):
        yield keys, entry
        return
    for key, value in entry.items():
        yield from _flattened(value, (*keys, str(key)))


def _is_distribution(entry: Mapping[str, Plain]) -> bool:
    """Return True if an entry has the form of a distribution, valid or not."""
    return len(entry) == 1 and isinstance(next(iter(entry.values())), list)


def _nominal(scenario: Scenario, path: str, count: int, *, is_vector: bool) -> list[float]:
    """Return the numbers of the scenario at a path that is drawn."""
    here: Plain = scenario.document.data
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
        expected = f"a vector of {count} numbers" if is_vector else "a number"
        reason = (
            refusal(scenario, path, [0.0] * count if is_vector else 0.0) if here is None else ""
        )
        message = reason or f"the scenario has no value there; write {expected} at '{path}' first"
        raise ScenarioError(message)
    return [float(number) for number in given]


def _is_number(value: Plain) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def refusal(scenario: Scenario, path: str, value: Plain) -> str:
    """Return the reason why a scenario does not accept a value; empty if it does."""
    item = f"{path}={written(value)}"
    try:
        build(apply_overrides(scenario.document, [item]), scenario.folder)
    except KittiwakeError as error:
        return str(error).replace(f"--set {item}: ", "")
    return ""
