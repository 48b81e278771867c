"""The PID law that all controllers with an integral or a filtered derivative share.

With the error e and the feed-forward u_0::

    u = u_0 + k_p e + i + d,        u cut to [lower, upper]
    i' = k_i e,                     while u is not cut, or e leads back from the limit
    D(s) = k_d N s / (s + N)

The integral holds its share of the output, not a sum of errors, so that a gain changed in flight
does not make the output jump. It includes the present error (backward Euler). The filter's pole N
is sampled exactly; without a pole the derivative is the difference of two errors. The first
derivative is zero: nothing is known of the time before.

Sources: Astrom and Hagglund (2006), "Advanced PID Control", sections 3.3 (filtering), 3.5 (windup)
and 3.6 (bumpless changes); conditional integration is their "clamping".
"""

import math
from typing import Annotated

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle

UNLIMITED = 1e30


class PidState(eqx.Module):
    """The integral's share of the output, the error behind the filter, and whether one was seen."""

    integral: Real
    filtered: Real
    started: Flag

    @classmethod
    def initial(cls, integral: Real = 0.0) -> "PidState":
        """Before the first error; ``integral`` is the share to begin with."""
        return cls(
            jnp.asarray(integral, jnp.result_type(float)), jnp.asarray(0.0), jnp.asarray(False)
        )


class Pid(eqx.Module):
    """Gains and limits, in units of the output for one unit of the error.

    Attributes:
        proportional: k_p.
        integral_per_s: k_i.
        derivative_s: k_d.
        filter_radps: N, the pole of the derivative's filter; None for plain differences.
        lower: of the output.
        upper: of the output.
        turn: of an error that is an angle, how much a whole turn is: its difference is taken the
            short way round; None for others.
        initial: the integral's share of the output to begin with.
    """

    proportional: Real
    integral_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    derivative_s: Real = 0.0
    filter_radps: Annotated[Real, POSITIVE] | None = None
    lower: Real = -UNLIMITED
    upper: Real = UNLIMITED
    turn: Annotated[float, POSITIVE] | None = eqx.field(static=True, default=None)
    initial: Real = 0.0

    def begin(self) -> PidState:
        """Before the first error."""
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
        """The next state and the output; a known rate of the error takes the difference's place."""
        filtered = jnp.where(state.started, state.filtered, error)
        behind = self._wrapped(error - filtered)
        rate, followed = self._derivative(behind, dt_s)
        rate = rate if error_rate is None else error_rate
        direct = feed_forward + self.proportional * error + self.derivative_s * rate
        growth = self.integral_per_s * error * dt_s
        summed = state.integral + growth
        free = direct + summed
        output = jnp.clip(free, self.lower, self.upper)
        # held where it would push further beyond a limit
        winds_up = (free - output) * growth > 0.0
        integral = jnp.where(winds_up, state.integral, summed)
        output = jnp.clip(direct + integral, self.lower, self.upper)
        later = filtered + followed
        return (
            PidState(integral, self._wrapped(later), jnp.asarray(True)),
            output,
        )

    def continued(self, error: Real, output: Real) -> PidState:
        """The state from which, at this error, the output goes on from a given one without a jump.

        What the integral has to hold for it; without an integral gain it fades no more.
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

    def _derivative(self, behind: Real, dt_s: Real) -> tuple[Real, Real]:
        """The error's filtered rate, and by how much the filter follows the error in this step."""
        if self.filter_radps is None:
            return behind / dt_s, behind
        return self.filter_radps * behind, behind * (1.0 - jnp.exp(-self.filter_radps * dt_s))
