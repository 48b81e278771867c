"""Gusts along a vehicle's path: the Dryden model of MIL-F-8785C (1980), low altitude.

Intensities and scale lengths (section 3.7.3.4; h in feet, w20: mean wind 20 ft up):

    sigma_w = 0.1 w20,    sigma_u = sigma_v = sigma_w / (0.177 + 0.000823 h)^0.4
    L_w = h,              L_u = L_v = h / (0.177 + 0.000823 h)^1.2

Spectra over the time that the vehicle needs for a scale length, T = L / V (section 3.7.1.2):

    H_u(s) ~ 1 / (1 + T s),    H_v(s), H_w(s) ~ (1 + sqrt(3) T s) / (1 + T s)^2

u: along the mean wind, v: across it, w: upwards. Both models here carry states of unit variance and
multiply by the intensity at the vehicle's position. So a first state drawn from N(0, 1) is
stationary at any height and speed, and a climbing vehicle gets the local intensity at once. A
filter whose state is the velocity itself, as in QRSim, would follow with a delay of T; at constant
height and speed the two are the same process.

Neglected: rotational gusts, the extent of the vehicle, medium and high altitudes.
"""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.units import FOOT_M
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.environment import AbstractTurbulence
from kittiwake.world.surroundings import Surroundings

LOWEST_M = 10.0 * FOOT_M
HIGHEST_M = 1000.0 * FOOT_M
MIN_SPEED_MPS = 0.5  # QRSim adds it to the ground speed; without it gusts would freeze in hover
STEADY_WIND_MPS = 0.01  # below this a wind has no significant direction
SMALL_RATIO = 0.5
# of sinh(a) - a = a^3 / 6 (1 + a^2 / 20 (1 + a^2 / 42 (...))), last first; error 1e-15 at a = 0.5
SINH_DIVISORS = (156.0, 110.0, 72.0, 42.0, 20.0)
# weights of y = c1 z1 - c2 z2 for the transverse spectra: cosine and sine of 15 degrees
TRANSVERSE_WEIGHTS = (0.9659258262890683, 0.25881904510252074)


def intensities(height_m: Real, speed_at_6m_mps: Real) -> tuple[Real, Real]:
    """Return the standard deviations sigma_u = sigma_v and sigma_w in m/s."""
    sigma_w = 0.1 * speed_at_6m_mps
    return sigma_w / _roughening(height_m), sigma_w


def scale_lengths(height_m: Real) -> tuple[Real, Real]:
    """Return the lengths L_u = L_v and L_w in meters."""
    return height_m / _roughening(height_m) ** 3, height_m


class FirstOrderFilter(Module):
    """Recursion x' = decay x + innovation N(0, 1) with unit variance of x, and its scale."""

    decay: Float[Array, ""]
    innovation: Float[Array, ""]
    deviation_mps: Real

    def step(self, state: Real, normal: Real) -> Float[Array, ""]:
        """Return the next state."""
        return self.decay * state + self.innovation * normal


def euler_filter(sigma_mps: Real, length_m: Real, speed_mps: Real, dt_s: Real) -> FirstOrderFilter:
    """Return the filter of QRSim, g' = (1 - b) g + sqrt(2 b) sigma N with b = V dt / L.

    Its stationary deviation is sigma / sqrt(1 - b / 2), above sigma. For b > 1 (if the vehicle
    flies farther than L in one step) the original oscillates and finally diverges; here b is 1.
    """
    flown = jnp.asarray(speed_mps * dt_s)
    b = flown / jnp.maximum(length_m, flown)
    return FirstOrderFilter(1.0 - b, jnp.sqrt(b * (2.0 - b)), sigma_mps / jnp.sqrt(1.0 - 0.5 * b))


def first_order_filters(
    height_m: Real, ground_speed_mps: Real, speed_at_6m_mps: Real, dt_s: Real
) -> tuple[FirstOrderFilter, FirstOrderFilter]:
    """Return the filters of QRSim for the horizontal axes and for the vertical axis."""
    h = jnp.maximum(height_m, 0.0)
    sigmas = intensities(h, speed_at_6m_mps)
    lengths = scale_lengths(h)
    speed = ground_speed_mps + MIN_SPEED_MPS
    return (
        euler_filter(sigmas[0], lengths[0], speed, dt_s),
        euler_filter(sigmas[1], lengths[1], speed, dt_s),
    )


