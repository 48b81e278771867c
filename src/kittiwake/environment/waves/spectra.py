"""Irregular seas as sums of waves with random frequencies, directions and phases.

The spectrum over the angular frequency w, with x = w / w_p::

    S ~ x^-5 exp(-5/4 x^-4) gamma^(exp(-(x - 1)^2 / (2 s^2))),    s = 0.07 for x <= 1, else 0.09

gamma = 1: fully developed, after Pierson and Moskowitz (1964), "A proposed spectral form for fully
developed wind seas", J. Geophys. Res. 69; gamma about 3.3: growing, JONSWAP, after Hasselmann and
others (1973). It is cut at half and at six times w_p, which omits 0.1 % of the energy, and scaled
so that all components together have the significant height H: ``sum a^2 / 2 = (H / 4)^2``.

The range is divided into as many bins of equal ratio as there are components, and each frequency is
uniform in the logarithm within its bin: they have no common period, so that the sea does not
repeat. The direction of each is drawn from ``cos^2s((d - d_mean) / 2)`` (Longuet-Higgins and others
1963), one from each interval of equal probability, in random order.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.environment.waves.dispersion import wave_number
from kittiwake.geometry.scalar import Real
from kittiwake.world.water import Waves

# limits of the spectrum relative to the peak frequency
LOWEST, HIGHEST = 0.5, 6.0
WIDTHS = (0.07, 0.09)
# size of the table of directions
DIRECTIONS = 720


class SeaSpectrum(NamedTuple):
    """Spectrum of a sea; ``spreading`` is s, None if all waves travel in one direction."""

    significant_height_m: Real
    peak_period_s: Real
    peak_enhancement: Real
    towards_rad: Real
    spreading: Real | None
    water_depth_m: Real | None


def random_waves(spectrum: SeaSpectrum, count: int, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
    """Return random components at the start."""
    frequency_key, direction_key, phase_key = jax.random.split(key, 3)
    ratios = _ratios(count, frequency_key)
    # the width of bins of equal ratio is proportional to the frequency
    energies = spectrum_shape(ratios, spectrum.peak_enhancement) * ratios
    amplitudes = 0.25 * spectrum.significant_height_m * jnp.sqrt(2.0 * energies / energies.sum())
    frequencies = ratios * (2.0 * math.pi / spectrum.peak_period_s)
    numbers = jax.vmap(lambda w: wave_number(w, gravity_mps2, spectrum.water_depth_m))(frequencies)
    towards = spectrum.towards_rad + _offsets(spectrum.spreading, count, direction_key)
    return Waves(
        amplitudes,
        numbers * jnp.sin(towards),
        numbers * jnp.cos(towards),
        frequencies,
        jax.random.uniform(phase_key, (count,), jnp.result_type(float), -math.pi, math.pi),
        spectrum.water_depth_m,
    )


def spectrum_shape(x: Float[Array, " waves"], peak_enhancement: Real) -> Float[Array, " waves"]:
    """Return S, up to a factor, over the frequency relative to the peak."""
    width = jnp.where(x <= 1.0, *WIDTHS)
    deviation = (x - 1.0) / width
    sharper = jnp.exp(-0.5 * deviation * deviation) * jnp.log(
        jnp.asarray(peak_enhancement, x.dtype)
    )
    return x**-5 * jnp.exp(-1.25 * x**-4 + sharper)


def _ratios(count: int, key: PRNGKeyArray) -> Float[Array, " waves"]:
    """Return frequencies as multiples of the peak's, one in each bin."""
    within = jax.random.uniform(key, (count,), jnp.result_type(float))
    share = (jnp.arange(count, dtype=within.dtype) + within) / count
    return LOWEST * jnp.exp(share * math.log(HIGHEST / LOWEST))


def _offsets(spreading: Real | None, count: int, key: PRNGKeyArray) -> Float[Array, " waves"]:
    """Return directions relative to the mean direction."""
    if spreading is None:
        return jnp.zeros(count)
    order_key, draw_key = jax.random.split(key)
    within = jax.random.uniform(draw_key, (count,), jnp.result_type(float))
    ranks = jax.random.permutation(order_key, count).astype(within.dtype)
    edges = jnp.linspace(-math.pi, math.pi, DIRECTIONS + 1)
    # bin centers, where the cosine is above 0
    middles = 0.5 * (edges[1:] + edges[:-1])
    density = jnp.exp(2.0 * spreading * jnp.log(jnp.cos(0.5 * middles)))
    total = jnp.concatenate([jnp.zeros(1), jnp.cumsum(density)])
    return jnp.interp((ranks + within) / count, total / total[-1], edges)
