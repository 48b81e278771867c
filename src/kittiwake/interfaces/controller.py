"""Controller interface: maps a command and a state estimate to a lower-level command."""

from dataclasses import fields
from typing import Any, ClassVar, Generic, NamedTuple

from kittiwake.core.component import AbstractKeyedComponent, Input, Output, State
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.dynamics import AbstractDynamics


class HostSetpoint(NamedTuple):
    """Command to a controller that runs on the host.

    Attributes:
        command: the command.
        time_s: time since the start.
        is_flown: true if the vehicle flies the result. A step computes the cascades of all commands
            that a vehicle might follow, and discards all but one.
    """

    command: Any
    time_s: Real
    is_flown: Flag


class AbstractController(
    AbstractKeyedComponent[State, tuple[Input, Kinematics], Output], Generic[State, Input, Output]
):
    """One level of the control cascade: converts ``consumes`` commands to ``produces`` commands.

    ``step`` takes the command and the estimated motion, and returns the lower-level command. If the
    controller runs on the host, the command is a ``HostSetpoint``.

    Attributes:
        consumes: the command type that it takes.
        produces: the command type that it returns.
    """

    consumes: ClassVar[type]
    produces: ClassVar[type]

    @classmethod
    def with_vehicle_defaults(cls, dynamics: "AbstractDynamics", gravity_mps2: Real) -> Parameters:
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
