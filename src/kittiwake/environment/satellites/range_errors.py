"""Errors of the measured distance to one satellite, common to all receivers of a world.

First order: a Gauss-Markov process, with the correlation ``e^(-t / T)``. Second order: one that is
driven by another: correlation ``(T e^(-t / T) - T' e^(-t / T')) / (T - T')``, which starts with
zero slope, so that successive errors differ little; ``(1 + t / T) e^(-t / T)`` for T' = T.

With a = 1 / T and b = 1 / T' the second is a damped oscillator driven by white noise w, ``e" + (a +
b) e' + a b e = w``. Its error e and its rate r, each in units of its deviation (``r = e' / sqrt(a
b)``), are independent of each other at any one time. A step h later they are

    e+ = e - p e + k r + m      r+ = r - q r - k e + n      g = (e^(-a h) - e^(-b h)) / (b - a)
    p = 1 - e^(-a h) - a g      q = 1 - e^(-a h) + b g      k = sqrt(a b) g

with ``var m = p (2 - p) - k^2``, ``var n = q (2 - q) - k^2`` and ``cov(m, n) = k (a + b) g``, which
preserve the deviations: exact for any h. For a short step var m is of the order of h^3 and computed
as ``2 a b (a + b)`` times the integral of g^2 over the step.

The parameters are those of QRSim (2013): GM, whose factor e^(-dt / 2000 s) and innovation of 0.1746
m at 5 Hz give 12.35 m, and GM2, whose recurrence of two numbers at 5 Hz (factors 1 / 1.005 and
e^(-dt / 4 s), innovation 0.003 m) gives 0.5888 m with the correlation above for 40.1 s and 4 s.
Both begin in their stationary state; QRSim begins at zero and runs the process for up to 200 s
before the flight.
"""

from collections.abc import Callable
from math import log
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.noise import GaussMarkov, normal
from kittiwake.geometry.scalar import Real
from kittiwake.world.satellites import AbstractRangeError

QRSIM_PERIOD_S = 0.2
# nodes of Gauss quadrature: integrals of short steps to 1e-11
NODES = 6


class NoRangeError(AbstractRangeError[tuple[()]]):
    """Exact distances."""

    @override
    def step(
        self, state: tuple[()], inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Real]:
        del inputs, dt_s, key
        return state, 0.0


class FirstOrderError(AbstractRangeError[Real]):
    """Gauss-Markov process, as in the first versions of QRSim.

    Attributes:
        deviation_m: standard deviation.
        time_constant_s: time constant.
    """

    deviation_m: Annotated[Real, NOT_NEGATIVE] = 12.35
    time_constant_s: Annotated[Real, POSITIVE] = 2000.0

    @override
    def init(self, key: PRNGKeyArray) -> Real:
        return self._process.first(normal(key))

    @override
    def step(self, state: Real, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Real, Real]:
        del inputs
        next_state = self._process.next(state, normal(key), dt_s)
        return next_state, next_state

    @property
    def _process(self) -> GaussMarkov:
        return GaussMarkov(self.deviation_m, self.time_constant_s)


class SecondOrderError(AbstractRangeError[tuple[Real, Real]]):
    """Gauss-Markov process driven by another one, as in QRSim from 2013 on.

    Attributes:
        deviation_m: standard deviation.
        time_constant_s: time constant.
        driving_time_constant_s: time constant of the noise that drives it.
    """

    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.5888
    time_constant_s: Annotated[Real, POSITIVE] = QRSIM_PERIOD_S / log(1.005)
    driving_time_constant_s: Annotated[Real, POSITIVE] = 4.0

    def __post_init__(self) -> None:
        """Raise ValueError for time constants in the wrong order."""
        if not self.time_constant_s >= self.driving_time_constant_s:
            message = (
                f"driving_time_constant_s: got {self.driving_time_constant_s:g}; must "
                f"be at most time_constant_s, {self.time_constant_s:g}"
            )
            raise ValueError(message)

    @override
    def init(self, key: PRNGKeyArray) -> tuple[Real, Real]:
        return _normal_pair(key)

    @override
    def step(
        self, state: tuple[Real, Real], inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[Real, Real], Real]:
        del inputs
        error, rate = state
        first, second = _normal_pair(key)
        # from here on time is in units of the step: a is a h, and g is g / h
        a, b = dt_s / self.time_constant_s, dt_s / self.driving_time_constant_s
        g = _rate_gain(a, b)
        loss, k = -jnp.expm1(-a), jnp.sqrt(a) * jnp.sqrt(b) * g
        p, q = loss - a * g, loss + b * g
        of_rate = jnp.sqrt(q * (2.0 - q) - k * k)
        shared = k * (a + b) * g / of_rate
        variance = jnp.where(b < 1.0, _short_step_variance(a, b), p * (2.0 - p) - k * k)
        alone = jnp.sqrt(variance - shared * shared)
        # increments are summed first, as they are small relative to the states
        next_error = error + (k * rate - p * error + shared * first + alone * second)
        next_rate = rate + (of_rate * first - q * rate - k * error)
        return (next_error, next_rate), self.deviation_m * next_error


def _rate_gain(a: Real, b: Real) -> Real:
    """Return g, the gain from the rate to the error in a step."""
    return jnp.exp(-a) * _mean_decay(b - a)


def _mean_decay(x: Real) -> Real:
    """Return the mean of e^(-x s) for s from 0 to 1: (1 - e^-x) / x, and 1 for x = 0."""
    short, long = jnp.minimum(x, 1.0), jnp.maximum(x, 1.0)
    return jnp.where(x < 1.0, _mean(lambda s: jnp.exp(-short * s)), -jnp.expm1(-long) / long)


def _short_step_variance(a: Real, b: Real) -> Real:
    """Return the variance that a step not longer than T' adds to the error."""
    shorter = 1.0 / jnp.maximum(b, 1.0)
    a, b = a * shorter, b * shorter

    def squared(s: Real) -> Real:
        return (s * _rate_gain(a * s, b * s)) ** 2

    return 2.0 * a * b * (a + b) * _mean(squared)


def _mean(function: Callable[[Real], Real]) -> Real:
    """Return the mean over 0 to 1, by Gauss quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return 0.5 * jax.vmap(function)(jnp.asarray(0.5 + 0.5 * nodes)) @ jnp.asarray(weights)


def _normal_pair(key: PRNGKeyArray) -> tuple[Real, Real]:
    """Return two independent numbers of unit deviation."""
    first, second = jax.random.normal(key, (2,), jnp.result_type(float))
    return first, second
