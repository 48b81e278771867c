"""What measures the truth."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.surroundings import Surroundings


class SensorInputs(eqx.Module):
    """What there is to measure.

    ``world`` is the ``core.world.World``; ``processes`` holds by name what evolves in it, as it is
    now.
    """

    time_s: Real
    truth: Kinematics
    surroundings: Surroundings
    world: Any
    processes: dict[str, Any]


class AbstractSensor(AbstractComponent):
    """Measures the truth with its errors; ``measures`` is the ``AbstractMeasurement`` it gives."""

    measures: ClassVar[type]
    # whether it measures where the deck of the vehicle's partner is
    sees_partner: ClassVar[bool] = False

    @property
    def renders(self) -> bool:
        """Whether it looks at pictures of the world (``core.renderer``)."""
        return False

    @property
    def numbers(self) -> int:
        """How many numbers it logs of a measurement that is an image; 0 of all others."""
        return 0

    def measured_kind(self) -> type:
        """What of ``measures`` this one measures, as it is set up; errors act on no more."""
        return self.measures

    def check(self, world: Any) -> None:
        """Refuses a world in which there is not what it measures, before anything is compiled."""
        del world

    @abstractmethod
    def step(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any]:
        """The next state and the measurement, a module whose fields carry frame and unit."""

    def ideal(self, inputs: SensorInputs) -> Any:
        """The measurement without any error; None where there is no such thing."""
        del inputs

    def failed(self) -> "AbstractSensor | None":
        """The same as it is without power, where its readers can tell; None where they cannot."""
        return None

    def looks_body(self) -> tuple[Vec3, ...] | None:
        """Where each of its ranges is measured, as unit vectors; None for what has no such."""
        return None

    def step_beside_ideal(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any, Any]:
        """The next state, the measurement and the one without any error, of the same inputs."""
        return *self.step(state, inputs, dt_s, key), self.ideal(inputs)
