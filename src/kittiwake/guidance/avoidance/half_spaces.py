"""The point of an intersection of half spaces that is nearest to a given one.

    min |v - w|^2 + (s / g)^2     subject to     n_i v - s <= b_i

The slack s, dear for a small g, is the same for all: where no v satisfies them all, it is shared
evenly; where one does, it stays below g^2 times the sum of the multipliers. With v and s / g as one
vector of four numbers this is a projection, and no constraint is ever impossible to meet.

Solved by the dual active-set method: of the constraints that are violated the worst one is added,
with the steepest step that keeps those that hold with equality, of which one leaves when its
multiplier reaches zero. Four at most are independent. It ends after a finite number of rounds; here
that number is fixed, and what is left after it is the worst violation.

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
LEAST_SQUARE = 1e-7
DIMENSIONS = 4

Vector = Float[Array, "4"]


class _Search(NamedTuple):
    """The point, the constraints that hold with equality, and one on its way among them."""

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
    """The nearest point to ``wanted`` with normals @ point <= limits, where that is relevant."""
    dtype = jnp.result_type(wanted)
    slack = jnp.full((len(limits), 1), -SLACK, dtype)
    extended = jnp.concatenate([normals, slack], axis=1)
    zero = jnp.zeros(DIMENSIONS, dtype)
    begin = _Search(
        jnp.concatenate([wanted, jnp.zeros(1, dtype)]),
        jnp.zeros((DIMENSIONS, DIMENSIONS), dtype),
        *(zero, jnp.zeros(DIMENSIONS, bool), zero),
        *(jnp.zeros((), dtype), jnp.zeros((), dtype), jnp.asarray(False)),
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
    """With the worst constraint on its way, unless one is already."""
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
    """One step along the dual; nothing where the entering constraint is satisfied."""
    active = search.active
    rows = jnp.where(active[:, None], search.normals, 0.0)
    gram = rows @ rows.T + jnp.diag(jnp.where(active, 0.0, 1.0))
    shares = jnp.linalg.solve(gram, rows @ search.entering)
    across = search.entering - shares @ rows
    square = across @ across
    violation = search.entering @ search.point - search.entering_limit
    open_way = square > LEAST_SQUARE
    full = jnp.where(open_way, violation / jnp.where(open_way, square, 1.0), jnp.inf)
    blocking = active & (shares > LEAST_SQUARE)
    until = jnp.where(blocking, search.multipliers / jnp.where(blocking, shares, 1.0), jnp.inf)
    blocked = jnp.argmin(until)
    takes = search.pending & (violation > 0.0)
    length = jnp.minimum(full, until[blocked])
    length = jnp.where(takes & jnp.isfinite(length), length, 0.0)
    multipliers = jnp.where(active, search.multipliers - length * shares, 0.0)
    entering_multiplier = search.entering_multiplier + length
    joins = takes & (full <= until[blocked])
    leaves = takes & ~joins & jnp.isfinite(until[blocked])
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
