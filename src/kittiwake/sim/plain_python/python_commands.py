"""Controllers and guidance in plain Python, whose ``update`` returns a command."""

from types import NoneType
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.command_numbers import (
    COMMAND_TYPES,
    command_example,
    command_numbers,
    one_of_commands,
)
from kittiwake.core.commands import Command, PositionYaw, ThrustTorque, zero_command
from kittiwake.core.errors import KittiwakeError, OwnComponentError, ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController, HostSetpoint
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.sim.plain_python.host_object import HostObject
from kittiwake.sim.plain_python.python_component import (
    AbstractPythonComponent,
    HostState,
    OwnSetting,
    as_floats,
    named_type,
    trial,
)

CONSUMES, PRODUCES = "consumes", "produces"
# what a trial finds
RETURNED_TYPE = "the command type that it returns"


class AbstractPythonCommander(AbstractPythonComponent):
    """Component that calls an object whose ``update`` returns a command of type ``produces``."""

    produces: ClassVar[type]

    def init(self, key: PRNGKeyArray) -> HostState:
        """Return the state before the first call."""
        return HostState.of(key)

    @override
    def numbers_of(self, returned: Any, held: np.ndarray) -> np.ndarray:
        del held
        self._require_type(returned)
        return _command_numbers(returned, self.host.vehicle, len(self.initial))

    def _require_type(self, returned: Any) -> None:
        if type(returned) is self.produces:
            return
        declared = getattr(self.host.original, PRODUCES, None) is not None
        since = f"as `{PRODUCES}` of the class declares" if declared else "as at the start"
        message = (
            f"update returned {_with_article(type(returned))}; it must be "
            f"{_with_article(self.produces)}, {since}, such as {command_example(self.produces)}"
        )
        raise OwnComponentError(message)

    @override
    def output_of(self, numbers: Array) -> Command:
        columns = column_names(self.produces, len(numbers))
        return from_columns(self.produces, dict(zip(columns, numbers, strict=True)))


class PythonController(AbstractPythonCommander, AbstractController):
    """Level of the control cascade that calls a controller in plain Python."""

    noun: ClassVar[str] = "a controller"
    interface: ClassVar[str] = "AbstractController"

    @classmethod
    @override
    def of(
        cls, host: HostObject, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> "PythonController":
        consumes = _declared(host, CONSUMES) or setting.command_type
        # what is not loaded is not flown, so any cascade will do
        produces = dynamics.command_type if host.original is None else _declared(host, PRODUCES)
        if produces is None:
            given = f"the start's estimate and a {consumes.__name__} of zeros"
            instead = f"consumes = kw.{consumes.__name__}, and such as produces = kw.ThrustAttitude"
            arguments = (zero_command(consumes), setting.motion)
            returned = trial(host, arguments, given, RETURNED_TYPE, instead)
            produces = _type_of(returned, host, setting.accepted)
        initial = _zero_numbers(host.vehicle, produces, dynamics.actuator_count)
        attributes = ((CONSUMES, consumes), (PRODUCES, produces))
        return named_type(PythonController, host.title, attributes)(host, initial)

    @override
    def step(
        self,
        state: HostState,
        inputs: tuple[HostSetpoint, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[HostState, Any]:
        del dt_s, key
        setpoint, estimate = inputs
        arguments = as_floats((setpoint.command, estimate))
        return self.call(state, setpoint.time_s, arguments, setpoint.is_flown)


class PythonGuidance(AbstractPythonCommander, AbstractGuidance):
    """Guidance that calls one in plain Python."""

    noun: ClassVar[str] = "guidance"
    interface: ClassVar[str] = "AbstractGuidance"

    @classmethod
    @override
    def of(
        cls, host: HostObject, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> "PythonGuidance":
        produces = dynamics.command_type if host.original is None else _declared(host, PRODUCES)
        if produces is None:
            given, instead = "the start's estimate", "such as produces = kw.PositionYaw"
            returned = trial(host, (setting.motion,), given, RETURNED_TYPE, instead)
            produces = _type_of(returned, host, setting.accepted, PositionYaw)
        initial = _zero_numbers(host.vehicle, produces, dynamics.actuator_count)
        tracked = bool(getattr(host.original, "tracked", True))
        attributes = ((PRODUCES, produces), ("tracked", tracked))
        return named_type(PythonGuidance, host.title, attributes)(host, initial)

    @override
    def command_types(self) -> tuple[type[Command], ...]:
        return (self.produces,)

    @override
    def step(
        self, state: HostState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HostState, Command]:
        del dt_s, key
        return self.call(state, inputs.time_s, (as_floats(inputs.estimate),))


def _declared(host: HostObject, name: str) -> type | None:
    """Return the command type that a class declares; None if it declares none.

    Raises:
        ScenarioError: if it is not a command type.
    """
    declared = getattr(host.original, name, None)
    if declared is None or declared in COMMAND_TYPES:
        return declared
    message = (
        f"{host.title}.{name}: got {declared!r}; must be a command type, such as kw.PositionYaw"
    )
    raise ScenarioError(message)


def _type_of(
    returned: Any, host: HostObject, accepted: tuple[type, ...], example: type = ThrustTorque
) -> type:
    if not isinstance(returned, COMMAND_TYPES):
        message = (
            f"update returned {_with_article(type(returned))}; must be "
            f"{one_of_commands(accepted, example)}"
        )
        raise OwnComponentError(message)
    _command_numbers(returned, host.vehicle)
    return type(returned)


def _zero_numbers(vehicle: str, command_type: type, actuator_count: int) -> tuple[float, ...]:
    return tuple(command_numbers(vehicle, zero_command(command_type, actuator_count)))


def _command_numbers(returned: Any, vehicle: str, length: int | None = None) -> np.ndarray:
    """Return the numbers of the command that ``update`` returned, of a length if given.

    Raises:
        OwnComponentError: if it is not a command of finite numbers, or of another length.
    """
    try:
        numbers = command_numbers(vehicle, returned)
    except KittiwakeError as error:
        message = f"update must return a command of finite numbers: {error}"
        raise OwnComponentError(message) from None
    if length is not None and len(numbers) != length:
        message = (
            f"update returned a {type(returned).__name__} of {len(numbers)} numbers; must be "
            f"{length} numbers"
        )
        raise OwnComponentError(message)
    return np.array(numbers)


def _with_article(returned: type) -> str:
    """Return the type of what ``update`` returned in words."""
    if returned is NoneType:
        return "None"
    name = returned.__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
