"""What measurements tell the Kalman filter.

An observation says by how much a measurement differs from what was expected, nu, how that follows
from the errors, ``nu = H dx + n``, and the covariance R of its noise. With ``S = H P H' + R`` and
``K = P H' / S`` the error is ``K nu`` and, in Joseph's form, which stays symmetric and positive
whatever rounding does to K, ``P' = (I - K H) P (I - K H)' + K R K'``. An observation with ``nu' nu
/ S`` beyond the square of the gate is an outlier and tells nothing.

A fix is of a time D ago, n periods of the receiver. The motion of that time is found from the one
of now by what came to it in each period since; its error is ``dp - D dv + D^2 da / 2``, with ``da =
-[f]x theta - R (db + dd)`` as in ``ekf_motion``. Along each axis the error of the fix is that of
the distances times the dilution of precision: the vertical one, and the horizontal one over
sqrt(2), since a receiver does not say how that lies in the plane. The velocity of a fix is the
difference of two places, and adds nothing to them.

When a satellite comes or goes, part of the error of the fix is new. A mean of n errors and one of n
+ 1 with them have the correlation sqrt(n / (n + 1)): of the error and its rate so much is kept.
"""

from collections.abc import Iterable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.measurements import GnssMeasurement, RangeMeasurement
from kittiwake.estimation.ekf_motion import freed, rotation_matrix, skew
from kittiwake.estimation.ekf_parameters import SatelliteErrors
from kittiwake.estimation.ekf_state import (
    ACCELEROMETER_BIAS,
    ACCELEROMETER_DRIFT,
    ALTITUDE_DRIFT,
    ATTITUDE,
    ERRORS,
    MOTION,
    POSITION,
    SATELLITE_ERROR,
    SATELLITE_RATE,
    VELOCITY,
    Advance,
    Belief,
    Covariance,
    ImuReading,
    Vector,
)
from kittiwake.geometry.scalar import Count, Flag, Real

Errors = Float[Array, " errors"]
Square = Float[Array, "errors errors"]

# of the vertical in the body: a range finder on its side tells nothing of the height
LEAST_COSINE = 0.5


class MeasurementUpdate(eqx.Module):
    """What a measurement tells; ``counts`` is False where there is none."""

    innovation: Float[Array, " parts"]
    by_error: Float[Array, "parts errors"]
    noise: Float[Array, "parts parts"]
    counts: Flag


def updated(
    belief: Belief, covariance: Covariance, told: MeasurementUpdate, gate: Real
) -> tuple[Belief, Covariance]:
    """After an observation, unless it is an outlier."""
    error, left = weighed(covariance, told, gate)
    return belief.corrected(error), left


def weighed(covariance: Square, told: MeasurementUpdate, gate: Real) -> tuple[Errors, Square]:
    """The error that an observation tells, of any filter, and the covariance that is left."""
    h, r = told.by_error, told.noise
    shared = covariance @ h.T
    inverse = jnp.linalg.inv(h @ shared + r)
    counts = told.counts & (told.innovation @ inverse @ told.innovation < gate * gate)
    gain = jnp.where(counts, shared @ inverse, 0.0)
    left = covariance - gain @ shared.T
    joseph = left - (left @ h.T) @ gain.T + gain @ r @ gain.T
    innovation = jnp.where(counts, told.innovation, 0.0)
    return gain @ innovation, 0.5 * (joseph + joseph.T)


def rewound(belief: Belief, periods: Iterable[Advance]) -> tuple[Vector, Real]:
    """The place before these, the latest first, and how long ago that was."""
    place, velocity = belief.position_world_m, belief.velocity_world_mps
    ago_s = jnp.zeros(())
    for advance in periods:
        velocity = velocity - advance.velocity_mps
        place = place - advance.span_s * velocity - advance.place_m
        ago_s = ago_s + advance.span_s
    return place, ago_s


