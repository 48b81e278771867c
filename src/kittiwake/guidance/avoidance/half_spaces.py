"""Projection of a point onto an intersection of half spaces.

    min |v - w|^2 + (s / g)^2     subject to     n_i v - s <= b_i

The slack s, expensive for a small g, is common to all: if no v satisfies them all, the violation is
shared evenly; if one does, it stays below g^2 times the sum of the multipliers. With v and s / g as
one vector of four numbers this is a projection, and always feasible.

Solved by the dual active-set method: the most violated constraint is added, with the steepest step
that keeps the active constraints with equality, of which one leaves when its multiplier reaches
zero. At most four are independent. The method ends after a finite number of iterations; here that
number is fixed, and the residual after it is the largest violation.

Source: Goldfarb and Idnani, A numerically stable dual method for solving strictly convex quadratic
programs, Mathematical Programming 27 (1983).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

SLACK = 0.003
ROUNDS = 24
# two normals of unit length nearer than the root of this count as one
MIN_SQUARE = 1e-7
DIMENSIONS = 4

Vector = Float[Array, "4"]


class _Search(NamedTuple):
    """Point, active constraints, and the constraint that is entering."""

    point: Vector
    normals: Float[Array, "4 4"]
    multipliers: Vector
    active: Bool[Array, "4"]
    entering: Vector
    entering_limit: Float[Array, ""]
    entering_multiplier: Float[Array, ""]
    pending: Bool[Array, ""]


def nearest_point(
    wanted: Float[Array, "3"],
    normals: Float[Array, "constraints 3"],
    limits: Float[Array, " constraints"],
    relevant: Bool[Array, " constraints"],
) -> Float[Array, "3"]:
    """Return the point nearest to ``wanted`` with normals @ point <= limits, where relevant."""
    dtype = jnp.result_type(wanted)
    slack = jnp.full((len(limits), 1), -SLACK, dtype)
    extended = jnp.concatenate([normals, slack], axis=1)
    zero = jnp.zeros(DIMENSIONS, dtype)
    begin = _Search(
        jnp.concatenate([wanted, jnp.zeros(1, dtype)]),
        jnp.zeros((DIMENSIONS, DIMENSIONS), dtype),
        multipliers=zero,
        active=jnp.zeros(DIMENSIONS, bool),
        entering=zero,
        entering_limit=jnp.zeros((), dtype),
        entering_multiplier=jnp.zeros((), dtype),
        pending=jnp.asarray(False),
    )

    def once(search: _Search, _: None) -> tuple[_Search, None]:
        return _round(_entered(search, extended, limits, relevant)), None

    return jax.lax.scan(once, begin, None, length=ROUNDS)[0].point[:3]


def _entered(
    search: _Search,
    normals: Float[Array, "constraints 4"],
    limits: Float[Array, " constraints"],
    relevant: Bool[Array, " constraints"],
) -> _Search:
    """Return the search with the most violated constraint entering, unless one already is."""
    excess = jnp.where(relevant, normals @ search.point - limits, -jnp.inf)
    worst = jnp.argmax(excess)
    keep = search.pending
    return search._replace(
        entering=jnp.where(keep, search.entering, normals[worst]),
        entering_limit=jnp.where(keep, search.entering_limit, limits[worst]),
        entering_multiplier=jnp.where(keep, search.entering_multiplier, 0.0),
        pending=keep | relevant[worst],
    )


def _round(search: _Search) -> _Search:
    """Return the search after one dual step; unchanged if the entering constraint is satisfied."""
    active = search.active
    rows = jnp.where(active[:, None], search.normals, 0.0)
    gram = rows @ rows.T + jnp.diag(jnp.where(active, 0.0, 1.0))
    shares = jnp.linalg.solve(gram, rows @ search.entering)
    across = search.entering - shares @ rows
    square = across @ across
    violation = search.entering @ search.point - search.entering_limit
    feasible = square > MIN_SQUARE
    full = jnp.where(feasible, violation / jnp.where(feasible, square, 1.0), jnp.inf)
    blocking = active & (shares > MIN_SQUARE)
    until = jnp.where(blocking, search.multipliers / jnp.where(blocking, shares, 1.0), jnp.inf)
    blocked = jnp.argmin(until)
    steps = search.pending & (violation > 0.0)
    length = jnp.minimum(full, until[blocked])
    length = jnp.where(steps & jnp.isfinite(length), length, 0.0)
    multipliers = jnp.where(active, search.multipliers - length * shares, 0.0)
    entering_multiplier = search.entering_multiplier + length
    joins = steps & (full <= until[blocked])
    leaves = steps & ~joins & jnp.isfinite(until[blocked])
    slots = jnp.arange(DIMENSIONS)
    new = joins & (slots == jnp.argmin(active))
    gone = leaves & (slots == blocked)
    return search._replace(
        point=search.point - length * across,
        normals=jnp.where(new[:, None], search.entering, search.normals),
        multipliers=jnp.where(new, entering_multiplier, multipliers),
        active=(active | new) & ~gone,
        entering_multiplier=entering_multiplier,
        pending=leaves,
    )
