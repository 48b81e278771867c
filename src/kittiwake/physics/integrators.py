"""Fixed-step integrators.

An explicit Runge-Kutta method is its Butcher tableau: stage i evaluates the derivative at
``x + dt sum_j a_ij k_j``, ``dt sum_j a_ij`` after the step's start, and the step ends at
``x + dt sum_i b_i k_i``. Sources: Heun (1900), Kutta
(1901), Dormand and Prince (1980), tables as in Hairer, Norsett, Wanner (1993), "Solving Ordinary
Differential Equations I", sections II.1 and II.5. Semi-implicit (symplectic) Euler advances the
velocities first and the configuration with the new velocities: Hairer, Lubich, Wanner (2006),
"Geometric Numerical Integration", section I.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

import jax

from kittiwake.core.trace_once import trace_once
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module

Q = TypeVar("Q")
M = TypeVar("M")


class MechanicalState(Module, Generic[Q, M]):
    """Configuration of a mechanical system and its velocities, which include actuator states."""

    configuration: Q
    velocities: M


# derivative of a state, as a function of the state and the time since the step began
Derivative = Callable[[MechanicalState[Q, M], Real], MechanicalState[Q, M]]
IntegratorName = Literal["euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"]


@runtime_checkable
class Integrator(Protocol):
    """A method that advances a state by one step."""

    @property
    def order(self) -> int:
        """Order of convergence: the global error is of this power of the step."""
        ...

    def step(
        self, derivative: Derivative[Q, M], state: MechanicalState[Q, M], dt_s: Real
    ) -> MechanicalState[Q, M]:
        """Return the state after a step of ``dt_s``."""
        ...


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: rows of a below the diagonal, weights b, and its order."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int

    def step(
        self, derivative: Derivative[Q, M], state: MechanicalState[Q, M], dt_s: Real
    ) -> MechanicalState[Q, M]:
        """Return the state after a step of ``dt_s``."""
        slope = trace_once(derivative)
        slopes: list[MechanicalState[Q, M]] = []
        for row in self.a:
            slopes.append(slope(_advance(state, row, slopes, dt_s), sum(row) * dt_s))
        return _advance(state, self.b, slopes, dt_s)


@dataclass(frozen=True)
class SemiImplicitEuler:
    """Semi-implicit Euler method: first order, and stable where explicit Euler gains energy."""

    order: int = 1

    def step(
        self, derivative: Derivative[Q, M], state: MechanicalState[Q, M], dt_s: Real
    ) -> MechanicalState[Q, M]:
        """Return the state after a step of ``dt_s``."""
        velocities = _advance(state.velocities, (1.0,), [derivative(state, 0.0).velocities], dt_s)
        rate = derivative(MechanicalState(state.configuration, velocities), dt_s).configuration
        return MechanicalState(_advance(state.configuration, (1.0,), [rate], dt_s), velocities)


INTEGRATORS: dict[IntegratorName, Integrator] = {
    "euler": Tableau(a=((),), b=(1.0,), order=1),
    "semi-implicit-euler": SemiImplicitEuler(),
    "heun": Tableau(a=((), (1.0,)), b=(1 / 2, 1 / 2), order=2),
    "rk4": Tableau(
        a=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), order=4
    ),
    "dormand-prince-5": Tableau(
        a=(
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        order=5,
    ),
}


def _advance(start: Q, weights: tuple[float, ...], slopes: list[Q], dt_s: Real) -> Q:
    used = [(w, slope) for w, slope in zip(weights, slopes, strict=True) if w != 0.0]
    if not used:
        return start
    factors = [w for w, _ in used]

    def advance(x: Real, *rates: Real) -> Real:
        # without the zero that ``sum`` begins with
        first, *others = (rate * f for rate, f in zip(rates, factors, strict=True))
        return x + sum(others, start=first) * dt_s

    return jax.tree.map(advance, start, *(slope for _, slope in used))
