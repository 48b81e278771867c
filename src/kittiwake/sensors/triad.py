"""The errors of three perpendicular instruments of one kind, such as gyroscopes.

Each reading is, in the sensor's own axes,

    y = clip(x + s x + m+ x+ + m- x- + b0 + b + w + n, -range, range)

x: the true quantity, x+ and x-: those along the next axis and the one before; s: error of the scale
factor; m+, m-: small angles by which the axis leans towards the others, which turn the triad as a
whole and make it oblique; b0: turn-on bias; b: a Gauss-Markov drift; w: a random walk; n: white
noise. s, m and b0 are drawn once for a flight. The terms N, B and K of IEEE Std 952-1997 are n, b
and w here, where b stands for flicker noise, which has no finite state.

Neglected: temperature, vibration, non-linearity, what acceleration does to gyroscopes, bandwidth.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.noise import GaussMarkov, normals3, white_deviation
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


def by_axis(function: Callable[..., Real], *vectors: Vec3) -> Vec3:
    """A function of each axis's numbers."""
    return Vec3(*(function(*(getattr(v, axis) for v in vectors)) for axis in "xyz"))


def product_by_axis(a: Vec3, b: Vec3) -> Vec3:
    """The products of the components."""
    return by_axis(lambda p, q: p * q, a, b)


class TriadState(eqx.Module):
    """What one flight's instruments are like, and how far they have drifted."""

    turn_on: Vec3
    scale: Vec3
    towards_next: Vec3
    towards_last: Vec3
    drift: Vec3
    walk: Vec3


class Triad(eqx.Module):
    """Three instruments; units are those of the quantity, and those times root seconds.

    Attributes:
        noise_per_rthz: density of the white noise over positive frequencies.
        turn_on: deviation of the bias.
        drift: of the bias.
        walk_per_rts: deviation of the walk after a second.
        scale_error: deviation of the scale factor's error.
        misalignment_rad: deviation of each axis's angle towards each other.
        limit: the largest reading.
    """

    noise_per_rthz: Real
    turn_on: Real
    drift: GaussMarkov
    walk_per_rts: Real
    scale_error: Real
    misalignment_rad: Real
    limit: Real

    def init(self, key: PRNGKeyArray) -> TriadState:
        """The instruments of one flight; the drift is in the middle of a long run already."""
        turn_on, scale, towards_next, towards_last, drift = normals3(key, 5)
        return TriadState(
            turn_on=turn_on * self.turn_on,
            scale=scale * self.scale_error,
            towards_next=towards_next * self.misalignment_rad,
            towards_last=towards_last * self.misalignment_rad,
            drift=self.drift.first(drift),
            walk=Vec3.zero(),
        )

    def step(
        self, state: TriadState, true: Vec3, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[TriadState, Vec3]:
        """The next state and the reading."""
        white, drift, walk = normals3(key, 3)
        state = TriadState(
            turn_on=state.turn_on,
            scale=state.scale,
            towards_next=state.towards_next,
            towards_last=state.towards_last,
            drift=self.drift.next(state.drift, drift, dt_s),
            walk=state.walk + walk * (self.walk_per_rts * jnp.sqrt(dt_s)),
        )
        reading = (
            true
            + product_by_axis(state.scale, true)
            + product_by_axis(state.towards_next, Vec3(true.y, true.z, true.x))
            + product_by_axis(state.towards_last, Vec3(true.z, true.x, true.y))
            + state.turn_on
            + state.drift
            + state.walk
            + white * white_deviation(self.noise_per_rthz, dt_s)
        )
        return state, by_axis(lambda value: jnp.clip(value, -self.limit, self.limit), reading)
