"""Propagation of the Kalman filter from one reading of its inertial unit to the next.

Readings y are corrected by their estimated errors, ``x = u - M u + M M u`` with ``u = y - b - d``,
which inverts ``y = x + M x + b + d`` up to M^3. With the readings at both ends of a step h,

    q' = q exp(h (w0 + w1) / 2)       a = (R0 f0 + R1 f1) / 2 - g
    v' = v + h a                      p' = p + h v + h^2 a / 2

which is of second order for smoothly changing forces. The errors propagate by Phi:

    theta' = theta + h R G                         G = -(I - M)(db + dd + dM w) of the gyroscopes
    dv'    = dv - h [a]x (theta + h R G / 2) + h R A       A: the same for the accelerometers
    dp'    = dp + h dv - h^2 [a]x theta / 2 + h^2 R A / 2

where R is the mean of R0 and R1, and a excludes gravity here. Biases are constant, drifts decay by
e^(-h / tau), and error and rate of the satellites are coupled as in ``range_errors``: ``e' = s r,
r' = -s e - (a + b) r + w`` with a = 1 / T, b = 1 / T', s^2 = a b, so that w has the density 2 (a +
b).

Q follows from white noise of the readings, of density N^2 = d^2 / 2 for d per square root of hertz
over positive frequencies: N^2 h for the angles and velocities, N^2 h^3 / 3 for the positions and
N^2 h^2 / 2 between the two; from walks, ``k^2 h``; from drifts, ``sigma^2 (1 - e^(-2 h / tau))``;
and from w, to the same orders in h.

Source: J. Sola (2017), "Quaternion kinematics for the error-state Kalman filter", chapters 5 to 7,
with attitude errors in world axes; P. Groves (2013), "Principles of GNSS, inertial, and multisensor
integrated navigation systems", chapters 4, 5 and 14. Neglected: coning, the effect of attitude
noise on the velocity within a step, h^3 terms of Phi.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.noise import GaussMarkov
from kittiwake.estimation.ekf_parameters import SatelliteErrors, TriadErrors
from kittiwake.estimation.ekf_state import (
    ACCELEROMETER_BIAS,
    ACCELEROMETER_DRIFT,
    ACCELEROMETER_MATRIX,
    ALTITUDE_DRIFT,
    ATTITUDE,
    ERRORS,
    GYROSCOPE_BIAS,
    GYROSCOPE_DRIFT,
    GYROSCOPE_MATRIX,
    MOTION,
    POSITION,
    SATELLITE_ERROR,
    SATELLITE_RATE,
    VELOCITY,
    Covariance,
    ImuReading,
    Instruments,
    Matrix,
    MotionIncrement,
    NominalState,
    Vector,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

Rows = Float[Array, "rows columns"]


class InstrumentErrors(NamedTuple):
    """Error models of the instruments."""

    gyroscope: TriadErrors
    accelerometer: TriadErrors
    satellites: SatelliteErrors
    altitude: GaussMarkov


class PropagationInterval(NamedTuple):
    """Step between two corrected readings.

    Attributes:
        rotation: mean of the rotations at both ends, world from body.
        specific_force_world_mps2: mean specific force.
        first, last: readings at both ends.
        span_s: duration.
    """

    rotation: Matrix
    specific_force_world_mps2: Vector
    first: ImuReading
    last: ImuReading
    span_s: Real

    @property
    def mean(self) -> ImuReading:
        """Mean of both readings."""
        return ImuReading(
            0.5 * (self.first.specific_force_mps2 + self.last.specific_force_mps2),
            0.5 * (self.first.angular_velocity_radps + self.last.angular_velocity_radps),
        )


def corrected_reading(reading: ImuReading, nominal: NominalState) -> ImuReading:
    """Return a reading corrected by its estimated errors."""
    force = reading.specific_force_mps2 - _bias(nominal, ACCELEROMETER_BIAS, ACCELEROMETER_DRIFT)
    rate = reading.angular_velocity_radps - _bias(nominal, GYROSCOPE_BIAS, GYROSCOPE_DRIFT)
    return ImuReading(
        _invert_matrix_errors(nominal.part(ACCELEROMETER_MATRIX), force),
        _invert_matrix_errors(nominal.part(GYROSCOPE_MATRIX), rate),
    )


def mechanize(
    nominal: NominalState, before: ImuReading, after: ImuReading, gravity_mps2: Real, dt_s: Real
) -> tuple[NominalState, MotionIncrement, PropagationInterval]:
    """Return the motion after a step, its increment, and the interval."""
    first, last = corrected_reading(before, nominal), corrected_reading(after, nominal)
    rotation_vector = 0.5 * dt_s * (first.angular_velocity_radps + last.angular_velocity_radps)
    q = nominal.q_world_from_body
    next_q = (q * Quaternion.from_rotation_vector(Vec3.of(rotation_vector))).normalized()
    rotation_before, rotation_after = rotation_matrix(q), rotation_matrix(next_q)
    force = 0.5 * (
        rotation_before @ first.specific_force_mps2 + rotation_after @ last.specific_force_mps2
    )
    gain = dt_s * (force - jnp.stack([jnp.zeros(()), jnp.zeros(()), jnp.asarray(gravity_mps2)]))
    increment = MotionIncrement(gain, 0.5 * dt_s * gain, dt_s)
    next_nominal = NominalState(
        nominal.position_world_m + dt_s * nominal.velocity_world_mps + increment.position_m,
        nominal.velocity_world_mps + gain,
        next_q,
        nominal.instruments,
    )
    return (
        next_nominal,
        increment,
        PropagationInterval(0.5 * (rotation_before + rotation_after), force, first, last, dt_s),
    )


def motion_rows(interval: PropagationInterval, nominal: NominalState) -> Float[Array, "9 46"]:
    """Return the rows of Phi for position, velocity and attitude."""
    h, force_skew = interval.span_s, skew(interval.specific_force_world_mps2)
    rate_errors = interval.rotation @ _instrument_rows(
        nominal.part(GYROSCOPE_MATRIX), interval.mean.angular_velocity_radps
    )
    force_errors = interval.rotation @ _instrument_rows(
        nominal.part(ACCELEROMETER_MATRIX), interval.mean.specific_force_mps2
    )
    rows = jnp.eye(MOTION.stop, ERRORS)
    rows = rows.at[POSITION, VELOCITY].set(h * jnp.eye(3))
    rows = rows.at[POSITION, ATTITUDE].set(-0.5 * h * h * force_skew)
    rows = rows.at[VELOCITY, ATTITUDE].set(-h * force_skew)
    by_rate = (
        jnp.concatenate([jnp.zeros((3, 3)), -0.5 * h * h * force_skew, h * jnp.eye(3)])
        @ rate_errors
    )
    by_force = jnp.concatenate(
        [0.5 * h * h * force_errors, h * force_errors, jnp.zeros((3, force_errors.shape[1]))]
    )
    rows = rows.at[:, GYROSCOPE_BIAS].set(by_rate[:, :3]).at[:, GYROSCOPE_DRIFT].set(by_rate[:, :3])
    rows = rows.at[:, ACCELEROMETER_BIAS].set(by_force[:, :3])
    rows = rows.at[:, ACCELEROMETER_DRIFT].set(by_force[:, :3])
    rows = rows.at[:, GYROSCOPE_MATRIX].set(by_rate[:, 3:])
    return rows.at[:, ACCELEROMETER_MATRIX].set(by_force[:, 3:])


def decay(errors: InstrumentErrors, instruments: Rows, dt_s: Real) -> Rows:
    """Return the instrument errors, one in each row, after a step."""
    factors = jnp.ones(ERRORS)
    factors = factors.at[GYROSCOPE_DRIFT].set(_decay_factor(errors.gyroscope.drift, dt_s))
    factors = factors.at[ACCELEROMETER_DRIFT].set(_decay_factor(errors.accelerometer.drift, dt_s))
    factors = factors.at[ALTITUDE_DRIFT].set(_decay_factor(errors.altitude, dt_s))
    next_errors = instruments * factors[MOTION.stop :, None]
    start = SATELLITE_ERROR.start - MOTION.stop
    error, rate = instruments[start : start + 3], instruments[start + 3 : start + 6]
    h, s, total = dt_s, *_spring(errors.satellites)
    coupling = s * h * (1.0 - 0.5 * total * h)
    rate_factor = 1.0 - total * h + 0.5 * (total * total - s * s) * h * h
    next_errors = next_errors.at[start : start + 3].set(
        (1.0 - 0.5 * s * s * h * h) * error + coupling * rate
    )
    return next_errors.at[start + 3 : start + 6].set(rate_factor * rate - coupling * error)


def decay_instruments(
    errors: InstrumentErrors, instruments: Instruments, dt_s: Real
) -> Instruments:
    """Return the estimated instrument errors after a step."""
    return decay(errors, instruments[:, None], dt_s)[:, 0]


def propagate(
    covariance: Covariance, rows: Float[Array, "9 46"], errors: InstrumentErrors, dt_s: Real
) -> Covariance:
    """Return Phi P Phi' + Q."""

    def transition(columns: Covariance) -> Covariance:
        return jnp.concatenate([rows @ columns, decay(errors, columns[MOTION.stop :], dt_s)])

    propagated = transition(transition(covariance).T)
    return 0.5 * (propagated + propagated.T) + process_noise(errors, dt_s)


