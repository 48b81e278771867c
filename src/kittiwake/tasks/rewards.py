"""What rewards are made of.

``tolerance`` has the meaning of the function of this name in the DeepMind Control Suite (Tassa and
others, 2018, arXiv:1801.00690, section 2.2): 1 inside an interval, and outside of it a slope that
has fallen to ``at_margin`` one margin away.
"""

from collections.abc import Callable, Mapping
from math import acos, log, pi, sqrt
from types import MappingProxyType
from typing import Literal, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

Reals: TypeAlias = Real | Float[Array, "..."]
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
    """How well a number lies in an interval, from 0 to 1.

    Args:
        value: the number.
        low: the lower end of the interval.
        high: its upper end.
        margin: how far outside the slope reaches ``at_margin``; 0 for no slope at all.
        slope: its form.
        at_margin: its value there; 0 only for slopes that reach it.
    """
    if not low <= high or margin < 0.0:
        message = f"an interval from {low} to {high} with a margin of {margin} is not allowed"
        raise ValueError(message)
    reaches_zero = slope in {"linear", "quadratic", "cosine"}
    if not (0.0 <= at_margin < 1.0 and (at_margin > 0.0 or reaches_zero)):
        message = f"a value of {at_margin} at the margin is not allowed for the slope '{slope}'"
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
    """How near something is: 0 from a distance on, 1 at contact, ``(1 - d / within)^2`` between."""
    return jnp.clip(1.0 - distance / within, 0.0, 1.0) ** 2


def square(vector: Vec3) -> Real:
    """The squared length of a vector."""
    return vector.dot(vector)
