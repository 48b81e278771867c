"""State-space matrices: signals, poles, sampling, and what inputs reach."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex128, Float64
from scipy.linalg import expm

# poles slower than this count as integrators, whose response has no final value
SLOWEST_PER_S = 1e-9
# of any size
Matrix = Float64[np.ndarray, "_ _"]
Poles = Complex128[np.ndarray, " _"]
Series = Float64[np.ndarray, " _"]


class NamedSignal(NamedTuple):
    """Name of a state, an input or an output, and its unit, which is empty without one."""

    name: str
    unit: str


def continuous(poles: Poles, period_s: float | None) -> Poles:
    """Return poles in rad/s."""
    if period_s is None:
        return poles
    delays = poles == 0.0
    exponents = np.log(np.where(delays, 1.0, poles)) / period_s
    return np.where(delays, -np.inf, exponents)


def rates_per_s(a: Matrix, period_s: float | None) -> Series:
    """Return the real parts of the poles of A in 1/s."""
    poles = np.linalg.eigvals(a) if len(a) else np.empty(0)
    return np.real(continuous(poles.astype(np.complex128), period_s))


def sampled(a: Matrix, b: Matrix, period_s: float) -> tuple[Matrix, Matrix]:
    """Return the exact matrices of a continuous model with the input held over a period."""
    states, inputs = b.shape
    both = np.zeros((states + inputs, states + inputs))
    both[:states, :states], both[:states, states:] = a, b
    whole = expm(both * period_s)
    return whole[:states, :states], whole[:states, states:]


def reached_states(a: Matrix, b: Matrix) -> Bool[np.ndarray, " _"]:
    """Return a flag for each state: true if an input of B acts on it, also through others."""
    reached = (b != 0.0).any(axis=1)
    for _ in range(len(a)):
        reached = reached | (a != 0.0)[:, reached].any(axis=1)
    return reached
