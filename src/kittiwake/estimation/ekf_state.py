"""The state of the Kalman filter: what it believes, and the covariance of its errors.

The error state has, in this order,

    dp, dv      true less estimated position and velocity in the world
    theta       rotation vector in the world's axes, q_true = exp(theta) q
    b, d        of the gyroscopes: bias that stays or walks, and drift that forgets
    b, d        the same of the accelerometers
    M           of the gyroscopes, then of the accelerometers: matrix of scale errors and
                misalignments, by rows, in y = x + M x + b + d + n
    e, r        error of the satellites' position along east, north and up and its rate, each in
                units of its deviation
    h           drift of the barometer

All but the first nine, the ``belief.instruments``, are estimated as they are, not as errors.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.estimation.ekf_parameters import StartErrors, TriadErrors
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3

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


class Belief(eqx.Module):
    """What is believed of the motion, and of the errors of the instruments."""

    position_world_m: Vector
    velocity_world_mps: Vector
    q_world_from_body: Quaternion
    instruments: Instruments

    def part(self, of: slice) -> Float[Array, " part"]:
        """Of the instruments' errors those at these places of the error state."""
        return self.instruments[of.start - MOTION.stop : of.stop - MOTION.stop]

    def corrected(self, error: Float[Array, "46"]) -> "Belief":
        """With an error taken out."""
        turn = Quaternion.from_rotation_vector(Vec3.of(error[ATTITUDE]))
        return Belief(
            self.position_world_m + error[POSITION],
            self.velocity_world_mps + error[VELOCITY],
            (turn * self.q_world_from_body).normalized(),
            self.instruments + error[MOTION.stop :],
        )


class ImuReading(eqx.Module):
    """What the inertial unit said, in body axes."""

    specific_force_mps2: Vector
    angular_velocity_radps: Vector


class Advance(eqx.Module):
    """By how much the motion went on in a time.

    Attributes:
        velocity_mps: what came to the velocity.
        place_m: what came to the position beyond the first velocity times the time.
        span_s: the time.
    """

    velocity_mps: Vector
    place_m: Vector
    span_s: Real

    @classmethod
    def none(cls) -> "Advance":
        """Of no time."""
        return cls(jnp.zeros(3), jnp.zeros(3), jnp.zeros(()))

    def then(self, later: "Advance") -> "Advance":
        """With what came after it."""
        return Advance(
            self.velocity_mps + later.velocity_mps,
            self.place_m + later.span_s * self.velocity_mps + later.place_m,
            self.span_s + later.span_s,
        )


class EkfState(eqx.Module):
    """What the filter remembers.

    Attributes:
        belief: of the motion and the instruments.
        covariance: of the errors.
        reading: what the inertial unit said last.
        begun: whether it did.
        advance: since a fix was due last.
        periods: of as many periods of the receiver before as its fixes are old.
        satellites: how many the last fix was made of.
    """

    belief: Belief
    covariance: Covariance
    reading: ImuReading
    begun: Flag
    advance: Advance
    periods: tuple[Advance, ...]
    satellites: Count


def first_covariance(
    start: StartErrors, gyroscope: TriadErrors, accelerometer: TriadErrors, drift_m: Real
) -> Covariance:
    """Before the first measurement; the errors are independent of each other then."""
    deviations = [
        *(start.position_m,) * 3,
        *(start.velocity_mps,) * 3,
        *(start.tilt_rad, start.tilt_rad, start.yaw_rad),
        *(gyroscope.turn_on,) * 3,
        *(gyroscope.drift.deviation,) * 3,
        *(accelerometer.turn_on,) * 3,
        *(accelerometer.drift.deviation,) * 3,
        *_of_matrix(gyroscope),
        *_of_matrix(accelerometer),
        *(1.0,) * 6,
        drift_m,
    ]
    return jnp.diag(jnp.stack([jnp.asarray(d, jnp.result_type(float)) for d in deviations]) ** 2)


def motion_of(belief: Belief, reading: ImuReading) -> Kinematics:
    """The estimate, of a belief and a reading without errors."""
    q = belief.q_world_from_body
    velocity = Vec3.of(belief.velocity_world_mps)
    return Kinematics(
        position_world_m=Vec3.of(belief.position_world_m),
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=velocity,
        velocity_body_mps=q.inverse().rotate(velocity),
        angular_velocity_body_radps=Vec3.of(reading.angular_velocity_radps),
        specific_force_body_mps2=Vec3.of(reading.specific_force_mps2),
    )


def _of_matrix(triad: TriadErrors) -> list[Real]:
    places = range(3)
    return [triad.scale_error if i == j else triad.misalignment_rad for i in places for j in places]
