"""Noise processes that sensors share, each discretized exactly for any step.

Gauss-Markov (Ornstein-Uhlenbeck): ``x' = e^(-dt/tau) x + sigma sqrt(1 - e^(-2 dt/tau)) n`` with
n ~ N(0, 1), which has the deviation sigma and the correlation e^(-t/tau) from its first value on.
Random walk: ``x' = x + k sqrt(dt) n``. White noise of density d per square root of hertz, counted
over positive frequencies as data sheets do (the deviation in a band B is d sqrt(B)), fills the band
1 / (2 dt) of samples dt apart: their deviation is ``d / sqrt(2 dt)``. The coefficient N of IEEE Std
952-1997, which others call density as well, is d / sqrt(2).

Allan deviations over an averaging time T are d / sqrt(2 T) for white noise and k sqrt(T / 3) for a
random walk; that of a Gauss-Markov process rises like a random walk's with k^2 = 2 sigma^2 / tau up
to about 1.9 tau and falls again (the same standard, appendix C).
"""

from math import sqrt
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# standard deviation of a number that is uniformly distributed from -1 to 1
UNIFORM_DEVIATION = 1.0 / sqrt(3.0)

Value = TypeVar("Value", Real, Vec3, Array)


def normal(key: PRNGKeyArray) -> Real:
    """Return a standard normal number."""
    return jax.random.normal(key, (), jnp.result_type(float))


def normal3(key: PRNGKeyArray) -> Vec3:
    """Return three independent standard normal numbers."""
    return Vec3.of(jax.random.normal(key, (3,), jnp.result_type(float)))


def normals3(key: PRNGKeyArray, count: int) -> tuple[Vec3, ...]:
    """Return ``count`` vectors of three independent standard normal numbers."""
    return tuple(Vec3.of(row) for row in jax.random.normal(key, (count, 3), jnp.result_type(float)))


def uniform(key: PRNGKeyArray) -> Real:
    """Return a number uniformly distributed from -1 to 1."""
    return jax.random.uniform(key, (), jnp.result_type(float), -1.0, 1.0)


def uniform3(key: PRNGKeyArray) -> Vec3:
    """Return three independent numbers, uniformly distributed from -1 to 1."""
    return Vec3.of(jax.random.uniform(key, (3,), jnp.result_type(float), -1.0, 1.0))


def white_deviation(density_per_rthz: Real, dt_s: Real) -> Real:
    """Return the standard deviation of white noise sampled with a period ``dt_s``."""
    return density_per_rthz / jnp.sqrt(2.0 * dt_s)


class GaussMarkov(Module):
    """First-order Gauss-Markov process of numbers, vectors or arrays."""

    deviation: Real
    time_constant_s: Real

    def first(self, draw: Value) -> Value:
        """Return the first value, from a standard normal draw."""
        return draw * self.deviation

    def next(self, value: Value, draw: Value, dt_s: Real) -> Value:
        """Return the next value, from a standard normal draw."""
        lost = -jnp.expm1(-2.0 * dt_s / self.time_constant_s)
        kept = jnp.exp(-dt_s / self.time_constant_s)
        return value * kept + draw * (self.deviation * jnp.sqrt(lost))
