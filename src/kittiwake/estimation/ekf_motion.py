"""How the Kalman filter moves on from one reading of its inertial unit to the next.

Readings y are freed of what is believed of their errors, ``x = u - M u + M M u`` with ``u = y - b -
d``, which inverts ``y = x + M x + b + d`` but for M^3. With the readings at both ends of a step h,

    q' = q exp(h (w0 + w1) / 2)       a = (R0 f0 + R1 f1) / 2 - g
    v' = v + h a                      p' = p + h v + h^2 a / 2

which is of second order, as flights are whose forces change smoothly. The errors follow by Phi:

    theta' = theta + h R G                         G = -(I - M)(db + dd + dM w) of the gyroscopes
    dv'    = dv - h [a]x (theta + h R G / 2) + h R A       A: the same of the accelerometers
    dp'    = dp + h dv - h^2 [a]x theta / 2 + h^2 R A / 2

where R is the mean of R0 and R1 and a here without gravity. Biases stay, drifts shrink by
e^(-h / tau), and error and rate of the satellites turn into each other as ``range_errors`` has it:
``e' = s r, r' = -s e - (a + b) r + w`` with a = 1 / T, b = 1 / T', s^2 = a b, so that w has the
density 2 (a + b).

Q follows from white noise of the readings, of density N^2 = d^2 / 2 for d per square root of hertz
over positive frequencies: N^2 h to the angles and velocities, N^2 h^3 / 3 to the positions and N^2
h^2 / 2 between the two; from walks, ``k^2 h``; from drifts, ``sigma^2 (1 - e^(-2 h / tau))``; and
from w, to the same orders in h.

Source: J. Sola (2017), "Quaternion kinematics for the error-state Kalman filter", chapters 5 to 7,
with the errors of attitude in the world; P. Groves (2013), "Principles of GNSS, inertial, and
multisensor integrated navigation systems", chapters 4, 5 and 14. Neglected: coning, what the noise
of attitude does to the velocity within a step, h^3 terms of Phi.
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
    Advance,
    Belief,
    Covariance,
    ImuReading,
    Instruments,
    Matrix,
    Vector,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

Rows = Float[Array, "rows columns"]


class InstrumentErrors(NamedTuple):
    """What evolves beside the motion."""

    gyroscope: TriadErrors
    accelerometer: TriadErrors
    satellites: SatelliteErrors
    altitude: GaussMarkov


class PropagationInterval(NamedTuple):
    """A step between two readings freed of their errors.

    Attributes:
        rotation: the mean of those at both ends, world from body.
        specific_force_world_mps2: the mean.
        first, last: the readings.
        span_s: how long it lasts.
    """

    rotation: Matrix
    specific_force_world_mps2: Vector
    first: ImuReading
    last: ImuReading
    span_s: Real

    @property
    def mean(self) -> ImuReading:
        """Of both readings."""
        return ImuReading(
            0.5 * (self.first.specific_force_mps2 + self.last.specific_force_mps2),
            0.5 * (self.first.angular_velocity_radps + self.last.angular_velocity_radps),
        )


def freed(reading: ImuReading, belief: Belief) -> ImuReading:
    """A reading without what is believed of its errors."""
    force = reading.specific_force_mps2 - _bias(belief, ACCELEROMETER_BIAS, ACCELEROMETER_DRIFT)
    rate = reading.angular_velocity_radps - _bias(belief, GYROSCOPE_BIAS, GYROSCOPE_DRIFT)
    return ImuReading(
        _undone(belief.part(ACCELEROMETER_MATRIX), force),
        _undone(belief.part(GYROSCOPE_MATRIX), rate),
    )


def mechanised(
    belief: Belief, before: ImuReading, after: ImuReading, gravity_mps2: Real, dt_s: Real
) -> tuple[Belief, Advance, PropagationInterval]:
    """The motion a step later, what came to it, and by what."""
    first, last = freed(before, belief), freed(after, belief)
    turn = 0.5 * dt_s * (first.angular_velocity_radps + last.angular_velocity_radps)
    q = belief.q_world_from_body
    later_q = (q * Quaternion.from_rotation_vector(Vec3.of(turn))).normalized()
    began, ended = rotation_matrix(q), rotation_matrix(later_q)
    force = 0.5 * (began @ first.specific_force_mps2 + ended @ last.specific_force_mps2)
    gain = dt_s * (force - jnp.stack([jnp.zeros(()), jnp.zeros(()), jnp.asarray(gravity_mps2)]))
    advance = Advance(gain, 0.5 * dt_s * gain, dt_s)
    later = Belief(
        belief.position_world_m + dt_s * belief.velocity_world_mps + advance.place_m,
        belief.velocity_world_mps + gain,
        later_q,
        belief.instruments,
    )
    return later, advance, PropagationInterval(0.5 * (began + ended), force, first, last, dt_s)


def motion_rows(leg: PropagationInterval, belief: Belief) -> Float[Array, "9 46"]:
    """The rows of Phi for position, velocity and attitude."""
    h, pull = leg.span_s, skew(leg.specific_force_world_mps2)
    turned = leg.rotation @ _of_instrument(
        belief.part(GYROSCOPE_MATRIX), leg.mean.angular_velocity_radps
    )
    pushed = leg.rotation @ _of_instrument(
        belief.part(ACCELEROMETER_MATRIX), leg.mean.specific_force_mps2
    )
    rows = jnp.eye(MOTION.stop, ERRORS)
    rows = rows.at[POSITION, VELOCITY].set(h * jnp.eye(3))
    rows = rows.at[POSITION, ATTITUDE].set(-0.5 * h * h * pull)
    rows = rows.at[VELOCITY, ATTITUDE].set(-h * pull)
    by_rate = jnp.concatenate([jnp.zeros((3, 3)), -0.5 * h * h * pull, h * jnp.eye(3)]) @ turned
    by_force = jnp.concatenate([0.5 * h * h * pushed, h * pushed, jnp.zeros((3, pushed.shape[1]))])
    rows = rows.at[:, GYROSCOPE_BIAS].set(by_rate[:, :3]).at[:, GYROSCOPE_DRIFT].set(by_rate[:, :3])
    rows = rows.at[:, ACCELEROMETER_BIAS].set(by_force[:, :3])
    rows = rows.at[:, ACCELEROMETER_DRIFT].set(by_force[:, :3])
    rows = rows.at[:, GYROSCOPE_MATRIX].set(by_rate[:, 3:])
    return rows.at[:, ACCELEROMETER_MATRIX].set(by_force[:, 3:])


def aged(errors: InstrumentErrors, instruments: Rows, dt_s: Real) -> Rows:
    """What is left of the instruments' errors, one in each row, after a step."""
    shrinking = jnp.ones(ERRORS)
    shrinking = shrinking.at[GYROSCOPE_DRIFT].set(_kept(errors.gyroscope.drift, dt_s))
    shrinking = shrinking.at[ACCELEROMETER_DRIFT].set(_kept(errors.accelerometer.drift, dt_s))
    shrinking = shrinking.at[ALTITUDE_DRIFT].set(_kept(errors.altitude, dt_s))
    left = instruments * shrinking[MOTION.stop :, None]
    start = SATELLITE_ERROR.start - MOTION.stop
    error, rate = instruments[start : start + 3], instruments[start + 3 : start + 6]
    h, s, total = dt_s, *_spring(errors.satellites)
    passed = s * h * (1.0 - 0.5 * total * h)
    kept_rate = 1.0 - total * h + 0.5 * (total * total - s * s) * h * h
    left = left.at[start : start + 3].set((1.0 - 0.5 * s * s * h * h) * error + passed * rate)
    return left.at[start + 3 : start + 6].set(kept_rate * rate - passed * error)


