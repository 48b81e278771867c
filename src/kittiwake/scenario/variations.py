"""Values of a scenario that a sweep varies: lists and ranges, or distributions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.definition import as_plain
from kittiwake.scenario.distributions import distributions
from kittiwake.scenario.document import Override, YamlSource, written
from kittiwake.scenario.problems import Plain
from kittiwake.scenario.randomization import ALWAYS, replaces

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
RANGE = re.compile(rf"({NUMBER}):({NUMBER}):(\d+)")
# a range that is not complete, or has another number of values
PARTS_OF_RANGE = re.compile(rf"{NUMBER}(:{NUMBER})+")
DISTRIBUTION = re.compile(r"([a-z_]+)\((.*)\)")
FORMS = "a,b,c, low:high:count, or normal(mean, deviation)"
MAX_VALUES = 10_000
SEED = "seed"


class Variations(NamedTuple):
    """Varied values of a scenario, by their paths.

    Attributes:
        grid: the values of each path whose combinations are flown.
        drawn: the distribution of each path that is drawn from the seed, as under ``randomize``.
    """

    grid: dict[str, list[Plain]]
    drawn: dict[str, Plain]

    def items(self) -> list[Override]:
        """Return the distributions as overrides of a scenario."""
        return [
            Override(f"{ALWAYS}.{path}={written(entry)}", f"vary {path}={written(entry)}")
            for path, entry in self.drawn.items()
        ]


def items_of_run(values: Mapping[str, Any]) -> tuple[Override, ...]:
    """Return the values of the varied keys in a run as overrides of a scenario."""
    items = (f"{path}={written(value)}" for path, value in values.items())
    return tuple(Override(item, f"vary {item}") for item in items)


def parse_variations(given: Iterable[str]) -> Variations:
    """Return variations, each as ``KEY=a,b,c``, ``KEY=low:high:count`` or ``KEY=normal(m, s)``.

    Raises:
        ScenarioError: for another form.
    """
    found: dict[str, Any] = {}
    for item in given:
        path, equals, text = item.partition("=")
        if not equals or not path.strip() or not text.strip():
            message = f"--vary {item}: write a key and its values, KEY={FORMS}"
            raise ScenarioError(message)
        if path.strip() in found:
            message = f"--vary {item}: {path.strip()} is varied twice; write all values at once"
            raise ScenarioError(message)
        found[path.strip()] = _parsed(item, text.strip())
    return variations(found, "--vary ")


def variations(given: Mapping[str, Any], prefix: str = "vary: ") -> Variations:
    """Return variations of several values, or of a distribution such as ``{"normal": [0, 1]}``.

    Raises:
        ScenarioError: for another form; ``prefix`` begins its message.
    """
    grid: dict[str, list[Plain]] = {}
    drawn: dict[str, Plain] = {}
    for path, values in given.items():
        _refuse_without_effect(path, given, prefix)
        if isinstance(values, Mapping):
            try:
                distributions(values)
            except ValueError as error:
                message = f"{prefix}{path}: {error}"
                raise ScenarioError(message) from None
            drawn[path] = dict(values)
            continue
        several = as_plain(values)
        if not isinstance(several, Sequence) or isinstance(several, str) or not several:
            message = f"{prefix}{path}: got {values!r}; must be several values, such as [1, 2]"
            raise ScenarioError(message)
        if len(several) > MAX_VALUES:
            message = f"{prefix}{path}: got {len(several)} values; at most {MAX_VALUES}"
            raise ScenarioError(message)
        if (wrong := next(_infinite(several), None)) is not None:
            message = f"{prefix}{path}: got {wrong}; must be finite"
            raise ScenarioError(message)
        grid[path] = [*several]
    return Variations(grid, drawn)


def _infinite(value: Plain) -> Iterator[float]:
    """Yield the numbers of a value that are not finite, which no file of a sweep can hold."""
    if isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _infinite(part)
    elif isinstance(value, float) and not isfinite(value):
        yield value


def _refuse_without_effect(path: str, given: Mapping[str, Any], prefix: str) -> None:
    """Refuse a key whose values are replaced in each run.

    Raises:
        ScenarioError: if it is one; ``prefix`` begins its message.
    """
    if path == SEED:
        message = (
            f"{prefix}{path}: give the number of seeds, seeds=3 or --seeds 3; they count up from "
            "the scenario's, which --set seed=7 or overrides change"
        )
        raise ScenarioError(message)
    later = [*given][[*given].index(path) + 1 :]
    if (other := next((one for one in later if replaces(one, path)), None)) is not None:
        message = f"{prefix}{path}: is varied twice, also as {other}; remove one of them"
        raise ScenarioError(message)


def _parsed(item: str, text: str) -> Plain:
    source = YamlSource(f"--vary {item}", has_lines=False)
    if match := RANGE.fullmatch(text):
        low, high, count = float(match[1]), float(match[2]), int(match[3])
        if not 1 <= count <= MAX_VALUES:
            message = f"--vary {item}: got {count} values; must be from 1 to {MAX_VALUES}"
            raise ScenarioError(message)
        return np.linspace(low, high, count).tolist()
    if PARTS_OF_RANGE.fullmatch(text):
        message = (
            f"--vary {item}: got {text}; a range is low:high:count, whose count is a whole number, "
            "such as 0:90:4"
        )
        raise ScenarioError(message)
    if match := DISTRIBUTION.fullmatch(text):
        numbers, _ = plain_yaml.read(f"[{match[2]}]", source, (), flow_only=True)
        return {match[1]: numbers}
    values, _ = plain_yaml.read(f"[{text}]", source, (), flow_only=True)
    return values
