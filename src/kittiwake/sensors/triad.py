"""Errors of three perpendicular instruments of one kind, such as gyroscopes.

Each reading is, in the sensor's own axes,

    y = clip(x + s x + m+ x+ + m- x- + b0 + b + w + n, -range, range)

x: the true quantity, x+ and x-: those along the next axis and the one before; s: error of the scale
factor; m+, m-: small angles by which the axis leans towards the others, which rotate the triad as a
whole and make it oblique; b0: turn-on bias; b: a Gauss-Markov drift; w: a random walk; n: white
noise. s, m and b0 are drawn once for a flight. The terms N, B and K of IEEE Std 952-1997 are n, b
and w here; b approximates flicker noise, which has no finite-dimensional state.

Neglected: temperature, vibration, nonlinearity, sensitivity of gyroscopes to acceleration,
bandwidth.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.noise import GaussMarkov, normals3, white_deviation
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


def by_axis(function: Callable[..., Real], *vectors: Vec3) -> Vec3:
    """Return the vector of a function of each axis's components."""
    return Vec3(*(function(*(getattr(v, axis) for v in vectors)) for axis in "xyz"))


def product_by_axis(a: Vec3, b: Vec3) -> Vec3:
    """Return the component-wise product."""
    return by_axis(lambda p, q: p * q, a, b)


class TriadState(Module):
    """Error parameters drawn for one flight, and present drift and walk."""

    turn_on: Vec3
    scale: Vec3
    towards_next: Vec3
    towards_previous: Vec3
    drift: Vec3
    walk: Vec3


class Triad(Module):
    """Three instruments; units are those of the quantity, or those times root seconds.

    Attributes:
        noise_per_rthz: one-sided density of the white noise.
        turn_on: standard deviation of the turn-on bias.
        drift: Gauss-Markov process of the bias drift.
        walk_per_rts: standard deviation of the random walk after a second.
        scale_error: standard deviation of the scale factor's error.
        misalignment_rad: standard deviation of each axis's angle towards each other axis.
        limit: largest reading.
    """

    noise_per_rthz: Real
    turn_on: Real
    drift: GaussMarkov
    walk_per_rts: Real
    scale_error: Real
    misalignment_rad: Real
    limit: Real

    def init(self, key: PRNGKeyArray) -> TriadState:
        """Return the instruments of one flight; the drift starts in its stationary distribution."""
        turn_on, scale, towards_next, towards_previous, drift = normals3(key, 5)
        return TriadState(
            turn_on=turn_on * self.turn_on,
            scale=scale * self.scale_error,
            towards_next=towards_next * self.misalignment_rad,
            towards_previous=towards_previous * self.misalignment_rad,
            drift=self.drift.first(drift),
            walk=Vec3.zero(),
        )

    def step(
        self, state: TriadState, true: Vec3, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[TriadState, Vec3]:
        """Return the next state and the reading."""
        white, drift, walk = normals3(key, 3)
        state = TriadState(
            turn_on=state.turn_on,
            scale=state.scale,
            towards_next=state.towards_next,
            towards_previous=state.towards_previous,
            drift=self.drift.next(state.drift, drift, dt_s),
            walk=state.walk + walk * (self.walk_per_rts * jnp.sqrt(dt_s)),
        )
        reading = (
            true
            + product_by_axis(state.scale, true)
            + product_by_axis(state.towards_next, Vec3(true.y, true.z, true.x))
            + product_by_axis(state.towards_previous, Vec3(true.z, true.x, true.y))
            + state.turn_on
            + state.drift
            + state.walk
            + white * white_deviation(self.noise_per_rthz, dt_s)
        )
        return state, by_axis(lambda value: jnp.clip(value, -self.limit, self.limit), reading)