def process_noise(errors: InstrumentErrors, dt_s: Real) -> Covariance:
    """Return the process noise Q."""
    h, one = dt_s, jnp.eye(3)
    gyroscope, accelerometer = errors.gyroscope, errors.accelerometer
    force, rate = 0.5 * accelerometer.noise_per_rthz**2, 0.5 * gyroscope.noise_per_rthz**2
    s, total = _spring(errors.satellites)
    driving = 2.0 * total * h
    crossed = 0.5 * force * h * h * one
    q = jnp.zeros((ERRORS, ERRORS))
    q = q.at[POSITION, POSITION].set(force * h**3 / 3.0 * one)
    q = q.at[POSITION, VELOCITY].set(crossed).at[VELOCITY, POSITION].set(crossed)
    q = q.at[VELOCITY, VELOCITY].set(force * h * one).at[ATTITUDE, ATTITUDE].set(rate * h * one)
    q = q.at[GYROSCOPE_BIAS, GYROSCOPE_BIAS].set(gyroscope.walk_per_rts**2 * h * one)
    q = q.at[ACCELEROMETER_BIAS, ACCELEROMETER_BIAS].set(accelerometer.walk_per_rts**2 * h * one)
    q = q.at[GYROSCOPE_DRIFT, GYROSCOPE_DRIFT].set(_drift_noise(gyroscope.drift, h) * one)
    q = q.at[ACCELEROMETER_DRIFT, ACCELEROMETER_DRIFT].set(
        _drift_noise(accelerometer.drift, h) * one
    )
    q = q.at[SATELLITE_ERROR, SATELLITE_ERROR].set(s * s * h * h * driving / 3.0 * one)
    shared = 0.5 * s * h * driving * one
    q = q.at[SATELLITE_ERROR, SATELLITE_RATE].set(shared)
    q = q.at[SATELLITE_RATE, SATELLITE_ERROR].set(shared)
    q = q.at[SATELLITE_RATE, SATELLITE_RATE].set(driving * (1.0 - total * h) * one)
    return q.at[ALTITUDE_DRIFT, ALTITUDE_DRIFT].set(_drift_noise(errors.altitude, h))


