"""Controllers in plain Python, called from the compiled program of a vehicle.

A ``PythonController`` is a level of the control cascade like any other. Its ``step`` passes time,
setpoint and estimate to a ``HostController``, which holds the user's object, and returns the
command that comes back. The program counts the calls of a flight; by the count the object begins
anew with each flight, and is never called twice for the same step.
"""

import copy
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from types import SimpleNamespace, new_class
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.command_numbers import command_numbers
from kittiwake.core.commands import zero_command
from kittiwake.core.errors import ControllerError, KittiwakeError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.interfaces.controller import AbstractController, HostSetpoint

INERTIA = "inertia_kgm2"


@dataclass(frozen=True)
class ControllerFailure:
    """Failure of a controller in plain Python, which ends the flight.

    Attributes:
        time_s: time of the call that failed.
        controller: name of the class.
        vehicle: name of the vehicle.
        cause: the exception.
    """

    time_s: float
    controller: str
    vehicle: str
    cause: Exception

    def reason(self) -> str:
        """Return the failure in a sentence."""
        return (
            f"{self.controller} of '{self.vehicle}' at {self.time_s:g} s: {described(self.cause)}"
        )


def described(error: Exception) -> str:
    """Return an exception in one line, with the last line of the user's code."""
    if isinstance(error, KittiwakeError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if words else ''}{words}{place}"


class HostController:
    """Object with ``update`` that controls one vehicle, with the records of its present flight.

    Each flight begins with a copy of the original, so that all flights are equal. While the object
    is ``watched``, an exception is kept as its ``failure``, and all further calls return the last
    command; otherwise the exception ends the compiled program.

    Attributes:
        title: name of the class in messages.
        vehicle: name of the vehicle.
        watched: true while the caller looks for failures.
        failure: the failure since ``watched`` was set; None while there is none.
    """

    def __init__(self, original: Any, title: str, vehicle: str, parameters: Parameters) -> None:
        self.title, self.vehicle = title, vehicle
        self.watched = False
        self.failure: ControllerFailure | None = None
        self._original, self._parameters = original, parameters
        self._flown: Any = None
        # the call that comes next, and the numbers that the last one returned
        self._next, self._held = 0, np.zeros(0)

    def begin(self) -> Any:
        """Return a copy of the original at the start of a flight."""
        flown = copied(self._original)
        if callable(reset := getattr(flown, "reset", None)):
            reset(SimpleNamespace(**vehicle_numbers(self._parameters)))
        return flown

    def call(
        self, number: int, zeros: Sequence[float], time_s: float, command: Any, estimate: Kinematics
    ) -> np.ndarray:
        """Return the numbers of the command at a call.

        Args:
            number: the count of earlier calls in this flight, from 0.
            zeros: the numbers of a zero command, which holds until there is another one.
            time_s: time since the start.
            command: the setpoint.
            estimate: the estimated motion.
        """
        if number == 0:
            self._next, self._held, self._flown = 0, np.array(zeros), None
        # a program may compute a step twice, as to look at it
        if number == self._next - 1 or (self.failure is not None and self.watched):
            return self._held
        try:
            self._held = self._update(number, len(zeros), time_s, command, estimate)
        except Exception as error:
            if not self.watched:
                raise
            self.failure = ControllerFailure(time_s, self.title, self.vehicle, error)
        self._next = number + 1
        return self._held

    def _update(
        self, number: int, length: int, time_s: float, command: Any, estimate: Kinematics
    ) -> np.ndarray:
        if self._flown is None:
            # also for a flight that goes on with other parameters of the vehicle
            self._flown = self.begin()
        elif number != self._next:
            message = (
                "its state in Python is that of another time or flight, and cannot be restored; "
                "begin with a new flight, as by reset() or run()"
            )
            raise ControllerError(message)
        returned = self._flown.update(time_s, command, estimate)
        numbers = returned_numbers(returned, self.vehicle)
        if len(numbers) != length:
            message = (
                f"update returned a {type(returned).__name__} of {len(numbers)} numbers; must be "
                f"{length} numbers, and the same command type in each call"
            )
            raise ControllerError(message)
        return np.array(numbers)


class PythonController(AbstractController):
    """Level of the control cascade that calls a controller in plain Python.

    ``of`` returns an instance of a class with the command types of the controller.

    Attributes:
        host: the controller of this vehicle.
        zeros: the numbers of a zero command of the type that it returns.
    """

    on_host: ClassVar[bool] = True

    host: HostController = eqx.field(static=True)
    zeros: tuple[float, ...] = eqx.field(static=True)

    @staticmethod
    def of(
        host: HostController, consumes: type, produces: type, actuator_count: int
    ) -> "PythonController":
        """Return the level of these command types, named after the controller's class."""
        zeros = command_numbers(host.vehicle, zero_command(produces, actuator_count))
        return _level_type(host.title, consumes, produces)(host, tuple(zeros))

    def with_host(self, host: HostController) -> "PythonController":
        """Return the level with the controller of another vehicle."""
        return type(self)(host, self.zeros)

    @override
    def init(self, key: PRNGKeyArray) -> Integer:
        del key
        return jnp.asarray(0, jnp.int32)

    @override
    def step(
        self, state: Integer, inputs: tuple[HostSetpoint, Kinematics], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Integer, Any]:
        del dt_s, key
        setpoint, estimate = inputs
        leaves, treedef = jax.tree.flatten((setpoint.time_s, setpoint.command, estimate))
        numbers = jnp.stack([jnp.asarray(leaf, float) for leaf in leaves])
        counts = jnp.stack([jnp.asarray(one, jnp.int32) for one in (state, setpoint.is_flown)])

        def on_host(counts: np.ndarray, numbers: np.ndarray) -> Sequence[float] | np.ndarray:
            number, is_flown = counts.tolist()
            given = treedef.unflatten(numbers.tolist())
            return self.host.call(number, self.zeros, *given) if is_flown else self.zeros

        returned = _called(on_host, len(self.zeros), self.host, counts, numbers)
        columns = column_names(self.produces, len(self.zeros))
        return state + 1, from_columns(self.produces, dict(zip(columns, returned, strict=True)))