def longitudinal_filter(sigma_mps: Real, ratio: Real) -> FirstOrderFilter:
    """Return the exact filter of H_u for a step of ``ratio`` = V dt / L."""
    a = jnp.asarray(ratio)
    return FirstOrderFilter(jnp.exp(-a), jnp.sqrt(-jnp.expm1(-2.0 * a)), sigma_mps)


class TransverseState(Module):
    """Two uncorrelated states of unit variance, driven by the same noise."""

    z1: Real
    z2: Real

    @property
    def gust(self) -> Float[Array, ""]:
        """Gust as a multiple of its intensity."""
        c1, c2 = TRANSVERSE_WEIGHTS
        return jnp.asarray(c1 * self.z1 - c2 * self.z2)


class TransverseFilter(Module):
    """Exact filter of H_v and H_w over one step.

    In the time tau = t V / L the spectrum is that of y = cos(15 deg) z1 - sin(15 deg) z2 with

        dz1 = -z1 dtau + sqrt(2) dW,    dz2 = (2 z1 - z2) dtau - sqrt(2) dW

    whose stationary covariance is the identity. One step a = V dt / L multiplies (z1, z2) by
    F = exp(-a) [[1, 0], [2 a, 1]] and adds noise of covariance I - F F^T = M M^T, M lower
    triangular.
    """

    decay: Float[Array, ""]
    coupling: Float[Array, ""]
    m11: Float[Array, ""]
    m21: Float[Array, ""]
    m22: Float[Array, ""]

    @classmethod
    def over(cls, ratio: Real) -> "TransverseFilter":
        """Return the filter for a step of ``ratio`` = V dt / L, which must be positive."""
        a = jnp.asarray(ratio)
        decay = jnp.exp(-a)
        variance = -jnp.expm1(-2.0 * a)
        m11 = jnp.sqrt(variance)
        coupling = 2.0 * a * decay
        return cls(
            decay=decay,
            coupling=coupling,
            m11=m11,
            m21=-coupling * decay / m11,
            m22=jnp.sqrt(_residual_variance(a, decay, variance)),
        )

    def step(self, state: TransverseState, normal1: Real, normal2: Real) -> TransverseState:
        """Return the next state."""
        return TransverseState(
            z1=self.decay * state.z1 + self.m11 * normal1,
            z2=self.coupling * state.z1
            + self.decay * state.z2
            + self.m21 * normal1
            + self.m22 * normal2,
        )


class NoTurbulence(AbstractTurbulence[tuple[()]]):
    """Smooth air."""

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[Kinematics, Surroundings],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], Vec3]:
        del inputs, dt_s, key
        return state, Vec3.zero()


class DrydenFirstOrder(AbstractTurbulence[Vec3]):
    """Gusts of QRSim: one pole on each axis, integrated by Euler's method.

    V is the speed over ground plus 0.5 m/s, so gusts change faster in faster flight but not in
    stronger wind. Both horizontal axes have the same intensity and length, so their direction is
    without effect and the axes are east, north and up. Heights above 1000 ft have no special case.

    Attributes:
        speed_at_6m_mps: speed of the wind at 20 ft over the ground, which sets the gusts.
    """

    speed_at_6m_mps: Annotated[Real, NOT_NEGATIVE] = 2.0

    @override
    def init(self, key: PRNGKeyArray) -> Vec3:
        # QRSim instead spins up from zero over 1001 steps, which at height is shorter than T.
        return Vec3.of(jax.random.normal(key, (3,)))

    @override
    def step(
        self, state: Vec3, inputs: tuple[Kinematics, Surroundings], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Vec3, Vec3]:
        kinematics, surroundings = inputs
        horizontal, vertical = first_order_filters(
            surroundings.height_above_ground_m,
            kinematics.velocity_world_mps.norm(),
            self.speed_at_6m_mps,
            dt_s,
        )
        normal = Vec3.of(jax.random.normal(key, (3,)))
        state = Vec3(
            horizontal.step(state.x, normal.x),
            horizontal.step(state.y, normal.y),
            vertical.step(state.z, normal.z),
        )
        gust_world_mps = Vec3(
            state.x * horizontal.deviation_mps,
            state.y * horizontal.deviation_mps,
            state.z * vertical.deviation_mps,
        )
        return state, gust_world_mps


