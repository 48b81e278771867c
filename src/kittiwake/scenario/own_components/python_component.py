"""Interface of the components of a vehicle that call objects in plain Python."""

from abc import abstractmethod
from functools import cache
from types import NoneType, new_class
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import TypeVar

from kittiwake.core.command_numbers import COMMAND_TYPES
from kittiwake.core.component import AbstractComponent
from kittiwake.core.errors import OwnComponentError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.scenario.own_components.host_call import Callee, HostState, call_host
from kittiwake.scenario.own_components.host_object import HostObject, described

Tree = TypeVar("Tree")


class OwnSetting(NamedTuple):
    """Setting of a component: its vehicle, the start, and the command type that comes down to it.

    ``dynamics`` and ``start`` are None where the scenario's are invalid. ``accepted`` are the
    command types that the vehicle flies by its other controllers.
    """

    dynamics: AbstractDynamics | None
    start: Start | None
    command_type: type
    accepted: tuple[type, ...] = COMMAND_TYPES

    @property
    def motion(self) -> Kinematics:
        """Motion at the start."""
        return (self.start or Start()).kinematics()


class AbstractPythonComponent(AbstractComponent):
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

    @classmethod
    @abstractmethod
    def of(
        cls, host: HostObject, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> "AbstractPythonComponent":
        """Return the component of an object, which may be one whose code is not loaded.

        Raises:
            KittiwakeError: if the object is not one of this kind.
        """

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


@cache
def named_type(base: type[Tree], name: str, attributes: tuple[tuple[str, Any], ...]) -> type[Tree]:
    """Return a subclass of this name with these attributes of the class."""
    described_by: dict[str, Any] = {**dict(attributes), "__module__": __name__, "__doc__": name}
    return new_class(name, (base,), exec_body=lambda body: body.update(described_by))


def as_floats(tree: Tree) -> Tree:
    """Return a tree with arrays of floats, so that the user never sees whole numbers there."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), tree)


def with_article(returned: type) -> str:
    """Return the type of what ``update`` returned in words."""
    if returned is NoneType:
        return "None"
    name = returned.__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def trial(
    host: HostObject, arguments: tuple[Any, ...], given: str, found: str, instead: str
) -> Any:
    """Return what a copy of an object returns at the start.

    What to write instead is advised only where the values of the trial may be the cause: another
    command type than the object takes, or zeros.

    Args:
        host: the object.
        arguments: the arguments of ``update`` but for the time.
        given: the arguments in words.
        found: what is found by the trial.
        instead: what to write into the class instead.

    Raises:
        OwnComponentError: if it fails.
    """
    try:
        return host.begin().update(0.0, *arguments)
    except Exception as error:
        message = f"{host.title}.update fails with {given}: {described(error)}"
        if _may_be_of_values(error):
            message += f". By this trial {found} is found; write into the class {instead}"
        raise OwnComponentError(message) from error


def _may_be_of_values(error: Exception) -> bool:
    lacks_name = isinstance(error, AttributeError) and isinstance(error.obj, COMMAND_TYPES)
    return lacks_name or isinstance(error, ArithmeticError | np.linalg.LinAlgError)
