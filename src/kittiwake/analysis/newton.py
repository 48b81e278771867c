"""Newton's method for equations with more or fewer unknowns than equations.

Each iteration takes the least-squares step of smallest norm, and halves it until the residual
decreases.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import ArrayLike

# below this, iterations do not improve the residual by more than rounding
CONVERGED = 1e-13
ITERATIONS, HALVINGS = 60, 40
# singular values of the Jacobian below this share of the largest one count as zero
RANK_TOLERANCE = 1e-10

# returns the residual and its Jacobian
Equations: TypeAlias = Callable[[np.ndarray], tuple[ArrayLike, ArrayLike]]


def newton(equations: Equations, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unknowns and their residual, converged or not.

    Args:
        equations: returns the residual of unknowns and its Jacobian.
        unknowns: the values at which the search begins.
    """
    residual, jacobian = map(np.asarray, equations(unknowns))
    for _ in range(ITERATIONS):
        if np.abs(residual).max() < CONVERGED or not np.isfinite(jacobian).all():
            break
        step = np.linalg.lstsq(jacobian, -residual, rcond=RANK_TOLERANCE)[0]
        for halving in range(HALVINGS):
            tried = unknowns + step * 0.5**halving
            later = [np.asarray(one) for one in equations(tried)]
            if np.linalg.norm(later[0]) < np.linalg.norm(residual):
                unknowns, (residual, jacobian) = tried, later
                break
        else:
            break
    return unknowns, residual
