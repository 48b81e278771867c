"""Distributions of scenario values, as written under ``randomize`` and ``curriculum``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import erf, exp, isfinite, log, sqrt
from types import MappingProxyType

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from kittiwake.core.errors import did_you_mean
from kittiwake.geometry.scalar import Real
from kittiwake.scenario.problems import Plain

# truncation of normal distributions, so that no draw is beyond the values that were tried
DEVIATIONS = 4.0
# share of a normal distribution within these
WITHIN_DEVIATIONS = erf(DEVIATIONS / sqrt(2.0))


@dataclass(frozen=True)
class Distribution:
    """Distribution of one number.

    Attributes:
        name: name of the distribution, such as "uniform".
        numbers: its parameters; whole ones stay whole in a choice, as a sea state has to be.
    """

    name: str
    numbers: tuple[float, ...]

    def at(self, fraction: float) -> float:
        """Return the value at a fraction, from 0 at the lowest to 1 at the highest."""
        low, high = self.ends
        if self.name == "log_uniform":
            return exp(log(low) + fraction * (log(high) - log(low)))
        if self.name == "choice":
            return self.numbers[min(int(fraction * len(self.numbers)), len(self.numbers) - 1)]
        return low + fraction * (high - low)

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value."""
        if self.name == "normal":
            mean, deviation = self.numbers
            return mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
        return min(self.numbers), max(self.numbers)

    def quantile(self, unit: Real) -> Real:
        """Return the value below which a share ``unit`` of all draws lies."""
        return _QUANTILES[self.name](self.numbers, unit)

    def drawn(self, unit: float) -> float:
        """Return the same as ``quantile`` as a Python number, without JAX."""
        if self.name != "normal":
            return self.at(unit)
        from scipy.special import erfinv  # takes 0.2 s to import

        mean, deviation = self.numbers
        return mean + deviation * sqrt(2.0) * float(erfinv((2.0 * unit - 1.0) * WITHIN_DEVIATIONS))


def uniforms(keys: Key[Array, " keys"]) -> Float[Array, " keys"]:
    """Draw a uniform number from 0 to 1 with each key."""
    dtype = jnp.result_type(float)
    return jax.vmap(lambda key: jax.random.uniform(key, (), dtype))(keys)


def distributions(entry: Plain) -> tuple[list[Distribution], bool]:
    """Parse an entry such as ``{uniform: [1, 2]}``.

    Returns:
        The distribution of each component; True if the entry is a vector.

    Raises:
        ValueError: for a malformed entry, with the correct form.
    """
    if not isinstance(entry, Mapping) or len(entry) != 1:
        message = f"got {entry!r}; must be one distribution, such as {{uniform: [1, 2]}}"
        raise ValueError(message)
    ((name, given),) = entry.items()
    if name not in _QUANTILES:
        message = f"there is no distribution '{name}'. {did_you_mean(str(name), list(_QUANTILES))}"
        raise ValueError(message)
    if not isinstance(given, list) or not given:
        message = f"{name}: got {given!r}; write {_FORMS[name]}"
        raise ValueError(message)
    vectors = [one if isinstance(one, list) else [one] for one in given]
    is_vector = isinstance(given[0], list)
    if len({len(one) for one in vectors}) != 1 or is_vector != all(
        isinstance(o, list) for o in given
    ):
        message = f"{name}: got {given!r}; must be all vectors of one length, or all numbers"
        raise ValueError(message)
    parts = [_one(name, tuple(numbers)) for numbers in zip(*vectors, strict=True)]
    return parts, is_vector


def _one(name: str, numbers: tuple[Plain, ...]) -> Distribution:
    advice = f"write {_FORMS[name]}"
    if any(
        isinstance(n, bool) or not isinstance(n, int | float) or not isfinite(n) for n in numbers
    ):
        message = f"{name}: got {list(numbers)}; must be finite numbers; {advice}"
        raise ValueError(message)
    if name != "choice" and len(numbers) != 2:
        message = f"{name}: got {list(numbers)}; {advice}"
        raise ValueError(message)
    first, last = numbers[0], numbers[-1]
    if (name == "uniform" and first > last) or (name == "log_uniform" and not 0.0 < first <= last):
        message = f"{name}: got {list(numbers)}; {advice}"
        raise ValueError(message)
    if name == "normal" and last < 0.0:
        message = f"normal: got a deviation of {last}; must be 0 or more; {advice}"
        raise ValueError(message)
    if name == "choice" and all(isinstance(number, int) for number in numbers):
        return Distribution(name, numbers)
    return Distribution(name, tuple(map(float, numbers)))


def _uniform(numbers: tuple[float, ...], unit: Real) -> Real:
    low, high = numbers
    return low + (high - low) * unit


def _log_uniform(numbers: tuple[float, ...], unit: Real) -> Real:
    low, high = map(log, numbers)
    return jnp.exp(low + (high - low) * unit)


def _normal(numbers: tuple[float, ...], unit: Real) -> Real:
    mean, deviation = numbers
    inside = 2.0 * unit - 1.0
    return mean + deviation * sqrt(2.0) * jax.lax.erf_inv(inside * WITHIN_DEVIATIONS)


def _choice(numbers: tuple[float, ...], unit: Real) -> Real:
    place = jnp.minimum(jnp.floor(unit * len(numbers)), len(numbers) - 1).astype(jnp.int32)
    return jnp.asarray(numbers, jnp.result_type(float))[place]


_QUANTILES: Mapping[str, Callable[[tuple[float, ...], Real], Real]] = MappingProxyType(
    {"uniform": _uniform, "log_uniform": _log_uniform, "normal": _normal, "choice": _choice}
)
_FORMS = {
    "uniform": "uniform: [lowest, highest]",
    "log_uniform": "log_uniform: [lowest, highest], both above 0",
    "normal": "normal: [mean, deviation]",
    "choice": "choice: [one, another, ...]",
}
