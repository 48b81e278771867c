"""State of the Kalman filter: the nominal state, and the covariance of its errors.

The error state has, in this order,

    dp, dv      true less estimated position and velocity in the world
    theta       rotation vector in world axes, q_true = exp(theta) q
    b, d        of the gyroscopes: constant or random-walk bias, and Gauss-Markov drift
    b, d        the same for the accelerometers
    M           for the gyroscopes, then for the accelerometers: matrix of scale errors and
                misalignments, by rows, in y = x + M x + b + d + n
    e, r        error of the satellite position along east, north and up and its rate, each in
                units of its deviation
    h           drift of the barometer

All but the first nine, the ``nominal.instruments``, are estimated directly, not as errors.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.estimation.ekf_parameters import StartErrors, TriadErrors
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

POSITION = slice(0, 3)
VELOCITY = slice(3, 6)
ATTITUDE = slice(6, 9)
MOTION = slice(0, 9)
GYROSCOPE_BIAS = slice(9, 12)
GYROSCOPE_DRIFT = slice(12, 15)
ACCELEROMETER_BIAS = slice(15, 18)
ACCELEROMETER_DRIFT = slice(18, 21)
GYROSCOPE_MATRIX = slice(21, 30)
ACCELEROMETER_MATRIX = slice(30, 39)
SATELLITE_ERROR = slice(39, 42)
SATELLITE_RATE = slice(42, 45)
ALTITUDE_DRIFT = 45
ERRORS = 46

Vector = Float[Array, "3"]
Matrix = Float[Array, "3 3"]
Instruments = Float[Array, "37"]
Covariance = Float[Array, "46 46"]


class NominalState(Module):
    """Estimated motion, and estimated errors of the instruments."""

    position_world_m: Vector
    velocity_world_mps: Vector
    q_world_from_body: Quaternion
    instruments: Instruments

    def part(self, of: slice) -> Float[Array, " part"]:
        """Return the instrument errors at these indices of the error state."""
        return self.instruments[of.start - MOTION.stop : of.stop - MOTION.stop]

    def corrected(self, error: Float[Array, "46"]) -> "NominalState":
        """Return the state corrected by an error state."""
        rotation = Quaternion.from_rotation_vector(Vec3.of(error[ATTITUDE]))
        return NominalState(
            self.position_world_m + error[POSITION],
            self.velocity_world_mps + error[VELOCITY],
            (rotation * self.q_world_from_body).normalized(),
            self.instruments + error[MOTION.stop :],
        )


class ImuReading(Module):
    """Reading of the inertial unit, in body axes."""

    specific_force_mps2: Vector
    angular_velocity_radps: Vector


class MotionIncrement(Module):
    """Increment of the motion over a time span.

    Attributes:
        velocity_mps: increment of the velocity.
        position_m: increment of the position beyond the initial velocity times the time span.
        span_s: time span.
    """

    velocity_mps: Vector
    position_m: Vector
    span_s: Real

    @classmethod
    def none(cls) -> "MotionIncrement":
        """Return an empty increment."""
        return cls(jnp.zeros(3), jnp.zeros(3), jnp.zeros(()))

    def then(self, following: "MotionIncrement") -> "MotionIncrement":
        """Return the sum with a subsequent increment."""
        return MotionIncrement(
            self.velocity_mps + following.velocity_mps,
            self.position_m + following.span_s * self.velocity_mps + following.position_m,
            self.span_s + following.span_s,
        )


class EkfState(Module):
    """State of the filter.

    Attributes:
        nominal: estimate of the motion and of the instrument errors.
        covariance: covariance of the error state.
        reading: last reading of the inertial unit.
        initialized: true after the first reading.
        increment: increment since the last due time of a fix.
        periods: increments of the preceding periods of the receiver, as many as the age of its
            fixes.
        satellites: number of satellites of the last fix.
    """

    nominal: NominalState
    covariance: Covariance
    reading: ImuReading
    initialized: Flag
    increment: MotionIncrement
    periods: tuple[MotionIncrement, ...]
    satellites: Integer


def first_covariance(
    start: StartErrors, gyroscope: TriadErrors, accelerometer: TriadErrors, drift_m: Real
) -> Covariance:
    """Return the covariance before the first measurement, with independent errors."""
    deviations = [
        *(start.position_m,) * 3,
        *(start.velocity_mps,) * 3,
        *(start.tilt_rad, start.tilt_rad, start.yaw_rad),
        *(gyroscope.turn_on,) * 3,
        *(gyroscope.drift.deviation,) * 3,
        *(accelerometer.turn_on,) * 3,
        *(accelerometer.drift.deviation,) * 3,
        *_matrix_deviations(gyroscope),
        *_matrix_deviations(accelerometer),
        *(1.0,) * 6,
        drift_m,
    ]
    return jnp.diag(jnp.stack([jnp.asarray(d, jnp.result_type(float)) for d in deviations]) ** 2)


def motion_of(nominal: NominalState, reading: ImuReading) -> Kinematics:
    """Return the estimated motion from a nominal state and a corrected reading."""
    q = nominal.q_world_from_body
    velocity = Vec3.of(nominal.velocity_world_mps)
    return Kinematics(
        position_world_m=Vec3.of(nominal.position_world_m),
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=velocity,
        velocity_body_mps=q.inverse().rotate(velocity),
        angular_velocity_body_radps=Vec3.of(reading.angular_velocity_radps),
        specific_force_body_mps2=Vec3.of(reading.specific_force_mps2),
    )


def _matrix_deviations(triad: TriadErrors) -> list[Real]:
    indices = range(3)
    return [
        triad.scale_error if i == j else triad.misalignment_rad for i in indices for j in indices
    ]
