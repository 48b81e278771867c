"""Plain messages as messages of ROS 1, fast: what can be prepared is prepared once for a kind."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from kittiwake.adapters.ros.ros1.definitions import message_class
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError, did_you_mean

NANOSECONDS = 1_000_000_000

Filler = Callable[[Mapping[str, Any]], Any]


class Slot(NamedTuple):
    """A field: how what is given goes into it, unless just as it is, and what it is otherwise.

    ``plain`` is its name in plain messages, which have small letters only, as ROS 2 has them.
    """

    name: str
    plain: str
    put: Callable[[Any], Any] | None
    left_out: Callable[[], Any]


@cache
def filler(kind: Any) -> Filler:
    """What makes messages of a class out of plain ones.

    It raises ``RosError`` for fields that the class does not have.
    """
    blank = kind()
    slots = tuple(
        _slot(name, type_name, getattr(blank, name))
        for name, type_name in zip(kind.__slots__, kind._slot_types, strict=True)
    )
    new = kind.__new__

    def fill(plain: Mapping[str, Any]) -> Any:
        message, given = new(kind), 0
        for name, called, put, left_out in slots:
            value = plain.get(called)
            if value is None:
                setattr(message, name, left_out())
            else:
                given += 1
                setattr(message, name, value if put is None else put(value))
        if given < len(plain):
            _refuse(kind, plain)
        return message

    return fill


def _slot(name: str, type_name: str, blank: Any) -> Slot:
    element, bracket, _ = type_name.partition("[")
    put = _putting(element)
    if bracket:
        many = None if put is None else partial(_each, put)
        copy = bytes if isinstance(blank, bytes) else list[Any]
        return Slot(name, name.lower(), many, partial(copy, blank))
    if put is None:
        return Slot(name, name.lower(), None, lambda: blank)
    nothing = 0 if element in {"time", "duration"} else dict[str, Any]()
    return Slot(name, name.lower(), put, partial(put, nothing))


def _putting(type_name: str) -> Callable[[Any], Any] | None:
    if type_name in {"time", "duration"}:
        genpy = library("genpy")
        return partial(_moment, genpy.Time if type_name == "time" else genpy.Duration)
    return filler(message_class(type_name)) if "/" in type_name else None


def _each(put: Callable[[Any], Any], values: Any) -> list[Any]:
    return [put(value) for value in values]


def _moment(kind: Any, time_ns: int) -> Any:
    return kind(*divmod(time_ns, NANOSECONDS))


def _refuse(kind: Any, plain: Mapping[str, Any]) -> None:
    known = [name.lower() for name in kind.__slots__]
    unknown = [name for name in plain if name not in known]
    if unknown:
        message = f"{kind._type} has no field '{unknown[0]}'. "
        raise RosError(message + did_you_mean(unknown[0], known))