def aged_belief(errors: InstrumentErrors, instruments: Instruments, dt_s: Real) -> Instruments:
    """What is believed of the instruments' errors after a step."""
    return aged(errors, instruments[:, None], dt_s)[:, 0]


def propagated(
    covariance: Covariance, rows: Float[Array, "9 46"], errors: InstrumentErrors, dt_s: Real
) -> Covariance:
    """Phi P Phi' + Q."""

    def led_on(columns: Covariance) -> Covariance:
        return jnp.concatenate([rows @ columns, aged(errors, columns[MOTION.stop :], dt_s)])

    led = led_on(led_on(covariance).T)
    return 0.5 * (led + led.T) + process_noise(errors, dt_s)


def process_noise(errors: InstrumentErrors, dt_s: Real) -> Covariance:
    """Q."""
    h, one = dt_s, jnp.eye(3)
    gyroscope, accelerometer = errors.gyroscope, errors.accelerometer
    force, rate = 0.5 * accelerometer.noise_per_rthz**2, 0.5 * gyroscope.noise_per_rthz**2
    s, total = _spring(errors.satellites)
    wind = 2.0 * total * h
    crossed = 0.5 * force * h * h * one
    q = jnp.zeros((ERRORS, ERRORS))
    q = q.at[POSITION, POSITION].set(force * h**3 / 3.0 * one)
    q = q.at[POSITION, VELOCITY].set(crossed).at[VELOCITY, POSITION].set(crossed)
    q = q.at[VELOCITY, VELOCITY].set(force * h * one).at[ATTITUDE, ATTITUDE].set(rate * h * one)
    q = q.at[GYROSCOPE_BIAS, GYROSCOPE_BIAS].set(gyroscope.walk_per_rts**2 * h * one)
    q = q.at[ACCELEROMETER_BIAS, ACCELEROMETER_BIAS].set(accelerometer.walk_per_rts**2 * h * one)
    q = q.at[GYROSCOPE_DRIFT, GYROSCOPE_DRIFT].set(_renewed(gyroscope.drift, h) * one)
    q = q.at[ACCELEROMETER_DRIFT, ACCELEROMETER_DRIFT].set(_renewed(accelerometer.drift, h) * one)
    q = q.at[SATELLITE_ERROR, SATELLITE_ERROR].set(s * s * h * h * wind / 3.0 * one)
    shared = 0.5 * s * h * wind * one
    q = q.at[SATELLITE_ERROR, SATELLITE_RATE].set(shared)
    q = q.at[SATELLITE_RATE, SATELLITE_ERROR].set(shared)
    q = q.at[SATELLITE_RATE, SATELLITE_RATE].set(wind * (1.0 - total * h) * one)
    return q.at[ALTITUDE_DRIFT, ALTITUDE_DRIFT].set(_renewed(errors.altitude, h))


