"""Estimator that returns the truth: for models, controllers and tests without sensors."""

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs


class Truth(AbstractEstimator[tuple[()]]):
    """True motion as the estimate."""

    @override
    def step(
        self, state: tuple[()], inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Kinematics]:
        del dt_s, key
        return state, inputs.truth
