"""What leads from one rung of the ladder to a lower one."""

from abc import abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

from jaxtyping import PRNGKeyArray

from kittiwake.core.commands import Command
from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractDynamics


class AbstractController(AbstractComponent):
    """Leads from one rung of the ladder to a lower one."""

    consumes: ClassVar[type]
    produces: ClassVar[type]

    @classmethod
    def with_vehicle_defaults(
        cls, dynamics: "AbstractDynamics", gravity_mps2: Real
    ) -> dict[str, Any]:
        """Parameters that follow from the vehicle it flies, where nobody gives others.

        They are plain values, as files hold them: those that the vehicle tells by their name.

        Raises:
            ScenarioError: if it cannot fly this vehicle.
        """
        names = {field.name for field in fields(cls)}
        told = dynamics.vehicle_parameters(gravity_mps2)
        return {name: value for name, value in told.items() if name in names}

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Any, Kinematics], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Command]:
        """The next state and the lower command, from the higher command and the estimate."""
