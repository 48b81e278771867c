"""Interface of the components of a vehicle that call objects in plain Python."""

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from math import prod
from types import new_class
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt32
from typing_extensions import TypeVar

from kittiwake.core.command_numbers import COMMAND_TYPES
from kittiwake.core.component import AbstractComponent
from kittiwake.core.errors import OwnComponentError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module, field
from kittiwake.sim.packing import RowPacking
from kittiwake.sim.plain_python.host_object import HostCall, HostObject, described

Tree = TypeVar("Tree")


class HostState(Module):
    """State of a component that calls an object.

    Attributes:
        count: the number of calls in this flight.
        seed: the words from which the object's random numbers follow.
    """

    count: Integer
    seed: UInt32[Array, " words"]

    @classmethod
    def of(cls, key: PRNGKeyArray) -> "HostState":
        """Return the state before the first call."""
        return cls(jnp.asarray(0, jnp.int32), jax.random.key_data(key))


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

    host: HostObject = field(static=True)
    initial: tuple[float, ...] = field(static=True)

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

    @abstractmethod
    def output_of(self, numbers: Array) -> Any:
        """Return the output of numbers that ``numbers_of`` returned, inside the program."""

    def call(
        self,
        state: HostState,
        time_s: Real,
        arguments: tuple[Any, ...],
        is_flown: Flag | None = None,
    ) -> tuple[HostState, Any]:
        """Return the next state and the output of a call.

        Args:
            state: the state.
            time_s: time since the start.
            arguments: the further arguments.
            is_flown: false if the result is discarded: the object is not called. None is true.
        """
        arguments = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (time_s, *arguments))
        packing = RowPacking.of(arguments)
        flown = True if is_flown is None else is_flown
        counts = jnp.stack([jnp.asarray(one, jnp.uint32) for one in (state.count, flown)])
        initial = np.array(self.initial)
        host = self.host

        def on_host(counts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
            number, is_flown, *seed = counts.tolist()
            if not is_flown:
                return initial
            time_s, *given = packing.unpack(numbers)
            call = HostCall(number, tuple(seed), time_s, self.given(*given), numbers.copy())
            return host.call(call, initial, self.numbers_of)

        numbers = packing.pack(arguments, jnp.result_type(float))[0]
        counts = jnp.concatenate([counts, jnp.asarray(state.seed, jnp.uint32)])
        count, returned = _called(on_host, self, counts, numbers)
        # the count comes from the call, so that the program cannot leave the call out
        return HostState(count.astype(jnp.int32), state.seed), self.output_of(returned)


def _called(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    component: AbstractPythonComponent,
    counts: Array,
    numbers: Array,
) -> tuple[Array, Array]:
    """Return count and result of a function on the host, which no batch or gradient passes."""
    host = component.host
    whose = f"{host.title} of '{host.vehicle}' is {component.noun} in plain Python, "
    advice = f"; write it as a component in JAX (kw.{component.interface})"
    dtype, length = np.dtype(numbers.dtype), len(component.initial)

    # one array, as each costs time; of words, since JAX rounds arrays of double precision in the
    # thread of a callback
    def on_words(words: Array) -> np.ndarray:
        given = np.array(words)
        returned = function(given[: len(counts)], given[len(counts) :].view(dtype))
        after = np.array([given[0] + 1], np.uint32)
        return np.concatenate([after, np.array(returned, dtype).view(np.uint32)])

    @jax.custom_batching.custom_vmap
    def alone(counts: Array, numbers: Array) -> tuple[Array, Array]:
        words = jax.lax.bitcast_convert_type(numbers, jnp.uint32)
        per_number = words.shape[1:]
        words = jnp.concatenate([counts, words.ravel()])
        shape = jax.ShapeDtypeStruct((1 + length * prod(per_number),), jnp.uint32)
        returned = jax.pure_callback(on_words, shape, words)
        numbers_after = returned[1:].reshape(length, *per_number)
        return returned[0], jax.lax.bitcast_convert_type(numbers_after, dtype)

    @alone.def_vmap
    def _refuse_batch(*_: Any) -> Any:
        message = f"{whose}which flies one world at a time, not a batch{advice}"
        raise OwnComponentError(message)

    @jax.custom_jvp
    def called(counts: Array, numbers: Array) -> tuple[Array, Array]:
        return alone(counts, numbers)

    @called.defjvp
    def _refuse_gradient(*_: Any) -> Any:
        message = f"{whose}through which no gradient passes{advice}"
        raise OwnComponentError(message)

    return called(counts, numbers)


@cache
def named_type(base: type[Tree], name: str, attributes: tuple[tuple[str, Any], ...]) -> type[Tree]:
    """Return a subclass of this name with these attributes of the class."""
    described_by: dict[str, Any] = {**dict(attributes), "__module__": __name__, "__doc__": name}
    return new_class(name, (base,), exec_body=lambda body: body.update(described_by))


def as_floats(tree: Tree) -> Tree:
    """Return a tree with arrays of floats, so that the user never sees whole numbers there."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), tree)


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
