"""Dead reckoning: integration of the inertial unit from the start.

With specific force f and angular velocity w of an inertial unit, over the time h from one of its
readings to the next,

    q' = q exp(h (w + w') / 2)            a = (q f q^-1 + q' f' q'^-1) / 2 - g
    v' = v + h a                          p' = p + h v + h^2 a / 2

(``ekf_motion``). Between two readings the last one extrapolates from its time, so that the method
is of second order in the unit's period. Without corrections an error of the accelerometer grows
with the square of the time, an error of the gyroscope with its cube.

Source: Micklisch et al. (2021), equations 30 to 32 and 40 to 45. Corrected: their accelerations
lack a division by the time and their matrix in equations 31 and 41 to 43 is no rotation, a minus in
40 and 45 is a plus and the square there is that of the time; an accelerometer measures f = q^-1 (a
+ g), and a gyroscope measures rates.

Neglected: mounting of the unit away from the center of mass; coning.
"""

from collections.abc import Mapping
from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.core.units import STANDARD_GRAVITY_MPS2
from kittiwake.estimation.ekf_motion import mechanize
from kittiwake.estimation.ekf_state import ERRORS, MOTION, ImuReading, NominalState, motion_of
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module, field


class DeadReckoningState(Module):
    """Estimate and reading at the last sample, a flag that one arrived, and its age."""

    nominal: NominalState
    reading: ImuReading
    initialized: Flag
    elapsed_s: Real


class DeadReckoning(AbstractEstimator[DeadReckoningState]):
    """Integration of an inertial unit from the known start.

    Attributes:
        imu: name of the inertial unit.
        gravity_mps2: assumed gravity; the world's by default.
    """

    imu: str = field(static=True, default="imu")
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
    def init(self, start: Kinematics, key: PRNGKeyArray) -> DeadReckoningState:
        del key
        nominal = NominalState(
            jnp.asarray(start.position_world_m.array),
            jnp.asarray(start.velocity_world_mps.array),
            start.q_world_from_body,
            # instrument errors are not estimated
            jnp.zeros(ERRORS - MOTION.stop),
        )
        no_reading = ImuReading(jnp.zeros(3), jnp.zeros(3))
        return DeadReckoningState(nominal, no_reading, jnp.asarray(False), jnp.zeros(()))

    @override
    def step(
        self, state: DeadReckoningState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[DeadReckoningState, Kinematics]:
        del key
        measured: InertialMeasurement = inputs.measurements[self.imu]
        new_reading = ImuReading(
            jnp.asarray(measured.specific_force_body_mps2.array),
            jnp.asarray(measured.angular_velocity_body_radps.array),
        )
        fresh = jnp.asarray(inputs.fresh[self.imu])
        reading = tree_where(fresh, new_reading, state.reading)
        elapsed_s = jnp.where(state.initialized, state.elapsed_s + dt_s, 0.0)
        gravity = STANDARD_GRAVITY_MPS2 if self.gravity_mps2 is None else self.gravity_mps2
        now, _, _ = mechanize(state.nominal, state.reading, reading, gravity, elapsed_s)
        next_state = DeadReckoningState(
            tree_where(fresh, now, state.nominal),
            reading,
            state.initialized | fresh,
            jnp.where(fresh, 0.0, elapsed_s),
        )
        return next_state, motion_of(now, reading)
