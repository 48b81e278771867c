"""Truth with white noise, for the response of controllers to noise without sensors.

The noise is independent in each step, and the errors of position, velocity, attitude and rates are
independent of each other. The attitude is rotated by a small random rotation vector in body axes,
which is normally distributed along each axis.
"""

from typing import Annotated

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.noise import normals3
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs


class NoisyTruth(AbstractEstimator[tuple[()]]):
    """True motion with errors of these standard deviations along each axis.

    Attributes:
        position_m: deviation along each axis.
        velocity_mps: deviation along each axis.
        attitude_rad: deviation of the rotation about each axis of the body.
        rate_radps: deviation about each axis.
    """

    position_m: Annotated[Real, NOT_NEGATIVE] = 0.02
    velocity_mps: Annotated[Real, NOT_NEGATIVE] = 0.05
    attitude_rad: Annotated[Real, NOT_NEGATIVE] = 0.005
    rate_radps: Annotated[Real, NOT_NEGATIVE] = 0.02

    @override
    def step(
        self, state: tuple[()], inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Kinematics]:
        del dt_s
        truth = inputs.truth
        position, velocity, rotation, rate = normals3(key, 4)
        q = truth.q_world_from_body * Quaternion.from_rotation_vector(rotation * self.attitude_rad)
        velocity_world_mps = truth.velocity_world_mps + velocity * self.velocity_mps
        return state, Kinematics(
            position_world_m=truth.position_world_m + position * self.position_m,
            q_world_from_body=q,
            euler_world_from_body=q.to_euler(),
            velocity_world_mps=velocity_world_mps,
            velocity_body_mps=q.inverse().rotate(velocity_world_mps),
            angular_velocity_body_radps=truth.angular_velocity_body_radps + rate * self.rate_radps,
            specific_force_body_mps2=truth.specific_force_body_mps2,
        )