class DrydenState(Module):
    """Filter states along the wind, across it to the left, and upwards."""

    longitudinal: Real
    lateral: TransverseState
    vertical: TransverseState

    @classmethod
    def of(cls, normals: Float[Array, "5"]) -> "DrydenState":
        """Return a stationary state from five normal numbers."""
        u, v1, v2, w1, w2 = normals
        return cls(u, TransverseState(v1, v2), TransverseState(w1, w2))


class Dryden(AbstractTurbulence[DrydenState]):
    """Gusts of the standard, sampled exactly: variance and spectra are correct for any dt and V.

    V is the speed relative to the mean wind (``surroundings.wind_world_mps``, without gusts), at
    least ``least_airspeed_mps``. The longitudinal axis is horizontal along the mean wind; in still
    air to the east, because axes that rotate with a hovering vehicle would destroy the gusts'
    correlation. Heights are clipped to the standard's range of 10 to 1000 ft.

    Attributes:
        speed_at_6m_mps: speed of the wind at 20 ft over the ground, which sets the gusts.
        least_airspeed_mps: least airspeed with which gusts pass a vehicle.
    """

    speed_at_6m_mps: Annotated[Real, NOT_NEGATIVE]
    least_airspeed_mps: Annotated[Real, POSITIVE] = MIN_SPEED_MPS

    @override
    def init(self, key: PRNGKeyArray) -> DrydenState:
        return DrydenState.of(jax.random.normal(key, (5,)))

    @override
    def step(
        self,
        state: DrydenState,
        inputs: tuple[Kinematics, Surroundings],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[DrydenState, Vec3]:
        kinematics, surroundings = inputs
        velocity, wind = kinematics.velocity_world_mps, surroundings.wind_world_mps
        airspeed = jnp.maximum((velocity - wind).norm(), self.least_airspeed_mps)
        h = jnp.clip(jnp.asarray(surroundings.height_above_ground_m), LOWEST_M, HIGHEST_M)
        sigma_uv, sigma_w = intensities(h, self.speed_at_6m_mps)
        ratio_uv, ratio_w = (airspeed * dt_s / length for length in scale_lengths(h))
        n_u, n_v1, n_v2, n_w1, n_w2 = jax.random.normal(key, (5,))
        longitudinal = longitudinal_filter(sigma_uv, ratio_uv)
        state = DrydenState(
            longitudinal=longitudinal.step(state.longitudinal, n_u),
            lateral=TransverseFilter.over(ratio_uv).step(state.lateral, n_v1, n_v2),
            vertical=TransverseFilter.over(ratio_w).step(state.vertical, n_w1, n_w2),
        )
        along = sigma_uv * state.longitudinal
        left = sigma_uv * state.lateral.gust
        cosine, sine = _longitudinal_direction(wind)
        return state, Vec3(
            cosine * along - sine * left,
            sine * along + cosine * left,
            sigma_w * state.vertical.gust,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Dryden"]:
        return {"breeze": cls(speed_at_6m_mps=3.0)}


def _roughening(height_m: Real) -> Real:
    # its first power divides the intensity and its cube the length, so one power serves both
    return (0.177 + 0.000823 / FOOT_M * height_m) ** 0.4


def _residual_variance(
    a: Float[Array, ""], decay: Float[Array, ""], variance: Float[Array, ""]
) -> Float[Array, ""]:
    # m22^2 = variance - 4 a^2 decay^2 / variance = 2 decay (sinh(a)^2 - a^2) / sinh(a). It is of
    # order a^3 while its terms are of order a, so for small a the difference is taken as a series.
    small = a < SMALL_RATIO
    b = jnp.where(small, a, SMALL_RATIO)
    square = b * b
    excess = 1.0
    for divisor in SINH_DIVISORS:
        excess = 1.0 + square * (1.0 / divisor) * excess
    sinh_less_b = b * square / 6.0 * excess
    sinh = b + sinh_less_b
    series = 2.0 * decay * sinh_less_b * (sinh + b) / sinh
    return jnp.where(small, series, variance - (2.0 * a * decay) ** 2 / variance)


def _longitudinal_direction(wind: Vec3) -> tuple[Float[Array, ""], Float[Array, ""]]:
    # cosine and sine from east to north
    square = jnp.asarray(wind.x * wind.x + wind.y * wind.y)
    directed = square > STEADY_WIND_MPS**2
    scale = 1.0 / jnp.sqrt(jnp.where(directed, square, 1.0))
    return jnp.where(directed, wind.x * scale, 1.0), jnp.where(directed, wind.y * scale, 0.0)
