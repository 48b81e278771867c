"""Building blocks of rewards.

``tolerance`` has the meaning of the function of this name in the DeepMind Control Suite (Tassa and
others, 2018, arXiv:1801.00690, section 2.2): 1 inside an interval, and outside a slope that falls
to ``at_margin`` at a distance of one margin.
"""

from collections.abc import Callable, Mapping
from math import acos, log, pi, sqrt
from types import MappingProxyType
from typing import Literal

import jax.numpy as jnp

from kittiwake.geometry.scalar import Real, Reals
from kittiwake.geometry.vec3 import Vec3

Slope = Literal["gaussian", "hyperbolic", "linear", "quadratic", "cosine"]


def tolerance(
    value: Real,
    low: float = 0.0,
    high: float = 0.0,
    *,
    margin: float = 0.0,
    slope: Slope = "gaussian",
    at_margin: float = 0.1,
) -> Real:
    """Return a score from 0 to 1 for a number: 1 inside an interval, falling off outside.

    Args:
        value: number to score.
        low: lower end of the interval.
        high: upper end of the interval.
        margin: distance from the interval at which the score is ``at_margin``; 0 for no slope.
        slope: form of the slope.
        at_margin: score at the margin; 0 only for slopes that reach it.
    """
    if not low <= high or margin < 0.0:
        message = (
            f"low, high, margin: got {low}, {high}, {margin}; must be low <= high and margin >= 0"
        )
        raise ValueError(message)
    reaches_zero = slope in {"linear", "quadratic", "cosine"}
    if not (0.0 <= at_margin < 1.0 and (at_margin > 0.0 or reaches_zero)):
        lowest = "0 or more" if reaches_zero else "above 0"
        message = f"at_margin: got {at_margin}; must be {lowest} and below 1 for slope '{slope}'"
        raise ValueError(message)
    outside = jnp.maximum(jnp.maximum(low - value, value - high), 0.0)
    if margin == 0.0:
        return jnp.where(outside > 0.0, 0.0, 1.0)
    return _SLOPES[slope](outside / margin, at_margin)


def _gaussian(x: Real, at_margin: float) -> Real:
    return jnp.exp(log(at_margin) * x**2)


def _hyperbolic(x: Real, at_margin: float) -> Real:
    return 1.0 / jnp.cosh(jnp.minimum(x * _arcosh(1.0 / at_margin), 50.0))


def _linear(x: Real, at_margin: float) -> Real:
    return jnp.maximum(1.0 - x * (1.0 - at_margin), 0.0)


def _quadratic(x: Real, at_margin: float) -> Real:
    return jnp.maximum(1.0 - x**2 * (1.0 - at_margin), 0.0)


def _cosine(x: Real, at_margin: float) -> Real:
    scaled = jnp.minimum(x * acos(2.0 * at_margin - 1.0) / pi, 1.0)
    return 0.5 * (1.0 + jnp.cos(pi * scaled))


def _arcosh(value: float) -> float:
    return log(value + sqrt(value**2 - 1.0))


_SLOPES: Mapping[Slope, Callable[[Real, float], Real]] = MappingProxyType(
    {
        "gaussian": _gaussian,
        "hyperbolic": _hyperbolic,
        "linear": _linear,
        "quadratic": _quadratic,
        "cosine": _cosine,
    }
)


def nearness(distance: Reals, within: float) -> Reals:
    """Return ``(1 - d / within)^2`` for a distance d: 1 at contact, 0 from ``within`` on."""
    return jnp.clip(1.0 - distance / within, 0.0, 1.0) ** 2


def square(vector: Vec3) -> Real:
    """Return the squared length of a vector."""
    return vector.dot(vector)