def rotation_matrix(q: Quaternion) -> Matrix:
    """Return the matrix of a rotation."""
    axes = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    return jnp.stack([jnp.asarray(q.rotate(axis).array) for axis in axes], axis=1)


def skew(v: Vector) -> Matrix:
    """Return the cross-product matrix of a vector."""
    x, y, z = v
    zero = jnp.zeros_like(x)
    return jnp.stack([jnp.stack(row) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))])


def _bias(nominal: NominalState, bias: slice, drift: slice) -> Vector:
    return nominal.part(bias) + nominal.part(drift)


def _invert_matrix_errors(flat: Float[Array, "9"], vector: Vector) -> Vector:
    error = flat.reshape(3, 3) @ vector
    return vector - error + flat.reshape(3, 3) @ error


def _instrument_rows(flat: Float[Array, "9"], true: Vector) -> Float[Array, "3 12"]:
    """Return the effect of errors of bias and matrix, by rows, on a corrected reading."""
    by_matrix = jnp.concatenate([jnp.eye(3), jnp.kron(jnp.eye(3), true[None, :])], axis=1)
    return (flat.reshape(3, 3) - jnp.eye(3)) @ by_matrix


def _decay_factor(drift: GaussMarkov, dt_s: Real) -> Real:
    return jnp.exp(-dt_s / drift.time_constant_s)


def _drift_noise(drift: GaussMarkov, dt_s: Real) -> Real:
    return -(drift.deviation**2) * jnp.expm1(-2.0 * dt_s / drift.time_constant_s)


def _spring(errors: SatelliteErrors) -> tuple[Real, Real]:
    """Return the rates s and a + b."""
    a, b = 1.0 / errors.time_constant_s, 1.0 / errors.driving_time_constant_s
    return jnp.sqrt(jnp.asarray(a * b)), a + b
