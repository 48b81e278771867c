"""How far what is told is from what is, as distributions, by nearest neighbors.

For n true samples x_i of one number and m told ones y_j, with rho_i the distance from x_i to the
nearest other true sample and nu_i that to the nearest told one, the divergence of the told
distribution Q from the true one P is estimated as

    D(P || Q) = sum_i ln(nu_i / rho_i) / n + ln(m / (n - 1))

Source: Wang, Kulkarni and Verdu (2009), Divergence estimation for multidimensional densities via
k-nearest-neighbor distances, IEEE Trans. Inf. Theory 55(5), equation 5 with d = k = 1. Ours: a
resolution is added to both distances, so that equal samples, as of clean air, are no singularity.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Count, Real


class SampleSet(eqx.Module):
    """True and told samples of several numbers, one after another, in blocks of equal length.

    Attributes:
        true: of each number, by their place in the block.
        told: the same.
        to_true: from each true sample to the nearest other true one.
        to_told: from each true sample to the nearest told one.
        count: how many samples there are in the block.
    """

    true: Float[Array, "numbers block"]
    reports: Float[Array, "numbers block"]
    to_true: Float[Array, "numbers block"]
    to_reported: Float[Array, "numbers block"]
    count: Count

    @classmethod
    def none(cls, numbers: int, block: int) -> "SampleSet":
        """An empty block."""
        empty = jnp.zeros((numbers, block))
        return cls(empty, empty, empty, empty, jnp.zeros((), jnp.int32))

    def joined(self, true: Float[Array, " numbers"], told: Float[Array, " numbers"]) -> "SampleSet":
        """With one more sample of each; behind a full block another one begins."""
        block = self.true.shape[1]
        place = jnp.asarray(self.count) % block
        places = jnp.arange(block, dtype=jnp.int32)[None]
        here, before = places == place, places < place

        def nearest(samples: Float[Array, "numbers block"], one: Float[Array, " numbers"]) -> Array:
            return jnp.where(before, jnp.abs(samples - one[:, None]), jnp.inf)

        # of those before, and of the new one
        true_apart = nearest(self.true, true)
        told_apart, own_apart = nearest(self.true, told), nearest(self.reports, true)
        own = jnp.minimum(own_apart.min(axis=1), jnp.abs(true - told))
        to_true = jnp.minimum(self.to_true, true_apart)
        to_told = jnp.minimum(self.to_reported, told_apart)
        return SampleSet(
            jnp.where(here, true[:, None], self.true),
            jnp.where(here, told[:, None], self.reports),
            jnp.where(here, true_apart.min(axis=1)[:, None], to_true),
            jnp.where(here, own[:, None], to_told),
            place + 1,
        )

    def divergence(self, resolution: Real) -> Real:
        """Of all numbers together, as if they were independent; 0 of less than two samples."""
        there = jnp.arange(self.true.shape[1], dtype=jnp.int32)[None] < self.count
        enough = jnp.asarray(self.count) > 1
        # a distance that there is not must not meet a logarithm, nor its slope
        held = there & enough
        nu, rho = (
            jnp.where(held, own, 1.0) + resolution for own in (self.to_reported, self.to_true)
        )
        n = jnp.maximum(self.count, 2).astype(nu.dtype)
        each = jnp.where(held, jnp.log(nu / rho), 0.0).sum(axis=1) / n
        return jnp.where(enough, (each + jnp.log(n / (n - 1.0))).sum(), 0.0)