def from_fix(
    belief: Belief,
    fix: GnssMeasurement,
    periods: Iterable[Advance],
    reading: ImuReading,
    errors: SatelliteErrors,
    fresh: Flag,
) -> MeasurementUpdate:
    """The place before these periods."""
    place_then_m, delay_s = rewound(belief, periods)
    dilution = jnp.stack([fix.hdop * 0.5**0.5, fix.hdop * 0.5**0.5, jnp.asarray(fix.vdop)])
    slow = jnp.diag(errors.deviation_m * dilution)
    rotation = rotation_matrix(belief.q_world_from_body)
    curve = 0.5 * delay_s * delay_s
    pull = skew(rotation @ freed(reading, belief).specific_force_mps2)
    h = jnp.zeros((3, ERRORS)).at[:, POSITION].set(jnp.eye(3))
    h = h.at[:, VELOCITY].set(-delay_s * jnp.eye(3))
    h = h.at[:, ATTITUDE].set(-curve * pull)
    h = h.at[:, ACCELEROMETER_BIAS].set(-curve * rotation)
    h = h.at[:, ACCELEROMETER_DRIFT].set(-curve * rotation)
    h = h.at[:, SATELLITE_ERROR].set(slow)
    expected = place_then_m + slow @ belief.part(SATELLITE_ERROR)
    # without a fix the dilutions are zero, and there is something to invert all the same
    noise = jnp.diag((errors.noise_m * jnp.maximum(dilution, 1.0)) ** 2)
    found = jnp.asarray(fix.position_world_m.array)
    return MeasurementUpdate(found - expected, h, noise, jnp.asarray(fresh & fix.valid))


def from_altitude(
    belief: Belief, altitude_m: Real, offset_m: Real, noise_m: Real, fresh: Flag
) -> MeasurementUpdate:
    """A height with a drift."""
    h = jnp.zeros((1, ERRORS)).at[0, POSITION.stop - 1].set(1.0).at[0, ALTITUDE_DRIFT].set(1.0)
    expected = belief.position_world_m[2] + belief.instruments[ALTITUDE_DRIFT - MOTION.stop]
    innovation = altitude_m - offset_m - expected
    return MeasurementUpdate(innovation[None], h, jnp.eye(1) * noise_m**2, jnp.asarray(fresh))


def from_field(
    belief: Belief, field_body_t: Vector, field_world_t: Vector, noise_t: Real, fresh: Flag
) -> MeasurementUpdate:
    """The magnetic field, in units of its noise: exp(-theta) turns it in the world's axes."""
    back = rotation_matrix(belief.q_world_from_body).T / noise_t
    h = jnp.zeros((3, ERRORS)).at[:, ATTITUDE].set(back @ skew(field_world_t))
    innovation = field_body_t / noise_t - back @ field_world_t
    return MeasurementUpdate(innovation, h, jnp.eye(3), jnp.asarray(fresh))


def from_range(
    belief: Belief, measured: RangeMeasurement, ground_z_m: Real, noise_m: Real, fresh: Flag
) -> MeasurementUpdate:
    """The way to level ground along the body's downward axis, height / cos(tilt)."""
    up: Vector = rotation_matrix(belief.q_world_from_body)[:, 2]
    steep = up[2] < LEAST_COSINE
    cosine = jnp.where(steep, 1.0, up[2])
    expected = (belief.position_world_m[2] - ground_z_m) / cosine
    # theta turns the axis by theta x up
    by_turn = jnp.stack([up[1], -up[0], jnp.zeros_like(cosine)]) * (-expected / cosine)
    h = jnp.zeros((1, ERRORS)).at[0, POSITION.stop - 1].set(1.0 / cosine)
    h = h.at[0, ATTITUDE].set(by_turn)
    counts = jnp.asarray(fresh & measured.valid & ~steep)
    return MeasurementUpdate(
        (measured.range_m - expected)[None], h, jnp.eye(1) * noise_m**2, counts
    )


def with_other_satellites(
    belief: Belief, covariance: Covariance, before: Count, now: Count
) -> tuple[Belief, Covariance]:
    """After satellites came or went, as far as their number tells."""
    fewer, more = jnp.minimum(before, now), jnp.maximum(jnp.maximum(before, now), 1)
    share = fewer.astype(covariance.dtype) / more.astype(covariance.dtype)
    kept = jnp.ones(ERRORS).at[SATELLITE_ERROR.start : SATELLITE_RATE.stop].set(_root(share))
    renewed = jnp.diag(1.0 - kept * kept)
    later = eqx.tree_at(lambda b: b.instruments, belief, belief.instruments * kept[MOTION.stop :])
    return later, covariance * (kept[:, None] * kept[None, :]) + renewed


def _root(share: Real) -> Real:
    """With a finite slope at zero."""
    return jnp.where(share > 0.0, jnp.sqrt(jnp.where(share > 0.0, share, 1.0)), 0.0)
