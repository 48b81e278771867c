"""Plain messages as messages of ROS 2, fast: what can be prepared is prepared once for a kind.

A message that is published is one and the same every time: publishing makes bytes of it at once.
So a filler writes into a message, each field of it, what is left out as the kind has it by default.
It writes past the properties, which look at each value; numbers become of the right type here.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kittiwake.adapters.ros.ros2.library import library
from kittiwake.core.errors import RosError, did_you_mean

SECOND_NS = 1_000_000_000
TIMES = {"builtin_interfaces/Time", "builtin_interfaces/Duration"}

Filler: TypeAlias = Callable[[Any, Mapping[str, Any]], None]
# told the message that has the field, and the value or None
Putter: TypeAlias = Callable[[Any, Any], None]


class Parts(NamedTuple):
    """What a kind has: numbers and words, messages, and all else."""

    singles: list[tuple[str, str, Callable[[Any], Any], Any]]
    messages: list[tuple[str, str, Filler]]
    others: list[tuple[str, Putter]]


@cache
def filler(kind: Any) -> Filler:
    """What writes plain messages into messages of a class.

    It raises ``RosError`` for fields that the class does not have.
    """
    names = list(kind.get_fields_and_field_types())
    known = frozenset(names)
    singles, messages, others = _parts(kind, names)
    nothing: dict[str, Any] = {}

    def fill(message: Any, plain: Mapping[str, Any]) -> None:
        if not known.issuperset(plain):
            _refuse(kind, plain, names)
        get = plain.get
        for name, slot, convert, default in singles:
            setattr(message, slot, convert(get(name, default)))
        for name, slot, fill_part in messages:
            fill_part(getattr(message, slot), get(name, nothing))
        for name, put in others:
            put(message, get(name))

    return fill


def _parts(kind: Any, names: list[str]) -> Parts:
    found, blank = Parts([], [], []), kind()
    for name, of in zip(names, kind.SLOT_TYPES, strict=True):
        slot, default = f"_{name}", getattr(blank, name)
        convert = _converting(of, default)
        if convert is not None:
            found.singles.append((name, slot, convert, default))
        elif _is_part(of):
            found.messages.append((name, slot, filler(type(default))))
        else:
            found.others.append((name, _putting(of, slot, default)))
    return found


def made(kind: Any, plain: Mapping[str, Any]) -> Any:
    """A new message of a class."""
    message = kind()
    filler(kind)(message, plain)
    return message


def _converting(of: Any, default: Any) -> Callable[[Any], Any] | None:
    """What makes one number or string of the right type; None for all that is no such field."""
    if isinstance(default, bytes):
        return _octet
    one_value = isinstance(default, bool | int | float | str)
    return type(default) if one_value and not hasattr(of, "value_type") else None


def _is_part(of: Any) -> bool:
    return hasattr(of, "namespaces") and _name(of) not in TIMES


def _name(of: Any) -> str:
    return f"{of.namespaces[0]}/{of.name}"


def _putting(of: Any, slot: str, default: Any) -> Putter:
    if not hasattr(of, "value_type"):
        return partial(_put_time, slot)
    if isinstance(default, np.ndarray):
        return partial(_put_in_place, slot, default)
    if isinstance(default, array):
        return partial(_put_array, slot, default.typecode)
    element = of.value_type
    if hasattr(element, "namespaces"):
        package, _, name = _name(element).partition("/")
        kind = getattr(library(f"{package}.msg"), name)
        return _put_times(slot, kind) if _name(element) in TIMES else _put_messages(slot, kind)
    return partial(_put_list, slot, list(default))


def _put_time(slot: str, message: Any, time_ns: int | None) -> None:
    moment = getattr(message, slot)
    moment._sec, moment._nanosec = divmod(int(time_ns or 0), SECOND_NS)


def _put_in_place(slot: str, default: Any, message: Any, values: Any) -> None:
    target = getattr(message, slot)
    if values is not None and len(values) != len(target):
        text = f"the field '{slot[1:]}' has {len(target)} numbers, not {len(values)}"
        raise RosError(text)
    target[:] = default if values is None else values


def _put_array(slot: str, code: str, message: Any, values: Iterable[Any] | None) -> None:
    setattr(message, slot, array(code, () if values is None else values))


def _put_list(slot: str, default: list[Any], message: Any, values: Iterable[Any] | None) -> None:
    setattr(message, slot, list(default if values is None else values))


def _put_messages(slot: str, kind: Any) -> Putter:
    fill = filler(kind)

    def put(message: Any, values: Iterable[Mapping[str, Any]] | None) -> None:
        items = list(values or ())
        # of the message itself, so that two of one kind never share their parts
        there = getattr(message, slot)
        there = [*there[: len(items)], *(kind() for _ in range(len(items) - len(there)))]
        for item, plain in zip(there, items, strict=True):
            fill(item, plain)
        setattr(message, slot, there)

    return put


def _put_times(slot: str, kind: Any) -> Putter:
    def put(message: Any, values: Iterable[int] | None) -> None:
        pairs = (divmod(int(time_ns), SECOND_NS) for time_ns in values or ())
        setattr(message, slot, [kind(sec=sec, nanosec=ns) for sec, ns in pairs])

    return put


def _octet(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes((value,))


def _refuse(kind: Any, plain: Mapping[str, Any], names: list[str]) -> None:
    unknown = next(name for name in plain if name not in names)
    message = f"{kind.__name__} has no field '{unknown}'. {did_you_mean(unknown, names)}"
    raise RosError(message)
