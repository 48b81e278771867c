"""Measurement updates of the Kalman filter.

An update consists of the innovation nu, the difference of a measurement from its prediction, its
dependence on the errors, ``nu = H dx + n``, and the covariance R of its noise. With ``S = H P H' +
R`` and ``K = P H' / S`` the error is ``K nu`` and, in Joseph form, which stays symmetric and
positive for any rounding of K, ``P' = (I - K H) P (I - K H)' + K R K'``. An update with ``nu' nu /
S`` beyond the square of the gate is an outlier and is rejected.

A fix is delayed by a time D, n periods of the receiver. The motion at that time is computed from
the present one by the increments since; its error is ``dp - D dv + D^2 da / 2``, with ``da = -[f]x
theta - R (db + dd)`` as in ``ekf_motion``. Along each axis the error of the fix is that of the
distances times the dilution of precision: the vertical one, and the horizontal one over sqrt(2),
since a receiver does not report its direction in the plane. The velocity of a fix is the difference
of two positions, and adds no information.

When a satellite appears or disappears, part of the error of the fix is new. A mean of n errors and
one of n + 1 including them have the correlation sqrt(n / (n + 1)): this share of the error and its
rate is kept.
"""

from collections.abc import Iterable
from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.measurements import GnssMeasurement, RangeMeasurement
from kittiwake.estimation.ekf_motion import corrected_reading, rotation_matrix, skew
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
    Covariance,
    ImuReading,
    MotionIncrement,
    NominalState,
    Vector,
)
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module

Errors = Float[Array, " errors"]
Square = Float[Array, "errors errors"]

# smallest cosine of the tilt at which a range measures the height
MIN_COSINE = 0.5


class MeasurementUpdate(Module):
    """Update by a measurement; ``counts`` is False if there is none."""

    innovation: Float[Array, " parts"]
    by_error: Float[Array, "parts errors"]
    noise: Float[Array, "parts parts"]
    counts: Flag


def apply_update(
    nominal: NominalState, covariance: Covariance, update: MeasurementUpdate, gate: Real
) -> tuple[NominalState, Covariance]:
    """Return the state after an update, unless it is an outlier."""
    error, covariance = kalman_update(covariance, update, gate)
    return nominal.corrected(error), covariance


def kalman_update(
    covariance: Square, update: MeasurementUpdate, gate: Real
) -> tuple[Errors, Square]:
    """Return the estimated error and the updated covariance of any filter."""
    h, r = update.by_error, update.noise
    shared = covariance @ h.T
    inverse = jnp.linalg.inv(h @ shared + r)
    counts = update.counts & (update.innovation @ inverse @ update.innovation < gate * gate)
    gain = jnp.where(counts, shared @ inverse, 0.0)
    reduced = covariance - gain @ shared.T
    joseph = reduced - (reduced @ h.T) @ gain.T + gain @ r @ gain.T
    innovation = jnp.where(counts, update.innovation, 0.0)
    return gain @ innovation, 0.5 * (joseph + joseph.T)


def rewind(nominal: NominalState, periods: Iterable[MotionIncrement]) -> tuple[Vector, Real]:
    """Return the position before some increments, the latest first, and their total time."""
    position, velocity = nominal.position_world_m, nominal.velocity_world_mps
    ago_s = jnp.zeros(())
    for increment in periods:
        velocity = velocity - increment.velocity_mps
        position = position - increment.span_s * velocity - increment.position_m
        ago_s = ago_s + increment.span_s
    return position, ago_s


def from_fix(
    nominal: NominalState,
    fix: GnssMeasurement,
    periods: Iterable[MotionIncrement],
    reading: ImuReading,
    errors: SatelliteErrors,
    fresh: Flag,
) -> MeasurementUpdate:
    """Return the update by a fix, which is the position before these periods."""
    past_position_m, delay_s = rewind(nominal, periods)
    dilution = jnp.stack([fix.hdop * 0.5**0.5, fix.hdop * 0.5**0.5, jnp.asarray(fix.vdop)])
    slow = jnp.diag(errors.deviation_m * dilution)
    rotation = rotation_matrix(nominal.q_world_from_body)
    half_square = 0.5 * delay_s * delay_s
    force_skew = skew(rotation @ corrected_reading(reading, nominal).specific_force_mps2)
    h = jnp.zeros((3, ERRORS)).at[:, POSITION].set(jnp.eye(3))
    h = h.at[:, VELOCITY].set(-delay_s * jnp.eye(3))
    h = h.at[:, ATTITUDE].set(-half_square * force_skew)
    h = h.at[:, ACCELEROMETER_BIAS].set(-half_square * rotation)
    h = h.at[:, ACCELEROMETER_DRIFT].set(-half_square * rotation)
    h = h.at[:, SATELLITE_ERROR].set(slow)
    expected = past_position_m + slow @ nominal.part(SATELLITE_ERROR)
    # dilutions are zero without a fix, but the matrix must be invertible
    noise = jnp.diag((errors.noise_m * jnp.maximum(dilution, 1.0)) ** 2)
    found = jnp.asarray(fix.position_world_m.array)
    return MeasurementUpdate(found - expected, h, noise, jnp.asarray(fresh & fix.valid))


