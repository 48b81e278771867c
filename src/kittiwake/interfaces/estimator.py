"""What makes an estimate of the motion out of measurements, and how sure it is."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.sensor import AbstractSensor


class EstimatorInputs(eqx.Module):
    """What an estimator works on.

    The measurements by sensor name, whether each is new, and the truth for those that are told it.
    """

    truth: Kinematics
    measurements: dict[str, Any]
    fresh: dict[str, Flag]


class Uncertainty(eqx.Module):
    """What an estimator believes of its own errors.

    ``covariance`` is that of the true less the estimated position and velocity in the world, in m
    and m/s, and of the rotation vector in rad, in the world's axes, that turns the estimated
    attitude into the true one; in this order. Of what it says nothing, there are zeros.
    """

    covariance: Float[Array, "9 9"]


class AbstractEstimator(AbstractComponent):
    """Makes an estimate of the vehicle's motion out of measurements."""

    def begin(self, start: Kinematics, key: PRNGKeyArray) -> Any:
        """The state before the first step, of an estimator that may be told where it starts."""
        del start
        return self.init(key)

    def uncertainty(self, state: Any) -> Uncertainty | None:
        """What it believes of the errors of the estimate that was made last; None if nothing."""
        del state

    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        """Refuses a vehicle without the sensors that it needs, before anything is compiled."""
        del sensors

    def prepare(self, context: BuildContext) -> "AbstractEstimator":
        """This estimator, told what it has to know of the world and its sensors.

        Raises:
            ScenarioError: if it cannot work there.
        """
        del context
        return self

    @abstractmethod
    def step(
        self, state: Any, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Kinematics]:
        """The next state and the estimate."""
