"""Components of a vehicle that call objects in plain Python."""

from abc import abstractmethod
from functools import cache
from types import new_class
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import TypeVar, override

from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.command_numbers import command_numbers
from kittiwake.core.commands import Command, zero_command
from kittiwake.core.errors import KittiwakeError, OwnComponentError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.controller import AbstractController, HostSetpoint
from kittiwake.scenario.own_components.host_call import Callee, HostState, call_host
from kittiwake.scenario.own_components.host_object import HostObject

Tree = TypeVar("Tree")


class AbstractPythonComponent(eqx.Module):
    """Component that calls an object in plain Python.

    Attributes:
        host: the object of this vehicle.
        initial: the numbers that hold until ``update`` has returned others.
        on_host: true, as ``step`` leaves the compiled program.
        noun: what the object is in messages.
        interface: name of the class of which a component in JAX derives instead.
    """

    on_host: ClassVar[bool] = True
    noun: ClassVar[str]
    interface: ClassVar[str]

    host: HostObject = eqx.field(static=True)
    initial: tuple[float, ...] = eqx.field(static=True)

    @abstractmethod
    def numbers_of(self, returned: Any, held: np.ndarray) -> np.ndarray:
        """Return the numbers of what ``update`` returned, after those that hold so far.

        Raises:
            OwnComponentError: if it is of another kind.
        """

    def given(self, *arguments: Any) -> tuple[Any, ...]:
        """Return the arguments of ``update`` but for the time, from those of the program."""
        return arguments

    def call(
        self,
        state: HostState,
        time_s: Real,
        arguments: tuple[Any, ...],
        is_flown: Flag | None = None,
    ) -> tuple[HostState, Array]:
        """Return the next state and the numbers of a call."""
        callee = Callee(
            self.host, self.initial, self.given, self.numbers_of, self.noun, self.interface
        )
        return call_host(callee, state, (time_s, *arguments), is_flown)


class PythonController(AbstractPythonComponent, AbstractController):
    """Level of the control cascade that calls a controller in plain Python.

    ``of`` returns an instance of a class with the command types of the controller.
    """

    noun: ClassVar[str] = "a controller"
    interface: ClassVar[str] = "AbstractController"

    @staticmethod
    def of(
        host: HostObject, consumes: type, produces: type, actuator_count: int
    ) -> "PythonController":
        """Return the level of these command types, named after the controller's class."""
        initial = zero_numbers(host.vehicle, produces, actuator_count)
        attributes = (("consumes", consumes), ("produces", produces))
        return named_type(PythonController, host.title, attributes)(host, initial)

    @override
    def init(self, key: PRNGKeyArray) -> HostState:
        return HostState.of(key)

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
        later, numbers = self.call(state, setpoint.time_s, arguments, setpoint.is_flown)
        return later, command_of(self.produces, numbers)

    @override
    def numbers_of(self, returned: Any, held: np.ndarray) -> np.ndarray:
        del held
        return numbers_of_command(returned, self.host.vehicle, len(self.initial))


@cache
def named_type(base: type[Tree], name: str, attributes: tuple[tuple[str, Any], ...]) -> type[Tree]:
    """Return a subclass of this name with these attributes of the class."""
    described_by: dict[str, Any] = {**dict(attributes), "__module__": __name__, "__doc__": name}
    return new_class(name, (base,), exec_body=lambda body: body.update(described_by))


def as_floats(tree: Tree) -> Tree:
    """Return a tree with arrays of floats, so that the user never sees whole numbers there."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), tree)


def zero_numbers(vehicle: str, command_type: type, actuator_count: int) -> tuple[float, ...]:
    """Return the numbers of a command of zeros."""
    return tuple(command_numbers(vehicle, zero_command(command_type, actuator_count)))


def command_of(command_type: type, numbers: Array) -> Command:
    """Return the command with these numbers."""
    columns = column_names(command_type, len(numbers))
    return from_columns(command_type, dict(zip(columns, numbers, strict=True)))


def numbers_of_command(returned: Any, vehicle: str, length: int | None = None) -> np.ndarray:
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
            f"{length} numbers, and the same command type in each call"
        )
        raise OwnComponentError(message)
    return np.array(numbers)
