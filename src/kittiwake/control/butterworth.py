"""Butterworth low-pass filter of any order, as a cascade of second-order sections.

The poles of order n lie on a circle of radius 2 pi f; each pair is a section s^2 + 2
sin(pi (2 k - 1) / (2 n)) s + 1, k = 1 .. n / 2, and an odd order has the factor s + 1. Each section
is discretized by the bilinear transformation with K = tan(pi f dt), which keeps the cutoff
frequency (Oppenheim and Schafer, "Discrete-time signal processing", section 7.2), and runs in the
transposed direct form II: a single polynomial of high order would lose all precision. The filter
starts in steady state for the first input.
"""

import math
from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.pytree import Module, field

# largest pi f dt: at too low a rate, the cutoff frequency is .45 of the rate
HIGHEST_EDGE_RAD = 0.45 * math.pi
ORDER = Bounds(1.0, 20.0)


class ButterworthState(Module):
    """The two delays of each section, and whether there was an input."""

    sections: tuple[tuple[Real, Real], ...]
    started: Flag


class Butterworth(Module):
    """Low-pass filter with gain 1 at zero frequency and 1 / sqrt(2) at ``edge_hz``."""

    edge_hz: Annotated[Real, POSITIVE]
    order: Annotated[int, ORDER] = field(static=True, default=2)

    def init(self) -> ButterworthState:
        """Return the initial state."""
        empty = (jnp.asarray(0.0), jnp.asarray(0.0))
        return ButterworthState((empty,) * ((self.order + 1) // 2), jnp.asarray(False))

    def step(
        self, state: ButterworthState, value: Real, dt_s: Real
    ) -> tuple[ButterworthState, Real]:
        """Return the next state and the filtered value."""
        edge = jnp.tan(jnp.minimum(math.pi * self.edge_hz * dt_s, HIGHEST_EDGE_RAD))
        output, later = jnp.asarray(value, jnp.result_type(float)), []
        for number, memory in enumerate(state.sections):
            section = self._section(number, edge)
            memory, output = _filter_section(section, memory, output, state.started)
            later.append(memory)
        return ButterworthState(tuple(later), jnp.asarray(True)), output

    def _section(self, number: int, edge: Real) -> tuple[Real, Real, Real, Real, Real]:
        """Return the coefficients b0, b1, b2, a1, a2 of a section."""
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


def _filter_section(
    section: tuple[Real, Real, Real, Real, Real],
    memory: tuple[Real, Real],
    value: Real,
    started: Flag,
) -> tuple[tuple[Real, Real], Real]:
    """Return the delays and the output of a section."""
    b0, b1, b2, a1, a2 = section
    # before the first input: the steady state
    first = jnp.where(started, memory[0], (1.0 - b0) * value)
    second = jnp.where(started, memory[1], (b2 - a2) * value)
    output = b0 * value + first
    return (b1 * value - a1 * output + second, b2 * value - a2 * output), output