def from_altitude(
    nominal: NominalState, altitude_m: Real, offset_m: Real, noise_m: Real, fresh: Flag
) -> MeasurementUpdate:
    """Return the update by an altitude with a drift."""
    h = jnp.zeros((1, ERRORS)).at[0, POSITION.stop - 1].set(1.0).at[0, ALTITUDE_DRIFT].set(1.0)
    expected = nominal.position_world_m[2] + nominal.instruments[ALTITUDE_DRIFT - MOTION.stop]
    innovation = altitude_m - offset_m - expected
    return MeasurementUpdate(innovation[None], h, jnp.eye(1) * noise_m**2, jnp.asarray(fresh))


def from_field(
    nominal: NominalState, field_body_t: Vector, field_world_t: Vector, noise_t: Real, fresh: Flag
) -> MeasurementUpdate:
    """Return the update by the magnetic field, in units of its noise: exp(-theta) rotates it."""
    scaled_rotation = rotation_matrix(nominal.q_world_from_body).T / noise_t
    h = jnp.zeros((3, ERRORS)).at[:, ATTITUDE].set(scaled_rotation @ skew(field_world_t))
    innovation = field_body_t / noise_t - scaled_rotation @ field_world_t
    return MeasurementUpdate(innovation, h, jnp.eye(3), jnp.asarray(fresh))


def from_range(
    nominal: NominalState, measured: RangeMeasurement, ground_z_m: Real, noise_m: Real, fresh: Flag
) -> MeasurementUpdate:
    """Return the update by the range to level ground along the z axis, height / cos(tilt)."""
    up: Vector = rotation_matrix(nominal.q_world_from_body)[:, 2]
    tilted = up[2] < MIN_COSINE
    cosine = jnp.where(tilted, 1.0, up[2])
    expected = (nominal.position_world_m[2] - ground_z_m) / cosine
    # theta rotates the axis by theta x up
    attitude_row = jnp.stack([up[1], -up[0], jnp.zeros_like(cosine)]) * (-expected / cosine)
    h = jnp.zeros((1, ERRORS)).at[0, POSITION.stop - 1].set(1.0 / cosine)
    h = h.at[0, ATTITUDE].set(attitude_row)
    counts = jnp.asarray(fresh & measured.valid & ~tilted)
    return MeasurementUpdate(
        (measured.range_m - expected)[None], h, jnp.eye(1) * noise_m**2, counts
    )


def with_other_satellites(
    nominal: NominalState, covariance: Covariance, before: Integer, now: Integer
) -> tuple[NominalState, Covariance]:
    """Return the state after a change of their number, which recordings without it leave at 0."""
    fewer, more = jnp.minimum(before, now), jnp.maximum(jnp.maximum(before, now), 1)
    share = fewer.astype(covariance.dtype) / more.astype(covariance.dtype)
    ratio = jnp.where(before == now, 1.0, share)
    kept = jnp.ones(ERRORS).at[SATELLITE_ERROR.start : SATELLITE_RATE.stop].set(_root(ratio))
    renewed = jnp.diag(1.0 - kept * kept)
    next_nominal = replace(nominal, instruments=nominal.instruments * kept[MOTION.stop :])
    return next_nominal, covariance * (kept[:, None] * kept[None, :]) + renewed


def _root(ratio: Real) -> Real:
    """Return the square root, with a finite derivative at zero."""
    return jnp.where(ratio > 0.0, jnp.sqrt(jnp.where(ratio > 0.0, ratio, 1.0)), 0.0)
