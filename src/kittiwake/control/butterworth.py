"""A Butterworth low-pass of any order as a cascade of sections.

The poles of the order n lie on a circle of radius 2 pi f; those of a pair make a section s^2 + 2
sin(pi (2 k - 1) / (2 n)) s + 1, k = 1 .. n / 2, and an odd order has s + 1 beside them. Each is
sampled by the bilinear transformation with K = tan(pi f dt), so that the edge stays where it is
(Oppenheim and Schafer, "Discrete-time signal processing", section 7.2), and runs in the transposed
direct form II: one polynomial of a high order would lose all its digits. A first input is passed
on, as if it had always been there.
"""

import math
from typing import Annotated

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Flag, Real

# pi f dt, at most: where the rate is too low for the edge, the edge lies at .45 of the rate
HIGHEST_EDGE_RAD = 0.45 * math.pi
ORDER = Bounds(1.0, 20.0)


class ButterworthState(eqx.Module):
    """The two memories of each section, and whether there was an input."""

    sections: tuple[tuple[Real, Real], ...]
    started: Flag


class Butterworth(eqx.Module):
    """Gain 1 at rest, 1 / sqrt(2) at the edge."""

    edge_hz: Annotated[Real, POSITIVE]
    order: Annotated[int, ORDER] = eqx.field(static=True, default=2)

    def begin(self) -> ButterworthState:
        """Before the first input."""
        empty = (jnp.asarray(0.0), jnp.asarray(0.0))
        return ButterworthState((empty,) * ((self.order + 1) // 2), jnp.asarray(False))

    def step(
        self, state: ButterworthState, value: Real, dt_s: Real
    ) -> tuple[ButterworthState, Real]:
        """The next state and what passes."""
        edge = jnp.tan(jnp.minimum(math.pi * self.edge_hz * dt_s, HIGHEST_EDGE_RAD))
        output, later = jnp.asarray(value, jnp.result_type(float)), []
        for number, memory in enumerate(state.sections):
            section = self._section(number, edge)
            kept, output = _passed(section, memory, output, state.started)
            later.append(kept)
        return ButterworthState(tuple(later), jnp.asarray(True)), output

    def _section(self, number: int, edge: Real) -> tuple[Real, Real, Real, Real, Real]:
        """The coefficients b0, b1, b2, a1, a2 of one section."""
        if 2 * number + 1 == self.order:
            gain = edge / (1.0 + edge)
            return gain, gain, 0.0, (edge - 1.0) / (1.0 + edge), 0.0
        damping = 2.0 * math.sin(math.pi * (2 * number + 1) / (2 * self.order)) * edge
        square = edge * edge
        scale = 1.0 / (1.0 + damping + square)
        gain = square * scale
        return (
            gain,
            2.0 * gain,
            gain,
            2.0 * (square - 1.0) * scale,
            (1.0 - damping + square) * scale,
        )


def _passed(
    section: tuple[Real, Real, Real, Real, Real],
    memory: tuple[Real, Real],
    value: Real,
    started: Flag,
) -> tuple[tuple[Real, Real], Real]:
    """What one section keeps and passes on."""
    b0, b1, b2, a1, a2 = section
    # before the first input: in balance with it
    first = jnp.where(started, memory[0], (1.0 - b0) * value)
    second = jnp.where(started, memory[1], (b2 - a2) * value)
    output = b0 * value + first
    return (b1 * value - a1 * output + second, b2 * value - a2 * output), output
