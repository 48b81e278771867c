"""Serialization of plain messages, with the message definitions of the library rosbags.

Fields left out are zero, empty or false.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kittiwake.adapters.ros.message_types import FieldValue, LibraryObject, Message, MessageFields
from kittiwake.adapters.ros.messages.plain import SECOND_NS, TRANSFORMS, PlainMessage
from kittiwake.core.extras import import_optional

EXTRA = "bags"
TIME = "builtin_interfaces/msg/Time"
TIME_TYPES = {TIME, "builtin_interfaces/msg/Duration"}
# missing among the library's definitions for ROS 1
TF_DEFINITION = "geometry_msgs/TransformStamped[] transforms\n"

Converter: TypeAlias = Callable[[FieldValue], FieldValue]


def full_type_name(type_name: str) -> str:
    """Return a type name as ROS 2 and the library write it."""
    package, name = type_name.split("/")
    return f"{package}/msg/{name}"


class Encoding:
    """Serialization for one version of ROS.

    Args:
        ros: 1 for Noetic or 2 for Jazzy.
    """

    def __init__(self, ros: int) -> None:
        typesys = import_optional("rosbags.typesys", EXTRA)
        self._ros = ros
        stores = typesys.Stores
        self.store: LibraryObject = typesys.get_typestore(
            stores.ROS1_NOETIC if ros == 1 else stores.ROS2_JAZZY
        )
        if full_type_name(TRANSFORMS) not in self.store.fielddefs:
            types = typesys.get_types_from_msg(TF_DEFINITION, full_type_name(TRANSFORMS))
            self.store.register(types)

    def encoder(self, type_name: str) -> Callable[[PlainMessage], bytes | memoryview]:
        """Return a function that serializes messages of a type."""
        name = full_type_name(type_name)
        convert = self._message_converter(name)
        encode = self.store.serialize_ros1 if self._ros == 1 else self.store.serialize_cdr
        return lambda message: encode(convert(message), name)

    def _message_converter(self, name: str) -> Converter:
        """Return a function from a mapping, or a time in nanoseconds, to the library's message."""
        message_type = self.store.types[name]
        if name in TIME_TYPES:
            return lambda ns: message_type(*divmod(ns or 0, SECOND_NS))
        fields = self.store.fielddefs[name][1]
        # a few fields of ROS 1 have upper-case names
        converters: list[tuple[str, str, Converter]] = [
            (field, field.lower(), self._field_converter(*definition))
            for field, definition in fields
        ]
        known = {plain for _, plain, _ in converters}

        def convert_message(message: MessageFields | None) -> Message:
            given = message or {}
            assert given.keys() <= known, f"{name} has no field {given.keys() - known}"
            return message_type(
                **{field: convert(given.get(plain)) for field, plain, convert in converters}
            )

        return convert_message

    def _field_converter(self, node: int, definition: FieldValue) -> Converter:
        """Return a function from a value, or None, to a field."""
        nodes = import_optional("rosbags.interfaces", EXTRA).Nodetype
        if node == nodes.BASE:
            return _scalar_converter(definition[0])
        if node == nodes.NAME:
            return self._message_converter(definition)
        (element_node, element), count = definition
        fixed = count if node == nodes.ARRAY else 0
        if element_node == nodes.NAME:
            convert = self._message_converter(element)
            return lambda values: [convert(value) for value in values or [None] * fixed]
        return _array_converter(element[0], fixed)


def _scalar_converter(type_name: str) -> Converter:
    """Return a function from a value, or None, to a scalar or string."""
    if type_name == "string":
        return lambda value: value or ""
    return {"bool": bool, "float32": _float, "float64": _float}.get(
        type_name, lambda n: int(n or 0)
    )


def _float(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _array_converter(type_name: str, count: int) -> Converter:
    """Return a function from values to an array; None becomes ``count`` zeros."""
    if type_name == "string":
        return lambda values: list(values or [""] * count)

    def numbers(values: FieldValue) -> np.ndarray:
        if isinstance(values, bytes):
            return np.frombuffer(values, type_name)
        return np.zeros(count, type_name) if values is None else np.array(values, type_name)

    return numbers
