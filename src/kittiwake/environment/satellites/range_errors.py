"""What delays the signal of one satellite on its way, for all receivers of a world alike.

Of the first order, a Gauss-Markov process: correlation ``e^(-t / T)``. Of the second order, one
that is itself driven by another, with ``T > T'``: correlation ``(T e^(-t / T) - T' e^(-t / T')) /
(T - T')``, which starts level, so that successive errors differ little. As the difference of two
processes of the first order that the same white noise drives, its innovations over a step h have
the covariances ``r (1 - e^(-h / r))`` with ``1 / r = 1 / T_i + 1 / T_j``, exact at any h.

The numbers are those of QRSim (2013): GM, whose factor e^(-dt / 2000 s) and innovation of 0.1746 m
at 5 Hz make 12.35 m, and GM2, whose recurrence of two numbers at 5 Hz (factors 1 / 1.005 and
e^(-dt / 4 s), innovation 0.003 m) makes 0.5888 m with the correlation above for 40.1 s and 4 s.
Both begin in their stationary state; QRSim begins at zero and turns the process over for up to 200
s before the flight.
"""

from math import log
from typing import Annotated, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.noise import GaussMarkov, normal
from kittiwake.core.satellites import AbstractRangeError
from kittiwake.geometry.scalar import Real

QRSIM_PERIOD_S = 0.2


class NoRangeError(AbstractRangeError):
    """Distances are as they are."""

    def step(
        self, state: tuple[()], inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Real]:
        """Nothing."""
        del inputs, dt_s, key
        return state, 0.0


class FirstOrderError(AbstractRangeError):
    """A Gauss-Markov process, as in the first versions of QRSim."""

    deviation_m: Annotated[Real, NOT_NEGATIVE] = 12.35
    time_constant_s: Annotated[Real, POSITIVE] = 2000.0

    def init(self, key: PRNGKeyArray) -> Real:
        """An error before the first step."""
        return self._process.first(normal(key))

    def step(self, state: Real, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Real, Real]:
        """The error a step later."""
        del inputs
        later = self._process.next(state, normal(key), dt_s)
        return later, later

    @property
    def _process(self) -> GaussMarkov:
        return GaussMarkov(self.deviation_m, self.time_constant_s)


class SecondOrderError(AbstractRangeError):
    """A Gauss-Markov process that another one drives, as in QRSim from 2013 on."""

    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.5888
    time_constant_s: Annotated[Real, POSITIVE] = QRSIM_PERIOD_S / log(1.005)
    driving_time_constant_s: Annotated[Real, POSITIVE] = 4.0

    def __check_init__(self) -> None:
        """Refuses time constants in the wrong order."""
        if not self.time_constant_s > self.driving_time_constant_s:
            message = (
                f"driving_time_constant_s: {self.driving_time_constant_s:g} is not allowed; must "
                f"be below time_constant_s, {self.time_constant_s:g}"
            )
            raise ValueError(message)

    def init(self, key: PRNGKeyArray) -> tuple[Real, Real]:
        """The two processes before the first step."""
        slow_s, both_s, fast_s = self._correlation_times_s
        return _correlated(_two(key), slow_s, both_s, fast_s)

    def step(
        self, state: tuple[Real, Real], inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[Real, Real], Real]:
        """The two processes a step later, and their difference."""
        del inputs
        new = _correlated(
            _two(key), *(-r * jnp.expm1(-dt_s / r) for r in self._correlation_times_s)
        )
        slow = state[0] * jnp.exp(-dt_s / self.time_constant_s) + new[0]
        fast = state[1] * jnp.exp(-dt_s / self.driving_time_constant_s) + new[1]
        return (slow, fast), self._scale * (slow - fast)

    @property
    def _correlation_times_s(self) -> tuple[Real, Real, Real]:
        """Of the slow process with itself, with the fast one, and of that with itself."""
        slow, fast = self.time_constant_s, self.driving_time_constant_s
        return slow / 2.0, slow * fast / (slow + fast), fast / 2.0

    @property
    def _scale(self) -> Real:
        slow, fast = self.time_constant_s, self.driving_time_constant_s
        return self.deviation_m * (2.0 * (slow + fast)) ** 0.5 / (slow - fast)


def _two(key: PRNGKeyArray) -> Float[Array, "2"]:
    return jax.random.normal(key, (2,), jnp.result_type(float))


def _correlated(draws: Float[Array, "2"], *covariance: Any) -> tuple[Real, Real]:
    """Two numbers with the variances and, between them, the covariance given."""
    first, both, second = covariance
    left_over = second - both * both / first
    # nearly nothing is left over in a short step, and rounding may make it less
    least = jnp.finfo(jnp.result_type(float)).eps * second
    spread = jnp.sqrt(jnp.maximum(left_over, least))
    deviation = jnp.sqrt(jnp.asarray(first, draws.dtype))
    return draws[0] * deviation, draws[0] * (both / deviation) + draws[1] * spread