@cache
def _level_type(name: str, consumes: type, produces: type) -> type[PythonController]:
    described_by: dict[str, Any] = {
        "consumes": consumes,
        "produces": produces,
        "__module__": __name__,
        "__doc__": name,
    }
    return new_class(name, (PythonController,), exec_body=lambda body: body.update(described_by))


def _called(
    function: Callable[[np.ndarray, np.ndarray], Sequence[float] | np.ndarray],
    length: int,
    host: HostController,
    counts: Array,
    numbers: Array,
) -> Array:
    """Return the result of a function on the host, through which no batch or gradient passes."""
    whose = f"{host.title} of '{host.vehicle}' is a controller in plain Python, "
    advice = "; write it as a component in JAX (kw.AbstractController)"
    dtype = np.dtype(numbers.dtype)

    # one array, as each costs time; of words, since JAX rounds arrays of double precision in the
    # thread of a callback
    def on_words(words: Array) -> np.ndarray:
        given = np.array(words)
        returned = function(given[: len(counts)], given[len(counts) :].view(dtype))
        return np.array(returned, dtype).view(np.uint32)

    @jax.custom_batching.custom_vmap
    def alone(counts: Array, numbers: Array) -> Array:
        words = jax.lax.bitcast_convert_type(numbers, jnp.uint32)
        per_number = words.shape[1:]
        words = jnp.concatenate([jnp.asarray(counts, jnp.uint32), words.ravel()])
        shape = jax.ShapeDtypeStruct((length * prod(per_number),), jnp.uint32)
        returned = jax.pure_callback(on_words, shape, words).reshape(length, *per_number)
        return jax.lax.bitcast_convert_type(returned, dtype)

    @alone.def_vmap
    def _refuse_batch(*_: Any) -> Any:
        message = f"{whose}which flies one world at a time, not a batch{advice}"
        raise ControllerError(message)

    @jax.custom_jvp
    def called(counts: Array, numbers: Array) -> Array:
        return alone(counts, numbers)

    @called.defjvp
    def _refuse_gradient(*_: Any) -> Any:
        message = f"{whose}through which no gradient passes{advice}"
        raise ControllerError(message)

    return called(counts, numbers)


def copied(original: Any) -> Any:
    """Return a copy of a controller.

    Raises:
        ControllerError: if it cannot be copied.
    """
    try:
        return copy.deepcopy(original)
    except Exception as error:
        message = (
            f"{type(original).__name__} cannot be copied, and each vehicle and flight needs a copy "
            f"({described(error)}); make what cannot be copied in reset(self, vehicle)"
        )
        raise ControllerError(message) from error


def returned_numbers(returned: Any, vehicle: str) -> list[float]:
    """Return the numbers of the command that ``update`` returned.

    Raises:
        ControllerError: if it is not a command of finite numbers.
    """
    try:
        return command_numbers(vehicle, returned)
    except KittiwakeError as error:
        message = f"update must return a command of finite numbers: {error}"
        raise ControllerError(message) from None


def vehicle_numbers(parameters: Parameters) -> Mapping[str, Any]:
    """Return a vehicle's parameters for ``reset``: numbers, arrays, and the inertia as a record."""
    return {
        name: Inertia(**value)
        if name == INERTIA
        else np.asarray(value)
        if isinstance(value, list)
        else value
        for name, value in parameters.items()
    }


def probed_type(
    original: Any, vehicle: str, parameters: Parameters, consumes: type, estimate: Kinematics
) -> type:
    """Return the command type that a copy of a controller returns at the start.

    Raises:
        ControllerError: if it fails, or returns something else than a command.
    """
    title = type(original).__name__
    trial = HostController(original, title, vehicle, parameters).begin()
    try:
        returned = trial.update(0.0, zero_command(consumes), estimate)
    except Exception as error:
        message = (
            f"{title}.update fails with the start's estimate and a {consumes.__name__} of zeros, "
            f"by which the command type that it returns is found: {described(error)}. Write both "
            f"types into the class, such as consumes = kw.{consumes.__name__} and "
            "produces = kw.ThrustAttitude"
        )
        raise ControllerError(message) from error
    returned_numbers(returned, vehicle)
    return type(returned)