def rotation_matrix(q: Quaternion) -> Matrix:
    """Of a rotation."""
    axes = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    return jnp.stack([jnp.asarray(q.rotate(axis).array) for axis in axes], axis=1)


def skew(v: Vector) -> Matrix:
    """The matrix that makes a cross product of what it is multiplied with."""
    x, y, z = v
    nil = jnp.zeros_like(x)
    return jnp.stack([jnp.stack(row) for row in ((nil, -z, y), (z, nil, -x), (-y, x, nil))])


def _bias(belief: Belief, bias: slice, drift: slice) -> Vector:
    return belief.part(bias) + belief.part(drift)


def _undone(flat: Float[Array, "9"], vector: Vector) -> Vector:
    bent = flat.reshape(3, 3) @ vector
    return vector - bent + flat.reshape(3, 3) @ bent


def _of_instrument(flat: Float[Array, "9"], true: Vector) -> Float[Array, "3 12"]:
    """What errors of a bias, and of the matrix by rows, do to what is freed of them."""
    by_matrix = jnp.concatenate([jnp.eye(3), jnp.kron(jnp.eye(3), true[None, :])], axis=1)
    return (flat.reshape(3, 3) - jnp.eye(3)) @ by_matrix


def _kept(drift: GaussMarkov, dt_s: Real) -> Real:
    return jnp.exp(-dt_s / drift.time_constant_s)


def _renewed(drift: GaussMarkov, dt_s: Real) -> Real:
    return -(drift.deviation**2) * jnp.expm1(-2.0 * dt_s / drift.time_constant_s)


def _spring(errors: SatelliteErrors) -> tuple[Real, Real]:
    """The rates s and a + b."""
    a, b = 1.0 / errors.time_constant_s, 1.0 / errors.driving_time_constant_s
    return jnp.sqrt(jnp.asarray(a * b)), a + b
