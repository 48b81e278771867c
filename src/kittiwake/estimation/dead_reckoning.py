"""Dead reckoning: the inertial unit alone, integrated from the start.

With specific force f and angular velocity w of an inertial unit, over the time h from one of its
readings to the next,

    q' = q exp(h (w + w') / 2)            a = (q f q^-1 + q' f' q'^-1) / 2 - g
    v' = v + h a                          p' = p + h v + h^2 a / 2

(``ekf_motion``). Between two readings the last one leads on from where it was taken, so that the
whole is of second order in the unit's period. Nothing corrects it: an error of the accelerometer
grows with the square of the time, one of the gyroscope with its cube.

Source: Micklisch et al. (2021), equations 30 to 32 and 40 to 45. Corrected: their accelerations
lack a division by the time and their matrix of equations 31 and 41 to 43 is no rotation, a minus in
40 and 45 is a plus and the square there is the time's; an accelerometer feels f = q^-1 (a + g), and
a gyroscope tells rates.

Neglected: that a unit may be mounted away from the center of mass; coning.
"""

from collections.abc import Mapping
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.core.units import STANDARD_GRAVITY_MPS2
from kittiwake.estimation.ekf_motion import mechanised
from kittiwake.estimation.ekf_state import ERRORS, MOTION, Belief, ImuReading, motion_of
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor


class DeadReckoningState(eqx.Module):
    """Where the unit told something last, what that was, whether it did, and how long ago."""

    belief: Belief
    reading: ImuReading
    begun: Flag
    elapsed_s: Real


class DeadReckoning(AbstractEstimator):
    """Integrates an inertial unit from the start, which it is told.

    Attributes:
        imu: the name of the inertial unit.
        gravity_mps2: what it takes for the world's; that itself if not given.
    """

    imu: str = eqx.field(static=True, default="imu")
    gravity_mps2: Real | None = None

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        require_sensors(sensors, {"imu": RequiredSensor(self.imu, InertialMeasurement, "imu")})

    @override
    def prepare(self, context: BuildContext) -> "DeadReckoning":
        if self.gravity_mps2 is not None:
            return self
        return replace(self, gravity_mps2=context.world.gravity_mps2)

    @override
    def init(self, key: PRNGKeyArray) -> DeadReckoningState:
        return self.begin(as_arrays(Start().kinematics()), key)

    @override
    def begin(self, start: Kinematics, key: PRNGKeyArray) -> DeadReckoningState:
        del key
        belief = Belief(
            jnp.asarray(start.position_world_m.array),
            jnp.asarray(start.velocity_world_mps.array),
            start.q_world_from_body,
            # it knows of none
            jnp.zeros(ERRORS - MOTION.stop),
        )
        nothing = ImuReading(jnp.zeros(3), jnp.zeros(3))
        return DeadReckoningState(belief, nothing, jnp.asarray(False), jnp.zeros(()))

    @override
    def step(
        self, state: DeadReckoningState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[DeadReckoningState, Kinematics]:
        del key
        said: InertialMeasurement = inputs.measurements[self.imu]
        told = ImuReading(
            jnp.asarray(said.specific_force_body_mps2.array),
            jnp.asarray(said.angular_velocity_body_radps.array),
        )
        fresh = jnp.asarray(inputs.fresh[self.imu])
        reading = tree_where(fresh, told, state.reading)
        elapsed_s = jnp.where(state.begun, state.elapsed_s + dt_s, 0.0)
        gravity = STANDARD_GRAVITY_MPS2 if self.gravity_mps2 is None else self.gravity_mps2
        now, _, _ = mechanised(state.belief, state.reading, reading, gravity, elapsed_s)
        later = DeadReckoningState(
            tree_where(fresh, now, state.belief),
            reading,
            state.begun | fresh,
            jnp.where(fresh, 0.0, elapsed_s),
        )
        return later, motion_of(now, reading)
