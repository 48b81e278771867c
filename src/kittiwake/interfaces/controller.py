"""Controller interface: maps a command and a state estimate to a lower-level command."""

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
    """One level of the control cascade: converts ``consumes`` commands to ``produces`` commands."""

    consumes: ClassVar[type]
    produces: ClassVar[type]

    @classmethod
    def with_vehicle_defaults(
        cls, dynamics: "AbstractDynamics", gravity_mps2: Real
    ) -> dict[str, Any]:
        """Return the default parameters for a vehicle; a scenario may override each of them.

        The values are plain, as in a scenario file. By default they are those of
        ``dynamics.vehicle_parameters()`` whose names are fields of this class.

        Raises:
            ScenarioError: if this controller cannot fly the vehicle.
        """
        names = {field.name for field in fields(cls)}
        parameters = dynamics.vehicle_parameters(gravity_mps2)
        return {name: value for name, value in parameters.items() if name in names}

    def check(self, dynamics: "AbstractDynamics") -> None:
        """Raise ScenarioError for parameters that do not fit the vehicle."""
        del dynamics

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Any, Kinematics], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Command]:
        """Return the next state and the lower-level command.

        Args:
            state: the state that ``init`` or the previous step returned.
            inputs: the command, of type ``consumes``, and the estimated motion.
            dt_s: time since the previous step of this controller.
            key: random key of this step.
        """
