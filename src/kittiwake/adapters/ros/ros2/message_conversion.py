"""Fast conversion of plain messages to ROS 2 messages, prepared once for each type.

A publisher reuses one message, since publishing serializes it at once. Hence a writer writes every
field of an existing message; fields left out get the default of their type. It bypasses the
properties, which check each value, and converts numbers to the right type itself.
"""

from array import array
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from kittiwake.adapters.ros.message_types import (
    FieldValue,
    LibraryObject,
    Message,
    MessageClass,
    MessageFields,
)
from kittiwake.adapters.ros.messages.plain import PlainMessage
from kittiwake.adapters.ros.ros2.library import library
from kittiwake.core.errors import RosError, did_you_mean

SECOND_NS = 1_000_000_000
TIMES = {"builtin_interfaces/Time", "builtin_interfaces/Duration"}

Converter: TypeAlias = Callable[[FieldValue], FieldValue]
MessageWriter: TypeAlias = Callable[[Message, MessageFields], None]
# arguments: the message that has the field, and the value or None
FieldSetter: TypeAlias = Callable[[Message, FieldValue], None]


class Fields(NamedTuple):
    """Fields of a message class: scalars and strings, messages, and all others."""

    scalars: list[tuple[str, str, Converter, FieldValue]]
    messages: list[tuple[str, str, MessageWriter]]
    others: list[tuple[str, FieldSetter]]


@cache
def message_writer(message_type: MessageClass) -> MessageWriter:
    """Return a function that writes plain messages into messages of a class.

    It raises ``RosError`` for fields that the class does not have.
    """
    names = list(message_type.get_fields_and_field_types())
    known = frozenset(names)
    scalars, messages, others = _fields(message_type, names)
    empty: PlainMessage = {}

    def write(message: Message, plain: MessageFields) -> None:
        if not known.issuperset(plain):
            _refuse_unknown_fields(message_type, plain, names)
        get = plain.get
        for name, slot, convert, default in scalars:
            setattr(message, slot, convert(get(name, default)))
        for name, slot, write_field in messages:
            write_field(getattr(message, slot), get(name, empty))
        for name, set_field in others:
            set_field(message, get(name))

    return write


def _fields(message_type: MessageClass, names: list[str]) -> Fields:
    found, blank = Fields([], [], []), message_type()
    for name, slot_type in zip(names, message_type.SLOT_TYPES, strict=True):
        slot, default = f"_{name}", getattr(blank, name)
        convert = _scalar_converter(slot_type, default)
        if convert is not None:
            found.scalars.append((name, slot, convert, default))
        elif _is_message(slot_type):
            found.messages.append((name, slot, message_writer(type(default))))
        else:
            found.others.append((name, _field_setter(slot_type, slot, default)))
    return found


def make_message(message_type: MessageClass, plain: MessageFields) -> Message:
    """Return a new message of a class."""
    message = message_type()
    message_writer(message_type)(message, plain)
    return message


def _scalar_converter(slot_type: LibraryObject, default: FieldValue) -> Converter | None:
    """Return the converter of a number or string to the field's type; None for other fields."""
    if isinstance(default, bytes):
        return _octet
    is_scalar = isinstance(default, bool | int | float | str)
    return type(default) if is_scalar and not hasattr(slot_type, "value_type") else None


def _is_message(slot_type: LibraryObject) -> bool:
    return hasattr(slot_type, "namespaces") and _name(slot_type) not in TIMES


def _name(slot_type: LibraryObject) -> str:
    return f"{slot_type.namespaces[0]}/{slot_type.name}"


def _field_setter(slot_type: LibraryObject, slot: str, default: FieldValue) -> FieldSetter:
    if not hasattr(slot_type, "value_type"):
        return partial(_set_time, slot)
    if isinstance(default, np.ndarray):
        return partial(_set_in_place, slot, default)
    if isinstance(default, array):
        return partial(_set_array, slot, default.typecode)
    element = slot_type.value_type
    if hasattr(element, "namespaces"):
        package, _, name = _name(element).partition("/")
        message_type = getattr(library(f"{package}.msg"), name)
        if _name(element) in TIMES:
            return _times_setter(slot, message_type)
        return _messages_setter(slot, message_type)
    return partial(_set_list, slot, list(default))


def _set_time(slot: str, message: Message, time_ns: int | None) -> None:
    stamp = getattr(message, slot)
    stamp._sec, stamp._nanosec = divmod(int(time_ns or 0), SECOND_NS)


def _set_in_place(slot: str, default: FieldValue, message: Message, values: FieldValue) -> None:
    target = getattr(message, slot)
    if values is not None and len(values) != len(target):
        text = f"field '{slot[1:]}': got {len(values)} numbers; must be {len(target)}"
        raise RosError(text)
    target[:] = default if values is None else values


def _set_array(slot: str, code: str, message: Message, values: Iterable[FieldValue] | None) -> None:
    setattr(message, slot, array(code, () if values is None else values))


def _set_list(
    slot: str, default: list[FieldValue], message: Message, values: Iterable[FieldValue] | None
) -> None:
    setattr(message, slot, list(default if values is None else values))


def _messages_setter(slot: str, message_type: MessageClass) -> FieldSetter:
    write = message_writer(message_type)

    def set_messages(message: Message, values: Iterable[MessageFields] | None) -> None:
        plain_items = list(values or ())
        # items of this message are reused, so that two messages never share them
        items = getattr(message, slot)
        items = [
            *items[: len(plain_items)],
            *(message_type() for _ in range(len(plain_items) - len(items))),
        ]
        for item, plain in zip(items, plain_items, strict=True):
            write(item, plain)
        setattr(message, slot, items)

    return set_messages


def _times_setter(slot: str, message_type: MessageClass) -> FieldSetter:
    def set_times(message: Message, values: Iterable[int] | None) -> None:
        pairs = (divmod(int(time_ns), SECOND_NS) for time_ns in values or ())
        setattr(message, slot, [message_type(sec=sec, nanosec=ns) for sec, ns in pairs])

    return set_times


def _octet(value: FieldValue) -> bytes:
    return value if isinstance(value, bytes) else bytes((value,))


def _refuse_unknown_fields(
    message_type: MessageClass, plain: MessageFields, names: list[str]
) -> None:
    unknown = next(name for name in plain if name not in names)
    message = f"{message_type.__name__} has no field '{unknown}'. {did_you_mean(unknown, names)}"
    raise RosError(message)
