"""PID law with output limits, anti-windup and filtered derivative.

With the error e and the feed-forward u_0::

    u = u_0 + k_p e + i + d,        u limited to [lower, upper]
    i' = k_i e,                     while u is not limited, or e leads back from the limit
    D(s) = k_d N s / (s + N)

The state of the integral is its contribution to the output, not a sum of errors, so that the output
is continuous when a gain changes in flight. It includes the present error (backward Euler). The
filter with pole N is discretized exactly; without a pole the derivative is a finite difference. The
first derivative is zero.

Sources: Astrom and Hagglund (2006), "Advanced PID Control", sections 3.3 (filtering), 3.5 (windup)
and 3.6 (bumpless changes); conditional integration is their "clamping".
"""

import math
from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.pytree import Module, field

UNLIMITED = 1e30


class PidState(Module):
    """Output of the integral, filtered error, and whether there was an error."""

    integral: Real
    filtered: Real
    started: Flag

    @classmethod
    def initial(cls, integral: Real = 0.0) -> "PidState":
        """Return the initial state with an output of the integral."""
        return cls(
            jnp.asarray(integral, jnp.result_type(float)), jnp.asarray(0.0), jnp.asarray(False)
        )


class Pid(Module):
    """Gains and limits of a PID law, in units of the output per unit of the error.

    Attributes:
        proportional: k_p.
        integral_per_s: k_i.
        derivative_s: k_d.
        filter_radps: N, the pole of the derivative's filter; None for plain differences.
        lower: the lower limit of the output.
        upper: the upper limit of the output.
        turn: for an error that is an angle, the value of a full turn, by which errors are wrapped;
            None for others.
        initial: the initial output of the integral.
    """

    proportional: Real
    integral_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    derivative_s: Real = 0.0
    filter_radps: Annotated[Real, POSITIVE] | None = None
    lower: Real = -UNLIMITED
    upper: Real = UNLIMITED
    turn: Annotated[float, POSITIVE] | None = field(static=True, default=None)
    initial: Real = 0.0

    def init(self) -> PidState:
        """Return the initial state."""
        return PidState.initial(self.initial)

    def step(
        self,
        state: PidState,
        error: Real,
        dt_s: Real,
        *,
        error_rate: Real | None = None,
        feed_forward: Real = 0.0,
    ) -> tuple[PidState, Real]:
        """Return the next state and the output; ``error_rate`` replaces the derivative."""
        filtered = jnp.where(state.started, state.filtered, error)
        change = self._wrapped(error - filtered)
        rate, filter_step = self._derivative(change, dt_s)
        rate = rate if error_rate is None else error_rate
        direct = feed_forward + self.proportional * error + self.derivative_s * rate
        growth = self.integral_per_s * error * dt_s
        summed = state.integral + growth
        free = direct + summed
        output = jnp.clip(free, self.lower, self.upper)
        # the integral is held where it would drive the output further beyond a limit
        winds_up = (free - output) * growth > 0.0
        integral = jnp.where(winds_up, state.integral, summed)
        output = jnp.clip(direct + integral, self.lower, self.upper)
        later = filtered + filter_step
        return (
            PidState(integral, self._wrapped(later), jnp.asarray(True)),
            output,
        )

    def state_for_output(self, error: Real, output: Real) -> PidState:
        """Return the state for which the output at this error has a given value.

        The integral is set accordingly; without an integral gain it then stays constant.
        """
        share = jnp.clip(output, self.lower, self.upper) - self.proportional * error
        return PidState(
            jnp.asarray(share, jnp.result_type(float)), jnp.asarray(error), jnp.asarray(True)
        )

    def _wrapped(self, error: Real) -> Real:
        if self.turn is None:
            return error
        scale = self.turn / math.tau
        return wrap_angle(error / scale) * scale

    def _derivative(self, change: Real, dt_s: Real) -> tuple[Real, Real]:
        """Return the filtered rate of the error, and the change of the filter's state."""
        if self.filter_radps is None:
            return change / dt_s, change
        return self.filter_radps * change, change * (1.0 - jnp.exp(-self.filter_radps * dt_s))
