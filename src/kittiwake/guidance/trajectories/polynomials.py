"""Piecewise polynomials of time through given values at given times.

Of all curves x(t) through the values, at rest at both ends, the one with the least integral of the
square of its m-th derivative is a spline of degree 2 m - 1 whose first 2 m - 2 derivatives are
continuous and whose first m - 1 are zero at the ends. m = 4 is minimum snap (Mellinger and Kumar
2011, "Minimum snap trajectory generation and control for quadrotors", ICRA), m = 3 minimum jerk,
m = 2 the clamped cubic spline. Each piece is stored as coefficients of s in 0 to 1, from its start
to its end, so that single precision suffices for long flights, too.
"""

from math import factorial, perm
from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.interpolate import make_interp_spline

from kittiwake.core.arrays import ArrayTree
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.pytree import Module

Shape = Literal["minimum-snap", "minimum-jerk", "cubic-spline"]
# m, the order of the derivative that each shape minimizes
DERIVATIVE: dict[Shape, int] = {"minimum-snap": 4, "minimum-jerk": 3, "cubic-spline": 2}


class Pieces(Module):
    """Piecewise polynomials; before and after them the values at the ends, at rest.

    Attributes:
        times_s: starts of the pieces, and end of the last one.
        coefficients: coefficients by piece, power of s, and quantity.
    """

    times_s: Float[Array | np.ndarray, " knots"]
    coefficients: Float[Array | np.ndarray, "pieces powers quantities"]

    @property
    def durations_s(self) -> Float[Array | np.ndarray, " pieces"]:
        """Durations of the pieces."""
        return self.times_s[1:] - self.times_s[:-1]

    def at(self, time_s: Real, derivatives: int) -> list[Float[Array, " quantities"]]:
        """Return the quantities at a time, and their first derivatives up to an order."""
        times, pieces = jnp.asarray(self.times_s), jnp.asarray(self.coefficients)
        found = jnp.searchsorted(times, time_s, side="right") - 1
        piece = jnp.clip(found, 0, len(pieces) - 1)
        duration = times[piece + 1] - times[piece]
        s = jnp.clip((time_s - times[piece]) / duration, 0.0, 1.0)
        moving = jnp.asarray((time_s >= times[0]) & (time_s < times[-1]))
        value = horner(pieces[piece], s)
        rates = [
            jnp.where(moving, horner(derived(pieces[piece], n), s) / duration**n, 0.0)
            for n in range(1, derivatives + 1)
        ]
        return [value, *rates]

    def over(self, time_s: Real) -> Flag:
        """Return True if the last piece has ended."""
        return jnp.asarray(time_s >= self.times_s[-1])

    def sampled(
        self, s: Float[np.ndarray, " samples"], derivative: int
    ) -> Float[np.ndarray, "pieces samples quantities"]:
        """Return a derivative at the same s of every piece; not for use in compiled code."""
        pieces = np.moveaxis(np.asarray(self.coefficients), 0, 1)[:, :, None, :]
        rate = np.asarray(self.durations_s)[:, None, None] ** -derivative
        return horner(derived(pieces, derivative), s[None, :, None]) * rate

    def along(
        self, times_s: Float[np.ndarray, " samples"], derivative: int = 0
    ) -> Float[np.ndarray, "samples quantities"]:
        """Return the quantities or a derivative at times; not for use in compiled code."""
        begins, durations = np.asarray(self.times_s), np.asarray(self.durations_s)
        piece = np.clip(np.searchsorted(begins, times_s, side="right") - 1, 0, len(durations) - 1)
        s = ((times_s - begins[piece]) / durations[piece])[:, None]
        pieces = np.moveaxis(np.asarray(self.coefficients)[piece], 1, 0)
        return horner(derived(pieces, derivative), s) / durations[piece, None] ** derivative


def derived(coefficients: ArrayTree, derivative: int) -> ArrayTree:
    """Return the coefficients of a derivative by s; the first axis is that of the powers."""
    factors = [perm(power, derivative) for power in range(derivative, len(coefficients))]
    return [f * c for f, c in zip(factors, coefficients[derivative:], strict=True)]


def horner(coefficients: ArrayTree, s: ArrayTree) -> ArrayTree:
    """Return the value of a polynomial; the first axis is that of the powers."""
    value = coefficients[-1] + 0.0 * s
    for coefficient in reversed(coefficients[:-1]):
        value = value * s + coefficient
    return value


def spline(
    times_s: Float[np.ndarray, " knots"],
    values: Float[np.ndarray, "knots quantities"],
    shape: Shape = "minimum-snap",
) -> Pieces:
    """Return the pieces through values at increasing times, from rest to rest."""
    m = DERIVATIVE[shape]
    # in units of a mean piece: high powers of long times would be ill-conditioned
    unit_s = float(times_s[-1] - times_s[0]) / (len(times_s) - 1)
    knots = (times_s - times_s[0]) / unit_s
    rest = [(n, np.zeros(values.shape[1])) for n in range(1, m)]
    curve = make_interp_spline(knots, values, k=2 * m - 1, bc_type=(rest, rest))
    lengths = np.diff(knots)[:, None]
    coefficients = [
        curve(knots[:-1], nu=power) * lengths**power / factorial(power) for power in range(2 * m)
    ]
    return Pieces(np.asarray(times_s, float), np.stack(coefficients, axis=1))
