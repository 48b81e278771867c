"""Objects in plain Python that are components of a vehicle, outside of the compiled program.

The program counts the calls of a component in a flight. By the count the object begins anew with
each flight, and is never called twice for the same step.
"""

import copy
import inspect
import json
import sysconfig
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng  # noqa: TID251  for code of the user, seeded by a jax key

from kittiwake.core.errors import KittiwakeError, OwnComponentError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.inertia import Inertia

INERTIA = "inertia_kgm2"
# folders of code that is not the user's
PACKAGE = Path(__file__).parents[2]
# constructor of a dataclass
GENERATED = ("<string>", "__init__")
LIBRARIES = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
# optional methods of an object, and the optional parameter of ``reset`` for a random generator
RESET, STATE, RESTORE = "reset", "state", "restore"
GENERATOR = "rng"
# the resolution of floats to this power is the tolerance of the numbers of a repeated call
TOLERANCE_POWER = 0.6
# converts what ``update`` returned, after the numbers that hold so far
Conversion = Callable[[Any, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class HostFailure:
    """Failure of an object in plain Python, which ends the flight.

    Attributes:
        time_s: time of the call that failed.
        title: name of the class.
        vehicle: name of the vehicle.
        cause: the exception.
    """

    time_s: float
    title: str
    vehicle: str
    cause: BaseException

    def reason(self) -> str:
        """Return the failure in a sentence."""
        return f"{self.title} of '{self.vehicle}' at {self.time_s:g} s: {described(self.cause)}"


class HostCall(NamedTuple):
    """Call of an object by the compiled program.

    Attributes:
        number: the count of earlier calls in this flight, from 0.
        seed: the words from which the object's random numbers follow.
        time_s: time since the start.
        arguments: the further arguments of ``update``.
        numbers: the time and the further arguments, as the program gives them.
    """

    number: int
    seed: tuple[int, ...]
    time_s: float
    arguments: tuple[Any, ...]
    numbers: np.ndarray

    def state(self) -> dict[str, Any]:
        """Return what ``repeats`` compares beside the count, for a checkpoint."""
        return {"seed": [*self.seed], "numbers": np.array(self.numbers)}

    @classmethod
    def restored(cls, number: int, state: Mapping[str, Any]) -> "HostCall":
        """Return a call of a checkpoint, to compare with others."""
        numbers = np.array(state["numbers"])
        return cls(number, tuple(map(int, state["seed"])), float(numbers[0]), (), numbers)

    def repeats(self, other: "HostCall") -> bool:
        """Return True if it is the other call again, as when a step is computed to look at it."""
        if (self.number, self.seed) != (other.number, other.seed):
            return False
        # another program rounds differently
        tolerance = np.finfo(self.numbers.dtype).eps ** TOLERANCE_POWER
        return self.numbers.shape == other.numbers.shape and bool(
            np.allclose(self.numbers, other.numbers, tolerance, tolerance, equal_nan=True)
        )


class HostObject:
    """Object with ``update`` that is a component of one vehicle, with records of its flight.

    Each flight begins with a copy of the original, so that all flights are equal. While the object
    is ``watched``, an exception is kept as its ``failure``, and all further calls return the last
    numbers; otherwise the exception ends the compiled program.

    Attributes:
        original: the object, or None if its code is not loaded.
        title: name of the class in messages.
        vehicle: name of the vehicle.
        parameters: the vehicle's numbers.
        start: the motion at the start.
        watched: true while the caller looks for failures.
        failure: the failure since ``watched`` was set; None while there is none.
    """

    def __init__(
        self, original: Any, title: str, vehicle: str, parameters: Parameters, start: Kinematics
    ) -> None:
        self.original, self.title = original, title
        self.vehicle, self.parameters, self.start = vehicle, parameters, start
        self.watched = False
        self.failure: HostFailure | None = None
        self._flown: Any = None
        self._generator: Any = None
        # the call that comes next, the last one, and the numbers that it returned
        self._next, self._held = 0, np.zeros(0)
        self._last: HostCall | None = None

    def renewed(self) -> "HostObject":
        """Return another one for the same object, as it is before a flight."""
        return self.of_vehicle(self.vehicle, self.start)

    def of_vehicle(self, vehicle: str, start: Kinematics) -> "HostObject":
        """Return another one for the same object and another vehicle of the same parameters."""
        return HostObject(self.original, self.title, vehicle, self.parameters, start)

    def continues(self, other: "HostObject") -> bool:
        """Return True if a rebuilt vehicle with the other one may go on with this one."""
        return other.original is self.original and other.parameters == self.parameters

    def begin(self, seed: tuple[int, ...] = (0,)) -> Any:
        """Return a copy of the original at the start of a flight."""
        flown = copied(self.original)
        self._generator = None
        if callable(reset := getattr(flown, RESET, None)):
            given = {}
            if GENERATOR in inspect.signature(reset).parameters:
                given[GENERATOR] = self._generator = default_rng(seed)
            numbers = vehicle_numbers(self.parameters)
            reset(SimpleNamespace(**numbers, start=self.start), **given)
        return flown

    def call(self, call: HostCall, initial: np.ndarray, convert: Conversion) -> np.ndarray:
        """Return the numbers of a call.

        Args:
            call: the call.
            initial: the numbers that hold until there are others.
            convert: returns the numbers of what ``update`` returned.
        """
        # a program may compute a step twice, as to look at it
        if self._last is not None and call.repeats(self._last):
            return self._held
        if call.number == 0:
            self._next, self._last, self._flown = 0, None, None
        if self._flown is None:
            self._held = initial
        if self.failure is not None and self.watched:
            return self._held
        try:
            self._held = self._updated(call, convert)
        except BaseException as error:
            if not self.watched:
                raise
            self.failure = HostFailure(call.time_s, self.title, self.vehicle, error)
        self._next = call.number + 1
        # a call that failed fails again in another flight
        self._last = call if self.failure is None else None
        return self._held

    def _updated(self, call: HostCall, convert: Conversion) -> np.ndarray:
        if self._flown is None:
            # also for a flight that goes on with other parameters of the vehicle
            self._flown = self.begin(call.seed)
        elif call.number != self._next or (self._last and call.seed != self._last.seed):
            message = (
                "its state in Python is that of another time or flight, and cannot be restored; "
                "begin with a new flight, as by reset() or run()"
            )
            raise OwnComponentError(message)
        return convert(self._flown.update(call.time_s, *call.arguments), self._held)

    @contextmanager
    def previewed(self) -> Generator[None]:
        """Pass calls to a copy, and forget them afterwards.

        Raises:
            OwnComponentError: if the object cannot be copied.
        """
        kept = {**vars(self)}
        # together, as the object holds the generator
        self._flown, self._generator = copied((self._flown, self._generator))
        try:
            yield
        finally:
            vars(self).update(kept)

    def require_state(self) -> None:
        """Check that a checkpoint can hold the object.

        Raises:
            OwnComponentError: if its class lacks ``state()`` or ``restore(state)``.
        """
        for method, written in ((STATE, "state(self)"), (RESTORE, "restore(self, state)")):
            if self.original is not None and not callable(getattr(self.original, method, None)):
                message = (
                    f"{self.title} of '{self.vehicle}' has no method {written}, without which a "
                    "checkpoint cannot hold it"
                )
                raise OwnComponentError(message)

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint: numbers, texts, arrays, lists and dictionaries.

        Raises:
            OwnComponentError: if the class lacks ``state()`` or ``restore(state)``, or if
                ``state()`` fails.
        """
        self.require_state()
        generator = self._generator
        return {
            "next": self._next,
            "held": np.array(self._held),
            "last": None if self._last is None else self._last.state(),
            "state": None if self._flown is None else self._result_of(self._flown.state),
            "begun": self._flown is not None,
            # as text, since its numbers have more bits than most formats hold
            "generator": None if generator is None else json.dumps(generator.bit_generator.state),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state for a checkpoint.

        Raises:
            OwnComponentError: if the class lacks ``state()`` or ``restore(state)``, or if
                ``restore`` fails.
        """
        self.require_state()
        self.failure = None
        self._next, self._held = int(state["next"]), np.array(state["held"], float)
        last = state.get("last")
        self._last = None if last is None else HostCall.restored(self._next - 1, last)
        self._flown = self.begin() if state["begun"] else None
        if self._generator is not None and state["generator"] is not None:
            self._generator.bit_generator.state = json.loads(state["generator"])
        if self._flown is not None:
            self._result_of(self._flown.restore, copied(state["state"]))

    def _result_of(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return copied(method(*arguments))
        except Exception as error:
            message = f"{self.title}.{method.__name__} of '{self.vehicle}': {described(error)}"
            raise OwnComponentError(message) from error


def described(error: BaseException) -> str:
    """Return an exception in one line, with the last line of the user's code."""
    place = _place(error)
    if isinstance(error, KittiwakeError):
        return f"{error}{place}"
    words = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if words else ''}{words}{place}"


def _place(error: BaseException) -> str:
    """Return file and line of the last frame in the user's code; empty if there is none."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if (frame.filename, frame.name) != GENERATED
    ]
    outside = [frame for frame in frames if not _is_below(frame.filename, [PACKAGE])]
    # the user's code calls libraries, where an error may be raised, and may itself be installed
    own = [frame for frame in outside if not _is_below(frame.filename, LIBRARIES)] or outside
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _is_below(file: str, folders: Iterable[Path]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


def copied(original: Any) -> Any:
    """Return a copy of an object.

    Raises:
        OwnComponentError: if it cannot be copied.
    """
    try:
        return copy.deepcopy(original)
    except Exception as error:
        message = (
            f"{type(original).__name__} cannot be copied, and each vehicle and flight needs a copy "
            f"({described(error)}); make what cannot be copied in reset(self, vehicle)"
        )
        raise OwnComponentError(message) from error


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
