"""What leads from one rung of the ladder to a lower one."""

from abc import abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractComponent
from kittiwake.core.dynamics import AbstractDynamics
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.signals import Signal
from kittiwake.geometry.scalar import Real


class AbstractController(AbstractComponent):
    """Leads from one rung of the ladder to a lower one."""

    consumes: ClassVar[type]
    produces: ClassVar[type]

    @classmethod
    def fitted(cls, dynamics: "AbstractDynamics", gravity_mps2: Real) -> dict[str, Any]:
        """Parameters that follow from the vehicle it flies, where nobody gives others.

        They are plain values, as files hold them: those that the vehicle tells by their name.

        Raises:
            ScenarioError: if it cannot fly this vehicle.
        """
        names = {field.name for field in fields(cls)}
        told = dynamics.told(gravity_mps2)
        return {name: value for name, value in told.items() if name in names}

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Any, Kinematics], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Signal]:
        """The next state and the lower command, from the higher command and the estimate."""
