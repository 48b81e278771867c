"""Plain messages as bytes, by the definitions of messages that the library rosbags has.

What a message leaves out is zero, empty or false.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kittiwake.adapters.ros.messages.plain import SECOND_NS, TRANSFORMS, PlainMessage
from kittiwake.core.extras import optional

EXTRA = "bags"
TIME = "builtin_interfaces/msg/Time"
SPANS = {TIME, "builtin_interfaces/msg/Duration"}
# which ROS 1 has in a package of its own, and the library has not for it
TF_DEFINITION = "geometry_msgs/TransformStamped[] transforms\n"

Maker = Callable[[Any], Any]


def full_kind(kind: str) -> str:
    """The name of a kind as ROS 2 and the library write it."""
    package, name = kind.split("/")
    return f"{package}/msg/{name}"


class Encoding:
    """The definitions of one version of ROS; ``ros`` is 1, or 2 for those of Jazzy."""

    def __init__(self, ros: int) -> None:
        typesys = optional("rosbags.typesys", EXTRA)
        self._ros = ros
        stores = typesys.Stores
        self.store: Any = typesys.get_typestore(
            stores.ROS1_NOETIC if ros == 1 else stores.ROS2_JAZZY
        )
        if full_kind(TRANSFORMS) not in self.store.fielddefs:
            types = typesys.get_types_from_msg(TF_DEFINITION, full_kind(TRANSFORMS))
            self.store.register(types)

    def encoder(self, kind: str) -> Callable[[PlainMessage], Any]:
        """What makes bytes of messages of a kind."""
        name = full_kind(kind)
        make = self._record(name)
        encode = self.store.serialize_ros1 if self._ros == 1 else self.store.serialize_cdr
        return lambda message: encode(make(message), name)

    def _record(self, name: str) -> Maker:
        """What makes the library's own message of a mapping, or its time of nanoseconds."""
        kind = self.store.types[name]
        if name in SPANS:
            return lambda ns: kind(*divmod(ns or 0, SECOND_NS))
        fields = self.store.fielddefs[name][1]
        # a few fields of ROS 1 have large letters
        makers: list[tuple[str, str, Maker]] = [
            (field, field.lower(), self._field(*how)) for field, how in fields
        ]
        known = {called for _, called, _ in makers}

        def record(message: Mapping[str, Any] | None) -> Any:
            given = message or {}
            assert given.keys() <= known, f"{name} has no field {given.keys() - known}"
            return kind(**{field: make(given.get(called)) for field, called, make in makers})

        return record

    def _field(self, node: int, how: Any) -> Maker:
        """What makes a field of a value, or of None."""
        nodes = optional("rosbags.interfaces", EXTRA).Nodetype
        if node == nodes.BASE:
            return _base(how[0])
        if node == nodes.NAME:
            return self._record(how)
        (of, what), count = how
        fixed = count if node == nodes.ARRAY else 0
        if of == nodes.NAME:
            make = self._record(what)
            return lambda values: [make(value) for value in values or [None] * fixed]
        return _numbers(what[0], fixed)


def _base(kind: str) -> Maker:
    """Of a single value."""
    if kind == "string":
        return lambda value: value or ""
    return {"bool": bool, "float32": _real, "float64": _real}.get(kind, lambda n: int(n or 0))


def _real(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _numbers(kind: str, count: int) -> Maker:
    """Of many; so many zeros where there are none."""
    if kind == "string":
        return lambda values: list(values or [""] * count)

    def numbers(values: Any) -> np.ndarray:
        if isinstance(values, bytes):
            return np.frombuffer(values, kind)
        return np.zeros(count, kind) if values is None else np.array(values, kind)

    return numbers
