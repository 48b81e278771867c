"""What a number of a scenario is drawn from, as ``randomise`` and ``curriculum`` write it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, isfinite, log
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.errors import did_you_mean
from kittiwake.geometry.scalar import Real

# a normal distribution ends there, so that no draw is beyond what was tried
DEVIATIONS = 4.0


@dataclass(frozen=True)
class Distribution:
    """Of one number.

    Attributes:
        kind: its name.
        numbers: what it is given by.
    """

    kind: str
    numbers: tuple[float, ...]

    def at(self, fraction: float) -> float:
        """A value of it; from 0 to 1 they go from its lowest to its highest."""
        low, high = self.ends
        if self.kind == "log_uniform":
            return exp(log(low) + fraction * (log(high) - log(low)))
        if self.kind == "choice":
            return self.numbers[min(int(fraction * len(self.numbers)), len(self.numbers) - 1)]
        return low + fraction * (high - low)

    @property
    def ends(self) -> tuple[float, float]:
        """Its lowest and its highest value."""
        if self.kind == "normal":
            mean, deviation = self.numbers
            return mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
        return min(self.numbers), max(self.numbers)

    def draw(self, key: PRNGKeyArray) -> Real:
        """A number of it."""
        return _DRAWS[self.kind](self.numbers, key)


def distributions(entry: Any) -> tuple[list[Distribution], bool]:
    """Those of each component of an entry such as ``{uniform: [1, 2]}``; whether it is a vector.

    Raises:
        ValueError: with what is wrong and what to write.
    """
    if not isinstance(entry, Mapping) or len(entry) != 1:
        message = f"{entry!r} is not allowed; write one distribution, such as {{uniform: [1, 2]}}"
        raise ValueError(message)
    ((kind, given),) = entry.items()
    if kind not in _DRAWS:
        message = f"there is no distribution '{kind}'. {did_you_mean(str(kind), list(_DRAWS))}"
        raise ValueError(message)
    if not isinstance(given, list) or not given:
        message = f"{kind}: {given!r} is not allowed; write {_FORMS[kind]}"
        raise ValueError(message)
    vectors = [one if isinstance(one, list) else [one] for one in given]
    is_vector = isinstance(given[0], list)
    if len({len(one) for one in vectors}) != 1 or is_vector != all(
        isinstance(o, list) for o in given
    ):
        message = f"{kind}: {given!r} mixes lengths; give vectors of one length, or numbers"
        raise ValueError(message)
    parts = [_one(kind, tuple(numbers)) for numbers in zip(*vectors, strict=True)]
    return parts, is_vector


def _one(kind: str, numbers: tuple[Any, ...]) -> Distribution:
    wanted = f"write {_FORMS[kind]}"
    if any(
        isinstance(n, bool) or not isinstance(n, int | float) or not isfinite(n) for n in numbers
    ):
        message = f"{kind}: {list(numbers)} are not all numbers; {wanted}"
        raise ValueError(message)
    if kind != "choice" and len(numbers) != 2:
        message = f"{kind}: {list(numbers)} is not allowed; {wanted}"
        raise ValueError(message)
    first, last = numbers[0], numbers[-1]
    if (kind == "uniform" and first > last) or (kind == "log_uniform" and not 0.0 < first <= last):
        message = f"{kind}: {list(numbers)} is not allowed; {wanted}"
        raise ValueError(message)
    if kind == "normal" and last < 0.0:
        message = f"normal: a deviation of {last} is not allowed; {wanted}"
        raise ValueError(message)
    return Distribution(kind, tuple(map(float, numbers)))


def _uniform(numbers: tuple[float, ...], key: PRNGKeyArray) -> Real:
    low, high = numbers
    return low + (high - low) * _unit(key)


def _log_uniform(numbers: tuple[float, ...], key: PRNGKeyArray) -> Real:
    low, high = map(log, numbers)
    return jnp.exp(low + (high - low) * _unit(key))


def _normal(numbers: tuple[float, ...], key: PRNGKeyArray) -> Real:
    mean, deviation = numbers
    drawn = jax.random.truncated_normal(key, -DEVIATIONS, DEVIATIONS, (), jnp.result_type(float))
    return mean + deviation * drawn


def _choice(numbers: tuple[float, ...], key: PRNGKeyArray) -> Real:
    among = jnp.asarray(numbers, jnp.result_type(float))
    return among[jax.random.randint(key, (), 0, len(numbers), jnp.int32)]


def _unit(key: PRNGKeyArray) -> Real:
    return jax.random.uniform(key, (), jnp.result_type(float))


_DRAWS: Mapping[str, Callable[[tuple[float, ...], PRNGKeyArray], Real]] = MappingProxyType(
    {"uniform": _uniform, "log_uniform": _log_uniform, "normal": _normal, "choice": _choice}
)
KINDS = tuple(_DRAWS)
_FORMS = {
    "uniform": "uniform: [lowest, highest]",
    "log_uniform": "log_uniform: [lowest, highest], both above 0",
    "normal": "normal: [mean, deviation]",
    "choice": "choice: [one, another, ...]",
}
