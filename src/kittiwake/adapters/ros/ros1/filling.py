"""Fast conversion of plain messages to ROS 1 messages, prepared once for each type."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from kittiwake.adapters.ros.message_types import FieldValue, Message, MessageClass, MessageFields
from kittiwake.adapters.ros.messages.plain import PlainMessage
from kittiwake.adapters.ros.ros1.definitions import message_class
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import RosError, did_you_mean

NANOSECONDS = 1_000_000_000

Filler: TypeAlias = Callable[[MessageFields], Message]
Converter: TypeAlias = Callable[[FieldValue], FieldValue]


class Slot(NamedTuple):
    """Field of a message class.

    Attributes:
        name: in the class.
        plain_name: in plain messages, which have lower-case names as in ROS 2.
        convert: converts a plain value; None to store it unchanged.
        default: returns the value of a field left out.
    """

    name: str
    plain_name: str
    convert: Converter | None
    default: Callable[[], FieldValue]


@cache
def filler(kind: MessageClass) -> Filler:
    """Return a function that converts plain messages to messages of a class.

    It raises ``RosError`` for fields that the class does not have.
    """
    blank = kind()
    slots = tuple(
        _slot(name, type_name, getattr(blank, name))
        for name, type_name in zip(kind.__slots__, kind._slot_types, strict=True)
    )
    new = kind.__new__

    def fill(plain: MessageFields) -> Message:
        message, given = new(kind), 0
        for name, plain_name, convert, default in slots:
            value = plain.get(plain_name)
            if value is None:
                setattr(message, name, default())
            else:
                given += 1
                setattr(message, name, value if convert is None else convert(value))
        if given < len(plain):
            _refuse_unknown_fields(kind, plain)
        return message

    return fill


def _slot(name: str, type_name: str, blank: FieldValue) -> Slot:
    element, bracket, _ = type_name.partition("[")
    convert = _converter(element)
    if bracket:
        convert_all = None if convert is None else partial(_convert_each, convert)
        copy = bytes if isinstance(blank, bytes) else list[FieldValue]
        return Slot(name, name.lower(), convert_all, partial(copy, blank))
    if convert is None:
        return Slot(name, name.lower(), None, lambda: blank)
    empty = 0 if element in {"time", "duration"} else PlainMessage()
    return Slot(name, name.lower(), convert, partial(convert, empty))


def _converter(type_name: str) -> Converter | None:
    if type_name in {"time", "duration"}:
        genpy = library("genpy")
        return partial(_time, genpy.Time if type_name == "time" else genpy.Duration)
    return filler(message_class(type_name)) if "/" in type_name else None


def _convert_each(convert: Converter, values: Iterable[FieldValue]) -> list[FieldValue]:
    return [convert(value) for value in values]


def _time(kind: MessageClass, time_ns: int) -> Message:
    return kind(*divmod(time_ns, NANOSECONDS))


def _refuse_unknown_fields(kind: MessageClass, plain: MessageFields) -> None:
    known = [name.lower() for name in kind.__slots__]
    unknown = [name for name in plain if name not in known]
    if unknown:
        message = f"{kind._type} has no field '{unknown[0]}'. "
        raise RosError(message + did_you_mean(unknown[0], known))
