"""Allocation of times to the pieces of a trajectory through waypoints.

First guess: from rest to rest along each straight leg with a trapezoidal speed profile. Then, at a
constant total time, the shares T_i that minimize the cost J, the integral of the square of the m-th
derivative (Mellinger and Kumar 2011, section IV.B, who descend along a numerical gradient). Here
the gradient is exact. The pieces between the best derivatives at the waypoints are those of a
principle of least action with the Lagrangian L = (x^(m))^2, so that::

    dJ/dT_i = -E_i,   E = (x^(m))^2 + 2 sum_{k=1}^{m-1} (-1)^(m-k) x^(k) x^(2m-k)

where the energy E (Ostrogradsky) is constant in a piece. Last, all times are scaled until speed and
acceleration are just within their limits: scaling by k reduces them by k and k^2.
"""

from functools import partial
from math import factorial

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from kittiwake.guidance.trajectories.polynomials import DERIVATIVE, Pieces, Shape, spline

# of each piece, at which limits are checked; between them a polynomial passes a limit by less than
# MARGIN
SAMPLES = 256
MARGIN = 1e-4
MAX_ITERATIONS = 200
# number of position components among the quantities
SPATIAL = 3

Times = Float[np.ndarray, " knots"]
Places = Float[np.ndarray, "knots 3"]


def allocated_times(
    places: Places, shape: Shape, max_speed_mps: float, max_acceleration_mps2: float
) -> Times:
    """Return the times of the waypoints, as early as the limits allow for the best time shares."""
    legs = np.linalg.norm(np.diff(places, axis=0), axis=1)
    first = leg_times(legs, max_speed_mps, max_acceleration_mps2)
    times_s = _since_begin(best_shares(first, places, shape))
    speed, acceleration = peaks(spline(times_s, places, shape))
    stretch = max(speed / max_speed_mps, np.sqrt(acceleration / max_acceleration_mps2))
    return times_s * stretch * (1.0 + MARGIN)


def leg_times(
    lengths_m: Float[np.ndarray, " legs"], max_speed_mps: float, max_acceleration_mps2: float
) -> Float[np.ndarray, " legs"]:
    """Return the durations of straight legs from rest to rest, with constant acceleration."""
    speed_up_m = max_speed_mps**2 / max_acceleration_mps2
    short = 2.0 * np.sqrt(lengths_m / max_acceleration_mps2)
    long = lengths_m / max_speed_mps + max_speed_mps / max_acceleration_mps2
    return np.where(lengths_m < speed_up_m, short, long)


def best_shares(
    durations_s: Float[np.ndarray, " legs"], places: Places, shape: Shape
) -> Float[np.ndarray, " legs"]:
    """Return the durations of the same sum with the least cost."""
    if len(durations_s) == 1:
        return durations_s
    total = float(durations_s.sum())
    found = minimize(
        partial(_log_cost, total, places, shape),
        np.log(durations_s / total),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS},
    )
    return total * _shares(found.x)


def peaks(pieces: Pieces) -> tuple[float, float]:
    """Return the largest speed and acceleration on a fine grid."""
    s = np.linspace(0.0, 1.0, SAMPLES + 1)
    speed, acceleration = (
        np.linalg.norm(pieces.sampled(s, derivative)[..., :SPATIAL], axis=-1).max()
        for derivative in (1, 2)
    )
    return float(speed), float(acceleration)


def cost_and_slopes(
    durations_s: Float[np.ndarray, " legs"], places: Places, shape: Shape
) -> tuple[float, Float[np.ndarray, " legs"]]:
    """Return J, and its derivative by each duration."""
    m = DERIVATIVE[shape]
    pieces = spline(_since_begin(durations_s), places, shape)
    # exact for the square of a polynomial of degree m - 1
    nodes, weights = np.polynomial.legendre.leggauss(m)
    squares = np.square(pieces.sampled(0.5 * (nodes + 1.0), m)).sum(axis=-1)
    cost = float((0.5 * durations_s[:, None] * weights * squares).sum())
    x = [
        np.asarray(pieces.coefficients)[:, k] * factorial(k) / durations_s[:, None] ** k
        for k in range(2 * m)
    ]
    mixed = [2.0 * (-1.0) ** (m - k) * x[k] * x[2 * m - k] for k in range(1, m)]
    energy = (x[m] ** 2 + sum(mixed)).sum(axis=-1)
    return cost, -energy


def _log_cost(
    total_s: float, places: Places, shape: Shape, unbounded: Float[np.ndarray, " legs"]
) -> tuple[float, Float[np.ndarray, " legs"]]:
    """Return log J and its derivatives by unbounded numbers, whose softmax are the shares."""
    shares = _shares(unbounded)
    cost, slopes = cost_and_slopes(total_s * shares, places, shape)
    return float(np.log(cost)), total_s * shares * (slopes - slopes @ shares) / cost


def _shares(unbounded: Float[np.ndarray, " legs"]) -> Float[np.ndarray, " legs"]:
    weights = np.exp(unbounded - unbounded.max())
    return weights / weights.sum()


def _since_begin(durations_s: Float[np.ndarray, " legs"]) -> Times:
    return np.concatenate([[0.0], np.cumsum(durations_s)])
