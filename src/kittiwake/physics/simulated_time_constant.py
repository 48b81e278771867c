"""Time constant that an integrator gives a first-order lag.

A step of z time constants multiplies a deviation by R(z), the stability function of the method
(Hairer, Wanner 1996, "Solving Ordinary Differential Equations II", section IV.2), in place of
exp(-z): the simulated time constant is -z / ln R(z) of the exact one.
"""

import math
from functools import lru_cache

from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.time_constant import LARGEST_ERROR, TimeConstant
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState

# number of halvings by which the largest step is found
HALVINGS = 40
# share of a deviation that is rounding
ROUNDING = 1e-9
# largest step in time constants that is considered; no method is accurate beyond
LARGEST_STEP = 2.0


def simulated_time_constant(
    integrator: IntegratorName, exact_s: Real, rate_hz: Real
) -> TimeConstant:
    """Return a time constant with that of the integrator's steps."""
    # equal vehicles have equal numbers
    return _simulated(integrator, float(exact_s), float(rate_hz))


@lru_cache(256)
def _simulated(integrator: IntegratorName, exact_s: float, rate_hz: float) -> TimeConstant:
    simulated_s = exact_s * _ratio(integrator, 1.0 / (rate_hz * exact_s))
    return TimeConstant(exact_s, simulated_s, 1.0 / (_largest_step(integrator) * exact_s))


@lru_cache
def _largest_step(integrator: IntegratorName) -> float:
    """Return the largest accurate step in time constants."""
    low, high = 0.0, LARGEST_STEP
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        accurate = abs(_ratio(integrator, middle) - 1.0) <= LARGEST_ERROR
        low, high = (middle, high) if accurate else (low, middle)
    return low


def _ratio(integrator: IntegratorName, step: float) -> float:
    """Return the simulated time constant over the exact one, for a step in time constants."""

    def lag(state: MechanicalState[float, float], elapsed_s: Real) -> MechanicalState[float, float]:
        del elapsed_s
        return MechanicalState(0.0, -state.velocities)

    left = float(INTEGRATORS[integrator].step(lag, MechanicalState(0.0, 1.0), step).velocities)
    if left <= ROUNDING:
        return 0.0
    return math.inf if left >= 1.0 else -step / math.log(left)
