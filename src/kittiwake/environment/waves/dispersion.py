"""Dispersion relation of water waves: ``w^2 = g k tanh(k h)`` on water of the depth h.

On deep water k = w^2 / g. Otherwise Newton's method finds k h from the approximation of Eckart
(1952) ``k h = y / sqrt(tanh y)``, y = w^2 h / g, with an error of at most 5 %: four steps reach
rounding.

A wave breaks if it is higher than a seventh of its length (Michell 1893, 0.142), times tanh(k h) on
shallow water (Miche 1944).
"""

import math

import jax
import jax.numpy as jnp

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real

MAX_STEEPNESS = 1.0 / 7.0
NEWTON_STEPS = 4


def wave_number(frequency_radps: Real, gravity_mps2: Real, water_depth_m: Real | None) -> Real:
    """Return the wave number in radians per meter; the depth is None on deep water."""
    deep = frequency_radps * frequency_radps / gravity_mps2
    if water_depth_m is None:
        return deep
    y = jnp.asarray(deep * water_depth_m)
    kh = y / jnp.sqrt(jnp.tanh(y))
    for _ in range(NEWTON_STEPS):
        tanh = jnp.tanh(kh)
        kh = kh - (kh * tanh - y) / (tanh + kh * (1.0 - tanh * tanh))
    return kh / water_depth_m


def wavelength_m(period_s: Real, gravity_mps2: Real, water_depth_m: Real | None) -> float:
    """Return the length of a wave of a period, before a flight."""
    frequency = 2.0 * math.pi / float(period_s)
    with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
        return 2.0 * math.pi / float(wave_number(frequency, gravity_mps2, water_depth_m))


def max_steepness(length_m: float, water_depth_m: Real | None) -> float:
    """Return the ratio of height to length at which a wave breaks."""
    if water_depth_m is None:
        return MAX_STEEPNESS
    return MAX_STEEPNESS * math.tanh(2.0 * math.pi * float(water_depth_m) / length_m)


def check_breaking(
    height_m: float, period_s: float, gravity_mps2: float, water_depth_m: Real | None, key: str
) -> None:
    """Raise ScenarioError for waves that would break; ``key`` is the parameter of their height."""
    length_m = wavelength_m(period_s, gravity_mps2, water_depth_m)
    highest_m = max_steepness(length_m, water_depth_m) * length_m
    if height_m > highest_m:
        # on deep water the length grows with the square of the period
        longer_s = period_s * math.sqrt(height_m / highest_m)
        longer = f"a period of {longer_s:.3g} s" if water_depth_m is None else "a longer period"
        message = (
            f"waves {height_m:g} m high and {length_m:.3g} m long ({period_s:.3g} s) break: above "
            f"a seventh of their length on deep water; write {key}: {0.99 * highest_m:.3g} or "
            f"less, or {longer} or more"
        )
        raise ScenarioError(message)
