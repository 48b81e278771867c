"""Estimator interface: maps measurements to an estimate of the motion and its covariance."""

from collections.abc import Mapping
from typing import Generic

from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.component import AbstractSteppedComponent, State
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import Measurements
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module


class EstimatorInputs(Module):
    """Inputs of an estimator.

    Attributes:
        truth: the true motion, for estimators that copy or corrupt it.
        measurements: the latest measurement of each sensor, by name.
        fresh: true for each sensor whose measurement is new at this step.
        time_s: time since the start.
    """

    truth: Kinematics
    measurements: Measurements
    fresh: dict[str, Flag]
    time_s: Real = 0.0


class Uncertainty(Module):
    """Estimated error of an estimate.

    ``covariance`` is that of three vectors, in this order: true minus estimated position in the
    world in m, true minus estimated velocity in the world in m/s, and the rotation vector in rad,
    in world axes, from the estimated to the true attitude. Entries that the estimator does not
    know are zero.
    """

    covariance: Float[Array, "9 9"]


class AbstractEstimator(
    AbstractSteppedComponent[State, EstimatorInputs, Kinematics], Generic[State]
):
    """State estimator of a vehicle; ``step`` returns the estimate."""

    def init(self, start: Kinematics, key: PRNGKeyArray) -> State | tuple[()]:
        """Return the initial state; an estimator may use the true motion at the start.

        It is an empty tuple for a stateless estimator.
        """
        del start, key
        return ()

    def uncertainty(self, state: State) -> Uncertainty | None:
        """Return the estimated error of the last estimate; None if the estimator has none."""
        del state

    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        """Raise ScenarioError for a vehicle without the required sensors."""
        del sensors

    @independent_of_start
    def prepare(self, context: BuildContext) -> "AbstractEstimator":
        """Return this estimator prepared for a world and a vehicle's sensors.

        Raises:
            ScenarioError: if it cannot work there.
        """
        del context
        return self
