"""Estimate of the divergence of reported from true samples by nearest neighbors.

For n true samples x_i of one number and m reported ones y_j, with rho_i the distance from x_i to
the nearest other true sample and nu_i that to the nearest reported one, the Kullback-Leibler
divergence of the reported distribution Q from the true one P is estimated as

    D(P || Q) = sum_i ln(nu_i / rho_i) / n + ln(m / (n - 1))

Source: Wang, Kulkarni and Verdu (2009), Divergence estimation for multidimensional densities via
k-nearest-neighbor distances, IEEE Trans. Inf. Theory 55(5), equation 5 with d = k = 1. Ours: a
resolution is added to both distances, so that equal samples, as in clean air, are not singular.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Integer, Real
from kittiwake.pytree import Module


class SampleSet(Module):
    """True and reported samples of several numbers over time, in blocks of equal length.

    Attributes:
        true: true samples of each number in the block.
        reported: reported samples of each number in the block.
        to_true: distance from each true sample to the nearest other true one.
        to_reported: distance from each true sample to the nearest reported one.
        count: number of samples in the block.
    """

    true: Float[Array, "numbers block"]
    reported: Float[Array, "numbers block"]
    to_true: Float[Array, "numbers block"]
    to_reported: Float[Array, "numbers block"]
    count: Integer

    @classmethod
    def empty(cls, numbers: int, block: int) -> "SampleSet":
        """Return an empty block."""
        zeros = jnp.zeros((numbers, block))
        return cls(zeros, zeros, zeros, zeros, jnp.zeros((), jnp.int32))

    def append(
        self, true: Float[Array, " numbers"], reported: Float[Array, " numbers"]
    ) -> "SampleSet":
        """Return the samples with one more of each; a full block is followed by a new one."""
        block = self.true.shape[1]
        place = jnp.asarray(self.count) % block
        places = jnp.arange(block, dtype=jnp.int32)[None]
        here, before = places == place, places < place

        def nearest(samples: Float[Array, "numbers block"], one: Float[Array, " numbers"]) -> Array:
            return jnp.where(before, jnp.abs(samples - one[:, None]), jnp.inf)

        # distances of the earlier samples, and of the new one
        true_distance = nearest(self.true, true)
        reported_distance, own_distance = nearest(self.true, reported), nearest(self.reported, true)
        own = jnp.minimum(own_distance.min(axis=1), jnp.abs(true - reported))
        to_true = jnp.minimum(self.to_true, true_distance)
        to_reported = jnp.minimum(self.to_reported, reported_distance)
        return SampleSet(
            jnp.where(here, true[:, None], self.true),
            jnp.where(here, reported[:, None], self.reported),
            jnp.where(here, true_distance.min(axis=1)[:, None], to_true),
            jnp.where(here, own[:, None], to_reported),
            place + 1,
        )

    def divergence(self, resolution: Real) -> Real:
        """Return the sum over all numbers, taken as independent; 0 for fewer than two samples."""
        filled = jnp.arange(self.true.shape[1], dtype=jnp.int32)[None] < self.count
        enough = jnp.asarray(self.count) > 1
        # keeps unused distances out of the logarithm and its derivative
        valid = filled & enough
        nu, rho = (
            jnp.where(valid, own, 1.0) + resolution for own in (self.to_reported, self.to_true)
        )
        n = jnp.maximum(self.count, 2).astype(nu.dtype)
        each = jnp.where(valid, jnp.log(nu / rho), 0.0).sum(axis=1) / n
        return jnp.where(enough, (each + jnp.log(n / (n - 1.0))).sum(), 0.0)
